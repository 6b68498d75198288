#!/usr/bin/env bash
# Builds an app that depends on this package, as an app developer's machine would: without pkg-config and
# without the headers that only the server needs. Says what was built.
#
# A header of the server's that is read all the same ends the compilation with an error that names it.
set -euo pipefail

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
build=$root/.build/package-test
app=$build/app
mkdir -p "$app/Sources/app" "$build/nothing"

cat >"$app/Package.swift" <<END
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "app",
  platforms: [.macOS(.v15), .iOS(.v18)],
  dependencies: [.package(name: "parley", path: "$root")],
  targets: [
    .executableTarget(
      name: "app",
      dependencies: [
        .product(name: "ParleyClient", package: "parley"),
        .product(name: "DialectModels", package: "parley"),
        .product(name: "OTCore", package: "parley"),
      ])
  ]
)
END
cat >"$app/Sources/app/main.swift" <<'END'
import DialectModels
import OTCore
import ParleyClient

let service = ParleyService("ws://127.0.0.1:1", as: "app")
await service.stop()
let router = DomainRouter()
print(Document("an app").text, router.route(GroupChat.Push(), on: "/"))
END

# The server's headers, each replaced by an error. OpenSSL's stay: the client has TLS by them on Linux.
cat >"$build/hidden.h" <<'END'
#error "a header of the server's is read, which an app's machine does not have"
END
{
  echo '{ "version": 0, "roots": ['
  comma=
  for header in libwebsockets.h sqlite3.h ev.h uv.h libpq-fe.h curl/curl.h nats/nats.h; do
    for folder in /usr/include "/usr/include/$(cc -print-multiarch)" /usr/include/postgresql; do
      printf '%s{ "type": "file", "name": "%s", "external-contents": "%s" }\n' \
        "$comma" "$folder/$header" "$build/hidden.h"
      comma=,
    done
  done
  echo '] }'
} >"$build/hidden.json"

# Nothing is known to pkg-config: not even that it is there.
export PKG_CONFIG_PATH= PKG_CONFIG_LIBDIR="$build/nothing"

# The overlay hides what it is to hide.
for header in sqlite3.h libwebsockets.h; do
  if [ -f "/usr/include/$header" ] && echo "#include <$header>" |
    clang -ivfsoverlay "$build/hidden.json" -fsyntax-only -x c - 2>/dev/null; then
    echo "package-test: $header is still to be seen" >&2
    exit 1
  fi
done

swift package --package-path "$root" --scratch-path "$build/manifest" dump-package >"$build/manifest.json"
grep -q '"platformName" : "ios"' "$build/manifest.json" || {
  echo "package-test: the manifest names no iOS" >&2
  exit 1
}
swift build --package-path "$app" --scratch-path "$build/scratch" \
  -Xcc -ivfsoverlay -Xcc "$build/hidden.json" "$@"
program=$build/scratch/debug/app
"$program"
# What an app is linked with: none of the server's libraries.
if ldd "$program" | grep -E 'libwebsockets|libsqlite3|libcurl|libpq|libev\b'; then
  echo "package-test: the app is linked with a library of the server's" >&2
  exit 1
fi
echo "package-test: an app builds with ParleyClient, DialectModels and OTCore alone"
