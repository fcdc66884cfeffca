#include "internal.h"

enum { max_components = 3, max_batch = 2 * DCTSIZE };

static void write_batches(j_compress_ptr jpeg, const cjpeg_plane *planes) {
  JSAMPROW rows[max_components][max_batch];
  JSAMPARRAY image[max_components] = {rows[0], rows[1], rows[2]};
  const int lines = jpeg->max_v_samp_factor * DCTSIZE;
  for (int32_t top = 0; jpeg->next_scanline < jpeg->image_height; top++) {
    for (int c = 0; c < jpeg->num_components; c++) {
      const int count = jpeg->comp_info[c].v_samp_factor * DCTSIZE;
      for (int i = 0; i < count; i++) {
        // The last row stands for those below the picture.
        int32_t y = top * count + i;
        if (y >= planes[c].height) y = planes[c].height - 1;
        rows[c][i] = (JSAMPROW)planes[c].samples + (size_t)y * (size_t)planes[c].stride;
      }
    }
    jpeg_write_raw_data(jpeg, image, (JDIMENSION)lines);
  }
}

cjpeg_status cjpeg_encode(
  const cjpeg_plane *planes, int32_t components, int32_t width, int32_t height, int32_t quality, bool optimize,
  uint8_t *out, size_t capacity, size_t *count) {
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
  jpeg.image_width = (JDIMENSION)width;
  jpeg.image_height = (JDIMENSION)height;
  jpeg.input_components = components;
  jpeg.in_color_space = components == 1 ? JCS_GRAYSCALE : JCS_YCbCr;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, quality, TRUE);
  jpeg.raw_data_in = TRUE;
  jpeg.dct_method = JDCT_ISLOW;
  jpeg.optimize_coding = optimize;
  jpeg_start_compress(&jpeg, TRUE);
  write_batches(&jpeg, planes);
  jpeg_finish_compress(&jpeg);
  *count = cjpeg_sink_count(&sink);
  jpeg_destroy_compress(&jpeg);
  return CJPEG_OK;
}
