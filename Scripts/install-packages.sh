#!/usr/bin/env bash
# Installs the Debian packages of the sets named (swift, serve, test, webkit, dist) that are missing.
#
# Nothing is asked of the network when nothing is missing.
set -euo pipefail

packages=()
for set in "$@"; do
  case $set in
    swift)
      # What swift.org names for Debian 12 (Installation, from a package).
      packages+=(binutils gnupg2 libc6-dev libcurl4-openssl-dev libedit2 libgcc-12-dev libncurses-dev
        libpython3-dev libsqlite3-0 libstdc++-12-dev libxml2-dev libz3-dev pkg-config tzdata
        zlib1g-dev)
      ;;
    serve)
      # The seven C libraries, what finds them, Python for fetching CodeMirror, and what makes the page small.
      packages+=(libwebsockets-dev libsqlite3-dev libssl-dev libpq-dev libnats-dev
        libcurl4-openssl-dev zlib1g-dev pkg-config ca-certificates unzip python3 python3-venv python3-pip
        esbuild binaryen brotli)
      ;;
    test)
      # A real browser, Chromium without its windows, with fonts for emoji and CJK so that screenshots show them.
      packages+=(chromium-headless-shell fonts-noto-color-emoji fonts-wqy-zenhei)
      # Another, of 81 MB: 17 s more where nothing is installed yet.
      packages+=(firefox-esr)
      # A database for the store's tests, which start it themselves.
      packages+=(postgresql)
      # A pooler, which the store refuses to work through.
      packages+=(pgbouncer)
      # A broker of hints between gateways, which they start, too.
      packages+=(nats-server)
      # A client of Bayeux.
      packages+=(ruby-faye)
      # The proxies that there are examples for.
      packages+=(nginx haproxy caddy)
      # A library that has system calls go wrong; programs in C on the client core, with either C library.
      packages+=(gcc musl-tools)
      # Shells that complete the program's flags, and what shows its manual page.
      packages+=(fish man-db zsh)
      # Certificates to test with, and what the operations guide asks a server by.
      packages+=(openssl curl)
      # GitHub's reading of Markdown, which the page view is compared with.
      packages+=(cmark-gfm)
      # Any Node will do; Debian's is taken where there is none.
      command -v node >/dev/null || packages+=(nodejs)
      # The page's types are checked with it.
      command -v tsc >/dev/null || packages+=(node-typescript)
      ;;
    webkit)
      # Safari's engine, what drives it, and a screen in memory.
      packages+=(webkit2gtk-driver xvfb)
      ;;
    dist)
      # Libraries beside the program, an image without a registry, bare roots to try them in.
      packages+=(binutils patchelf buildah mmdebstrap)
      # The types of the client for web pages.
      command -v tsc >/dev/null || packages+=(node-typescript)
      ;;
    *)
      echo "install-packages.sh: expected swift, serve, test, webkit or dist, got '$set'" >&2
      exit 2
      ;;
  esac
done

if ! command -v dpkg-query >/dev/null; then
  echo "This is no Debian, so packages are not installed; the build wants: ${packages[*]}" >&2
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "Debian packages are missing, and this is neither root nor a user with sudo. As root, run:" >&2
    echo "  apt-get update && apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "Installing Debian packages: ${missing[*]}"
# Another apt may hold the lock, on a machine that has just started: wait for it.
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "${missing[@]}"; } \
  >"$log" 2>&1 </dev/null; then
  tail -n 30 "$log" >&2
  echo "The Debian packages could not be installed: ${missing[*]}" >&2
  exit 1
fi
