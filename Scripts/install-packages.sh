#!/usr/bin/env bash
# Installs the missing Debian packages of the sets named (swift, serve, test, webkit, dist).
#
# The network is not used if nothing is missing.
set -euo pipefail

packages=()
for set in "$@"; do
  case $set in
    swift)
      # The packages that swift.org lists for Debian 12 (Installation, from a package).
      packages+=(binutils gnupg2 libc6-dev libcurl4-openssl-dev libedit2 libgcc-12-dev libncurses-dev
        libpython3-dev libsqlite3-0 libstdc++-12-dev libxml2-dev libz3-dev pkg-config tzdata
        zlib1g-dev)
      ;;
    serve)
      # The seven C libraries, pkg-config, Python for fetching CodeMirror, and tools that make the page smaller.
      packages+=(libwebsockets-dev libsqlite3-dev libssl-dev libpq-dev libnats-dev
        libcurl4-openssl-dev zlib1g-dev pkg-config ca-certificates unzip python3 python3-venv python3-pip
        esbuild terser binaryen brotli)
      ;;
    test)
      # A real browser, headless Chromium, with fonts for emoji and CJK so that screenshots show them.
      packages+=(chromium-headless-shell fonts-noto-color-emoji fonts-wqy-zenhei)
      # Another browser, of 81 MB, which takes 17 s more to install.
      packages+=(firefox-esr)
      # A database for the store's tests, which start it.
      packages+=(postgresql)
      # A pooler, which the store refuses to work through.
      packages+=(pgbouncer)
      # A broker of hints between gateways, which the tests also start.
      packages+=(nats-server)
      # A Bayeux client.
      packages+=(ruby-faye)
      # The proxies for which there are examples.
      packages+=(nginx haproxy caddy)
      # A library that makes system calls fail; C programs on the client core, with either C library.
      packages+=(gcc musl-tools)
      # Shells that complete the program's flags, and a viewer for its manual page.
      packages+=(fish man-db zsh)
      # Test certificates, and the commands that the operations guide uses.
      packages+=(openssl curl)
      # GitHub's Markdown renderer, with which the page view is compared.
      packages+=(cmark-gfm)
      # Any Node works; Debian's is installed if there is none.
      command -v node >/dev/null || packages+=(nodejs)
      # The TypeScript compiler, which checks the page's types.
      command -v tsc >/dev/null || packages+=(node-typescript)
      ;;
    webkit)
      # Safari's engine, its driver, and a virtual screen.
      packages+=(webkit2gtk-driver xvfb)
      ;;
    dist)
      # Tools to bundle libraries, to build an image without a registry, and to make bare roots for tests.
      packages+=(binutils patchelf buildah mmdebstrap)
      # The TypeScript compiler, for the types of the SDK for web pages.
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
# Another apt may hold the lock on a machine that has just started: wait for it.
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "${missing[@]}"; } \
  >"$log" 2>&1 </dev/null; then
  tail -n 30 "$log" >&2
  echo "The Debian packages could not be installed: ${missing[*]}" >&2
  exit 1
fi
