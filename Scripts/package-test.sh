#!/usr/bin/env bash
# Builds an app that depends on this package, as on an app developer's machine: without pkg-config and without the
# headers that only the server needs. Prints what was built.
#
# A server's header that is read nevertheless ends the compilation with an error that names it.
set -euo pipefail

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
build=$root/.build/package-test
mkdir -p "$build/nothing"

# Makes a package with one target.
make_package() {
  mkdir -p "$build/other-$1/Sources/$1"
  echo 'public let one = 1' >"$build/other-$1/Sources/$1/one.swift"
  cat >"$build/other-$1/Package.swift" <<END
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "other-$1", products: [.\`library\`(name: "$1", targets: ["$1"])], targets: [.target(name: "$1")])
END
}

# Makes an app with this package's products; its source is read from standard input.
make_app() {
  local app=$build/$1 product products='' packages=''
  shift
  # The app also depends on packages whose targets have these names.
  for product in JSON SocketIO CSQLite Locks Hashing HTTP1 WebSocketClient GRDB; do
    make_package "$product"
    packages+=", .package(path: \"../other-$product\")"
    products+="        .product(name: \"$product\", package: \"other-$product\"),"$'\n'
  done
  for product; do products+="        .product(name: \"$product\", package: \"parley\"),"$'\n'; done
  mkdir -p "$app/Sources/app"
  cat >"$app/Package.swift" <<END
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "app",
  platforms: [.macOS(.v15), .iOS(.v18)],
  dependencies: [.package(name: "parley", path: "$root")$packages],
  targets: [
    .executableTarget(
      name: "app",
      dependencies: [
$products      ])
  ]
)
END
  cat >"$app/Sources/app/main.swift"
}

make_app app ParleyClient ParleyChat DialectModels OTCore <<'END'
import ParleyDialectModels
import OTCore
import ParleyChat
import ParleyClient

let service = ParleyService("ws://127.0.0.1:1", as: "app")
await service.stop()
let router = DomainRouter()
let chat = ChatHandlers(Parley("ws://127.0.0.1:1", as: "app"))
chat.core.goOffline()
print(Document("an app").text, router.route(GroupChat.Push(), on: "/"))
END
make_app list ParleyOffline <<'END'
import ParleyOffline

let folder = CommandLine.arguments[1]
let store = try OfflineStore(folder: folder)
let outbox = try Outbox(store, user: "me", sender: RESTService("http://127.0.0.1:1"))
try await outbox.add(MutationDraft(.create, "things", .temporary()))
print("a list with \(await outbox.count) change")
END

# The server's headers, each replaced by an error. OpenSSL's are not replaced: the client uses them for TLS on Linux.
cat >"$build/hidden.h" <<'END'
#error "a header of the server's is read, which an app's machine does not have"
END
# Writes an overlay that hides headers.
hide() {
  local file=$1 comma='' header folder
  shift
  {
    echo '{ "version": 0, "roots": ['
    for header; do
      for folder in /usr/include "/usr/include/$(cc -print-multiarch)" /usr/include/postgresql; do
        printf '%s{ "type": "file", "name": "%s", "external-contents": "%s" }\n' \
          "$comma" "$folder/$header" "$build/hidden.h"
        comma=,
      done
    done
    echo '] }'
  } >"$file"
}
others=(libwebsockets.h ev.h uv.h libpq-fe.h curl/curl.h nats/nats.h)
hide "$build/hidden.json" sqlite3.h "${others[@]}"
# The list of changes is stored in SQLite.
hide "$build/hidden-but-sqlite.json" "${others[@]}"

# pkg-config finds no package, not even itself.
export PKG_CONFIG_PATH= PKG_CONFIG_LIBDIR="$build/nothing"

# Check that the overlay hides the headers.
for header in sqlite3.h libwebsockets.h; do
  if [ -f "/usr/include/$header" ] && echo "#include <$header>" |
    clang -ivfsoverlay "$build/hidden.json" -fsyntax-only -x c - 2>/dev/null; then
    echo "package-test: $header is not hidden" >&2
    exit 1
  fi
done

(cd "$root" && swift package --scratch-path "$build/manifest" dump-package) >"$build/manifest.json"
grep -q '"platformName" : "ios"' "$build/manifest.json" || {
  echo "package-test: the manifest names no iOS" >&2
  exit 1
}
# Warnings are errors in this package's own builds, and not in those of apps.
grep -q treatAllWarnings "$build/manifest.json" || {
  echo "package-test: warnings are no errors in the package's own builds" >&2
  exit 1
}
if (cd "$build" && swift package --package-path "$root" --scratch-path "$build/manifest" dump-package) |
  grep -q treatAllWarnings; then
  echo "package-test: an app inherits that warnings are errors" >&2
  exit 1
fi
if (cd "$root" && PARLEY_WARNINGS=shown swift package --scratch-path "$build/manifest" dump-package) |
  grep -q treatAllWarnings; then
  echo "package-test: PARLEY_WARNINGS=shown is ignored" >&2
  exit 1
fi
# Builds an app and runs it. Checks that it is linked with none of the server's libraries.
try_app() {
  local name=$1 overlay=$2 forbidden=$3
  shift 3
  swift build --package-path "$build/$name" --scratch-path "$build/scratch-$name" \
    -Xcc -ivfsoverlay -Xcc "$build/$overlay" "$@"
  local program=$build/scratch-$name/debug/app
  rm -rf "$build/store"
  "$program" "$build/store"
  if ldd "$program" | grep -E "$forbidden"; then
    echo "package-test: $name is linked with a library of the server's" >&2
    exit 1
  fi
}
try_app app hidden.json 'libwebsockets|libsqlite3|libcurl|libpq|libev\b' "$@"
try_app list hidden-but-sqlite.json 'libwebsockets|libcurl|libpq|libev\b' "$@"
echo "package-test: apps build with ParleyClient, ParleyChat, DialectModels and OTCore, and with ParleyOffline, alone"
