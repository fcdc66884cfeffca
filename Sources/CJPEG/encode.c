#include "internal.h"

enum { max_components = 3, max_batch = 2 * DCTSIZE };

typedef struct {
  const cjpeg_plane *planes;
  int32_t components, width, height, quality;
} picture;

static void set_up(j_compress_ptr jpeg, const picture *picture) {
  jpeg->image_width = (JDIMENSION)picture->width;
  jpeg->image_height = (JDIMENSION)picture->height;
  jpeg->input_components = picture->components;
  jpeg->in_color_space = picture->components == 1 ? JCS_GRAYSCALE : JCS_YCbCr;
  jpeg_set_defaults(jpeg);
  jpeg_set_quality(jpeg, picture->quality, TRUE);
  jpeg->raw_data_in = TRUE;
  jpeg->dct_method = JDCT_ISLOW;
}

static void write_rows(j_compress_ptr jpeg, const picture *picture) {
  JSAMPROW rows[max_components][max_batch];
  JSAMPARRAY image[max_components] = {rows[0], rows[1], rows[2]};
  for (int32_t batch = 0; jpeg->next_scanline < jpeg->image_height; batch++) {
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
    jpeg_write_raw_data(jpeg, image, picture->components == 1 ? DCTSIZE : max_batch);
  }
}

cjpeg_status cjpeg_encode(
  const cjpeg_plane *planes, int32_t components, int32_t width, int32_t height, int32_t quality, uint8_t *out,
  size_t capacity, size_t *count) {
  const picture picture = {planes, components, width, height, quality};
  struct jpeg_compress_struct jpeg = {0};
  cjpeg_trap trap;
  cjpeg_sink sink;
  jpeg.err = cjpeg_trap_prepare(&trap);
  if (setjmp(trap.escape)) {
    jpeg_destroy_compress(&jpeg);
    return trap.status;
  }
  jpeg_create_compress(&jpeg);
  cjpeg_sink_prepare(&sink, &jpeg, out, capacity);
  set_up(&jpeg, &picture);
  jpeg_start_compress(&jpeg, TRUE);
  write_rows(&jpeg, &picture);
  jpeg_finish_compress(&jpeg);
  *count = cjpeg_sink_count(&sink);
  jpeg_destroy_compress(&jpeg);
  return CJPEG_OK;
}
