#include <stdlib.h>
#include <string.h>

#include "scans.h"

// Coefficients of finished progressions, in four fifths of the memory that libjpeg takes. libjpeg still reads the
// headers, and makes samples of the coefficients.

struct cjpeg_progression {
  j_decompress_ptr jpeg;
  cjpeg_array arrays[most_components];
  // Of each coefficient: the lowest bit that is known; -1 for none.
  int8_t known[most_components][DCTSIZE2];
  cjpeg_table dc[NUM_HUFF_TBLS], ac[NUM_HUFF_TBLS];
  cjpeg_scan scan;
  cjpeg_bits bits;
  bool is_finished;
  int requested;
};

static const uint8_t natural_order[DCTSIZE2] = {
  0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
  41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
  30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
};

void cjpeg_progression_free(cjpeg_progression *progression) {
  if (!progression) return;
  for (int i = 0; i < most_components; i++) free(progression->arrays[i].blocks);
  free(progression);
}

static bool allocate(cjpeg_progression *progression, size_t memory_limit) {
  j_decompress_ptr jpeg = progression->jpeg;
  size_t left = memory_limit / sizeof(cjpeg_block);
  for (int i = 0; i < jpeg->num_components; i++) {
    const jpeg_component_info *component = &jpeg->comp_info[i];
    cjpeg_array *array = &progression->arrays[i];
    array->h = (unsigned)component->h_samp_factor;
    array->v = (unsigned)component->v_samp_factor;
    array->width = component->width_in_blocks;
    array->height = component->height_in_blocks;
    const size_t unit_width = (size_t)jpeg->max_h_samp_factor * DCTSIZE;
    const size_t unit_height = (size_t)jpeg->max_v_samp_factor * DCTSIZE;
    array->across = (jpeg->image_width + unit_width - 1) / unit_width * array->h;
    array->down = (jpeg->image_height + unit_height - 1) / unit_height * array->v;
    const size_t count = array->across * array->down;
    if (count > left) return false;
    left -= count;
    array->blocks = calloc(count, sizeof(cjpeg_block));
    if (!array->blocks) return false;
  }
  memset(progression->known, -1, sizeof progression->known);
  return true;
}

// Takes the first scan's header and all tables from libjpeg, which stopped after them.
static bool take_over(cjpeg_progression *progression) {
  j_decompress_ptr jpeg = progression->jpeg;
  cjpeg_scan *scan = &progression->scan;
  for (int i = 0; i < NUM_HUFF_TBLS; i++) {
    const JHUFF_TBL *dc = jpeg->dc_huff_tbl_ptrs[i], *ac = jpeg->ac_huff_tbl_ptrs[i];
    if (dc && !cjpeg_table_make(&progression->dc[i], dc->bits, dc->huffval)) return false;
    if (ac && !cjpeg_table_make(&progression->ac[i], ac->bits, ac->huffval)) return false;
  }
  // libjpeg keeps the quantization of the components in its first scan.
  if (jpeg->comps_in_scan != jpeg->num_components) return false;
  scan->count = (unsigned)jpeg->comps_in_scan;
  scan->first = (unsigned)jpeg->Ss;
  scan->last = (unsigned)jpeg->Se;
  scan->high = (unsigned)jpeg->Ah;
  scan->low = (unsigned)jpeg->Al;
  scan->restart_interval = jpeg->restart_interval;
  for (int i = 0; i < jpeg->comps_in_scan; i++) {
    const jpeg_component_info *component = jpeg->cur_comp_info[i];
    if (component->dc_tbl_no < 0 || component->dc_tbl_no >= NUM_HUFF_TBLS) return false;
    scan->arrays[i] = &progression->arrays[component->component_index];
    scan->tables[i] = &progression->dc[component->dc_tbl_no];
  }
  progression->bits.next = jpeg->src->next_input_byte;
  progression->bits.end = jpeg->src->next_input_byte + jpeg->src->bytes_in_buffer;
  return true;
}

// Whether a scan follows those before it, and what is known after it.
static bool advance(cjpeg_progression *progression) {
  const cjpeg_scan *scan = &progression->scan;
  const bool is_dc = scan->first == 0;
  if (scan->high > 0 && scan->high != scan->low + 1) return false;
  if (is_dc ? scan->last != 0 || scan->low > 13 : scan->last < scan->first || scan->last >= DCTSIZE2 || scan->low > 6) {
    return false;
  }
  if (!is_dc && scan->count != 1) return false;
  for (unsigned i = 0; i < scan->count; i++) {
    int8_t *known = progression->known[scan->arrays[i] - progression->arrays];
    if (!is_dc && known[0] < 0) return false;
    if (!(is_dc && scan->high > 0) && !scan->tables[i]->is_set) return false;
    for (unsigned k = scan->first; k <= scan->last; k++) {
      if (known[k] != (scan->high > 0 ? (int)scan->high : -1)) return false;
      known[k] = (int8_t)scan->low;
    }
  }
  return true;
}

static bool read_tables(cjpeg_progression *progression, const uint8_t *bytes, size_t count) {
  while (count >= 17) {
    const unsigned number = bytes[0] & 15, class = bytes[0] >> 4;
    size_t symbols = 0;
    for (int length = 1; length <= 16; length++) symbols += bytes[length];
    if (number >= NUM_HUFF_TBLS || class > 1 || symbols > 256 || 17 + symbols > count) return false;
    if (!cjpeg_table_make(class ? &progression->ac[number] : &progression->dc[number], bytes, bytes + 17)) return false;
    bytes += 17 + symbols;
    count -= 17 + symbols;
  }
  return count == 0;
}

static bool read_scan_header(cjpeg_progression *progression, const uint8_t *bytes, size_t count) {
  j_decompress_ptr jpeg = progression->jpeg;
  cjpeg_scan *scan = &progression->scan;
  if (count < 1 || bytes[0] < 1 || bytes[0] > jpeg->num_components || count != 4 + 2 * (size_t)bytes[0]) return false;
  scan->count = bytes[0];
  const uint8_t *parameters = bytes + 1 + 2 * scan->count;
  scan->first = parameters[0];
  scan->last = parameters[1];
  scan->high = parameters[2] >> 4;
  scan->low = parameters[2] & 15;
  for (unsigned i = 0; i < scan->count; i++) {
    const uint8_t id = bytes[1 + 2 * i], tables = bytes[2 + 2 * i];
    int index = 0;
    while (index < jpeg->num_components && jpeg->comp_info[index].component_id != id) index++;
    if (index == jpeg->num_components || tables >> 4 >= NUM_HUFF_TBLS || (tables & 15) >= NUM_HUFF_TBLS) return false;
    scan->arrays[i] = &progression->arrays[index];
    scan->tables[i] = scan->first > 0 ? &progression->ac[tables & 15] : &progression->dc[tables >> 4];
  }
  return true;
}

// Reads markers up to the next scan or the end.
static bool read_markers(cjpeg_progression *progression) {
  cjpeg_bits *bits = &progression->bits;
  while (bits->end - bits->next >= 2 && bits->next[0] == 0xFF) {
    const uint8_t marker = bits->next[1];
    if (marker == 0xD9) {
      progression->is_finished = true;
      return true;
    }
    if (bits->end - bits->next < 4) return false;
    const uint8_t *contents = bits->next + 4;
    const size_t length = (size_t)bits->next[2] << 8 | bits->next[3];
    if (length < 2 || length - 2 > (size_t)(bits->end - contents)) return false;
    const size_t count = length - 2;
    bits->next = contents + count;
    if (marker == 0xC4) {
      if (!read_tables(progression, contents, count)) return false;
    } else if (marker == 0xDD) {
      if (count != 2) return false;
      progression->scan.restart_interval = (unsigned)contents[0] << 8 | contents[1];
    } else if (marker == 0xDA) {
      return read_scan_header(progression, contents, count);
    } else if ((marker < 0xE0 || marker > 0xEF) && marker != 0xFE) {
      return false;
    }
  }
  return false;
}

static bool read_all(cjpeg_progression *progression, int32_t scan_limit) {
  for (int32_t scans = 0; !progression->is_finished; scans++) {
    if (scans == scan_limit || !advance(progression)) return false;
    if (!cjpeg_scan_read(&progression->scan, &progression->bits) || !read_markers(progression)) return false;
  }
  for (int i = 0; i < progression->jpeg->num_components; i++) {
    for (int k = 0; k < DCTSIZE2; k++) {
      if (progression->known[i][k] != 0) return false;
    }
  }
  return true;
}

cjpeg_progression *cjpeg_progression_read(j_decompress_ptr jpeg, size_t memory_limit, int32_t scan_limit) {
  if (!jpeg->progressive_mode || jpeg->arith_code || jpeg->num_components > most_components) return NULL;
  cjpeg_progression *progression = calloc(1, sizeof *progression);
  if (!progression) return NULL;
  progression->jpeg = jpeg;
  if (allocate(progression, memory_limit) && take_over(progression) && read_all(progression, scan_limit)) {
    return progression;
  }
  cjpeg_progression_free(progression);
  return NULL;
}

static jvirt_barray_ptr request(
  j_common_ptr jpeg, int pool, boolean is_zeroed, JDIMENSION across, JDIMENSION down, JDIMENSION most) {
  cjpeg_progression *progression = jpeg->client_data;
  cjpeg_array *array = &progression->arrays[progression->requested++];
  array->rows = jpeg->mem->alloc_barray(jpeg, pool, across, array->v);
  return (jvirt_barray_ptr)array;
}

static void unpack(const cjpeg_block *block, JCOEF *to) {
  memset(to, 0, sizeof(JBLOCK));
  to[0] = block->low[0];
  for (uint64_t set = block->present; set; set &= set - 1) {
    const int k = __builtin_ctzll(set);
    to[natural_order[k]] = k < wide_coefficients ? block->low[k] : block->high[k - wide_coefficients];
  }
}

// Rows for the input are never read.
static JBLOCKARRAY lend(
  j_common_ptr jpeg, jvirt_barray_ptr lent, JDIMENSION first, JDIMENSION count, boolean is_input) {
  cjpeg_array *array = (cjpeg_array *)lent;
  if (count > array->v || first > array->down || count > array->down - first) jpeg->err->error_exit(jpeg);
  for (JDIMENSION y = 0; y < count && !is_input; y++) {
    const cjpeg_block *row = array->blocks + (first + y) * array->across;
    for (size_t x = 0; x < array->width; x++) unpack(row + x, array->rows[y][x]);
  }
  return array->rows;
}

void cjpeg_progression_lend(cjpeg_progression *progression) {
  j_decompress_ptr jpeg = progression->jpeg;
  jpeg->client_data = progression;
  jpeg->mem->request_virt_barray = request;
  jpeg->mem->access_virt_barray = lend;
  // libjpeg finds an empty scan, then the end.
  jpeg->src->bytes_in_buffer = 0;
  jpeg->restart_interval = 0;
}
