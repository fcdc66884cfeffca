#pragma once
#include "cpng.h"

// What loops of whole words read and write beyond both ends of a row.
enum { CPNG_MARGIN = 32 };

// Undoes the filters of one to CPNG_ROWS rows of `count` bytes, each after the byte of its filter, which is at most 4.
// `out` has CPNG_ROWS rows; it and `above` have margins.
void cpng_unfilter(
  const uint8_t *in, unsigned rows, size_t count, size_t pixel, const uint8_t *above, uint8_t *const *out);
