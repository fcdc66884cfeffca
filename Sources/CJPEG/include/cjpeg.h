/* libjpeg-turbo behind plain functions: errors come back as values, and no longjmp crosses into Swift. */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum cjpeg_status {
  CJPEG_OK = 0,
  CJPEG_BROKEN = 1,    /* libjpeg gave up; `message` says why */
  CJPEG_TRUNCATED = 2, /* the data ends too early */
  CJPEG_SCANS = 3,     /* more scans than allowed */
  CJPEG_MEMORY = 4     /* more memory than allowed */
};

/* How the samples of `cjpeg_pixels` are to be read. */
enum cjpeg_colour { CJPEG_GREY = 1, CJPEG_RGB = 2, CJPEG_YCC = 3, CJPEG_CMYK = 4 };

struct cjpeg_limits {
  int scans;
  size_t memory; /* bytes that libjpeg itself may use */
};

/* Samples of 8 bits, interleaved, rows without padding. Free with cjpeg_free. */
struct cjpeg_pixels {
  uint8_t *samples;
  int width;
  int height;
  int channels;
  int colour;      /* enum cjpeg_colour */
  int is_inverted; /* CMYK as Adobe writes it: 0 is full ink */
};

/* Decodes at `eighths`/8 of the size. With `wants_rgb` a three-component image comes out as RGB, else YCbCr stays so. */
int cjpeg_decode(const uint8_t *bytes, size_t size, int eighths, int wants_rgb, struct cjpeg_limits limits,
                 struct cjpeg_pixels *pixels, char message[200]);

/* Encodes grey, RGB or YCC samples as a baseline JPEG with 4:2:0 chroma and optimal Huffman codes. Free with
   cjpeg_free. */
int cjpeg_encode(const struct cjpeg_pixels *pixels, int quality, uint8_t **bytes, size_t *size, char message[200]);

/* Copies the coefficients of a JPEG into a new one that holds nothing else. Free with cjpeg_free. */
int cjpeg_copy(const uint8_t *source, size_t source_size, struct cjpeg_limits limits, uint8_t **bytes, size_t *size,
               char message[200]);

void cjpeg_free(void *memory);
