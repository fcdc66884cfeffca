#pragma once
#include <stdbool.h>
#include <stdint.h>

// The inner loops of photo work. Weights are 16-bit fixed-point numbers with 16384 as one.

// Filters vertically: out[x] is the weighted sum of rows[0][x] … rows[taps - 1][x]. `out` is not one of the rows.
void cpixels_filter_rows(
  const uint8_t *const *rows, const int16_t *weights, int32_t taps, uint8_t *out, int32_t width);

// Filters horizontally: out[i] is the weighted sum of `taps` samples from in[first[i]], with weights[i * taps] … .
// `taps` is a multiple of eight.
void cpixels_filter_across(
  const uint8_t *in, const int32_t *first, const int16_t *weights, int32_t taps, uint8_t *out, int32_t count);

// Turns rows into columns: out[x][y] = in[y][x].
void cpixels_transpose(
  const uint8_t *in, int32_t in_stride, int32_t width, int32_t height, uint8_t *out, int32_t out_stride);

// The conversion of luma and differences to RGB: the level of black, and factors times 65536.
typedef struct {
  int32_t black, luma, red, green_by_blue, green_by_red, blue;
} cpixels_ycc;

// YCbCr to interleaved RGB. Two neighbours share one sample of each chroma row.
void cpixels_ycc_to_rgb(
  const uint8_t *y, const uint8_t *cb, const uint8_t *cr, cpixels_ycc by, uint8_t *rgb, int32_t count);

// Splits pixels of 1 to 4 samples into a row per colour. The second or fourth sample is alpha, over white.
void cpixels_split(const uint8_t *pixels, int32_t channels, uint8_t *const *rows, int32_t count);

// Two rows of pixels to two rows of luma and one of each chroma, which is the mean of four. The pixels have three samples,
// or four with alpha, over white. The rows of
// results do not overlap.
void cpixels_rgb_to_ycc(
  const uint8_t *upper, const uint8_t *lower, int32_t channels, uint8_t *upper_y, uint8_t *lower_y, uint8_t *cb,
  uint8_t *cr, int32_t count);

// Interleaves three planes: red, green, blue.
void cpixels_interleave3(const uint8_t *a, const uint8_t *b, const uint8_t *c, uint8_t *out, int32_t count);

// Interleaves four planes: cyan, magenta, yellow, black, each exclusive-or'ed with `flip`.
void cpixels_interleave4(
  const uint8_t *c, const uint8_t *m, const uint8_t *y, const uint8_t *k, uint8_t flip, uint8_t *out,
  int32_t count);

// The same for Adobe's YCCK: colours inverted, then converted to YCbCr; black inverted. `rgb` has room for `count`
// pixels.
void cpixels_ycck_to_cmyk(
  const uint8_t *y, const uint8_t *cb, const uint8_t *cr, const uint8_t *k, cpixels_ycc by, uint8_t *rgb,
  uint8_t *out, int32_t count);

// Ink on white paper without a profile: 0 is no ink.
void cpixels_cmyk_to_rgb(const uint8_t *cmyk, uint8_t *rgb, int32_t count);

// One RGB space to another: three curves of 256 to light, with 32767 as one; a matrix of rows, with 8192 as one; and a
// curve of 8192 from light. `in` may be `out`.
void cpixels_shape(
  const uint8_t *in, const uint16_t *to_light, const int32_t *matrix, const uint8_t *from_light, uint8_t *out,
  int32_t count);

// Samples of `bits` bits, more than eight, to the nearest of eight.
void cpixels_narrow(const uint16_t *in, int32_t bits, uint8_t *out, int32_t count);

// The number of samples below `low` or above `high`.
int32_t cpixels_outside(const uint8_t *samples, uint8_t low, uint8_t high, int32_t count);

// Puts samples, each of which `shared` pixels across and two lines share, on `white` by the alpha of these pixels.
// Multiplied samples are `black` where they are transparent.
void cpixels_cover(
  uint8_t *samples, const uint8_t *upper, const uint8_t *lower, int32_t pixels, int32_t shared, uint8_t black,
  uint8_t white, bool is_multiplied, int32_t count);
