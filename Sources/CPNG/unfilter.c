#include <string.h>

#include "internal.h"

enum { none, sub, up, average, paeth };

static inline int between(int a, int b) { return a < b ? b - a : a - b; }

static inline int nearest(int a, int b, int c) {
  const int to_a = between(b, c), to_b = between(a, c), to_c = between(a + b, 2 * c);
  return to_a <= to_b && to_a <= to_c ? a : to_b <= to_c ? b : c;
}

static void unfilter_row(const uint8_t *in, size_t count, size_t pixel, const uint8_t *above, uint8_t *out) {
  const uint8_t filter = *in++;
  for (size_t i = 0; i < count; i++) {
    const int a = i < pixel ? 0 : out[i - pixel], b = above[i], c = i < pixel ? 0 : above[i - pixel];
    const int predicted[] = {0, a, b, (a + b) / 2};
    out[i] = (uint8_t)(in[i] + (filter == paeth ? nearest(a, b, c) : predicted[filter]));
  }
}

// A pixel of up to four bytes in each of four rows.
typedef uint8_t pixels __attribute__((vector_size(16)));
typedef uint32_t words __attribute__((vector_size(16)));

static inline pixels choose(pixels mask, pixels yes, pixels no) { return (mask & yes) | (~mask & no); }

static inline pixels distance(pixels a, pixels b) {
  return __builtin_elementwise_sub_sat(a, b) | __builtin_elementwise_sub_sat(b, a);
}

// Paeth's predictor in eight bits. If c is not between a and b, it is the last choice.
static inline pixels predict(pixels a, pixels b, pixels c) {
  const pixels to_a = distance(b, c), to_b = distance(a, c);
  const pixels nearer = __builtin_elementwise_min(to_a, to_b), further = __builtin_elementwise_max(to_a, to_b);
  const pixels low = __builtin_elementwise_min(a, b), high = __builtin_elementwise_max(a, b);
  const pixels is_c = (pixels)(low <= c) & (pixels)(c <= high) & (pixels)(further - nearer < nearer);
  return choose(is_c, c, choose((pixels)(nearer == to_a), a, b));
}

static inline uint32_t load(const uint8_t *bytes) {
  uint32_t value;
  memcpy(&value, bytes, sizeof value);
  return value;
}

// A pixel depends on the one before it. So four rows go on together, each one pixel behind the row above it.
static void unfilter_together(
  const uint8_t *in, unsigned rows, size_t count, size_t pixel, const uint8_t *above, uint8_t *const *out) {
  words masks[5] = {0};
  const uint8_t *from[CPNG_ROWS];
  uint8_t *to[CPNG_ROWS];
  for (unsigned row = 0; row < CPNG_ROWS; row++) {
    const unsigned lag = row * (unsigned)pixel;
    // Rows that are missing repeat the first one into unused space.
    if (row < rows) masks[in[row * (count + 1)]][row] = ~0u;
    from[row] = row < rows ? in + row * (count + 1) + 1 - lag : in + 1;
    to[row] = out[row] - lag;
  }
  const pixels is_sub = (pixels)masks[sub], is_up = (pixels)masks[up];
  const pixels is_average = (pixels)masks[average], is_paeth = (pixels)masks[paeth];
  pixels a = {0}, c = {0};
  // There are zeros before a row.
  words has_begun = {~0u, 0, 0, 0};
  for (size_t i = 0; i < count + 3 * pixel; i += pixel) {
    const words raw = {load(from[0] + i), load(from[1] + i), load(from[2] + i), load(from[3] + i)};
    words upper = __builtin_shufflevector((words)a, (words)a, 0, 0, 1, 2);
    upper[0] = load(above + i);
    const pixels b = (pixels)upper;
    const pixels mean = (a & b) + (((a ^ b) >> 1) & 0x7F);
    const pixels other = (is_sub & a) | (is_up & b) | (is_average & mean);
    const pixels made = ((pixels)raw + ((is_paeth & predict(a, b, c)) | other)) & (pixels)has_begun;
    for (unsigned row = 0; row < CPNG_ROWS; row++) memcpy(to[row] + i, (const uint8_t *)&made + 4 * row, 4);
    c = b;
    a = made;
    has_begun = __builtin_shufflevector(has_begun, has_begun, 0, 0, 1, 2);
  }
}

void cpng_unfilter(
  const uint8_t *in, unsigned rows, size_t count, size_t pixel, const uint8_t *above, uint8_t *const *out) {
  if (pixel <= 4) {
    unfilter_together(in, rows, count, pixel, above, out);
    return;
  }
  for (unsigned row = 0; row < rows; row++) {
    unfilter_row(in + row * (count + 1), count, pixel, row ? out[row - 1] : above, out[row]);
  }
}
