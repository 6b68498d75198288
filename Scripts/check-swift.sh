#!/usr/bin/env bash
# Prints instructions if Swift is missing or too old for Package.swift.
set -euo pipefail

wanted=6.3
if ! command -v swift >/dev/null; then
  echo "Parley is built with Swift $wanted or later, and there is no 'swift' on the PATH." >&2
  echo "Install it from https://www.swift.org/install and run make again." >&2
  exit 1
fi
# `swift --version` takes a third of a second; a stamp remembers its result until the program file changes.
program=$(readlink -f "$(command -v swift)")
stamp=.build/swift-checked
[ "$stamp" -nt "$program" ] && exit 0
# On a bare Debian, Swift starts only with the libraries that its installation page lists.
swift --version >/dev/null 2>&1 || "$(dirname "$0")/install-packages.sh" swift
if ! complaint=$(swift --version 2>&1 >/dev/null); then
  echo "Swift does not start: $complaint" >&2
  echo "Install what https://www.swift.org/install names for this system and run make again." >&2
  exit 1
fi
found=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9][0-9.]*\).*/\1/p' | head -n 1)
if [ "$(printf '%s\n%s\n' "$wanted" "${found:-0}" | sort -V | head -n 1)" != "$wanted" ]; then
  echo "Parley is built with Swift $wanted or later; '$program' is ${found:-of an unknown version}." >&2
  exit 1
fi
mkdir -p .build
touch "$stamp"
