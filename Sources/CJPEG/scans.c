#include "scans.h"

#include <string.h>

// Otherwise bits would go through memory for every symbol.
#define HOT __attribute__((always_inline))

// Where the decoder is within a scan.
typedef struct {
  const cjpeg_scan *scan;
  cjpeg_bits *bits;
  // Blocks that end without another code.
  unsigned run;
  int predictions[most_components];
} position;

bool cjpeg_table_make(cjpeg_table *table, const uint8_t counts[17], const uint8_t *symbols) {
  memset(table, 0, sizeof *table);
  int32_t code = 0, place = 0;
  for (int length = 1; length <= 16; length++) {
    const int32_t count = counts[length];
    // No code has only ones.
    if (place + count > 256 || code + count >= 1 << length) return false;
    table->last[length] = count > 0 ? code + count - 1 : -1;
    table->distance[length] = place - code;
    for (int32_t i = 0; length <= table_root && i < count; i++) {
      const int spread = 1 << (table_root - length);
      for (int j = 0; j < spread; j++) {
        table->entries[(code + i) * spread + j] = (uint16_t)(length << 8 | symbols[place + i]);
      }
    }
    code = (code + count) << 1;
    place += count;
  }
  memcpy(table->symbols, symbols, (size_t)place);
  table->is_set = true;
  return true;
}

static bool has_ff(uint64_t word) {
  return ((~word - 0x0101010101010101) & word & 0x8080808080808080) != 0;
}

// The slow part of `fill`. Takes and returns a copy, so that callers can keep theirs in registers.
static __attribute__((noinline)) cjpeg_bits fill_bytewise(cjpeg_bits bits) {
  while (bits.count <= 56) {
    uint64_t byte = 0;
    if (bits.next < bits.end && *bits.next != 0xFF) {
      byte = *bits.next++;
    } else if (bits.end - bits.next >= 2 && bits.next[1] == 0) {
      byte = 0xFF;
      bits.next += 2;
    } else {
      bits.made_up += 8;
    }
    bits.bits |= byte << (56 - bits.count);
    bits.count += 8;
  }
  return bits;
}

// Makes at least 56 bits ready.
HOT static inline void fill(cjpeg_bits *bits) {
  if (bits->end - bits->next >= 8) {
    uint64_t word;
    memcpy(&word, bits->next, sizeof word);
    if (!has_ff(word)) {
      const int bytes = (63 - bits->count) / 8;
      bits->bits |= __builtin_bswap64(word) >> bits->count;
      bits->next += bytes;
      bits->count += 8 * bytes;
      return;
    }
  }
  *bits = fill_bytewise(*bits);
}

HOT static inline void drop(cjpeg_bits *bits, int count) {
  bits->bits <<= count;
  bits->count -= count;
}

HOT static inline int take(cjpeg_bits *bits, int count) {
  const int value = (int)(bits->bits >> 1 >> (63 - count));
  drop(bits, count);
  return value;
}

// The next symbol, or -1. At least 16 bits are ready after it.
HOT static inline int symbol(cjpeg_bits *bits, const cjpeg_table *table) {
  if (bits->count < 32) fill(bits);
  const int entry = table->entries[bits->bits >> (64 - table_root)];
  if (entry) {
    drop(bits, entry >> 8);
    return entry & 0xFF;
  }
  for (int length = table_root + 1; length <= 16; length++) {
    const int32_t code = (int32_t)(bits->bits >> (64 - length));
    if (code > table->last[length]) continue;
    drop(bits, length);
    return table->symbols[code + table->distance[length]];
  }
  return -1;
}

// A number of `size` bits, of which the lower half is negative.
HOT static inline int take_signed(cjpeg_bits *bits, int size) {
  const int value = take(bits, size);
  return value < 1 << size >> 1 ? value - (1 << size) + 1 : value;
}

// False if the value has no room.
HOT static inline bool put(cjpeg_block *block, unsigned k, int value) {
  if (k < wide_coefficients) {
    if (value < -INT16_MAX || value > INT16_MAX) return false;
    block->low[k] = (int16_t)value;
  } else {
    if (value < -INT8_MAX || value > INT8_MAX) return false;
    block->high[k - wide_coefficients] = (int8_t)value;
  }
  block->present |= (uint64_t)1 << k;
  return true;
}

static bool first_dc(position *at, unsigned i, cjpeg_block *block) {
  const int size = symbol(at->bits, at->scan->tables[i]);
  if (size < 0 || size > 11) return false;
  at->predictions[i] += take_signed(at->bits, size);
  const int value = at->predictions[i] * (1 << at->scan->low);
  if (value < -INT16_MAX || value > INT16_MAX) return false;
  block->low[0] = (int16_t)value;
  return true;
}

static bool refine_dc(position *at, cjpeg_block *block) {
  if (at->bits->count < 1) fill(at->bits);
  block->low[0] |= (int16_t)(take(at->bits, 1) << at->scan->low);
  return true;
}

static bool first_ac(position *at, cjpeg_block *block) {
  const cjpeg_scan *scan = at->scan;
  if (at->run > 0) {
    at->run--;
    return true;
  }
  cjpeg_bits bits = *at->bits;
  for (unsigned k = scan->first; k <= scan->last; k++) {
    const int code = symbol(&bits, scan->tables[0]);
    if (code < 0) return false;
    const int zeros = code >> 4, size = code & 15;
    if (size == 0 && zeros < 15) {
      at->run = (1u << zeros) - 1 + (unsigned)take(&bits, zeros);
      break;
    }
    k += (unsigned)zeros;
    if (size == 0) continue;
    if (k > scan->last || !put(block, k, take_signed(&bits, size) * (1 << scan->low))) return false;
  }
  *at->bits = bits;
  return true;
}

// The bits from `first` to before `end`, of at most 64.
HOT static inline uint64_t span(unsigned first, unsigned end) {
  return first < end ? ~(uint64_t)0 << first & ~(uint64_t)0 >> (64 - end) : 0;
}

// Reads a bit for each coefficient of a set: whether it moves away from zero. Without branches, as they are random.
HOT static inline void correct(cjpeg_bits *bits, cjpeg_block *block, uint64_t set, int step) {
  while (set) {
    const int wanted = __builtin_popcountll(set);
    if (bits->count < wanted) fill(bits);
    const int count = wanted < 56 ? wanted : 56;
    int64_t moves = (int64_t)bits->bits;
    drop(bits, count);
    for (int i = 0; i < count; i++, set &= set - 1, moves = (int64_t)((uint64_t)moves << 1)) {
      const int k = __builtin_ctzll(set), mask = (int)(moves >> 63);
      if (k < wide_coefficients) {
        const int sign = block->low[k] >> 15;
        block->low[k] = (int16_t)(block->low[k] + (((step ^ sign) - sign) & mask));
      } else {
        int8_t *value = &block->high[k - wide_coefficients];
        const int sign = *value >> 7;
        *value = (int8_t)(*value + (((step ^ sign) - sign) & mask));
      }
    }
  }
}

static bool refine_ac(position *at, cjpeg_block *block) {
  const cjpeg_scan *scan = at->scan;
  const unsigned end = scan->last + 1;
  const int step = 1 << scan->low;
  cjpeg_bits bits = *at->bits;
  unsigned k = scan->first;
  while (at->run == 0 && k < end) {
    const int code = symbol(&bits, scan->tables[0]);
    if (code < 0 || (code & 15) > 1) return false;
    const int zeros = code >> 4;
    int value = 0;
    if (code & 15) {
      value = take(&bits, 1) ? step : -step;
    } else if (zeros < 15) {
      at->run = (1u << zeros) + (unsigned)take(&bits, zeros);
      break;
    }
    uint64_t free = ~block->present & span(k, end);
    for (int i = 0; i < zeros; i++) free &= free - 1;
    const unsigned place = free ? (unsigned)__builtin_ctzll(free) : end;
    correct(&bits, block, block->present & span(k, place), step);
    if (value && (place == end || !put(block, place, value))) return false;
    k = place + 1;
  }
  if (at->run > 0) {
    correct(&bits, block, block->present & span(k, end), step);
    at->run--;
  }
  *at->bits = bits;
  return true;
}

HOT static inline bool read_block(position *at, unsigned i, cjpeg_block *block) {
  if (at->scan->first > 0) return at->scan->high > 0 ? refine_ac(at, block) : first_ac(at, block);
  return at->scan->high > 0 ? refine_dc(at, block) : first_dc(at, i, block);
}

// Whether the data are used up to the last byte before a marker.
static bool is_at_marker(const cjpeg_bits *bits) {
  const int unused = bits->count - bits->made_up;
  return unused >= 0 && unused < 8 && bits->end - bits->next >= 2 && bits->next[0] == 0xFF && bits->next[1] != 0;
}

static void begin(position *at) {
  at->run = 0;
  memset(at->predictions, 0, sizeof at->predictions);
  at->bits->bits = 0;
  at->bits->count = at->bits->made_up = 0;
}

// Begins anew after a restart marker.
static bool restart(position *at, unsigned number) {
  if (at->run > 0 || !is_at_marker(at->bits) || at->bits->next[1] != 0xD0 + number % 8) return false;
  at->bits->next += 2;
  begin(at);
  return true;
}

// Reads the blocks of one unit: one block, or all blocks of the components that lie in the same place.
static bool read_unit(position *at, size_t x, size_t y) {
  const cjpeg_scan *scan = at->scan;
  if (scan->count == 1) return read_block(at, 0, scan->arrays[0]->blocks + y * scan->arrays[0]->across + x);
  for (unsigned i = 0; i < scan->count; i++) {
    cjpeg_array *array = scan->arrays[i];
    cjpeg_block *corner = array->blocks + y * array->v * array->across + x * array->h;
    for (unsigned line = 0; line < array->v; line++) {
      for (unsigned column = 0; column < array->h; column++) {
        if (!read_block(at, i, corner + line * array->across + column)) return false;
      }
    }
  }
  return true;
}

bool cjpeg_scan_read(const cjpeg_scan *scan, cjpeg_bits *bits) {
  position at = {.scan = scan, .bits = bits};
  const cjpeg_array *array = scan->arrays[0];
  const size_t across = scan->count == 1 ? array->width : array->across / array->h;
  const size_t down = scan->count == 1 ? array->height : array->down / array->v;
  unsigned left = scan->restart_interval, restarts = 0;
  begin(&at);
  for (size_t y = 0; y < down; y++) {
    for (size_t x = 0; x < across; x++) {
      if (scan->restart_interval > 0 && left-- == 0) {
        if (!restart(&at, restarts++)) return false;
        left = scan->restart_interval - 1;
      }
      if (!read_unit(&at, x, y)) return false;
    }
    // Does not go on long after the end of the data.
    if (bits->made_up > bits->count) return false;
  }
  return at.run == 0 && is_at_marker(bits);
}
