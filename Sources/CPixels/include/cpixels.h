/* Kernels over interleaved 8-bit samples, rows without padding. */
#pragma once
#include <stdint.h>

/* Resamples `source` to the size of `target` with a Lanczos filter of three lobes, widened when it shrinks so that
   nothing finer than the target's pixels survives. Returns 0, or -1 when there is no memory. */
int cpixels_resample(const uint8_t *source, int width, int height, int channels, uint8_t *target, int target_width,
                     int target_height);

/* Turns `source` upright as EXIF's orientation 1 to 8 says. For 5 to 8 the target is `height` wide and `width` high. */
void cpixels_orient(const uint8_t *source, int width, int height, int channels, int orientation, uint8_t *target);
