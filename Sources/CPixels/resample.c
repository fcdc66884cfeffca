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

// Adds sixteen weighted samples of two rows to the sums of the lower and upper halves of both lanes.
AVX2 static inline void add_pair(
  const uint8_t *a, const uint8_t *b, __m256i pair, __m256i *low, __m256i *high) {
  const __m256i wide_a = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)a));
  const __m256i wide_b = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)b));
  *low = _mm256_add_epi32(*low, _mm256_madd_epi16(_mm256_unpacklo_epi16(wide_a, wide_b), pair));
  *high = _mm256_add_epi32(*high, _mm256_madd_epi16(_mm256_unpackhi_epi16(wide_a, wide_b), pair));
}

AVX2 static inline __m256i pack_sums(__m256i a, __m256i b, __m256i c, __m256i d) {
  const __m256i left = _mm256_packs_epi32(_mm256_srai_epi32(a, 14), _mm256_srai_epi32(b, 14));
  const __m256i right = _mm256_packs_epi32(_mm256_srai_epi32(c, 14), _mm256_srai_epi32(d, 14));
  // Packing works per lane; the permutation restores the order of the four quarters.
  return _mm256_permute4x64_epi64(_mm256_packus_epi16(left, right), _MM_SHUFFLE(3, 1, 2, 0));
}

AVX2 static int32_t filter_rows_avx2(
  const uint8_t *const *rows, const int16_t *weights, int32_t taps, uint8_t *out, int32_t width) {
  const __m256i rounding = _mm256_set1_epi32(half);
  if (width < 64) return 0;
  for (int32_t x = 0; x < width; x += 64) {
    // The last columns overlap finished ones.
    if (x + 64 > width) x = width - 64;
    __m256i sum[8];
    for (int i = 0; i < 8; i++) sum[i] = rounding;
    for (int32_t k = 0; k < taps; k += 2) {
      // Two neighbouring weights form one number of twice the size; an odd last one is alone.
      int32_t two = k + 1 < taps ? 0 : (uint16_t)weights[k];
      if (k + 1 < taps) memcpy(&two, weights + k, sizeof two);
      const __m256i pair = _mm256_set1_epi32(two);
      const uint8_t *upper = rows[k] + x, *lower = rows[k + 1 < taps ? k + 1 : k] + x;
      for (int i = 0; i < 4; i++) add_pair(upper + 16 * i, lower + 16 * i, pair, &sum[2 * i], &sum[2 * i + 1]);
    }
    for (int i = 0; i < 2; i++) {
      const __m256i *of = sum + 4 * i;
      _mm256_storeu_si256((__m256i *)(out + x + 32 * i), pack_sums(of[0], of[1], of[2], of[3]));
    }
  }
  return width;
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

AVX2 __attribute__((always_inline)) static inline int32_t across(
  const uint8_t *in, const int32_t *first, const int16_t *weights, int32_t taps, uint8_t *out, int32_t count) {
  const __m256i rounding = _mm256_set1_epi32(half);
  int32_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const int16_t *weight = weights + (long)i * taps;
    __m256i sum[8];
    for (int j = 0; j < 8; j++) sum[j] = weigh(in + first[i + j], weight + j * taps, taps);
    const __m256i a = _mm256_hadd_epi32(_mm256_hadd_epi32(sum[0], sum[1]), _mm256_hadd_epi32(sum[2], sum[3]));
    const __m256i b = _mm256_hadd_epi32(_mm256_hadd_epi32(sum[4], sum[5]), _mm256_hadd_epi32(sum[6], sum[7]));
    __m256i all = _mm256_add_epi32(_mm256_permute2x128_si256(a, b, 0x20), _mm256_permute2x128_si256(a, b, 0x31));
    all = _mm256_srai_epi32(_mm256_add_epi32(all, rounding), 14);
    const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
    _mm_storel_epi64((__m128i *)(out + i), _mm_packus_epi16(words, words));
  }
  return i;
}

AVX2 static int32_t filter_across_avx2(
  const uint8_t *in, const int32_t *first, const int16_t *weights, int32_t taps, uint8_t *out, int32_t count) {
  // A constant number of taps needs no loop and takes half the time. Larger ones are for tiny pictures.
  switch (taps) {
    case 8: return across(in, first, weights, 8, out, count);
    case 16: return across(in, first, weights, 16, out, count);
    case 24: return across(in, first, weights, 24, out, count);
    case 32: return across(in, first, weights, 32, out, count);
    default: return across(in, first, weights, taps, out, count);
  }
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
