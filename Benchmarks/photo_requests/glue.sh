#!/usr/bin/env bash
# What people write who have no queue: each photo that is moved into in/ is taken by ship.sh, so many at once.
# Usage: glue.sh DIRECTORY AT_ONCE
set -euo pipefail
ship=$(dirname "$(realpath "$0")")/ship.sh
cd "$1"
inotifywait --quiet --monitor --event moved_to --format %f in | xargs -P "$2" -n 1 "$ship"
