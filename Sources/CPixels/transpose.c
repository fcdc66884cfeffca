#include <string.h>

#include "cpixels.h"

enum { side = 8 };

// Transposes eight rows of eight samples, as 64-bit words, in three rounds of exchanging smaller squares.
static void transpose_square(const uint8_t *in, int32_t in_stride, uint8_t *out, int32_t out_stride) {
  uint64_t row[side];
  for (int i = 0; i < side; i++) memcpy(&row[i], in + (long)i * in_stride, side);
  for (int i = 0; i < 4; i++) {
    const uint64_t a = row[i], b = row[i + 4];
    row[i] = (a & 0x00000000FFFFFFFF) | b << 32;
    row[i + 4] = a >> 32 | (b & 0xFFFFFFFF00000000);
  }
  for (int j = 0; j < 4; j++) {
    const int i = j / 2 * 4 + j % 2;
    const uint64_t a = row[i], b = row[i + 2];
    row[i] = (a & 0x0000FFFF0000FFFF) | (b & 0x0000FFFF0000FFFF) << 16;
    row[i + 2] = (a >> 16 & 0x0000FFFF0000FFFF) | (b & 0xFFFF0000FFFF0000);
  }
  for (int i = 0; i < side; i += 2) {
    const uint64_t a = row[i], b = row[i + 1];
    row[i] = (a & 0x00FF00FF00FF00FF) | (b & 0x00FF00FF00FF00FF) << 8;
    row[i + 1] = (a >> 8 & 0x00FF00FF00FF00FF) | (b & 0xFF00FF00FF00FF00);
  }
  for (int i = 0; i < side; i++) memcpy(out + (long)i * out_stride, &row[i], side);
}

static void transpose_rest(
  const uint8_t *in, int32_t in_stride, int32_t width, int32_t height, uint8_t *out, int32_t out_stride) {
  for (int32_t y = 0; y < height; y++) {
    for (int32_t x = 0; x < width; x++) out[(long)x * out_stride + y] = in[(long)y * in_stride + x];
  }
}

void cpixels_transpose(
  const uint8_t *in, int32_t in_stride, int32_t width, int32_t height, uint8_t *out, int32_t out_stride) {
  enum { tile = 64 };
  for (int32_t top = 0; top < height; top += tile) {
    const int32_t bottom = top + tile < height ? top + tile : height;
    for (int32_t x = 0; x < width; x += side) {
      for (int32_t y = top; y < bottom; y += side) {
        const uint8_t *from = in + (long)y * in_stride + x;
        uint8_t *to = out + (long)x * out_stride + y;
        const int32_t columns = width - x, lines = bottom - y;
        if (columns >= side && lines >= side) {
          transpose_square(from, in_stride, to, out_stride);
        } else {
          transpose_rest(
            from, in_stride, columns < side ? columns : side, lines < side ? lines : side, to, out_stride);
        }
      }
    }
  }
}
