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

static inline uint8_t luma(const uint8_t *rgb) {
  return (uint8_t)((19595 * rgb[0] + 38470 * rgb[1] + 7471 * rgb[2] + 32768) >> 16);
}

void cpixels_rgb_to_ycc(
  const uint8_t *upper, const uint8_t *lower, uint8_t *upper_y, uint8_t *lower_y, uint8_t *cb, uint8_t *cr,
  int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    upper_y[i] = luma(upper + 3 * i);
    lower_y[i] = luma(lower + 3 * i);
  }
  // Rounds the sum of four; one less, because the maximum must stay below 256.
  const int32_t middle = (512 << 16) + 131071;
  for (int32_t i = 0; i < (count + 1) / 2; i++) {
    const uint8_t *a = upper + 6 * i, *b = lower + 6 * i;
    // The last sample of an odd number is its own neighbour.
    const int32_t next = 2 * i + 1 < count ? 3 : 0;
    const int32_t red = a[0] + a[next] + b[0] + b[next];
    const int32_t green = a[1] + a[next + 1] + b[1] + b[next + 1];
    const int32_t blue = a[2] + a[next + 2] + b[2] + b[next + 2];
    cb[i] = (uint8_t)((-11059 * red - 21709 * green + 32768 * blue + middle) >> 18);
    cr[i] = (uint8_t)((32768 * red - 27439 * green - 5329 * blue + middle) >> 18);
  }
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

static inline uint8_t on_white(uint8_t level, uint8_t alpha) {
  return (uint8_t)((level * alpha + 255 * (255 - alpha) + 127) / 255);
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
