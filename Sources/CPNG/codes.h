#pragma once
#include "internal.h"

// Tables that decode the codes of a block.

enum {
  literal_root = 11,
  distance_root = 9,
  // A subtable of 2^n entries needs n + 1 codes.
  literal_room = (1 << literal_root) + 288 * 16 / 5,
  distance_room = (1 << distance_root) + 32 * 64 / 7,
};

// An entry of a decoding table. Bits 0 to 4: the bits of the code; 8 and 9: the number of literals; 10: it points to a
// subtable; 11: it ends the block or is invalid; 12 to 15: the number of extra bits, or of index bits of the subtable;
// 16 to 31: one or two literals, the smallest length or distance, or the place of the subtable.
enum {
  one_literal = 1 << 8,
  literals = 3 << 8,
  is_pointer = 1 << 10,
  is_special = 1 << 11,
  invalid = is_special | 1 << 16,
};

uint32_t cpng_literal_entry(unsigned symbol);
uint32_t cpng_distance_entry(unsigned symbol);
// For the code of code lengths.
uint32_t cpng_plain_entry(unsigned symbol);

// Makes the table of a canonical code from the lengths of its codes; false if these make no code.
bool cpng_build(
  uint32_t *table, unsigned root, const uint8_t *lengths, unsigned count, uint32_t (*entry)(unsigned));
// Joins two literals whose codes fit into one index.
void cpng_pair_literals(uint32_t *table);
