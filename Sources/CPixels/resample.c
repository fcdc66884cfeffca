#include "cpixels.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Weights are fixed-point numbers of 14 bits. */
#define WEIGHT_BITS 14
#define HALF (1 << (WEIGHT_BITS - 1))
#define LOBES 3.0

/* For every target position: where its taps start in the source, how many they are, and their weights. */
struct taps {
  int count; /* of each position, at most */
  int *start;
  int *used;
  int32_t *weights;
};

static double lanczos(double x) {
  if (x == 0) return 1;
  if (x <= -LOBES || x >= LOBES) return 0;
  double a = x * M_PI;
  return LOBES * sin(a) * sin(a / LOBES) / (a * a);
}

static void free_taps(struct taps *taps) {
  free(taps->start);
  free(taps->used);
  free(taps->weights);
}

static int make_taps(struct taps *taps, int from, int to) {
  double scale = (double)from / to;
  double widened = scale > 1 ? scale : 1;
  double reach = LOBES * widened;
  taps->count = (int)ceil(reach) * 2 + 1;
  taps->start = malloc((size_t)to * sizeof *taps->start);
  taps->used = malloc((size_t)to * sizeof *taps->used);
  taps->weights = calloc((size_t)to * (size_t)taps->count, sizeof *taps->weights);
  double *exact = malloc((size_t)taps->count * sizeof *exact);
  if (!taps->start || !taps->used || !taps->weights || !exact) {
    free(exact);
    free_taps(taps);
    return -1;
  }
  for (int position = 0; position < to; position++) {
    double centre = (position + 0.5) * scale;
    int first = (int)(centre - reach + 0.5);
    int end = (int)(centre + reach + 0.5);
    if (first < 0) first = 0;
    if (end > from) end = from;
    double sum = 0;
    for (int tap = first; tap < end; tap++) sum += exact[tap - first] = lanczos((tap + 0.5 - centre) / widened);
    int32_t *weights = taps->weights + (size_t)position * (size_t)taps->count;
    int32_t total = 0;
    int largest = 0;
    for (int tap = 0; tap < end - first; tap++) {
      weights[tap] = (int32_t)lround(exact[tap] / sum * (1 << WEIGHT_BITS));
      total += weights[tap];
      if (weights[tap] > weights[largest]) largest = tap;
    }
    /* Rounding must not darken or lighten an even area. */
    weights[largest] += (1 << WEIGHT_BITS) - total;
    taps->start[position] = first;
    taps->used[position] = end - first;
  }
  free(exact);
  return 0;
}

static inline uint8_t clamp(int32_t value) {
  value >>= WEIGHT_BITS;
  return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

/* One target row from `used` source rows; `sums` has room for a row. */
static void blend_rows(const uint8_t *first, size_t stride, const int32_t *weights, int used, int32_t *restrict sums,
                       uint8_t *restrict target, size_t length) {
  for (size_t i = 0; i < length; i++) sums[i] = HALF;
  for (int tap = 0; tap < used; tap++) {
    const uint8_t *row = first + (size_t)tap * stride;
    int32_t weight = weights[tap];
    for (size_t i = 0; i < length; i++) sums[i] += weight * row[i];
  }
  for (size_t i = 0; i < length; i++) target[i] = clamp(sums[i]);
}

/* One row across; inlined for each number of channels, so that the inner loops have a known length. */
static inline void shrink_row(const uint8_t *row, const struct taps *taps, uint8_t *target, int width, int channels) {
  for (int x = 0; x < width; x++) {
    const uint8_t *in = row + (size_t)taps->start[x] * (size_t)channels;
    const int32_t *weights = taps->weights + (size_t)x * (size_t)taps->count;
    int32_t sums[4] = {HALF, HALF, HALF, HALF};
    for (int tap = 0; tap < taps->used[x]; tap++)
      for (int c = 0; c < channels; c++) sums[c] += weights[tap] * in[tap * channels + c];
    for (int c = 0; c < channels; c++) target[(size_t)x * (size_t)channels + (size_t)c] = clamp(sums[c]);
  }
}

int cpixels_resample(const uint8_t *source, int width, int height, int channels, uint8_t *target, int target_width,
                     int target_height) {
  struct taps across, down;
  if (make_taps(&across, width, target_width) != 0) return -1;
  if (make_taps(&down, height, target_height) != 0) {
    free_taps(&across);
    return -1;
  }
  size_t stride = (size_t)width * (size_t)channels;
  int32_t *sums = malloc(stride * sizeof *sums);
  uint8_t *row = malloc(stride);
  int status = sums && row ? 0 : -1;
  /* Down first: its inner loop runs along rows, and fewer rows are left for the other direction. */
  for (int y = 0; status == 0 && y < target_height; y++) {
    blend_rows(source + (size_t)down.start[y] * stride, stride, down.weights + (size_t)y * (size_t)down.count,
               down.used[y], sums, row, stride);
    uint8_t *out = target + (size_t)y * (size_t)target_width * (size_t)channels;
    switch (channels) {
    case 1: shrink_row(row, &across, out, target_width, 1); break;
    case 3: shrink_row(row, &across, out, target_width, 3); break;
    default: shrink_row(row, &across, out, target_width, 4);
    }
  }
  free(sums);
  free(row);
  free_taps(&across);
  free_taps(&down);
  return status;
}
