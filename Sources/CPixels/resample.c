#include <string.h>

#include "cpixels.h"

enum { one = 1 << 14, half = one / 2 };

static inline uint8_t clamp(int32_t value) { return value < 0 ? 0 : value > 255 ? 255 : (uint8_t)value; }

static void filter_rows_plain(
  const uint8_t *const *rows, const int16_t *weights, int32_t taps, uint8_t *out, int32_t from, int32_t width) {
  int32_t sum[64];
  for (int32_t x = from; x < width; x += 64) {
    const int32_t count = width - x < 64 ? width - x : 64;
    for (int32_t i = 0; i < count; i++) sum[i] = half;
    for (int32_t k = 0; k < taps; k++) {
      const uint8_t *row = rows[k] + x;
      const int32_t weight = weights[k];
      for (int32_t i = 0; i < count; i++) sum[i] += weight * row[i];
    }
    for (int32_t i = 0; i < count; i++) out[x + i] = clamp(sum[i] >> 14);
  }
}

static void filter_across_plain(
  const uint8_t *in, const int32_t *first, const int16_t *weights, int32_t taps, uint8_t *out, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    const uint8_t *samples = in + first[i];
    const int16_t *weight = weights + (long)i * taps;
    int32_t sum = half;
    for (int32_t k = 0; k < taps; k++) sum += weight[k] * samples[k];
    out[i] = clamp(sum >> 14);
  }
}

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))

// Sixteen samples of two rows, weighted, into the sums of the lower and the upper halves of both lanes.
AVX2 static inline void add_pair(
  const uint8_t *a, const uint8_t *b, __m256i pair, __m256i *low, __m256i *high) {
  const __m256i wide_a = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)a));
  const __m256i wide_b = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)b));
  *low = _mm256_add_epi32(*low, _mm256_madd_epi16(_mm256_unpacklo_epi16(wide_a, wide_b), pair));
  *high = _mm256_add_epi32(*high, _mm256_madd_epi16(_mm256_unpackhi_epi16(wide_a, wide_b), pair));
}

AVX2 static inline __m256i two_weights(const int16_t *weights, int32_t k, int32_t taps) {
  const uint32_t upper = k + 1 < taps ? (uint16_t)weights[k + 1] : 0;
  return _mm256_set1_epi32((int32_t)(upper << 16 | (uint16_t)weights[k]));
}

AVX2 static int32_t filter_rows_avx2(
  const uint8_t *const *rows, const int16_t *weights, int32_t taps, uint8_t *out, int32_t width) {
  const __m256i rounding = _mm256_set1_epi32(half);
  int32_t x = 0;
  for (; x + 32 <= width; x += 32) {
    __m256i a = rounding, b = rounding, c = rounding, d = rounding;
    for (int32_t k = 0; k < taps; k += 2) {
      const uint8_t *upper = rows[k] + x;
      const uint8_t *lower = rows[k + 1 < taps ? k + 1 : k] + x;
      const __m256i pair = two_weights(weights, k, taps);
      add_pair(upper, lower, pair, &a, &b);
      add_pair(upper + 16, lower + 16, pair, &c, &d);
    }
    const __m256i left = _mm256_packs_epi32(_mm256_srai_epi32(a, 14), _mm256_srai_epi32(b, 14));
    const __m256i right = _mm256_packs_epi32(_mm256_srai_epi32(c, 14), _mm256_srai_epi32(d, 14));
    // Packing works lane by lane; the permutation puts the four quarters in their order again.
    const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi16(left, right), _MM_SHUFFLE(3, 1, 2, 0));
    _mm256_storeu_si256((__m256i *)(out + x), packed);
  }
  return x;
}

AVX2 static inline __m256i weigh(const uint8_t *in, const int16_t *weights, int32_t taps) {
  __m256i sum = _mm256_setzero_si256();
  int32_t k = 0;
  for (; k + 16 <= taps; k += 16) {
    const __m256i samples = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(in + k)));
    sum = _mm256_add_epi32(
      sum, _mm256_madd_epi16(samples, _mm256_loadu_si256((const __m256i *)(weights + k))));
  }
  if (k < taps) {
    const __m128i samples = _mm_cvtepu8_epi16(_mm_loadl_epi64((const __m128i *)(in + k)));
    const __m128i product = _mm_madd_epi16(samples, _mm_loadu_si128((const __m128i *)(weights + k)));
    sum = _mm256_add_epi32(sum, _mm256_zextsi128_si256(product));
  }
  return sum;
}

AVX2 static int32_t filter_across_avx2(
  const uint8_t *in, const int32_t *first, const int16_t *weights, int32_t taps, uint8_t *out, int32_t count) {
  const __m128i rounding = _mm_set1_epi32(half);
  int32_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const int16_t *weight = weights + (long)i * taps;
    const __m256i a = weigh(in + first[i], weight, taps);
    const __m256i b = weigh(in + first[i + 1], weight + taps, taps);
    const __m256i c = weigh(in + first[i + 2], weight + 2 * taps, taps);
    const __m256i d = weigh(in + first[i + 3], weight + 3 * taps, taps);
    const __m256i sums = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
    __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    sum = _mm_srai_epi32(_mm_add_epi32(sum, rounding), 14);
    sum = _mm_packs_epi32(sum, sum);
    sum = _mm_packus_epi16(sum, sum);
    const int32_t four = _mm_cvtsi128_si32(sum);
    memcpy(out + i, &four, sizeof four);
  }
  return i;
}

static int has_avx2(void) { return __builtin_cpu_supports("avx2"); }
#endif

void cpixels_filter_rows(
  const uint8_t *const *rows, const int16_t *weights, int32_t taps, uint8_t *out, int32_t width) {
  if (taps == 1 && weights[0] == one) {
    memcpy(out, rows[0], (size_t)width);
    return;
  }
  int32_t done = 0;
#if defined(__x86_64__)
  if (has_avx2()) done = filter_rows_avx2(rows, weights, taps, out, width);
#endif
  filter_rows_plain(rows, weights, taps, out, done, width);
}

void cpixels_filter_across(
  const uint8_t *in, const int32_t *first, const int16_t *weights, int32_t taps, uint8_t *out, int32_t count) {
  int32_t done = 0;
#if defined(__x86_64__)
  if (has_avx2()) done = filter_across_avx2(in, first, weights, taps, out, count);
#endif
  filter_across_plain(in, first + done, weights + (long)done * taps, taps, out + done, count - done);
}
