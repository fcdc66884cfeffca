#!/bin/bash
# Searches for inputs that break a parser: fuzz.sh PROGRAM SECONDS [PARSER...]
#
# New inputs are kept in .build/fuzz/corpus, and crashes in .build/fuzz/PARSER-crash-*. Put a crash in its smallest form into
# Tests/Fuzz/Corpus/PARSER, so that its fix stays tested.
set -euo pipefail
program=$1 seconds=$2
shift 2
cd "$(dirname "$0")/.."
(($#)) || set -- $(ls Tests/Fuzz/Corpus)
failed=()
for parser; do
  mkdir -p ".build/fuzz/corpus/$parser"
  echo "$parser:"
  PHOTOSPOOL_FUZZ=$parser SWIFT_BACKTRACE=enable=no "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 \
    -max_len=16384 -verbosity=0 -print_final_stats=1 -artifact_prefix=".build/fuzz/$parser-" \
    ".build/fuzz/corpus/$parser" "Tests/Fuzz/Corpus/$parser" 2>&1 | tail -8 || failed+=("$parser")
done
if ((${#failed[@]})); then
  echo "broken: ${failed[*]}"
  exit 1
fi
