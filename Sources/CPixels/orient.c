#include "cpixels.h"
#include <stddef.h>

void cpixels_orient(const uint8_t *source, int width, int height, int channels, int orientation, uint8_t *target) {
  /* The source position of the target's first pixel, and the way to go for one step right and one step down. */
  ptrdiff_t w = width, h = height, pixel = channels, row = w * pixel;
  ptrdiff_t start = 0, right = pixel, down = row;
  switch (orientation) {
  case 2: start = (w - 1) * pixel; right = -pixel; break;
  case 3: start = (h - 1) * row + (w - 1) * pixel; right = -pixel; down = -row; break;
  case 4: start = (h - 1) * row; down = -row; break;
  case 5: right = row; down = pixel; break;
  case 6: start = (h - 1) * row; right = -row; down = pixel; break;
  case 7: start = (h - 1) * row + (w - 1) * pixel; right = -row; down = -pixel; break;
  case 8: start = (w - 1) * pixel; right = row; down = -pixel; break;
  default: break;
  }
  int turned = orientation >= 5;
  int target_width = turned ? height : width, target_height = turned ? width : height;
  /* Square tiles, so that both the reads and the writes of a turn stay in the cache. */
  const int tile = 32;
  for (int top = 0; top < target_height; top += tile)
    for (int left = 0; left < target_width; left += tile)
      for (int y = top; y < top + tile && y < target_height; y++) {
        const uint8_t *in = source + start + y * down + left * right;
        uint8_t *out = target + ((size_t)y * (size_t)target_width + (size_t)left) * (size_t)channels;
        for (int x = left; x < left + tile && x < target_width; x++, in += right)
          for (int c = 0; c < channels; c++) *out++ = in[c];
      }
}
