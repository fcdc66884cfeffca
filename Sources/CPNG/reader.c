#include <stdlib.h>
#include <string.h>

#include "internal.h"

struct cpng_reader {
  cpng_inflater *inflater;
  unsigned bits;
  // Of the current picture or pass, in bytes.
  size_t row_bytes;
  uint8_t *memory;
  // The last row, and the rows in progress.
  uint8_t *above, *rows[CPNG_ROWS];
};

static size_t bytes_of(size_t width, unsigned bits) { return (width * bits + 7) / 8; }

static size_t row_size(size_t widest, unsigned bits) { return bytes_of(widest, bits) + 2 * CPNG_MARGIN; }

size_t cpng_reader_memory(size_t widest, unsigned bits) { return 2 * (CPNG_ROWS + 1) * row_size(widest, bits); }

cpng_reader *cpng_reader_open(const cpng_part *parts, size_t count, size_t widest, unsigned bits) {
  cpng_reader *reader = calloc(1, sizeof *reader);
  if (!reader) return NULL;
  const size_t size = row_size(widest, bits);
  reader->bits = bits;
  reader->inflater = cpng_inflater_open(parts, count, CPNG_ROWS * (bytes_of(widest, bits) + 1));
  reader->memory = malloc((CPNG_ROWS + 1) * size);
  if (!reader->inflater || !reader->memory) {
    cpng_reader_close(reader);
    return NULL;
  }
  reader->above = reader->memory + CPNG_MARGIN;
  for (int row = 0; row < CPNG_ROWS; row++) reader->rows[row] = reader->above + (row + 1) * size;
  return reader;
}

void cpng_reader_close(cpng_reader *reader) {
  if (reader->inflater) cpng_inflater_close(reader->inflater);
  free(reader->memory);
  free(reader);
}

void cpng_reader_begin(cpng_reader *reader, size_t width) {
  reader->row_bytes = bytes_of(width, reader->bits);
  memset(reader->above, 0, reader->row_bytes);
}

cpng_status cpng_reader_next(cpng_reader *reader, unsigned rows, const uint8_t *made[CPNG_ROWS]) {
  const size_t count = reader->row_bytes;
  const uint8_t *in;
  const cpng_status status = cpng_inflate(reader->inflater, rows * (count + 1), &in);
  if (status != CPNG_OK) return status;
  for (unsigned row = 0; row < rows; row++) {
    if (in[row * (count + 1)] > 4) return CPNG_DAMAGED;
  }
  cpng_unfilter(in, rows, count, reader->bits < 8 ? 1 : reader->bits / 8, reader->above, reader->rows);
  for (unsigned row = 0; row < rows; row++) made[row] = reader->rows[row];
  uint8_t *last = reader->rows[rows - 1];
  reader->rows[rows - 1] = reader->above;
  reader->above = last;
  return CPNG_OK;
}

unsigned cpng_channels(const cpng_samples *samples) {
  const bool has_color = samples->color & 2, has_alpha = samples->color & 4;
  return (has_color ? 3 : 1) + (has_alpha || samples->has_transparent);
}

bool cpng_is_expanded(const cpng_samples *samples) {
  return samples->depth == 8 && samples->color != 3 && !samples->has_transparent;
}

static inline unsigned sample_at(const uint8_t *in, size_t index, unsigned depth) {
  if (depth == 8) return in[index];
  if (depth == 16) return (unsigned)in[2 * index] << 8 | in[2 * index + 1];
  const size_t bit = index * depth;
  return in[bit / 8] >> (8 - depth - bit % 8) & ((1u << depth) - 1);
}

static void expand_palette(const cpng_samples *samples, const uint8_t *in, uint8_t *out, size_t width) {
  const unsigned channels = cpng_channels(samples);
  for (size_t x = 0; x < width; x++) {
    memcpy(out + x * channels, samples->palette[sample_at(in, x, samples->depth)], channels);
  }
}

void cpng_expand(const cpng_samples *samples, const uint8_t *in, uint8_t *out, size_t width) {
  if (samples->color == 3) {
    expand_palette(samples, in, out, width);
    return;
  }
  const unsigned depth = samples->depth, colors = samples->color & 2 ? 3 : 1;
  const unsigned stored = colors + (samples->color & 4 ? 1 : 0), most = (1u << depth) - 1;
  for (size_t x = 0; x < width; x++) {
    bool is_transparent = true;
    for (unsigned c = 0; c < stored; c++) {
      const unsigned sample = sample_at(in, x * stored + c, depth);
      *out++ = (uint8_t)((sample * 255 + most / 2) / most);
      if (c < colors) is_transparent &= sample == (samples->transparent[c] & most);
    }
    if (samples->has_transparent) *out++ = is_transparent ? 0 : 255;
  }
}
