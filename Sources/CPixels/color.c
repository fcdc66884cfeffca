#include "cpixels.h"

static inline uint8_t clamp(int32_t value) { return value < 0 ? 0 : value > 255 ? 255 : (uint8_t)value; }

void cpixels_ycc_to_rgb(
  const uint8_t *y, const uint8_t *cb, const uint8_t *cr, cpixels_ycc by, uint8_t *rgb, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    const int32_t luma = (y[i] - by.black) * by.luma + 32768, blue = cb[i / 2] - 128, red = cr[i / 2] - 128;
    rgb[3 * i] = clamp((luma + by.red * red) >> 16);
    rgb[3 * i + 1] = clamp((luma - by.green_by_blue * blue - by.green_by_red * red) >> 16);
    rgb[3 * i + 2] = clamp((luma + by.blue * blue) >> 16);
  }
}

static inline uint8_t on_white(uint8_t level, uint8_t alpha) {
  return (uint8_t)((level * alpha + 255 * (255 - alpha) + 127) / 255);
}

// Two neighbours in both rows. The factors have 15 bits, for which there are fast multiplications.
#define INLINE __attribute__((always_inline)) static inline
INLINE void convert_four(
  const uint8_t *restrict upper, const uint8_t *restrict lower, int32_t channels, int32_t next,
  uint8_t *restrict upper_y, uint8_t *restrict lower_y, uint8_t *restrict cb, uint8_t *restrict cr) {
  int32_t red = 0, green = 0, blue = 0;
  for (int32_t k = 0; k < 4; k++) {
    const int32_t x = k % 2 * next;
    const uint8_t *pixel = (k < 2 ? upper : lower) + x * channels;
    int32_t r = pixel[0], g = pixel[1], b = pixel[2];
    if (channels == 4) {
      r = on_white(pixel[0], pixel[3]);
      g = on_white(pixel[1], pixel[3]);
      b = on_white(pixel[2], pixel[3]);
    }
    (k < 2 ? upper_y : lower_y)[x] = (uint8_t)((9798 * r + 19235 * g + 3735 * b + 16384) >> 15);
    red += r;
    green += g;
    blue += b;
  }
  // Rounds the sum of four; one less, because the maximum must stay below 256.
  const int32_t middle = (512 << 15) + 65535;
  *cb = (uint8_t)((-5529 * red - 10855 * green + 16384 * blue + middle) >> 17);
  *cr = (uint8_t)((16384 * red - 13720 * green - 2664 * blue + middle) >> 17);
}

INLINE void rgb_to_ycc(
  const uint8_t *restrict upper, const uint8_t *restrict lower, int32_t channels, uint8_t *restrict upper_y,
  uint8_t *restrict lower_y, uint8_t *restrict cb, uint8_t *restrict cr, int32_t count) {
  const int32_t pairs = count / 2;
  for (int32_t i = 0; i < pairs; i++) {
    convert_four(
      upper + 2 * i * channels, lower + 2 * i * channels, channels, 1, upper_y + 2 * i, lower_y + 2 * i, cb + i, cr + i);
  }
  // The last sample of an odd number is its own neighbour.
  if (count % 2) {
    const int32_t x = count - 1;
    convert_four(upper + x * channels, lower + x * channels, channels, 0, upper_y + x, lower_y + x, cb + pairs, cr + pairs);
  }
}

#define ROWS \
  const uint8_t *upper, const uint8_t *lower, uint8_t *upper_y, uint8_t *lower_y, uint8_t *cb, uint8_t *cr, int32_t count

static void rgb3_plain(ROWS) { rgb_to_ycc(upper, lower, 3, upper_y, lower_y, cb, cr, count); }
static void rgb4_plain(ROWS) { rgb_to_ycc(upper, lower, 4, upper_y, lower_y, cb, cr, count); }

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2")))
AVX2 static void rgb3_avx2(ROWS) { rgb_to_ycc(upper, lower, 3, upper_y, lower_y, cb, cr, count); }
AVX2 static void rgb4_avx2(ROWS) { rgb_to_ycc(upper, lower, 4, upper_y, lower_y, cb, cr, count); }
#endif

void cpixels_rgb_to_ycc(
  const uint8_t *upper, const uint8_t *lower, int32_t channels, uint8_t *upper_y, uint8_t *lower_y, uint8_t *cb,
  uint8_t *cr, int32_t count) {
  void (*convert)(ROWS) = channels == 3 ? rgb3_plain : rgb4_plain;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) convert = channels == 3 ? rgb3_avx2 : rgb4_avx2;
#endif
  convert(upper, lower, upper_y, lower_y, cb, cr, count);
}

void cpixels_interleave3(const uint8_t *a, const uint8_t *b, const uint8_t *c, uint8_t *out, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    out[3 * i] = a[i];
    out[3 * i + 1] = b[i];
    out[3 * i + 2] = c[i];
  }
}

void cpixels_interleave4(
  const uint8_t *c, const uint8_t *m, const uint8_t *y, const uint8_t *k, uint8_t flip, uint8_t *out,
  int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    out[4 * i] = c[i] ^ flip;
    out[4 * i + 1] = m[i] ^ flip;
    out[4 * i + 2] = y[i] ^ flip;
    out[4 * i + 3] = k[i] ^ flip;
  }
}

void cpixels_ycck_to_cmyk(
  const uint8_t *y, const uint8_t *cb, const uint8_t *cr, const uint8_t *k, cpixels_ycc by, uint8_t *rgb,
  uint8_t *out, int32_t count) {
  cpixels_ycc_to_rgb(y, cb, cr, by, rgb, count);
  for (int32_t i = 0; i < count; i++) {
    for (int32_t c = 0; c < 3; c++) out[4 * i + c] = rgb[3 * i + c];
    out[4 * i + 3] = 255 - k[i];
  }
}

void cpixels_cmyk_to_rgb(const uint8_t *cmyk, uint8_t *rgb, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    const int32_t light = 255 - cmyk[4 * i + 3];
    for (int32_t c = 0; c < 3; c++) {
      rgb[3 * i + c] = (uint8_t)(((255 - cmyk[4 * i + c]) * light + 127) / 255);
    }
  }
}

void cpixels_split(const uint8_t *pixels, int32_t channels, uint8_t *const *rows, int32_t count) {
  const int32_t colors = channels < 3 ? 1 : 3;
  const int32_t has_alpha = channels - colors;
  for (int32_t i = 0; i < count; i++) {
    const uint8_t *pixel = pixels + (long)i * channels;
    for (int32_t c = 0; c < colors; c++) rows[c][i] = has_alpha ? on_white(pixel[c], pixel[colors]) : pixel[c];
  }
}

static inline int32_t clamp_light(int32_t value) { return value < 0 ? 0 : value > 8191 ? 8191 : value; }

void cpixels_shape(
  const uint8_t *in, const uint16_t *to_light, const int32_t *matrix, const uint8_t *from_light, uint8_t *out,
  int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    const int32_t r = to_light[in[3 * i]], g = to_light[256 + in[3 * i + 1]], b = to_light[512 + in[3 * i + 2]];
    for (int32_t c = 0; c < 3; c++) {
      const int32_t light = matrix[3 * c] * r + matrix[3 * c + 1] * g + matrix[3 * c + 2] * b;
      out[3 * i + c] = from_light[clamp_light((light + 16384) >> 15)];
    }
  }
}
