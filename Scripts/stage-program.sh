#!/usr/bin/env bash
# Builds the program with Swift's library linked statically, and lays it out with its page and documents as an
# installation: Scripts/stage-program.sh PREFIX writes PREFIX/bin/parley, PREFIX/share/parley/web,
# PREFIX/share/doc/parley, the manual page and the completions for shells. Prints the program's version.
set -euo pipefail

prefix=${1:?"a folder"}
cd "$(dirname "$0")/.."

build=(swift build -c release --static-swift-stdlib --product parley --scratch-path .build/static)
"${build[@]}" >&2
program=$("${build[@]}" --show-bin-path)/parley

install -D -m 755 "$program" "$prefix/bin/parley"
strip --strip-unneeded "$prefix/bin/parley"

web=$prefix/share/parley/web
mkdir -p "$web" "$prefix/share/doc/parley"
# Preserve the build's times; otherwise a compressed form could seem older than its file.
cp -R --preserve=timestamps Web/built/. "$web/"
rm "$web/.stamp"

cp -R README.md CHANGELOG.md NOTICE Documentation/*.md Packaging/grafana Packaging/parley.conf \
  "$prefix/share/doc/parley/"
install -m 644 LICENSE "$prefix/share/doc/parley/copyright"
Scripts/make_command_pages.py "$program" "$prefix"
gzip -9n "$prefix/share/man/man1/parley.1"
find "$prefix" -type d -exec chmod 755 {} +
find "$prefix/share" -type f -exec chmod 644 {} +

"$program" --version | cut -d ' ' -f 2
