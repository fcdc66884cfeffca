# Nobody runs the benchmarks each day, and what they share changes: each still finds the names that it takes from others.
. "$(dirname "$0")/../lib/library.sh"

cd "$here/../../Benchmarks"
for file in *.py; do
  PYTHONDONTWRITEBYTECODE=1 "$python" -c "import ${file%.py}" || fail "$file"
done
