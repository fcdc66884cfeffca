#include <string.h>

#include "internal.h"

enum { symbols = 256, longest_code = 16, scale = 8 };

// The symbols of 8-bit pictures: sizes of differences, or runs of zeros with the size after them.
static bool is_possible(int symbol, bool is_dc) {
  const int size = symbol & 15;
  if (is_dc) return symbol <= 11;
  return (size >= 1 && size <= 10) || symbol == 0x00 || symbol == 0xF0;
}

// Estimates symbol counts from code lengths: half as many for each bit.
static void weigh(const JHUFF_TBL *codes, bool is_dc, long weights[symbols + 1]) {
  for (int symbol = 0; symbol < symbols; symbol++) weights[symbol] = is_possible(symbol, is_dc);
  const UINT8 *symbol = codes->huffval;
  for (int length = 1; length <= longest_code; length++) {
    for (int i = 0; i < codes->bits[length]; i++) weights[*symbol++] += (long)scale << (longest_code - length);
  }
  // Reserves the code of ones for a symbol that never occurs.
  weights[symbols] = 1;
}

static int lightest(const long weights[symbols + 1], int other) {
  int found = -1;
  for (int i = 0; i <= symbols; i++) {
    if (i != other && weights[i] && (found < 0 || weights[i] <= weights[found])) found = i;
  }
  return found;
}

// The lengths of Huffman codes: joins the two lightest trees until one is left (ITU-T T.81, figure K.1).
static void measure(long weights[symbols + 1], int lengths[symbols + 1]) {
  int next[symbols + 1];
  for (int i = 0; i <= symbols; i++) {
    lengths[i] = 0;
    next[i] = -1;
  }
  for (;;) {
    const int first = lightest(weights, -1), second = lightest(weights, first);
    if (second < 0) return;
    weights[first] += weights[second];
    weights[second] = 0;
    int last = first;
    for (int i = first; i >= 0; i = next[i]) {
      lengths[i]++;
      last = i;
    }
    next[last] = second;
    for (int i = second; i >= 0; i = next[i]) lengths[i]++;
  }
}

// Limits codes to sixteen bits by moving pairs of longer ones up (figure K.3).
static void shorten(int counts[symbols + 1]) {
  for (int length = symbols; length > longest_code; length--) {
    while (counts[length] > 0) {
      int room = length - 2;
      while (!counts[room]) room--;
      counts[length] -= 2;
      counts[length - 1]++;
      counts[room + 1] += 2;
      counts[room]--;
    }
  }
}

void cjpeg_complete_codes(JHUFF_TBL *codes, bool is_dc) {
  long weights[symbols + 1];
  int lengths[symbols + 1], counts[symbols + 1] = {0};
  weigh(codes, is_dc, weights);
  measure(weights, lengths);
  for (int i = 0; i <= symbols; i++) {
    if (lengths[i]) counts[lengths[i]]++;
  }
  shorten(counts);
  // The last of the longest codes is all ones.
  int longest = longest_code;
  while (!counts[longest]) longest--;
  counts[longest]--;
  for (int length = 1; length <= longest_code; length++) codes->bits[length] = (UINT8)counts[length];
  memset(codes->huffval, 0, sizeof codes->huffval);
  UINT8 *symbol = codes->huffval;
  for (int length = 1; length <= symbols; length++) {
    for (int i = 0; i < symbols; i++) {
      if (lengths[i] == length) *symbol++ = (UINT8)i;
    }
  }
  codes->sent_table = FALSE;
}
