#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpng.h"

enum { message_size = 128, profile_limit = 4 << 20 };

const char *cpng_version(void) { return png_get_libpng_ver(NULL); }

struct cpng_decoder {
  png_structp png;
  png_infop info;
  const uint8_t *bytes;
  size_t count, offset;
  cpng_status status;
  // All rows of an interlaced picture; NULL for others.
  uint8_t *picture;
  size_t row_bytes;
  uint32_t height, next;
  bool is_interlaced;
  char message[message_size];
};

static void on_error(png_structp png, png_const_charp text) {
  cpng_decoder *decoder = png_get_error_ptr(png);
  if (decoder->status == CPNG_OK) decoder->status = CPNG_DAMAGED;
  snprintf(decoder->message, message_size, "%s", text);
  png_longjmp(png, 1);
}

// Warnings concern data around the picture, which is not sent.
static void on_warning(png_structp png, png_const_charp text) {
  (void)png;
  (void)text;
}

static void supply(png_structp png, png_bytep into, size_t count) {
  cpng_decoder *decoder = png_get_io_ptr(png);
  if (count > decoder->count - decoder->offset) {
    decoder->status = CPNG_TRUNCATED;
    png_error(png, "the file ends");
  }
  memcpy(into, decoder->bytes + decoder->offset, count);
  decoder->offset += count;
}

static void skip_what_is_not_shown(png_structp png) {
  static const png_byte names[] =
    "tEXt\0zTXt\0iTXt\0eXIf\0tIME\0pHYs\0pCAL\0sCAL\0sPLT\0hIST\0oFFs\0bKGD\0gAMA\0cHRM\0sRGB\0sBIT";
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, 0);
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, names, sizeof names / 5);
  png_set_chunk_malloc_max(png, profile_limit);
}

cpng_decoder *cpng_open(const uint8_t *bytes, size_t count) {
  cpng_decoder *decoder = calloc(1, sizeof *decoder);
  if (!decoder) return NULL;
  decoder->bytes = bytes;
  decoder->count = count;
  decoder->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, decoder, on_error, on_warning);
  if (decoder->png) decoder->info = png_create_info_struct(decoder->png);
  if (!decoder->info) {
    cpng_close(decoder);
    return NULL;
  }
  png_set_read_fn(decoder->png, decoder, supply);
  return decoder;
}

void cpng_close(cpng_decoder *decoder) {
  png_destroy_read_struct(&decoder->png, &decoder->info, NULL);
  free(decoder->picture);
  free(decoder);
}

const char *cpng_message(const cpng_decoder *decoder) { return decoder->message; }

cpng_status cpng_read_header(cpng_decoder *decoder, cpng_header *header) {
  png_structp png = decoder->png;
  png_infop info = decoder->info;
  if (setjmp(png_jmpbuf(png))) return decoder->status;
  skip_what_is_not_shown(png);
  // The caller has checked the size.
  png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_read_info(png, info);
  png_set_expand(png);
  png_set_scale_16(png);
  decoder->is_interlaced = png_get_interlace_type(png, info) != PNG_INTERLACE_NONE;
  if (decoder->is_interlaced) png_set_interlace_handling(png);
  png_read_update_info(png, info);
  decoder->height = png_get_image_height(png, info);
  decoder->row_bytes = png_get_rowbytes(png, info);
  *header = (cpng_header){
    .width = (int32_t)png_get_image_width(png, info),
    .height = (int32_t)decoder->height,
    .channels = png_get_channels(png, info),
  };
  png_charp name;
  png_bytep profile;
  png_uint_32 count;
  int method;
  if (png_get_iCCP(png, info, &name, &method, &profile, &count)) {
    header->profile = profile;
    header->profile_count = count;
  }
  return CPNG_OK;
}

static void read_picture(cpng_decoder *decoder, size_t memory_limit) {
  const size_t size = decoder->row_bytes * decoder->height;
  if (size <= memory_limit) decoder->picture = malloc(size);
  if (!decoder->picture) {
    decoder->status = CPNG_TOO_MUCH_MEMORY;
    png_error(decoder->png, "too large to be held in memory");
  }
  for (int pass = 0; pass < PNG_INTERLACE_ADAM7_PASSES; pass++) {
    for (uint32_t y = 0; y < decoder->height; y++) {
      png_read_row(decoder->png, decoder->picture + y * decoder->row_bytes, NULL);
    }
  }
}

cpng_status cpng_read_row(cpng_decoder *decoder, size_t memory_limit, uint8_t *row) {
  if (setjmp(png_jmpbuf(decoder->png))) return decoder->status;
  if (!decoder->is_interlaced) {
    png_read_row(decoder->png, row, NULL);
    return CPNG_OK;
  }
  if (!decoder->picture) read_picture(decoder, memory_limit);
  memcpy(row, decoder->picture + decoder->next++ * decoder->row_bytes, decoder->row_bytes);
  return CPNG_OK;
}
