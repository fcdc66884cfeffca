#include "cpixels.h"

void cpixels_narrow(const uint16_t *in, int32_t bits, uint8_t *out, int32_t count) {
  const uint32_t shift = (uint32_t)(bits - 8), half = 1U << shift >> 1;
  for (int32_t i = 0; i < count; i++) {
    const uint32_t value = (in[i] + half) >> shift;
    out[i] = value > 255 ? 255 : (uint8_t)value;
  }
}

int32_t cpixels_outside(const uint8_t *samples, uint8_t low, uint8_t high, int32_t count) {
  int32_t outside = 0;
  for (int32_t i = 0; i < count; i++) outside += samples[i] < low || samples[i] > high;
  return outside;
}

void cpixels_cover(
  uint8_t *samples, const uint8_t *upper, const uint8_t *lower, int32_t pixels, int32_t shared, uint8_t black,
  uint8_t white, bool is_multiplied, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    const int32_t first = i * shared, last = first + shared - 1 < pixels ? first + shared - 1 : pixels - 1;
    const int32_t alpha = (upper[first] + upper[last] + lower[first] + lower[last] + 2) / 4;
    const int32_t behind = (255 - alpha) * (white - black);
    const int32_t sample = is_multiplied ? 255 * samples[i] + behind : alpha * samples[i] + behind + (255 - alpha) * black;
    const int32_t value = (sample + 127) / 255;
    samples[i] = value > 255 ? 255 : (uint8_t)value;
  }
}
