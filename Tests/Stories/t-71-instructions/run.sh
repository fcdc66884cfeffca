# The cost of a text in counted instructions, which a busy or slow machine does not change. The bound is for the
# programs that `make test` builds: it leaves room for half as much again, but not for twice the cost.
. "$(dirname "$0")/../lib/library.sh"

most=8500000 # 5.2 million as `make test` builds the program, and 2.2 million when it is optimised

command -v valgrind > /dev/null || skip "Valgrind is not installed"
PHOTOSPOOL=$photospool "$here/../../Benchmarks/instructions.sh" 20 > counted
cat counted
read -r _ _ each _ < counted
[ "$each" -gt 0 ] && [ "$each" -le "$most" ] || fail "a text takes $each instructions, and $most are the most"
