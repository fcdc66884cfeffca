# Photos of a hundred megapixels of the dearest kinds are prepared within the limit of memory.
. "$(dirname "$0")/../lib/library.sh"

# A progressive JPEG whose colours have as many samples as its luma: its coefficients take six bytes a pixel.
"$python" -c 'import sys
width, height = 11000, 9090
out = sys.stdout.buffer
out.write(b"P6 %d %d 255\n" % (width, height))
row = bytes(place * 7 // 50 % 256 for place in range(3 * width))
for _ in range(height): out.write(row)' | cjpeg -quality 60 -progressive -sample 1x1 -outfile progressive.jpg
# Tiles of ten bits, as cameras of 61 megapixels write them.
convert -size '512x512' plasma:grey-blue -depth 8 -blur 0x8 -define png:color-type=2 tile.png
heif-enc -q 30 -b 10 -p chroma=422 -p preset=ultrafast tile.png -o tile.heic > heif-enc.log
avifenc -s 9 -d 10 -y 422 tile.png tile.avif > avifenc.log
tiles=$(seq 384 | sed 's/.*/tile/')
tool make_heif.py tiles.heic grid 24x16 12240x8160 ${tiles//tile/tile.heic}
tool make_heif.py tiles.avif grid 24x16 12240x8160 ${tiles//tile/tile.avif}

# A loaded machine may take longer than usual.
printf 'photo:\n  time: 2m\n' > patient.yaml
export PHOTOSPOOL_CONFIG=$PWD/patient.yaml
for photo in progressive.jpg tiles.heic tiles.avif; do
  tool processor_time.py time.txt "$photospool" prepare "$photo" -o "prepared-$photo" > out.log 2> err.log || fail "$photo: $(cat err.log)"
  echo "$photo: prepared after $(cat time.txt) s of processor time"
  grep -q ': 2048x' out.log || fail "$photo: $(cat out.log)"
done
# The memory for tiles is that of a row of them: a quarter of what the picture would take.
printf 'photo:\n  memory: 160MiB\n  time: 2m\n' > small.yaml
"$photospool" --config small.yaml prepare tiles.heic -o small > out.log 2> err.log || fail "tiles.heic: $(cat err.log)"
