# A filesystem without birth times reuses the inode of a removed request for the next one, which is still sent.
. "$(dirname "$0")/../lib/library.sh"

[ "$(id -u)" = 0 ] || skip 'only root may mount a filesystem'
truncate -s 64M disk.img
mkdir "$spool"
PATH=$PATH:/sbin:/usr/sbin mkfs.ext4 -q -I 128 disk.img 2> mount.log || skip "no ext4 can be made here: $(cat mount.log)"
mount -o loop disk.img "$spool" 2> mount.log || skip "no disk can be mounted here: $(cat mount.log)"
at_end() { umount -l "$spool"; }
rmdir "$spool/lost+found"
expect "$(stat -c %W "$spool")" 0 'the filesystem keeps times of birth'
photo=$photos/Wine_by_Jakkub_Mede.jpg
head -c 2000 "$photo" > bad.jpg
start_daemon

# One photo of it is published, and it fails. Its directory is removed.
drop gone family '' "$photo" bad.jpg
ends 69 wait --timeout 60 gone
inode=$(stat -c %i "$spool/failed/gone")
rm -rf "$spool/failed/gone"
used=
for number in 1 2 3 4 5 6 7 8; do
  mkdir "$spool/tmp/try-$number"
  [ "$(stat -c %i "$spool/tmp/try-$number")" != "$inode" ] || { used=try-$number; break; }
done
[ -n "$used" ] || fail "inode $inode is not used again"
cp "$photo" "$spool/tmp/$used/photo-0.jpg"
echo friends > "$spool/tmp/$used/to"
echo hello > "$spool/tmp/$used/text"
mv "$spool/tmp/$used" "$spool/new/"
"$photospool" wait --timeout 60 "$used"
expect "$(published friends | jq -r .kind | paste -sd,)" photo,text

# Sent again, a failed request is known by the error that lies in it.
drop again family '' "$photo" bad.jpg
ends 69 wait --timeout 60 again
cp "$photo" "$spool/failed/again/photo-1.jpg"
mv "$spool/failed/again" "$spool/new/"
"$photospool" wait --timeout 60 again
expect "$(published family | jq -r 'select(.request == "again") | .kind' | wc -l)" 2
stop_daemon
