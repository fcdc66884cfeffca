#include "internal.h"

cjpeg_status cjpeg_copy(
  const uint8_t *bytes, size_t length, size_t memory_limit, int32_t scan_limit, uint8_t *out, size_t capacity,
  size_t *count) {
  struct jpeg_decompress_struct from = {0};
  struct jpeg_compress_struct to = {0};
  cjpeg_trap trap;
  cjpeg_source source;
  cjpeg_sink sink;
  cjpeg_guard guard;
  from.err = to.err = cjpeg_trap_prepare(&trap);
  if (setjmp(trap.escape)) {
    jpeg_destroy_compress(&to);
    jpeg_destroy_decompress(&from);
    return trap.status;
  }
  jpeg_create_decompress(&from);
  jpeg_create_compress(&to);
  cjpeg_source_prepare(&source, &from, bytes, length);
  cjpeg_guard_prepare(&guard, &from, memory_limit, scan_limit);
  cjpeg_sink_prepare(&sink, &to, out, capacity);
  jpeg_read_header(&from, TRUE);
  jvirt_barray_ptr *coefficients = jpeg_read_coefficients(&from);
  cjpeg_require_whole(&from, &source);
  const bool is_plain = from.jpeg_color_space == JCS_YCbCr || from.jpeg_color_space == JCS_GRAYSCALE;
  // Viewers smooth an unfinished progression; a copy that says it is finished would show blocks.
  if (is_plain && trap.manager.num_warnings == 0 && cjpeg_has_all_scans(&from)) {
    jpeg_copy_critical_parameters(&from, &to);
    // The density could identify the camera, and nobody uses it.
    to.density_unit = 0;
    to.X_density = to.Y_density = 1;
    to.optimize_coding = TRUE;
    if (from.progressive_mode) jpeg_simple_progression(&to);
    jpeg_write_coefficients(&to, coefficients);
    jpeg_finish_compress(&to);
    *count = cjpeg_sink_count(&sink);
  } else {
    trap.status = CJPEG_REFUSED;
  }
  jpeg_destroy_compress(&to);
  jpeg_destroy_decompress(&from);
  return trap.status;
}
