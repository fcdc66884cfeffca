#!/usr/bin/env bash
# Makes ten photographs of 12 and 24 megapixels from Debian's wallpapers, the same ones each time: with the size, noise,
# compression and EXIF of a camera. Existing files stay. Usage: Benchmarks/photos/make.sh DIRECTORY
set -euo pipefail

for program in convert exiftool; do
  command -v "$program" > /dev/null && continue
  echo "$program is missing: install imagemagick and libimage-exiftool-perl" >&2
  exit 1
done
directory=$1
mkdir -p "$directory"

# Usage: make WALLPAPER WIDTH HEIGHT ORIENTATION SUBSAMPLING NOISE, with the width and height in which it is stored.
make() {
  local wallpaper=/usr/share/backgrounds/$1.jpg photo=$directory/$1.jpg crop=$2x$3 turn=0
  [ ! -e "$photo" ] || return 0
  [ -e "$wallpaper" ] || { echo "$wallpaper is missing: install lomiri-wallpapers-16.04" >&2; exit 1; }
  # A camera that is held upright stores the picture lying on its side.
  [ "$4" = 1 ] || crop=$3x$2 turn=270
  # One thread, as several take the noise from the generator in an order of their own.
  convert -limit thread 1 -seed 1 "$wallpaper" -strip -resize "$crop^" -gravity center -extent "$crop" \
    -rotate "$turn" -attenuate "$6" +noise Gaussian -sampling-factor "$5" -quality 92 "$directory/partial"
  exiftool -q -overwrite_original "-Orientation#=$4" -Make=Camera -Model=Obscura \
    "-DateTimeOriginal=2020:02:02 20:20:20" -GPSLatitude=47.3769 -GPSLatitudeRef=N -GPSLongitude=8.5417 \
    -GPSLongitudeRef=E "$directory/partial"
  mv "$directory/partial" "$photo"
}

make picosdeeuropa_by_Aitzol_Berasategi 4000 3000 1 2x1 0.3
make seeding_by_Clements_Engelhardt 6000 4000 1 2x2 0.2
make friends_by_Aitzol_Berasategi 4000 3000 6 2x2 0.3
make Wine_by_Jakkub_Mede 6000 4000 6 2x1 0.2
# So noisy that it does not fit into 1,000,000 bytes at the first quality.
make life_by_Aitzol_Berasategi 4000 3000 1 2x2 0.7
make Bridge_by_Sander_Klootwijk 6000 4000 1 2x1 0.2
make Dragonfly_by_Bolly 4000 3000 6 2x1 0.3
make sunset_by_Aitzol_Berasategi 6000 4000 1 2x2 0.2
make aitzgorri_by_Aitzol_Berasategi 4000 3000 1 2x2 0.3
make umang_by_Abhishek_Mudgal 4000 3000 1 2x1 0.3
