#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// libpng for Swift. Every call catches the library's errors itself, so that no longjmp crosses a Swift frame.

const char *cpng_version(void);

typedef enum {
  CPNG_OK,
  // The file ends before its picture.
  CPNG_TRUNCATED,
  // The data is invalid; the message has the library's reason.
  CPNG_DAMAGED,
  CPNG_TOO_MUCH_MEMORY,
} cpng_status;

typedef struct cpng_decoder cpng_decoder;

typedef struct {
  int32_t width, height;
  // Samples per pixel, 8 bits each: 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha.
  int32_t channels;
  // The embedded colour profile, or NULL; valid as long as the decoder.
  const uint8_t *profile;
  size_t profile_count;
} cpng_header;

// A decoder of `count` bytes, which must stay in place until it is closed; NULL without memory.
cpng_decoder *cpng_open(const uint8_t *bytes, size_t count);
void cpng_close(cpng_decoder *decoder);
// The last error, valid as long as the decoder.
const char *cpng_message(const cpng_decoder *decoder);

// Reads up to the picture. Texts, times and the like are skipped without decompressing them.
cpng_status cpng_read_header(cpng_decoder *decoder, cpng_header *header);
// Reads the next row of width * channels bytes. An interlaced picture is decoded completely with the first row, in at
// most `memory_limit` bytes.
cpng_status cpng_read_row(cpng_decoder *decoder, size_t memory_limit, uint8_t *row);
