#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// libjpeg for Swift. Every call catches the library's errors itself, so that no longjmp crosses a Swift frame. No state
// is kept between photos, so several threads may work at once.

// The version of libjpeg-turbo.
const char *cjpeg_version(void);

typedef enum {
  CJPEG_OK,
  // The file was cut off.
  CJPEG_TRUNCATED,
  // The picture data is invalid.
  CJPEG_DAMAGED,
  CJPEG_TOO_MUCH_MEMORY,
  CJPEG_TOO_MANY_SCANS,
  // The message has the library's reason.
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
  // There is an Adobe marker: CMYK values are inverted.
  bool adobe;
} cjpeg_header;

// A decoded component at the requested scale.
typedef struct {
  int32_t width, height;
  // The part covered by the picture, in samples; the last sample may be partly outside.
  double extent_x, extent_y;
  // Rows per call of cjpeg_decoder_read, and the bytes needed for each row.
  int32_t batch_rows, row_bytes;
} cjpeg_component;

typedef struct cjpeg_decoder cjpeg_decoder;

// A decoder of `count` bytes, which must stay in place until it is closed; NULL without memory.
cjpeg_decoder *cjpeg_decoder_open(
  const uint8_t *bytes, size_t count, size_t memory_limit, int32_t scan_limit);
void cjpeg_decoder_close(cjpeg_decoder *decoder);
// The last error, valid as long as the decoder.
const char *cjpeg_decoder_message(const cjpeg_decoder *decoder);

cjpeg_status cjpeg_decoder_read_header(cjpeg_decoder *decoder, cjpeg_header *header);
// Starts decoding at `eighths`/8 of the size. A photo of several scans is read completely here.
cjpeg_status cjpeg_decoder_start(cjpeg_decoder *decoder, int32_t eighths);
cjpeg_component cjpeg_decoder_component(const cjpeg_decoder *decoder, int32_t index);
// Reads the next batch: `rows[c]` points to batch_rows rows for component c.
cjpeg_status cjpeg_decoder_read(cjpeg_decoder *decoder, uint8_t ***rows);

// A component for the encoder. Rows are `stride` bytes apart and padded to a multiple of eight samples.
typedef struct {
  const uint8_t *samples;
  int32_t stride, height;
} cjpeg_plane;

// Encodes one grey plane, or three YCbCr planes; the last two have half the width and height (rounded up). `*count` is
// the size of the whole JPEG even if it exceeds `capacity`; `out` is then incomplete.
cjpeg_status cjpeg_encode(
  const cjpeg_plane *planes, int32_t components, int32_t width, int32_t height, int32_t quality, uint8_t *out,
  size_t capacity, size_t *count);

// Copies the photo with the same coefficients and no marker but JFIF. Refuses anything but a flawless grey or YCbCr
// photo. `*count` as above.
cjpeg_status cjpeg_copy(
  const uint8_t *bytes, size_t length, size_t memory_limit, int32_t scan_limit, uint8_t *out, size_t capacity,
  size_t *count);
