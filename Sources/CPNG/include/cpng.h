#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The picture data of a PNG (ISO/IEC 15948): inflated, unfiltered and expanded, a few rows at a time. The caller has read
// the chunks and checked their checksums.

typedef enum {
  CPNG_OK,
  // The data ends before the wanted bytes.
  CPNG_TRUNCATED,
  // The data is invalid.
  CPNG_DAMAGED,
} cpng_status;

// A part of a compressed stream, in place as long as its reader.
typedef struct {
  const uint8_t *bytes;
  size_t count;
} cpng_part;

// Inflates a stream in zlib's format (RFC 1950 and 1951). Its own checksum is not compared, because the chunks have theirs.
typedef struct cpng_inflater cpng_inflater;

// `most` is the largest number of bytes that one call wants; NULL without memory.
cpng_inflater *cpng_inflater_open(const cpng_part *parts, size_t count, size_t most);
void cpng_inflater_close(cpng_inflater *inflater);
// The next `count` bytes, which stay until the next call.
cpng_status cpng_inflate(cpng_inflater *inflater, size_t count, const uint8_t **bytes);

// Reads rows of a picture, or of the passes of an interlaced one.
typedef struct cpng_reader cpng_reader;

enum { CPNG_ROWS = 4 };

// `bits` is the size of a pixel. NULL without memory.
cpng_reader *cpng_reader_open(const cpng_part *parts, size_t count, size_t widest, unsigned bits);
void cpng_reader_close(cpng_reader *reader);
// The memory that a reader takes, in bytes.
size_t cpng_reader_memory(size_t widest, unsigned bits);
// Begins a picture or a pass.
void cpng_reader_begin(cpng_reader *reader, size_t width);
// The next rows, one to CPNG_ROWS, which stay until the next call.
cpng_status cpng_reader_next(cpng_reader *reader, unsigned rows, const uint8_t *made[CPNG_ROWS]);

// Stored samples.
typedef struct {
  // As in the header: bits per sample, and 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGB and alpha.
  uint8_t depth, color;
  // The grey level or colour that is transparent.
  bool has_transparent;
  uint16_t transparent[3];
  uint8_t palette[256][4];
} cpng_samples;

// The number of samples per pixel after expansion: 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha.
unsigned cpng_channels(const cpng_samples *samples);
// Expansion changes nothing.
bool cpng_is_expanded(const cpng_samples *samples);
// Expands a row to samples of eight bits.
void cpng_expand(const cpng_samples *samples, const uint8_t *in, uint8_t *out, size_t width);
