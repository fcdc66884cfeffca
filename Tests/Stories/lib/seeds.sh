# Small photos, of which others are made that are broken or dear to decode.

# make_seeds DIRECTORY: a small photo of every format and kind.
make_seeds() {
  local out=$1
  mkdir "$out"
  convert "$photos/Bridge_by_Sander_Klootwijk.jpg" -strip -resize '320x200!' "$out/photo.png"
  convert "$out/photo.png" photo.ppm
  convert "$out/photo.png" -resize '96x64!' small.ppm
  cjpeg -quality 85 -outfile "$out/baseline.jpg" photo.ppm
  cjpeg -quality 75 -progressive -outfile "$out/progressive.jpg" small.ppm
  cjpeg -quality 75 -grayscale -restart 2 -outfile "$out/grey.jpg" small.ppm
  cjpeg -quality 90 -sample 1x1 -arithmetic -outfile "$out/arithmetic.jpg" small.ppm
  convert small.ppm -colorspace CMYK -quality 80 "$out/cmyk.jpg"
  plant_photo "$out/baseline.jpg" "$out/described.jpg"
  exiftool -q -n -overwrite_original -Orientation=6 "$out/described.jpg"
  convert small.ppm -interlace PNG "$out/interlaced.png"
  convert small.ppm -depth 16 -define png:bit-depth=16 "$out/sixteen.png"
  convert small.ppm -colors 64 "png8:$out/palette.png"
  convert small.ppm -colorspace gray -depth 4 -define png:color-type=0 -define png:bit-depth=4 "$out/four.png"
  convert small.ppm -size 96x64 gradient: -alpha off -compose CopyOpacity -composite "$out/alpha.png"
  cwebp -quiet -q 75 "$out/photo.png" -o "$out/lossy.webp"
  cwebp -quiet -lossless "$out/alpha.png" -o "$out/lossless.webp"
  cwebp -quiet -q 60 "$out/alpha.png" -o "$out/alpha.webp"
  convert small.ppm \( +clone -flip \) \( +clone -flop \) -delay 10 "$out/animated.gif"
  gif2webp -quiet "$out/animated.gif" -o "$out/animated.webp"
  convert small.ppm -interlace GIF "$out/interlaced.gif"
  convert "$out/alpha.png" "$out/transparent.gif"
  heif-enc -q 50 "$out/photo.png" -o "$out/plain.heic" > heif-enc.log
  heif-enc -q 50 "$out/alpha.png" -o "$out/alpha.heic" >> heif-enc.log
  heif-enc -q 50 -t 32 "$out/described.jpg" -o "$out/described.heic" >> heif-enc.log
  avifenc -s 9 -y 420 "$out/photo.png" "$out/plain.avif" > avifenc.log
  avifenc -s 9 "$out/alpha.png" "$out/alpha.avif" >> avifenc.log
  convert small.ppm -resize '192x128!' tiles.png
  avifenc -s 9 -y 420 -d 10 -g 3x2 --irot 1 tiles.png "$out/tiles.avif" >> avifenc.log
  convert small.ppm tile.png
  heif-enc -q 50 tile.png -o tile.heic >> heif-enc.log
  tool make_heif.py "$out/tiles.heic" grid 2x2 180x120 tile.heic tile.heic tile.heic tile.heic irot=3 clap=120x90+10+8
}
