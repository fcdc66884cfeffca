#!/usr/bin/env bash
# A typical shell script without a queue: ship.sh takes each photo that is moved into in/, so many at once.
# Usage: glue.sh DIRECTORY AT_ONCE
set -euo pipefail
ship=$(dirname "$(realpath "$0")")/ship.sh
cd "$1"
inotifywait --quiet --monitor --event moved_to --format %f in | xargs -P "$2" -n 1 "$ship"
