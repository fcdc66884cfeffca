#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// libjpeg for Swift. Every call catches the library's errors itself: no longjmp crosses a Swift frame.
// Nothing here keeps state between photos, so photos may be worked on in several threads at once.

// Of libjpeg-turbo, with which this was built.
const char *cjpeg_version(void);

typedef enum {
  CJPEG_OK,
  // Picture data are missing: the file was cut off.
  CJPEG_TRUNCATED,
  // Picture data are there but make no sense.
  CJPEG_DAMAGED,
  CJPEG_TOO_MUCH_MEMORY,
  CJPEG_TOO_MANY_SCANS,
  // What the library says of it stands in the message.
  CJPEG_REFUSED,
} cjpeg_status;

typedef enum {
  CJPEG_GREY,
  CJPEG_RGB,
  CJPEG_YCC,
  CJPEG_CMYK,
  CJPEG_YCCK,
  CJPEG_UNKNOWN,
} cjpeg_color;

typedef struct {
  int32_t width, height, components;
  cjpeg_color color;
  // An Adobe marker was seen: CMYK values are stored inverted.
  bool adobe;
} cjpeg_header;

// One component as it comes out of the decoder, at the scale that was asked for.
typedef struct {
  int32_t width, height;
  // How many of its samples the picture covers; the last sample of a row may lie partly outside.
  double extent_x, extent_y;
  // Rows that one call of cjpeg_decoder_read delivers, and the bytes that each row must have room for.
  int32_t batch_rows, row_bytes;
} cjpeg_component;

typedef struct cjpeg_decoder cjpeg_decoder;

// A decoder of the `count` bytes, which must stay where they are until it is closed; NULL when memory is out.
cjpeg_decoder *cjpeg_decoder_open(
  const uint8_t *bytes, size_t count, size_t memory_limit, int32_t scan_limit);
void cjpeg_decoder_close(cjpeg_decoder *decoder);
// What went wrong last, in the library's words; lives as long as the decoder.
const char *cjpeg_decoder_message(const cjpeg_decoder *decoder);

cjpeg_status cjpeg_decoder_read_header(cjpeg_decoder *decoder, cjpeg_header *header);
// Starts decoding at `eighths`/8 of the size. A photo of several scans is read to its end here.
cjpeg_status cjpeg_decoder_start(cjpeg_decoder *decoder, int32_t eighths);
cjpeg_component cjpeg_decoder_component(const cjpeg_decoder *decoder, int32_t index);
// Reads the next batch: `rows[c]` points to batch_rows rows for component c.
cjpeg_status cjpeg_decoder_read(cjpeg_decoder *decoder, uint8_t ***rows);

// A component for the encoder. Rows are `stride` apart and filled up to a multiple of eight samples.
typedef struct {
  const uint8_t *samples;
  int32_t stride, height;
} cjpeg_plane;

// Encodes one grey plane, or three YCbCr planes of which the last two have half the width and height (rounded up).
// `*count` is the size of the whole JPEG even where it exceeds `capacity`; then `out` is of no use.
cjpeg_status cjpeg_encode(
  const cjpeg_plane *planes, int32_t components, int32_t width, int32_t height, int32_t quality, uint8_t *out,
  size_t capacity, size_t *count);

// Writes the photo again with the same coefficients and no marker but JFIF. Refuses anything but an impeccable
// grey or YCbCr photo. `*count` as above.
cjpeg_status cjpeg_copy(
  const uint8_t *bytes, size_t length, size_t memory_limit, int32_t scan_limit, uint8_t *out, size_t capacity,
  size_t *count);
