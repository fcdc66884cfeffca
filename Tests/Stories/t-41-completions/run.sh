# bash, zsh and fish offer commands, options, and names of requests and conversations; and carry nothing out.
. "$(dirname "$0")/../lib/library.sh"
. "$(dirname "$0")/../lib/offered.sh"

mkdir bin completions
ln -s "$photospool" bin/photospool
export PATH=$PWD/bin:$PATH completions=$PWD/completions
photospool --generate-completion-script bash > completions/photospool.bash
photospool --generate-completion-script zsh > completions/_photospool
photospool --generate-completion-script fish > completions/photospool.fish

start_daemon
"$photospool" hold '!room:example.org' family '$(touch carried-out)' '`touch carried-out`'
drop cat-1 family 'one'
drop cat-2 family 'two'
drop dog '!room:example.org' 'three'
drop trap '$(touch carried-out)' 'four'
drop other-trap '`touch carried-out`' 'five'
drop done friends 'six'
mkdir "$spool/tmp/broken"; echo nobody > "$spool/tmp/broken/text"; mv "$spool/tmp/broken" "$spool/new/"
"$photospool" wait --timeout 60 done
wait_until [ -e "$spool/failed/broken/error" ]
all_are_taken() { [ -z "$(ls "$spool/new")" ]; }
wait_until all_are_taken

# offers SHELL EXPECTED WORD...: exactly these, in any order.
offers() { expect "$(offered_by "$1" "${@:3}" | sort -u | paste -sd' ')" "$2" "$1: ${*:3}"; }

commands=$("$photospool" --help | sed -n '/^SUBCOMMANDS:/,$s/^  \([a-z]\{1,\}\) .*/\1/p')
[ "$(wc -w <<< "$commands")" -gt 12 ] || fail 'no commands'
for shell in bash zsh fish; do
  found=$(offered_by $shell photospool '')
  for command in $commands; do grep -qx "$command" <<< "$found" || fail "$shell does not offer $command: $found"; done
  found=$(offered_by $shell photospool send --)
  for option in --to --photo --text --draft --wait; do
    grep -q -- "^$option" <<< "$found" || fail "$shell does not offer $option: $found"
  done
  offers $shell 'cat-1 cat-2' photospool cancel cat
  offers $shell 'cat-1 cat-2 dog other-trap trap' photospool wait ''
  offers $shell 'cat-1 cat-2' photospool show --spool "$spool" cat
  offers $shell 'broken' photospool retry ''
  offers $shell '!room:example.org family' photospool release ''
  offers $shell 'friends' photospool hold ''
  offers $shell 'family friends' photospool send --to f
  offers $shell 'family' photospool queue --to fa
  (cd / && offers $shell '' photospool wait --spool /nowhere '')
done
[ ! -e carried-out ] || fail 'a name was carried out'
stop_daemon
