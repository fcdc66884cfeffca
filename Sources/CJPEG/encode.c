#include "internal.h"

enum { max_components = 3, max_batch = 2 * DCTSIZE, sampled_batches = 8, longest_step = 12 };

typedef struct {
  const cjpeg_plane *planes;
  int32_t components, width, height, quality;
} picture;

static void set_up(j_compress_ptr jpeg, const picture *picture, int32_t height) {
  jpeg->image_width = (JDIMENSION)picture->width;
  jpeg->image_height = (JDIMENSION)height;
  jpeg->input_components = picture->components;
  jpeg->in_color_space = picture->components == 1 ? JCS_GRAYSCALE : JCS_YCbCr;
  jpeg_set_defaults(jpeg);
  jpeg_set_quality(jpeg, picture->quality, TRUE);
  jpeg->raw_data_in = TRUE;
  jpeg->dct_method = JDCT_ISLOW;
}

static int32_t lines_of(const picture *picture) { return picture->components == 1 ? DCTSIZE : max_batch; }

// Writes every `step`-th batch of rows.
static void write_batches(j_compress_ptr jpeg, const picture *picture, int32_t step) {
  JSAMPROW rows[max_components][max_batch];
  JSAMPARRAY image[max_components] = {rows[0], rows[1], rows[2]};
  for (int32_t batch = step / 2; jpeg->next_scanline < jpeg->image_height; batch += step) {
    for (int c = 0; c < jpeg->num_components; c++) {
      const cjpeg_plane *plane = &picture->planes[c];
      const int count = jpeg->comp_info[c].v_samp_factor * DCTSIZE;
      for (int i = 0; i < count; i++) {
        // The last row is repeated below the picture.
        int32_t y = batch * count + i;
        if (y >= plane->height) y = plane->height - 1;
        rows[c][i] = (JSAMPROW)plane->samples + (size_t)y * (size_t)plane->stride;
      }
    }
    jpeg_write_raw_data(jpeg, image, (JDIMENSION)lines_of(picture));
  }
}

// Makes codes from a sample of the picture. Counting all of it would take half as long as encoding, and save a
// thousandth of the bytes.
static void sample(j_compress_ptr jpeg, const picture *picture) {
  const int32_t lines = lines_of(picture), batches = (picture->height + lines - 1) / lines;
  int32_t step = batches / sampled_batches;
  step = step < 1 ? 1 : step > longest_step ? longest_step : step;
  const int32_t sampled = (batches - step / 2 + step - 1) / step;
  set_up(jpeg, picture, sampled * lines);
  jpeg->optimize_coding = TRUE;
  jpeg_start_compress(jpeg, TRUE);
  write_batches(jpeg, picture, step);
  jpeg_finish_compress(jpeg);
}

static void take_codes(j_compress_ptr jpeg, j_compress_ptr sample) {
  for (int i = 0; i < (jpeg->num_components == 1 ? 1 : 2); i++) {
    *jpeg->dc_huff_tbl_ptrs[i] = *sample->dc_huff_tbl_ptrs[i];
    *jpeg->ac_huff_tbl_ptrs[i] = *sample->ac_huff_tbl_ptrs[i];
    cjpeg_complete_codes(jpeg->dc_huff_tbl_ptrs[i], true);
    cjpeg_complete_codes(jpeg->ac_huff_tbl_ptrs[i], false);
  }
}

cjpeg_status cjpeg_encode(
  const cjpeg_plane *planes, int32_t components, int32_t width, int32_t height, int32_t quality, uint8_t *out,
  size_t capacity, size_t *count) {
  const picture picture = {planes, components, width, height, quality};
  struct jpeg_compress_struct sampler = {0}, jpeg = {0};
  cjpeg_trap trap;
  cjpeg_sink nowhere, sink;
  sampler.err = jpeg.err = cjpeg_trap_prepare(&trap);
  if (setjmp(trap.escape)) {
    jpeg_destroy_compress(&sampler);
    jpeg_destroy_compress(&jpeg);
    return trap.status;
  }
  jpeg_create_compress(&sampler);
  jpeg_create_compress(&jpeg);
  cjpeg_sink_prepare(&nowhere, &sampler, NULL, 0);
  cjpeg_sink_prepare(&sink, &jpeg, out, capacity);
  sample(&sampler, &picture);
  set_up(&jpeg, &picture, height);
  take_codes(&jpeg, &sampler);
  jpeg_start_compress(&jpeg, TRUE);
  write_batches(&jpeg, &picture, 1);
  jpeg_finish_compress(&jpeg);
  *count = cjpeg_sink_count(&sink);
  jpeg_destroy_compress(&sampler);
  jpeg_destroy_compress(&jpeg);
  return CJPEG_OK;
}
