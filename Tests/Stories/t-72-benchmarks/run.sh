# Benchmarks run rarely while their shared code changes: each still finds every name that it imports.
. "$(dirname "$0")/../lib/library.sh"

cd "$here/../../Benchmarks"
for file in *.py; do
  PYTHONDONTWRITEBYTECODE=1 "$python" -c "import ${file%.py}" || fail "$file"
done
