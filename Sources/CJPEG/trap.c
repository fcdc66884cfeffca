#include <limits.h>
#include <string.h>

#include "internal.h"

static void escape(j_common_ptr jpeg, cjpeg_status status) {
  cjpeg_trap *trap = (cjpeg_trap *)jpeg->err;
  trap->status = status;
  jpeg->err->format_message(jpeg, trap->message);
  longjmp(trap->escape, 1);
}

static bool has_ended(j_common_ptr jpeg) {
  if (!jpeg->is_decompressor) return false;
  const struct jpeg_source_mgr *source = ((j_decompress_ptr)jpeg)->src;
  return source && ((const cjpeg_source *)source)->ended;
}

static void on_error(j_common_ptr jpeg) {
  switch (jpeg->err->msg_code) {
    case JERR_OUT_OF_MEMORY:
    case JERR_NO_BACKING_STORE:
    case JERR_WIDTH_OVERFLOW:
    case JERR_BAD_ALLOC_CHUNK:
      escape(jpeg, CJPEG_TOO_MUCH_MEMORY);
      break;
    default:
      // Invalid data after the end of the file means a truncated file.
      escape(jpeg, has_ended(jpeg) ? CJPEG_TRUNCATED : CJPEG_REFUSED);
  }
}

// Ignores warnings that do not affect the picture. All others mean that a part is lost, and end the work.
static void on_message(j_common_ptr jpeg, int level) {
  if (level >= 0) return;
  jpeg->err->num_warnings++;
  switch (jpeg->err->msg_code) {
    case JWRN_ADOBE_XFORM:
    case JWRN_BOGUS_PROGRESSION:
    case JWRN_EXTRANEOUS_DATA:
    case JWRN_JFIF_MAJOR:
    case JWRN_NOT_SEQUENTIAL:
      return;
    case JWRN_HIT_MARKER:
      // The scan that libjpeg sees is empty.
      if (jpeg->client_data) return;
      // fall through
    default:
      // Invalid data can also consume the rest of a complete file.
      escape(jpeg, has_ended(jpeg) ? CJPEG_TRUNCATED : CJPEG_DAMAGED);
  }
}

static void print_nothing(j_common_ptr jpeg) {}

struct jpeg_error_mgr *cjpeg_trap_prepare(cjpeg_trap *trap) {
  jpeg_std_error(&trap->manager);
  trap->manager.error_exit = on_error;
  trap->manager.emit_message = on_message;
  trap->manager.output_message = print_nothing;
  trap->status = CJPEG_OK;
  trap->message[0] = 0;
  return &trap->manager;
}

static void on_progress(j_common_ptr common) {
  j_decompress_ptr jpeg = (j_decompress_ptr)common;
  const cjpeg_guard *guard = (const cjpeg_guard *)common->progress;
  if (jpeg->input_scan_number > guard->scan_limit) escape(common, CJPEG_TOO_MANY_SCANS);
}

void cjpeg_guard_prepare(cjpeg_guard *guard, j_decompress_ptr jpeg, size_t memory_limit, int32_t scan_limit) {
  guard->memory_limit = memory_limit;
  guard->scan_limit = scan_limit;
  guard->manager.progress_monitor = on_progress;
  jpeg->progress = &guard->manager;
  jpeg->mem->max_memory_to_use = memory_limit > LONG_MAX ? LONG_MAX : (long)memory_limit;
}

static const JOCTET end_of_image[2] = {0xFF, JPEG_EOI};

static void do_nothing(j_decompress_ptr jpeg) {}

static boolean supply_end(j_decompress_ptr jpeg) {
  cjpeg_source *source = (cjpeg_source *)jpeg->src;
  source->ended = true;
  source->manager.next_input_byte = end_of_image;
  source->manager.bytes_in_buffer = sizeof end_of_image;
  return TRUE;
}

static void skip(j_decompress_ptr jpeg, long count) {
  struct jpeg_source_mgr *source = jpeg->src;
  if (count <= 0) return;
  if ((size_t)count > source->bytes_in_buffer) {
    supply_end(jpeg);
  } else {
    source->next_input_byte += count;
    source->bytes_in_buffer -= (size_t)count;
  }
}

void cjpeg_source_prepare(cjpeg_source *source, j_decompress_ptr jpeg, const uint8_t *bytes, size_t count) {
  source->ended = false;
  source->manager = (struct jpeg_source_mgr){
    .next_input_byte = bytes,
    .bytes_in_buffer = count,
    .init_source = do_nothing,
    .fill_input_buffer = supply_end,
    .skip_input_data = skip,
    .resync_to_restart = jpeg_resync_to_restart,
    .term_source = do_nothing,
  };
  jpeg->src = &source->manager;
}

bool cjpeg_has_all_scans(j_decompress_ptr jpeg) {
  for (int i = 0; i < jpeg->num_components; i++) {
    if (!jpeg->comp_info[i].quant_table) return false;
    for (int k = 0; jpeg->progressive_mode && k < DCTSIZE2; k++) {
      if (jpeg->coef_bits[i][k] != 0) return false;
    }
  }
  return true;
}

void cjpeg_require_whole(j_decompress_ptr jpeg, const cjpeg_source *source) {
  if (!source->ended || !jpeg_has_multiple_scans(jpeg) || cjpeg_has_all_scans(jpeg)) return;
  jpeg->err->msg_code = JWRN_JPEG_EOF;
  escape((j_common_ptr)jpeg, CJPEG_TRUNCATED);
}

static void spill(cjpeg_sink *sink) {
  sink->manager.next_output_byte = sink->spill;
  sink->manager.free_in_buffer = sizeof sink->spill;
}

static boolean empty_sink(j_compress_ptr jpeg) {
  cjpeg_sink *sink = (cjpeg_sink *)jpeg->dest;
  sink->before += sink->full ? sizeof sink->spill : sink->capacity;
  sink->full = true;
  spill(sink);
  return TRUE;
}

static void leave_sink(j_compress_ptr jpeg) {}

void cjpeg_sink_prepare(cjpeg_sink *sink, j_compress_ptr jpeg, uint8_t *out, size_t capacity) {
  sink->capacity = capacity;
  sink->before = 0;
  sink->full = capacity == 0;
  sink->manager = (struct jpeg_destination_mgr){
    .next_output_byte = out,
    .free_in_buffer = capacity,
    .init_destination = leave_sink,
    .empty_output_buffer = empty_sink,
    .term_destination = leave_sink,
  };
  if (sink->full) spill(sink);
  jpeg->dest = &sink->manager;
}

size_t cjpeg_sink_count(const cjpeg_sink *sink) {
  size_t size = sink->full ? sizeof sink->spill : sink->capacity;
  return sink->before + size - sink->manager.free_in_buffer;
}
