#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// libpng for Swift. Every call catches the library's errors itself: no longjmp crosses a Swift frame.

// Of libpng.
const char *cpng_version(void);

typedef enum {
  CPNG_OK,
  // The file ends before its picture does.
  CPNG_TRUNCATED,
  // Its data make no sense; the library's words stand in the message.
  CPNG_DAMAGED,
  CPNG_TOO_MUCH_MEMORY,
} cpng_status;

typedef struct cpng_decoder cpng_decoder;

typedef struct {
  int32_t width, height;
  // Samples of a pixel as rows are read, 8 bits each: 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha.
  int32_t channels;
  // The embedded colour profile, or NULL; it lives as long as the decoder.
  const uint8_t *profile;
  size_t profile_count;
} cpng_header;

// A decoder of the `count` bytes, which must stay where they are until it is closed; NULL when memory is out.
cpng_decoder *cpng_open(const uint8_t *bytes, size_t count);
void cpng_close(cpng_decoder *decoder);
// What went wrong last; lives as long as the decoder.
const char *cpng_message(const cpng_decoder *decoder);

// Reads up to the picture. Text, times and all else that is not needed to show it is skipped without being unpacked.
cpng_status cpng_read_header(cpng_decoder *decoder, cpng_header *header);
// Reads the next row of width * channels bytes. An interlaced picture is decoded as a whole with the first row, when
// that takes no more than `memory_limit` bytes.
cpng_status cpng_read_row(cpng_decoder *decoder, size_t memory_limit, uint8_t *row);
