#include "cjpeg.h"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jpeglib.h>
#include <jerror.h>

/* What the callbacks of one image share; `manager` comes first so that libjpeg's pointer is ours. */
struct guard {
  struct jpeg_error_mgr manager;
  struct jpeg_progress_mgr progress;
  jmp_buf escape;
  int status;
  int max_scans;
  char *message;
};

static void fail(j_common_ptr info) {
  struct guard *guard = (struct guard *)info->err;
  info->err->format_message(info, guard->message);
  if (guard->status == CJPEG_OK) {
    int code = info->err->msg_code;
    int memory = code == JERR_OUT_OF_MEMORY || code == JERR_NO_BACKING_STORE;
    int early = code == JERR_INPUT_EOF || code == JERR_INPUT_EMPTY;
    guard->status = memory ? CJPEG_MEMORY : early ? CJPEG_TRUNCATED : CJPEG_BROKEN;
  }
  longjmp(guard->escape, 1);
}

/* Warnings pass, since good cameras cause some, but not the two that say that picture data is missing. */
static void warn(j_common_ptr info, int level) {
  struct guard *guard = (struct guard *)info->err;
  int code = info->err->msg_code;
  if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER)) {
    guard->status = CJPEG_TRUNCATED;
    fail(info);
  }
}

static void watch_scans(j_common_ptr info) {
  struct guard *guard = (struct guard *)info->err;
  if (((j_decompress_ptr)info)->input_scan_number > guard->max_scans) {
    guard->status = CJPEG_SCANS;
    fail(info);
  }
}

static void set_up(struct guard *guard, char *message) {
  memset(guard, 0, sizeof *guard);
  jpeg_std_error(&guard->manager);
  guard->manager.error_exit = fail;
  guard->manager.emit_message = warn;
  guard->message = message;
  message[0] = 0;
}

static void open_source(j_decompress_ptr source, struct guard *guard, const uint8_t *bytes, size_t size,
                        struct cjpeg_limits limits) {
  jpeg_create_decompress(source);
  guard->max_scans = limits.scans;
  guard->progress.progress_monitor = watch_scans;
  source->progress = &guard->progress;
  source->mem->max_memory_to_use = (long)limits.memory;
  jpeg_mem_src(source, bytes, size);
  jpeg_read_header(source, TRUE);
}

int cjpeg_decode(const uint8_t *bytes, size_t size, int eighths, int wants_rgb, struct cjpeg_limits limits,
                 struct cjpeg_pixels *pixels, char message[200]) {
  struct jpeg_decompress_struct source;
  struct guard guard;
  uint8_t *volatile samples = NULL;
  memset(&source, 0, sizeof source);
  set_up(&guard, message);
  source.err = &guard.manager;
  if (setjmp(guard.escape)) {
    free(samples);
    jpeg_destroy_decompress(&source);
    return guard.status;
  }
  open_source(&source, &guard, bytes, size, limits);
  source.scale_num = (unsigned)eighths;
  source.scale_denom = 8;
  source.dct_method = JDCT_ISLOW;
  pixels->is_inverted = source.saw_Adobe_marker;
  switch (source.jpeg_color_space) {
  case JCS_GRAYSCALE:
    source.out_color_space = JCS_GRAYSCALE;
    pixels->colour = CJPEG_GREY;
    break;
  case JCS_CMYK:
  case JCS_YCCK:
    source.out_color_space = JCS_CMYK;
    pixels->colour = CJPEG_CMYK;
    break;
  case JCS_YCbCr:
    source.out_color_space = wants_rgb ? JCS_RGB : JCS_YCbCr;
    pixels->colour = wants_rgb ? CJPEG_RGB : CJPEG_YCC;
    break;
  default:
    source.out_color_space = JCS_RGB;
    pixels->colour = CJPEG_RGB;
  }
  jpeg_start_decompress(&source);
  pixels->width = (int)source.output_width;
  pixels->height = (int)source.output_height;
  pixels->channels = source.output_components;
  size_t row = (size_t)pixels->width * (size_t)pixels->channels;
  samples = malloc(row * (size_t)pixels->height);
  if (!samples) {
    jpeg_destroy_decompress(&source);
    return CJPEG_MEMORY;
  }
  while (source.output_scanline < source.output_height) {
    JSAMPROW rows[4];
    unsigned count = 0;
    for (; count < 4 && source.output_scanline + count < source.output_height; count++)
      rows[count] = samples + row * (source.output_scanline + count);
    jpeg_read_scanlines(&source, rows, count);
  }
  jpeg_finish_decompress(&source);
  jpeg_destroy_decompress(&source);
  pixels->samples = samples;
  return CJPEG_OK;
}

int cjpeg_encode(const struct cjpeg_pixels *pixels, int quality, uint8_t **bytes, size_t *size, char message[200]) {
  struct jpeg_compress_struct target;
  struct guard guard;
  unsigned char *output = NULL;
  unsigned long length = 0;
  memset(&target, 0, sizeof target);
  set_up(&guard, message);
  target.err = &guard.manager;
  if (setjmp(guard.escape)) {
    jpeg_destroy_compress(&target);
    free(output);
    return guard.status;
  }
  jpeg_create_compress(&target);
  jpeg_mem_dest(&target, &output, &length);
  target.image_width = (unsigned)pixels->width;
  target.image_height = (unsigned)pixels->height;
  target.input_components = pixels->channels;
  target.in_color_space =
      pixels->colour == CJPEG_GREY ? JCS_GRAYSCALE : pixels->colour == CJPEG_YCC ? JCS_YCbCr : JCS_RGB;
  jpeg_set_defaults(&target);
  jpeg_set_quality(&target, quality, TRUE);
  target.dct_method = JDCT_ISLOW;
  target.optimize_coding = TRUE;
  jpeg_start_compress(&target, TRUE);
  size_t row = (size_t)pixels->width * (size_t)pixels->channels;
  while (target.next_scanline < target.image_height) {
    JSAMPROW rows[8];
    unsigned count = 0;
    for (; count < 8 && target.next_scanline + count < target.image_height; count++)
      rows[count] = pixels->samples + row * (target.next_scanline + count);
    jpeg_write_scanlines(&target, rows, count);
  }
  jpeg_finish_compress(&target);
  jpeg_destroy_compress(&target);
  *bytes = output;
  *size = length;
  return CJPEG_OK;
}

int cjpeg_copy(const uint8_t *bytes, size_t size, struct cjpeg_limits limits, uint8_t **copy, size_t *copy_size,
               char message[200]) {
  struct jpeg_decompress_struct source;
  struct jpeg_compress_struct target;
  struct guard guard;
  unsigned char *output = NULL;
  unsigned long length = 0;
  memset(&source, 0, sizeof source);
  memset(&target, 0, sizeof target);
  set_up(&guard, message);
  source.err = &guard.manager;
  target.err = &guard.manager;
  if (setjmp(guard.escape)) {
    jpeg_destroy_compress(&target);
    jpeg_destroy_decompress(&source);
    free(output);
    return guard.status;
  }
  open_source(&source, &guard, bytes, size, limits);
  jvirt_barray_ptr *coefficients = jpeg_read_coefficients(&source);
  jpeg_create_compress(&target);
  jpeg_mem_dest(&target, &output, &length);
  jpeg_copy_critical_parameters(&source, &target);
  target.optimize_coding = TRUE;
  jpeg_write_coefficients(&target, coefficients);
  jpeg_finish_compress(&target);
  jpeg_destroy_compress(&target);
  jpeg_finish_decompress(&source);
  jpeg_destroy_decompress(&source);
  *copy = output;
  *copy_size = length;
  return CJPEG_OK;
}

void cjpeg_free(void *memory) { free(memory); }
