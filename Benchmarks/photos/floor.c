/* The least that a photo of each format costs: its own library decodes it at the cheapest setting that covers the size,
   and libjpeg encodes every n-th pixel of that. It neither filters nor turns, and converts no colours.
   floor PHOTO RESULT SIDE QUALITY */
#include <libheif/heif.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <webp/decode.h>

#include <jpeglib.h>

typedef struct {
  int width, height;
} Size;

static struct jpeg_compress_struct out;
static Size target;

static void fail(const char *what) {
  fprintf(stderr, "%s\n", what);
  exit(1);
}

static Size fitted(int width, int height, int side) {
  const int longer = width > height ? width : height;
  if (longer <= side) return (Size){width, height};
  return (Size){(int)((double)width * side / longer + 0.5), (int)((double)height * side / longer + 0.5)};
}

static void begin(FILE *file, Size size, J_COLOR_SPACE space, int quality) {
  static struct jpeg_error_mgr errors;
  target = size;
  out.err = jpeg_std_error(&errors);
  jpeg_create_compress(&out);
  jpeg_stdio_dest(&out, file);
  out.image_width = (unsigned)size.width;
  out.image_height = (unsigned)size.height;
  out.input_components = space == JCS_GRAYSCALE ? 1 : 3;
  out.in_color_space = space;
  jpeg_set_defaults(&out);
  jpeg_set_quality(&out, quality, TRUE);
  jpeg_start_compress(&out, TRUE);
}

/* Takes rows in order and encodes those that the result has. `samples` are apart by `step` in up to three planes, of which
   the second and third may have half the width. */
static void take(int y, Size from, const unsigned char *planes[3], int step, int halved) {
  static unsigned char row[3 * 65536];
  if (out.next_scanline >= out.image_height) return;
  if (y != (int)((long)out.next_scanline * from.height / target.height)) return;
  for (int x = 0; x < target.width; x++) {
    const long at = (long)x * from.width / target.width;
    for (int c = 0; c < out.input_components; c++) {
      row[out.input_components * x + c] = planes[c][(c && halved ? at / 2 : at) * step];
    }
  }
  JSAMPROW rows[] = {row};
  jpeg_write_scanlines(&out, rows, 1);
}

static void jpeg(FILE *from, FILE *into, int side, int quality) {
  struct jpeg_decompress_struct in;
  struct jpeg_error_mgr errors;
  in.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&in);
  jpeg_stdio_src(&in, from);
  jpeg_read_header(&in, TRUE);
  const Size size = fitted((int)in.image_width, (int)in.image_height, side);
  in.scale_denom = 8;
  for (in.scale_num = 1; in.scale_num < 8; in.scale_num++) {
    if ((int)(in.image_width * in.scale_num + 7) / 8 >= size.width) break;
  }
  in.out_color_space = in.num_components == 1 ? JCS_GRAYSCALE : JCS_YCbCr;
  jpeg_start_decompress(&in);
  begin(into, size, in.out_color_space, quality);
  unsigned char *row = malloc((size_t)in.output_width * 3);
  const Size scaled = {(int)in.output_width, (int)in.output_height};
  while (in.output_scanline < in.output_height) {
    const int y = (int)in.output_scanline;
    jpeg_read_scanlines(&in, &row, 1);
    take(y, scaled, (const unsigned char *[]){row, row + 1, row + 2}, in.output_components, 0);
  }
}

static void png(FILE *from, FILE *into, int side, int quality) {
  png_structp in = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
  png_infop info = png_create_info_struct(in);
  png_init_io(in, from);
  png_read_info(in, info);
  png_set_expand(in);
  png_set_scale_16(in);
  png_set_strip_alpha(in);
  png_set_gray_to_rgb(in);
  png_read_update_info(in, info);
  const Size size = {(int)png_get_image_width(in, info), (int)png_get_image_height(in, info)};
  unsigned char *row = malloc(png_get_rowbytes(in, info));
  begin(into, fitted(size.width, size.height, side), JCS_RGB, quality);
  for (int y = 0; y < size.height; y++) {
    png_read_row(in, row, NULL);
    take(y, size, (const unsigned char *[]){row, row + 1, row + 2}, 3, 0);
  }
}

static void webp(const unsigned char *bytes, size_t count, FILE *into, int side, int quality) {
  WebPDecoderConfig config;
  WebPInitDecoderConfig(&config);
  if (WebPGetFeatures(bytes, count, &config.input) != VP8_STATUS_OK) fail("no WebP");
  const Size size = fitted(config.input.width, config.input.height, side);
  const int is_lossy = config.input.format == 1;
  config.output.colorspace = is_lossy ? MODE_YUV : MODE_RGB;
  config.options.use_scaling = 1;
  config.options.scaled_width = size.width;
  config.options.scaled_height = size.height;
  if (WebPDecode(bytes, count, &config) != VP8_STATUS_OK) fail("a bad WebP");
  begin(into, size, is_lossy ? JCS_YCbCr : JCS_RGB, quality);
  const WebPYUVABuffer *yuv = &config.output.u.YUVA;
  const WebPRGBABuffer *rgb = &config.output.u.RGBA;
  for (int y = 0; y < size.height; y++) {
    const unsigned char *row = rgb->rgba + (long)y * rgb->stride;
    const unsigned char *colors[] = {row, row + 1, row + 2};
    const unsigned char *planes[] = {
      yuv->y + (long)y * yuv->y_stride, yuv->u + (long)(y / 2) * yuv->u_stride, yuv->v + (long)(y / 2) * yuv->v_stride};
    take(y, size, is_lossy ? planes : colors, is_lossy ? 1 : 3, is_lossy);
  }
}

static void heif(const unsigned char *bytes, size_t count, FILE *into, int side, int quality) {
  struct heif_context *context = heif_context_alloc();
  struct heif_image_handle *handle;
  struct heif_image *image;
  struct heif_decoding_options *options = heif_decoding_options_alloc();
  options->convert_hdr_to_8bit = 1;
  heif_context_set_max_decoding_threads(context, 0);
  if (heif_context_read_from_memory_without_copy(context, bytes, count, NULL).code) fail("no HEIF");
  if (heif_context_get_primary_image_handle(context, &handle).code) fail("no picture");
  if (heif_decode_image(handle, &image, heif_colorspace_YCbCr, heif_chroma_420, options).code) fail("a bad HEIF");
  const Size size = {heif_image_get_primary_width(image), heif_image_get_primary_height(image)};
  begin(into, fitted(size.width, size.height, side), JCS_YCbCr, quality);
  const unsigned char *planes[3];
  int strides[3];
  for (int c = 0; c < 3; c++) planes[c] = heif_image_get_plane_readonly(image, (enum heif_channel)c, &strides[c]);
  for (int y = 0; y < size.height; y++) {
    const unsigned char *rows[3];
    for (int c = 0; c < 3; c++) rows[c] = planes[c] + (long)(c ? y / 2 : y) * strides[c];
    take(y, size, rows, 1, 1);
  }
}

int main(int words, char **word) {
  if (words != 5) fail("usage: floor PHOTO RESULT SIDE QUALITY");
  FILE *from = fopen(word[1], "rb"), *into = fopen(word[2], "wb");
  if (!from || !into) fail("cannot open the files");
  static unsigned char bytes[10000000];
  const size_t count = fread(bytes, 1, sizeof bytes, from);
  const int side = atoi(word[3]), quality = atoi(word[4]);
  rewind(from);
  if (bytes[0] == 0xFF) {
    jpeg(from, into, side, quality);
  } else if (bytes[0] == 0x89) {
    png(from, into, side, quality);
  } else if (!memcmp(bytes, "RIFF", 4)) {
    webp(bytes, count, into, side, quality);
  } else {
    heif(bytes, count, into, side, quality);
  }
  jpeg_finish_compress(&out);
  return fclose(into) ? 1 : 0;
}
