# The manual pages render without a warning, and describe every command and option.
. "$(dirname "$0")/../lib/library.sh"

pages=$here/../../docs/man
for page in photospool.1 photospool.conf.5 photospool-spool.5 photospool-janitor.8 photospool-web.8; do [ -s "$pages/$page" ] || fail "there is no $page"; done
for page in "$pages"/*; do
  expect "$(MANROFFOPT=-ww man --warnings -l "$page" 2>&1 > rendered)" '' "$page"
  [ "$(wc -l < rendered)" -gt 20 ] || fail "$page is all but empty"
  # Pages refer to existing pages, or to those of the system.
  for other in $(sed -n 's/^\.Xr \(photospool[^ ]*\) \([0-9]\).*/\1.\2/p' "$page"); do
    [ -e "$pages/$other" ] || fail "$page speaks of $other, which is not there"
  done
done

# described COMMAND: its section of the manual.
described() { awk -v command="$1" '/^\.It Cm /{ on = $3 == command } /^\.Ss |^\.Sh /{ on = 0 } on' "$pages/photospool.1"; }

commands=$("$photospool" --help | sed -n '/^SUBCOMMANDS:/,$s/^  \([a-z]\{1,\}\) .*/\1/p')
[ "$(wc -w <<< "$commands")" -gt 12 ] || fail 'no commands'
for command in $commands; do
  [ -n "$(described "$command")" ] || fail "the manual does not have the command $command"
  for option in $("$photospool" help "$command" | sed -n '/^OPTIONS:/,$p' | grep -o '^  [^ ].*' \
    | grep -oE -- '^ +(-[a-z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+'); do
    case $option in --spool | --config | --help | --version) continue ;; esac
    described "$command" | grep -q -- "Fl.* -\?${option#-}\b" || fail "the manual does not have $command $option"
  done
done

# Every cause of an error has its row among the symptoms.
for cause in $(sed -n -e 's/^  case [a-zA-Z]* = "\([a-z_]*\)".*/\1/p' -e '/ = /!s/^  case \([a-z]*\)$/\1/p' "$here/../../Sources/Messages/Cause.swift"); do
  grep -q "^|.*\`$cause\`.*|" "$here/../../docs/operations.md" || fail "operations.md has no row for $cause"
done

# The manual lists every exit status of the help.
for status in $("$photospool" --help | sed -n '/EXIT STATUS/,/^$/p' | grep -oE '\b[67][0-9]\b'); do
  grep -qx "\.It $status" "$pages/photospool.1" || fail "the manual does not have exit status $status"
done
