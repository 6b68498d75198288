#!/usr/bin/env bash
# Makes a container image from the tarball's files, without a registry and without a base image:
# .build/parley-VERSION-image-ARCHITECTURE.tar, for `docker load` and `podman load`.
#
# The image contains the program, its libraries, CA certificates, and two users, but no shell. It runs as any user: a
# user without an entry in /etc/passwd has the group 0, which may write to the data folder.
set -euo pipefail

cd "$(dirname "$0")/.."
Scripts/make-dist.sh
tarball=$(ls -t .build/parley-*-linux-"$(uname -m)".tar.gz | head -n 1)
version=$(basename "$tarball" | cut -d - -f 2)

work=$(mktemp -d)
# Separate storage, so that nothing remains on the machine. Only the docker format supports a health check.
export BUILDAH_FORMAT=docker
buildah=(buildah --storage-driver vfs --root "$work/storage" --runroot "$work/run")
trap '"${buildah[@]}" rm --all >/dev/null 2>&1 || true; rm -rf "$work"' EXIT

root=$work/root
mkdir -p "$root"/{data,dev,etc/ssl/certs,proc,sys,tmp,usr}
tar --extract --gzip --strip-components=1 --directory "$root/usr" --file "$tarball"
# The C library, which the tarball leaves to the system, at the path that the loader expects.
loader=$(ldd /bin/true | awk '/ld-linux/ { print $1 }')
install -D -m 755 "$(realpath "$loader")" "$root$loader"
for library in libc libm libdl libpthread librt libresolv; do
  path=$(ldconfig -p | awk -v name="$library.so" 'index($1, name) == 1 && !found++ { print $NF }')
  install -D -m 755 "$(realpath "$path")" "$root/lib/$(uname -m)-linux-gnu/$(basename "$path")"
done
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
printf 'root:x:0:0:root:/:/sbin/nologin\nparley:x:10001:10001:Parley:/data:/sbin/nologin\n' \
  >"$root/etc/passwd"
printf 'root:x:0:\nparley:x:10001:\n' >"$root/etc/group"
printf 'hosts: files dns\n' >"$root/etc/nsswitch.conf"
chmod 1777 "$root/tmp"
chmod 770 "$root/data"
chown 10001:0 "$root/data"

container=$("${buildah[@]}" from scratch)
# An archive preserves the owners of its files.
tar --create --sort=name --numeric-owner --directory "$root" --file "$work/root.tar" .
"${buildah[@]}" add --quiet "$container" "$work/root.tar" / >/dev/null
"${buildah[@]}" config \
  --entrypoint '["/usr/bin/parley"]' --cmd serve --user 10001:10001 --workingdir /data \
  --volume /data --port 8080 --stop-signal SIGTERM \
  --env PARLEY_HOST=0.0.0.0 --env PARLEY_PORT=8080 --env PARLEY_DATA_DIR=/data \
  --env SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt \
  --healthcheck 'CMD /usr/bin/parley health' --healthcheck-interval 10s \
  --healthcheck-timeout 6s --healthcheck-start-period 30s \
  --label org.opencontainers.image.title=Parley \
  --label "org.opencontainers.image.version=$version" \
  --label org.opencontainers.image.licenses=Apache-2.0 \
  "$container"
image=$("${buildah[@]}" commit --quiet \
  --timestamp "${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}" "$container")

archive=.build/parley-$version-image-$(uname -m).tar
rm -f "$archive"
"${buildah[@]}" push --quiet "$image" "docker-archive:$archive:parley:$version"
echo "The image is $archive ($(du -k "$archive" | cut -f 1) kB)"
