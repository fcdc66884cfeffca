#pragma once
#include <lcms2.h>

// The formats of pixels, which Swift cannot read as macros.
static const cmsUInt32Number lcms_grey_8 = TYPE_GRAY_8;
static const cmsUInt32Number lcms_rgb_8 = TYPE_RGB_8;
static const cmsUInt32Number lcms_cmyk_8 = TYPE_CMYK_8;
