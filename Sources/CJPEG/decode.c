#include <stdlib.h>

#include "internal.h"

#if JPEG_LIB_VERSION >= 70
#define SCALED_HEIGHT(component) ((component)->DCT_v_scaled_size)
#define SCALED_WIDTH(component) ((component)->DCT_h_scaled_size)
#else
#define SCALED_HEIGHT(component) ((component)->DCT_scaled_size)
#define SCALED_WIDTH(component) ((component)->DCT_scaled_size)
#endif

#define QUOTED(text) #text
#define WORDS(text) QUOTED(text)

const char *cjpeg_version(void) { return WORDS(LIBJPEG_TURBO_VERSION); }

struct cjpeg_decoder {
  struct jpeg_decompress_struct jpeg;
  cjpeg_trap trap;
  cjpeg_source source;
  cjpeg_guard guard;
  // NULL unless the photo is progressive and flawless.
  cjpeg_progression *progression;
};

cjpeg_decoder *cjpeg_decoder_open(
  const uint8_t *bytes, size_t count, size_t memory_limit, int32_t scan_limit) {
  cjpeg_decoder *decoder = calloc(1, sizeof *decoder);
  if (!decoder) return NULL;
  decoder->jpeg.err = cjpeg_trap_prepare(&decoder->trap);
  if (setjmp(decoder->trap.escape)) {
    jpeg_destroy_decompress(&decoder->jpeg);
    free(decoder);
    return NULL;
  }
  jpeg_create_decompress(&decoder->jpeg);
  cjpeg_source_prepare(&decoder->source, &decoder->jpeg, bytes, count);
  cjpeg_guard_prepare(&decoder->guard, &decoder->jpeg, memory_limit, scan_limit);
  return decoder;
}

void cjpeg_decoder_close(cjpeg_decoder *decoder) {
  jpeg_destroy_decompress(&decoder->jpeg);
  cjpeg_progression_free(decoder->progression);
  free(decoder);
}

const char *cjpeg_decoder_message(const cjpeg_decoder *decoder) { return decoder->trap.message; }

static cjpeg_color color_of(J_COLOR_SPACE space) {
  switch (space) {
    case JCS_GRAYSCALE: return CJPEG_GREY;
    case JCS_RGB: return CJPEG_RGB;
    case JCS_YCbCr: return CJPEG_YCC;
    case JCS_CMYK: return CJPEG_CMYK;
    case JCS_YCCK: return CJPEG_YCCK;
    default: return CJPEG_UNKNOWN;
  }
}

cjpeg_status cjpeg_decoder_read_header(cjpeg_decoder *decoder, cjpeg_header *header) {
  j_decompress_ptr jpeg = &decoder->jpeg;
  if (setjmp(decoder->trap.escape)) return decoder->trap.status;
  jpeg_read_header(jpeg, TRUE);
  *header = (cjpeg_header){
    .width = (int32_t)jpeg->image_width,
    .height = (int32_t)jpeg->image_height,
    .components = jpeg->num_components,
    .color = color_of(jpeg->jpeg_color_space),
    .adobe = jpeg->saw_Adobe_marker,
  };
  return CJPEG_OK;
}

cjpeg_status cjpeg_decoder_start(cjpeg_decoder *decoder, int32_t eighths) {
  j_decompress_ptr jpeg = &decoder->jpeg;
  if (setjmp(decoder->trap.escape)) return decoder->trap.status;
  jpeg->raw_data_out = TRUE;
  jpeg->out_color_space = jpeg->jpeg_color_space;
  jpeg->scale_num = (unsigned)eighths;
  jpeg->scale_denom = 8;
  jpeg->dct_method = JDCT_ISLOW;
  decoder->progression = cjpeg_progression_read(jpeg, decoder->guard.memory_limit, decoder->guard.scan_limit);
  if (decoder->progression) cjpeg_progression_lend(decoder->progression);
  // Smooths a progression that is not finished, and no other photo.
  jpeg->do_block_smoothing = !decoder->progression;
  jpeg_start_decompress(jpeg);
  if (!decoder->progression) cjpeg_require_whole(jpeg, &decoder->source);
  return CJPEG_OK;
}

cjpeg_component cjpeg_decoder_component(const cjpeg_decoder *decoder, int32_t index) {
  const struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
  const jpeg_component_info *component = &jpeg->comp_info[index];
  return (cjpeg_component){
    .width = (int32_t)component->downsampled_width,
    .height = (int32_t)component->downsampled_height,
    .extent_x = (double)jpeg->image_width * component->h_samp_factor * SCALED_WIDTH(component)
      / (jpeg->max_h_samp_factor * DCTSIZE),
    .extent_y = (double)jpeg->image_height * component->v_samp_factor * SCALED_HEIGHT(component)
      / (jpeg->max_v_samp_factor * DCTSIZE),
    .batch_rows = component->v_samp_factor * SCALED_HEIGHT(component),
    .row_bytes = (int32_t)component->width_in_blocks * SCALED_WIDTH(component),
  };
}

cjpeg_status cjpeg_decoder_read(cjpeg_decoder *decoder, uint8_t ***rows) {
  if (setjmp(decoder->trap.escape)) return decoder->trap.status;
  // More lines than any batch; the library returns one batch.
  jpeg_read_raw_data(&decoder->jpeg, rows, MAX_SAMP_FACTOR * 16);
  return CJPEG_OK;
}
