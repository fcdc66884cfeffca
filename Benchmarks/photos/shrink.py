"""The job as one does it with Pillow. Usage: shrink.py PHOTO RESULT SIDE QUALITY"""

import io
import sys

from PIL import Image, ImageCms, ImageOps

photo, result, side, quality = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
if photo.endswith(".heic"):
    import pillow_heif
    pillow_heif.register_heif_opener()
Image.MAX_IMAGE_PIXELS = None
image = Image.open(photo)
profile = image.info.get("icc_profile")
image.thumbnail((side, side), Image.Resampling.LANCZOS)
image = ImageOps.exif_transpose(image)
if profile:
    image = ImageCms.profileToProfile(image, io.BytesIO(profile), ImageCms.createProfile("sRGB"), outputMode="RGB")
image.save(result, quality=quality, exif=b"", icc_profile=None, comment=b"")
