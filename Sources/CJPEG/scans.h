#pragma once
#include "internal.h"

// Scans of a progressive photo: ITU-T T.81, annex G.

enum {
  most_components = 4,
  // Bits of a code that one look into its table decodes.
  table_root = 10,
  // Coefficients with two bytes; later ones have one.
  wide_coefficients = 32,
};

// Coefficients in zigzag order.
typedef struct {
  // Which of 1 to 63 are not zero.
  uint64_t present;
  int16_t low[wide_coefficients];
  int8_t high[DCTSIZE2 - wide_coefficients];
} cjpeg_block;

typedef struct {
  bool is_set;
  // The bits of a code and its symbol; 0 for longer codes.
  uint16_t entries[1 << table_root];
  // Of each length: the last code or -1, and what to add to a code for the place of its symbol.
  int32_t last[17], distance[17];
  uint8_t symbols[256];
} cjpeg_table;

// Bytes of a scan, and zeros after their end.
typedef struct {
  const uint8_t *next, *end;
  // The next bits, from the highest on; bits after `count` do not matter.
  uint64_t bits;
  int count;
  // How many of all bits were zeros after the end.
  int made_up;
} cjpeg_bits;

typedef struct {
  cjpeg_block *blocks;
  // In blocks: the allocated size, and that of the picture.
  size_t across, down, width, height;
  unsigned h, v;
  // libjpeg's copy of a few rows.
  JBLOCKARRAY rows;
} cjpeg_array;

typedef struct {
  unsigned count, first, last, high, low, restart_interval;
  cjpeg_array *arrays[most_components];
  const cjpeg_table *tables[most_components];
} cjpeg_scan;

// Makes a table of libjpeg's lists: counts of lengths 1 to 16, and symbols. False if they make no code.
bool cjpeg_table_make(cjpeg_table *table, const uint8_t counts[17], const uint8_t *symbols);
// Reads a scan with all its restarts, up to the next marker. False if anything is wrong.
bool cjpeg_scan_read(const cjpeg_scan *scan, cjpeg_bits *bits);
