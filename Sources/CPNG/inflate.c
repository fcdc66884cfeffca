#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "codes.h"

// Bits are taken from words of eight bytes.
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are read as they lie in memory");

enum {
  window_size = 32768,
  longest_match = 258,
  // Space after the window and the input that loops of whole words may touch.
  slack = 64,
  batch = 1 << 17,
  input_size = 1 << 15,
  // More than the longest header of a block, 4554 bits.
  header_size = 1024,
};

typedef enum { START, HEADER, STORED, CODES, END } inflater_state;

struct cpng_inflater {
  cpng_part *parts;
  size_t part, part_count, part_offset;
  // Of `input`: the next byte, the end, and the end of the data, after which there are zeros.
  size_t next, end, data_end;
  bool is_ended;
  uint64_t bits;
  unsigned bit_count;
  inflater_state state;
  bool is_last_block, is_broken;
  size_t stored;
  // Of `window`: the first byte that was not given away, the end of the data, and the capacity.
  size_t given, made, capacity;
  uint8_t *window;
  uint8_t input[input_size + header_size + slack];
  uint32_t literal_table[literal_room], distance_table[distance_room];
};

cpng_inflater *cpng_inflater_open(const cpng_part *parts, size_t count, size_t most) {
  cpng_inflater *inflater = malloc(sizeof *inflater);
  if (!inflater) return NULL;
  memset(inflater, 0, offsetof(cpng_inflater, input));
  inflater->part_count = count;
  inflater->capacity = window_size + most + batch;
  inflater->window = malloc(inflater->capacity + slack);
  inflater->parts = calloc(count + 1, sizeof *parts);
  if (!inflater->window || !inflater->parts) {
    cpng_inflater_close(inflater);
    return NULL;
  }
  memcpy(inflater->parts, parts, count * sizeof *parts);
  return inflater;
}

void cpng_inflater_close(cpng_inflater *inflater) {
  free(inflater->parts);
  free(inflater->window);
  free(inflater);
}

// Input and bits

// Keeps at least `header_size` bytes in the input. After the end these are zeros, once.
static bool fill(cpng_inflater *inflater) {
  if (inflater->end - inflater->next >= header_size) return true;
  if (inflater->is_ended) return false;
  inflater->end -= inflater->next;
  memmove(inflater->input, inflater->input + inflater->next, inflater->end);
  inflater->next = 0;
  for (; inflater->part < inflater->part_count; inflater->part++, inflater->part_offset = 0) {
    const cpng_part part = inflater->parts[inflater->part];
    const size_t rest = part.count - inflater->part_offset, room = input_size - inflater->end;
    const size_t count = rest < room ? rest : room;
    if (count) memcpy(inflater->input + inflater->end, part.bytes + inflater->part_offset, count);
    inflater->end += count;
    inflater->part_offset += count;
    if (count < rest) return true;
  }
  inflater->is_ended = true;
  inflater->data_end = inflater->end;
  memset(inflater->input + inflater->end, 0, header_size + slack);
  inflater->end += header_size;
  return true;
}

// More bits were used than there are.
static bool is_overdrawn(const cpng_inflater *inflater) {
  return inflater->is_ended && inflater->next - inflater->bit_count / 8 > inflater->data_end;
}

static inline uint64_t word(const uint8_t *bytes) {
  uint64_t value;
  memcpy(&value, bytes, sizeof value);
  return value;
}

// Takes up to 32 bits, of which `fill` left enough in the input.
static unsigned take(cpng_inflater *inflater, unsigned count) {
  while (inflater->bit_count < count) {
    inflater->bits |= (uint64_t)inflater->input[inflater->next++] << inflater->bit_count;
    inflater->bit_count += 8;
  }
  const unsigned value = (unsigned)(inflater->bits & ((1ull << count) - 1));
  inflater->bits >>= count;
  inflater->bit_count -= count;
  return value;
}

// Blocks

static bool read_lengths(cpng_inflater *inflater, uint8_t *lengths, unsigned count) {
  static const uint8_t order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  uint8_t code_lengths[19] = {0};
  uint32_t table[128];
  const unsigned codes = take(inflater, 4) + 4;
  for (unsigned i = 0; i < codes; i++) code_lengths[order[i]] = (uint8_t)take(inflater, 3);
  if (!cpng_build(table, 7, code_lengths, 19, cpng_plain_entry)) return false;
  for (unsigned i = 0; i < count;) {
    while (inflater->bit_count < 7) {
      inflater->bits |= (uint64_t)inflater->input[inflater->next++] << inflater->bit_count;
      inflater->bit_count += 8;
    }
    const uint32_t found = table[inflater->bits & 127];
    take(inflater, found & 31);
    const unsigned symbol = found >> 16;
    if (symbol < 16) {
      lengths[i++] = (uint8_t)symbol;
      continue;
    }
    if (symbol == 16 && i == 0) return false;
    const uint8_t length = symbol == 16 ? lengths[i - 1] : 0;
    const unsigned times = symbol == 16 ? 3 + take(inflater, 2) : symbol == 17 ? 3 + take(inflater, 3) : 11 + take(inflater, 7);
    if (times > count - i) return false;
    memset(lengths + i, length, times);
    i += times;
  }
  return true;
}

static bool read_codes(cpng_inflater *inflater, unsigned kind) {
  uint8_t lengths[320];
  unsigned literal_count = 288, distance_count = 32;
  if (kind == 1) {
    for (unsigned i = 0; i < 288; i++) lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    memset(lengths + 288, 5, 32);
  } else {
    literal_count = take(inflater, 5) + 257;
    distance_count = take(inflater, 5) + 1;
    if (literal_count > 286 || distance_count > 30) return false;
    if (!read_lengths(inflater, lengths, literal_count + distance_count)) return false;
    if (!lengths[256]) return false;
  }
  if (!cpng_build(inflater->literal_table, literal_root, lengths, literal_count, cpng_literal_entry)) return false;
  const uint8_t *rest = lengths + literal_count;
  if (!cpng_build(inflater->distance_table, distance_root, rest, distance_count, cpng_distance_entry)) return false;
  cpng_pair_literals(inflater->literal_table);
  return true;
}

static bool read_block_header(cpng_inflater *inflater) {
  if (inflater->is_last_block) {
    inflater->state = END;
    return true;
  }
  inflater->is_last_block = take(inflater, 1);
  const unsigned kind = take(inflater, 2);
  if (kind == 3) return false;
  if (kind > 0) {
    inflater->state = CODES;
    return read_codes(inflater, kind);
  }
  inflater->state = STORED;
  take(inflater, inflater->bit_count % 8);
  inflater->stored = take(inflater, 16);
  return (take(inflater, 16) ^ inflater->stored) == 0xFFFF;
}

static void copy_stored(cpng_inflater *inflater) {
  const size_t room = inflater->capacity - inflater->made;
  size_t count = inflater->stored < room ? inflater->stored : room;
  inflater->stored -= count;
  for (; count > 0 && inflater->bit_count; count--) inflater->window[inflater->made++] = (uint8_t)take(inflater, 8);
  const size_t there = inflater->end - inflater->next, now = count < there ? count : there;
  memcpy(inflater->window + inflater->made, inflater->input + inflater->next, now);
  inflater->next += now;
  inflater->made += now;
  inflater->stored += count - now;
  if (inflater->stored == 0) inflater->state = HEADER;
}

static inline void copy_match(uint8_t *out, size_t distance, size_t length) {
  const uint8_t *from = out - distance, *end = out + length;
  if (distance >= 16) {
    do {
      memcpy(out, from, 16);
      out += 16;
      from += 16;
    } while (out < end);
  } else {
    do *out++ = *from++;
    while (out < end);
  }
}

#define REFILL()                         \
  do {                                   \
    bits |= word(in) << bit_count;       \
    in += (63 - bit_count) >> 3;         \
    bit_count |= 56;                     \
  } while (0)
#define DROP(entry)             \
  do {                          \
    bits >>= (entry) & 31;      \
    bit_count -= (entry) & 31;  \
  } while (0)
#define LOOK_UP() inflater->literal_table[bits & ((1 << literal_root) - 1)]
#define PUT_LITERALS(entry)                        \
  do {                                             \
    const uint16_t two = (uint16_t)((entry) >> 16); \
    memcpy(out, &two, sizeof two);                 \
    out += (entry) >> 8 & 3;                       \
    DROP(entry);                                   \
  } while (0)

// Decodes to the end of the block, of the input or of the window; false if the data is invalid.
static bool decode(cpng_inflater *inflater) {
  const uint8_t *in = inflater->input + inflater->next, *const in_end = inflater->input + inflater->end - slack;
  uint8_t *out = inflater->window + inflater->made;
  uint8_t *const out_end = inflater->window + inflater->capacity - longest_match - 8;
  uint64_t bits = inflater->bits;
  unsigned bit_count = inflater->bit_count;
  bool is_valid = true;
  while (in < in_end && out < out_end) {
    // 56 bits: three times the root of literals, or two of them and the longest length.
    REFILL();
    uint32_t entry = LOOK_UP();
    if (entry & literals) {
      PUT_LITERALS(entry);
      entry = LOOK_UP();
      if (entry & literals) {
        PUT_LITERALS(entry);
        entry = LOOK_UP();
        if (entry & literals) {
          PUT_LITERALS(entry);
          continue;
        }
      }
    }
    if (entry & is_pointer) {
      DROP(entry);
      entry = inflater->literal_table[(entry >> 16) + (bits & ((1u << (entry >> 12 & 15)) - 1))];
      if (entry & literals) {
        PUT_LITERALS(entry);
        continue;
      }
    }
    DROP(entry);
    if (entry & is_special) {
      is_valid = !(entry >> 16);
      inflater->state = HEADER;
      break;
    }
    const unsigned extra = entry >> 12 & 15;
    const size_t length = (entry >> 16) + (bits & ((1u << extra) - 1));
    bits >>= extra;
    bit_count -= extra;
    REFILL();
    entry = inflater->distance_table[bits & ((1 << distance_root) - 1)];
    if (entry & is_pointer) {
      DROP(entry);
      entry = inflater->distance_table[(entry >> 16) + (bits & ((1u << (entry >> 12 & 15)) - 1))];
    }
    DROP(entry);
    const unsigned more = entry >> 12 & 15;
    const size_t distance = (entry >> 16) + (bits & ((1u << more) - 1));
    bits >>= more;
    bit_count -= more;
    if (entry & is_special || distance > (size_t)(out - inflater->window)) {
      is_valid = false;
      break;
    }
    copy_match(out, distance, length);
    out += length;
  }
  // Whole bytes go back.
  inflater->next = (size_t)(in - inflater->input) - bit_count / 8;
  inflater->bit_count = bit_count % 8;
  inflater->bits = bits & ((1u << bit_count % 8) - 1);
  inflater->made = (size_t)(out - inflater->window);
  return is_valid;
}

// Makes room in the window, which keeps what was not given away and what matches may refer to.
static void make_room(cpng_inflater *inflater) {
  const size_t history = inflater->made > window_size ? inflater->made - window_size : 0;
  const size_t kept = inflater->given < history ? inflater->given : history;
  memmove(inflater->window, inflater->window + kept, inflater->made - kept);
  inflater->made -= kept;
  inflater->given -= kept;
}

static bool is_zlib_header(cpng_inflater *inflater) {
  const unsigned method = take(inflater, 8), flags = take(inflater, 8);
  return (method & 15) == 8 && method >> 4 <= 7 && (method << 8 | flags) % 31 == 0 && !(flags & 32);
}

cpng_status cpng_inflate(cpng_inflater *inflater, size_t count, const uint8_t **bytes) {
  while (inflater->made - inflater->given < count) {
    if (inflater->is_broken) return CPNG_DAMAGED;
    if (inflater->made + longest_match + 8 >= inflater->capacity) make_room(inflater);
    if (!fill(inflater)) return CPNG_TRUNCATED;
    bool is_valid = true;
    switch (inflater->state) {
      case START:
        is_valid = is_zlib_header(inflater);
        inflater->state = HEADER;
        break;
      case HEADER: is_valid = read_block_header(inflater); break;
      case STORED: copy_stored(inflater); break;
      case CODES: is_valid = decode(inflater); break;
      case END: return CPNG_TRUNCATED;
    }
    if (is_overdrawn(inflater)) return CPNG_TRUNCATED;
    // Bytes before the error are good.
    inflater->is_broken = !is_valid;
  }
  *bytes = inflater->window + inflater->given;
  inflater->given += count;
  return CPNG_OK;
}
