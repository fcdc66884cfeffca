#pragma once
#include <stdint.h>

// The inner loops of photo work. Weights are 16-bit fixed-point numbers of which 16384 is one.

// Filters down: out[x] is the weighted sum of rows[0][x] … rows[taps - 1][x]. `out` is none of the rows.
void cpixels_filter_rows(
  const uint8_t *const *rows, const int16_t *weights, int32_t taps, uint8_t *out, int32_t width);

// Filters across: out[i] is the weighted sum of `taps` samples from in[first[i]] on, with weights[i * taps] … .
// `taps` is a multiple of eight.
void cpixels_filter_across(
  const uint8_t *in, const int32_t *first, const int16_t *weights, int32_t taps, uint8_t *out, int32_t count);

// Turns rows into columns: out[x][y] = in[y][x].
void cpixels_transpose(
  const uint8_t *in, int32_t in_stride, int32_t width, int32_t height, uint8_t *out, int32_t out_stride);

// How red, green and blue come of luma and differences: the level of black, and factors times 65536.
typedef struct {
  int32_t black, luma, red, green_by_blue, green_by_red, blue;
} cpixels_ycc;

// YCbCr to red, green and blue in turn. Two neighbours share one sample of each chroma row.
void cpixels_ycc_to_rgb(
  const uint8_t *y, const uint8_t *cb, const uint8_t *cr, cpixels_ycc by, uint8_t *rgb, int32_t count);

// Pixels of 1 to 4 samples to a row for each colour. The second or fourth sample is alpha, and white shines through.
void cpixels_split(const uint8_t *pixels, int32_t channels, uint8_t *const *rows, int32_t count);

// Two rows of red, green and blue in turn to two rows of luma and one of each chroma, which is the mean of four.
void cpixels_rgb_to_ycc(
  const uint8_t *upper, const uint8_t *lower, uint8_t *upper_y, uint8_t *lower_y, uint8_t *cb, uint8_t *cr,
  int32_t count);

// Puts planes in turn: red, green, blue.
void cpixels_interleave3(const uint8_t *a, const uint8_t *b, const uint8_t *c, uint8_t *out, int32_t count);

// Puts planes in turn: cyan, magenta, yellow, black, each exclusive-or'ed with `flip`.
void cpixels_interleave4(
  const uint8_t *c, const uint8_t *m, const uint8_t *y, const uint8_t *k, uint8_t flip, uint8_t *out,
  int32_t count);

// The same of YCCK as Adobe stores it: the colours inverted, then turned to YCbCr; the black inverted.
// `rgb` is room for `count` pixels.
void cpixels_ycck_to_cmyk(
  const uint8_t *y, const uint8_t *cb, const uint8_t *cr, const uint8_t *k, cpixels_ycc by, uint8_t *rgb,
  uint8_t *out, int32_t count);

// Ink on white paper, for want of a profile: 0 is no ink.
void cpixels_cmyk_to_rgb(const uint8_t *cmyk, uint8_t *rgb, int32_t count);

// From one RGB to another: three curves of 256 to light, in which 32767 is one; a matrix of rows, in which 8192 is
// one; and a curve of 8192 from light. `in` may be `out`.
void cpixels_shape(
  const uint8_t *in, const uint16_t *to_light, const int32_t *matrix, const uint8_t *from_light, uint8_t *out,
  int32_t count);
