#pragma once
#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

#include <jerror.h>

#include "cjpeg.h"

// The target of the library's errors.
typedef struct {
  struct jpeg_error_mgr manager;
  jmp_buf escape;
  cjpeg_status status;
  char message[JMSG_LENGTH_MAX];
} cjpeg_trap;

// Bytes in memory, followed by endless end-of-image markers.
typedef struct {
  struct jpeg_source_mgr manager;
  bool ended;
} cjpeg_source;

// A buffer that keeps counting when it is full.
typedef struct {
  struct jpeg_destination_mgr manager;
  size_t capacity, before;
  bool full;
  uint8_t spill[4096];
} cjpeg_sink;

typedef struct {
  struct jpeg_progress_mgr manager;
  size_t memory_limit;
  int32_t scan_limit;
} cjpeg_guard;

struct jpeg_error_mgr *cjpeg_trap_prepare(cjpeg_trap *trap);
void cjpeg_source_prepare(cjpeg_source *source, j_decompress_ptr jpeg, const uint8_t *bytes, size_t count);
void cjpeg_sink_prepare(cjpeg_sink *sink, j_compress_ptr jpeg, uint8_t *out, size_t capacity);
size_t cjpeg_sink_count(const cjpeg_sink *sink);
// Limits the memory and the number of scans of a decoder.
void cjpeg_guard_prepare(cjpeg_guard *guard, j_decompress_ptr jpeg, size_t memory_limit, int32_t scan_limit);
// Whether every component has its scan, and every coefficient all its bits.
bool cjpeg_has_all_scans(j_decompress_ptr jpeg);
// Requires all scans of a photo that ends without an end marker.
void cjpeg_require_whole(j_decompress_ptr jpeg, const cjpeg_source *source);

typedef struct cjpeg_progression cjpeg_progression;
// Reads the scans of a flawless progressive photo whose header libjpeg has read. NULL for all others, which libjpeg
// decodes and judges.
cjpeg_progression *cjpeg_progression_read(j_decompress_ptr jpeg, size_t memory_limit, int32_t scan_limit);
// Lets libjpeg decode these coefficients in place of its own. They must stay until it is destroyed.
void cjpeg_progression_lend(cjpeg_progression *progression);
void cjpeg_progression_free(cjpeg_progression *progression);
