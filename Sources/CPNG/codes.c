#include "codes.h"

uint32_t cpng_literal_entry(unsigned symbol) {
  static const uint16_t lengths[] = {3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59,
                                     67, 83, 99, 115, 131, 163, 195, 227, 258};
  if (symbol < 256) return symbol << 16 | one_literal;
  if (symbol == 256) return is_special;
  if (symbol > 285) return invalid;
  const unsigned index = symbol - 257, extra = index < 8 || index == 28 ? 0 : index / 4 - 1;
  return (uint32_t)lengths[index] << 16 | extra << 12;
}

uint32_t cpng_distance_entry(unsigned symbol) {
  if (symbol > 29) return invalid;
  if (symbol < 4) return (symbol + 1) << 16;
  const unsigned extra = symbol / 2 - 1;
  return (((2 + symbol % 2) << extra) + 1) << 16 | extra << 12;
}

uint32_t cpng_plain_entry(unsigned symbol) { return symbol << 16; }

// The next code in canonical order; the bits of codes lie in reverse.
static unsigned next_code(unsigned code, unsigned length) {
  unsigned bit = 1u << (length - 1);
  while (code & bit) bit >>= 1;
  return bit ? (code & (bit - 1)) + bit : 0;
}

bool cpng_build(
  uint32_t *table, unsigned root, const uint8_t *lengths, unsigned count, uint32_t (*entry)(unsigned)) {
  uint16_t counts[16] = {0}, offsets[16], sorted[320];
  for (unsigned i = 0; i < count; i++) counts[lengths[i]]++;
  unsigned longest = 15;
  while (longest && !counts[longest]) longest--;
  int left = 1;
  offsets[0] = 0;
  const unsigned unused = counts[0];
  counts[0] = 0;
  for (unsigned length = 1; length < 16; length++) {
    offsets[length] = offsets[length - 1] + counts[length - 1];
    left = 2 * left - counts[length];
    if (left < 0) return false;
  }
  // A single code may have one bit.
  if (left > 0 && (longest > 1 || entry == cpng_plain_entry)) return false;
  if (left > 0) {
    for (unsigned i = 0; i < 1u << root; i++) table[i] = invalid;
  }
  for (unsigned i = 0; i < count; i++) {
    if (lengths[i]) sorted[offsets[lengths[i]]++] = (uint16_t)i;
  }
  unsigned code = 0, length = 1, prefix = ~0u, base = 0, index_bits = 0, end = 1u << root;
  for (unsigned i = 0; i < count - unused; i++) {
    while (!counts[length]) length++;
    const uint32_t found = entry(sorted[i]);
    if (length <= root) {
      for (unsigned at = code; at < 1u << root; at += 1u << length) table[at] = found | length;
    } else {
      if ((code & ((1u << root) - 1)) != prefix) {
        prefix = code & ((1u << root) - 1);
        base = end;
        index_bits = length - root;
        for (int rest = (1 << index_bits) - counts[length]; rest > 0 && index_bits + root < longest;) {
          index_bits++;
          rest = 2 * rest - counts[index_bits + root];
        }
        end += 1u << index_bits;
        table[prefix] = base << 16 | index_bits << 12 | is_pointer | root;
      }
      for (unsigned at = code >> root; at < 1u << index_bits; at += 1u << (length - root)) {
        table[base + at] = found | (length - root);
      }
    }
    code = next_code(code, length);
    counts[length]--;
  }
  return true;
}

void cpng_pair_literals(uint32_t *table) {
  for (unsigned i = 1u << literal_root; i-- > 0;) {
    const uint32_t first = table[i];
    if (!(first & literals)) continue;
    const uint32_t second = table[i >> (first & 31)];
    if ((second & literals) == one_literal && (first & 31) + (second & 31) <= literal_root) {
      table[i] = first + one_literal + (second & 31) + ((second & 0xFF0000) << 8);
    }
  }
}
