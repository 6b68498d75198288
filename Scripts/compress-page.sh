#!/bin/sh
# Writes the compressed form of each of the page's files beside it, which the gateway sends to browsers:
# Scripts/compress-page.sh [FOLDER]
#
# Nothing is done for a file whose compressed form is newer.
set -eu

folder=${1:-$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)/Web}
find "$folder" -type f \( -name '*.js' -o -name '*.css' -o -name '*.html' -o -name '*.wasm' -o -name '*.svg' \) |
  while read -r file; do
    # Without name and time inside, the same file gives the same bytes; the time on disk is the file's.
    if [ ! -f "$file.gz" ] || [ "$file" -nt "$file.gz" ]; then gzip -9 -n -k -f "$file"; fi
  done
# Forms of files that are no longer there.
find "$folder" -type f -name '*.gz' | while read -r file; do
  [ -f "${file%.gz}" ] || rm "$file"
done
