#!/usr/bin/env python3
"""Tests the installation of what `make dist`, `make deb` and `make image` have made.

    Scripts/install_test.py [tarball] [deb] [image]

Each is installed in a separate root without a compiler and without anything else of Parley: the tarball and the
package in a bare Debian 12, the image with only its own files. The test starts the program, writes a note, upgrades
the program while no client is connected, reads the note, and removes the program; the notes must remain. It prints the
time from the bare root to a served note. It must run as root, since it uses chroot.
"""

import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / ".build"
COMPOSE = ROOT / "Packaging" / "compose.yaml"
PASSWORD = "correct horse battery staple"
TEXT = "Written before the upgrade: naïve 🙂"


def newest(pattern):
    """Returns the newest file of the build folder that matches a pattern."""
    files = sorted(BUILD.glob(pattern), key=lambda path: path.stat().st_mtime)
    if not files:
        sys.exit(f"nothing matches {BUILD}/{pattern}; run make dist deb image first")
    return files[-1]


def free_port():
    """Returns a port without a listener."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def request(port, method, path, body=None, headers=()):
    """Makes a request and returns the status and body of the response."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    with contextlib.closing(connection):
        connection.request(method, path, body=body, headers=dict(headers))
        response = connection.getresponse()
        return response.status, response.read()


@contextlib.contextmanager
def mounted(target, *options):
    """Mounts something while the block runs."""
    subprocess.run(["mount", *map(str, options), str(target)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(target)], check=True)


@contextlib.contextmanager
def remounted_for_reading(target):
    """Makes a mounted folder read-only."""
    subprocess.run(["mount", "-o", "remount,ro,bind", str(target)], check=True)
    yield


class Root:
    """A root folder in which commands are run."""

    def __init__(self, folder, environment=None, user=None):
        self.folder = folder
        self.environment = environment or {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
        self.user = user

    def command(self, *words):
        """Returns the command that runs these words in this root, and ends with its processes."""
        user = ["--userspec", self.user] if self.user else []
        return [shutil.which("chroot"), *user, str(self.folder), *map(str, words)]

    def run(self, *words, **options):
        """Runs a command, which must succeed, and returns its output."""
        ended = subprocess.run(
            self.command(*words), env=self.environment, capture_output=True, text=True, **options
        )
        assert ended.returncode == 0, f"{words}: {ended.returncode}\n{ended.stdout}{ended.stderr}"
        return ended.stdout

    @contextlib.contextmanager
    def serving(self, *words, environment=()):
        """Starts a server with these words while the block runs, and yields its port."""
        process = subprocess.Popen(
            self.command(*words), env=self.environment | dict(environment),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        lines = []
        try:
            for line in process.stdout:
                lines.append(line)
                if line.startswith("listening on "):
                    break
            else:
                raise AssertionError(f"{words} ended with {process.wait()}:\n{''.join(lines)}")
            yield int(lines[-1].rsplit(":", 1)[1])
            process.send_signal(signal.SIGTERM)
            process.stdout.read()
            assert process.wait(timeout=60) == 0, "the server did not end well"
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            process.stdout.close()


@contextlib.contextmanager
def bare_debian(folder):
    """Yields a bare Debian 12 from this machine's mirror while the block runs."""
    subprocess.run(
        ["mmdebstrap", "--quiet", "--variant=minbase", "bookworm", str(folder)], check=True
    )
    assert not (folder / "usr/bin/swift").exists()
    # The loader finds the libraries beside a program through /proc.
    with mounted(folder / "proc", "-t", "proc", "proc"):
        yield Root(folder)


def write(port):
    """Checks the page, creates a note and writes into it. Returns the path of its text."""
    status, page = request(port, "GET", "/", headers={"accept": "text/html"})
    assert status == 200 and b"<html" in page, "the page is not served"
    status, answer = request(
        port, "POST", "/api/notes", json.dumps({"title": "Installed"}),
        {"content-type": "application/json"},
    )  # fmt: skip
    assert status == 201, (status, answer)
    note = f"/api/notes/{json.loads(answer)['id']}/text"
    status, answer = request(
        port, "PUT", note, TEXT.encode(), {"content-type": "text/plain; charset=utf-8"}
    )
    assert status == 200, (status, answer)
    return note


def read(port, note):
    """Checks that the note contains what was written."""
    status, answer = request(port, "GET", note)
    assert status == 200 and json.loads(answer)["text"] == TEXT, (status, answer)


def try_tarball(work):
    """Unpacks the tarball below /opt and runs the program by its path."""
    with bare_debian(work / "root") as root:
        return use_tarball(root)


def look_at_pages(share):
    """Checks that the manual page and the completions are where shells expect them."""
    for path in (
        "man/man1/parley.1.gz", "bash-completion/completions/parley", "zsh/vendor-completions/_parley",
        "fish/vendor_completions.d/parley.fish",
    ):  # fmt: skip
        assert (share / path).stat().st_size > 1_000, path


def use_tarball(root):
    began = time.monotonic()
    tarball = newest("parley-*-linux-*.tar.gz")

    def unpack():
        subprocess.run(["tar", "-xzf", tarball, "-C", root.folder / "opt"], check=True)
        return next(path for path in (root.folder / "opt").iterdir()).name

    name = unpack()
    look_at_pages(root.folder / "opt" / name / "share")
    program = f"/opt/{name}/bin/parley"
    serve = [program, "serve", "--port", "0", "--data-dir", "/srv/notes"]
    with root.serving(*serve) as port:
        note = write(port)
        took = time.monotonic() - began
        root.run(program, "health", "--port", port)
    # A link on the PATH, as users install it.
    root.run("ln", "-s", program, "/usr/local/bin/parley")
    root.environment["PATH"] += ":/usr/local/bin"
    shutil.rmtree(root.folder / "opt" / name)
    unpack()
    with root.serving("parley", *serve[1:]) as port:
        read(port, note)
    shutil.rmtree(root.folder / "opt" / name)
    assert any((root.folder / "srv/notes").iterdir()), "removing the program took the notes"
    return took


def try_deb(work):
    """Installs the package with apt, upgrades it, removes and purges it."""
    with bare_debian(work / "root") as root:
        return use_deb(root, work)


def use_deb(root, work):
    package = newest("parley_*_*.deb")
    began = time.monotonic()
    shutil.copy(package, root.folder / "parley.deb")
    # Packages that start services ask a policy for permission, which a chroot does not have.
    root.environment["DEBIAN_FRONTEND"] = "noninteractive"
    install = ["apt-get", "-qq", "install", "--no-install-recommends", "-y", "/parley.deb"]
    root.run("apt-get", "-qq", "update")
    root.run(*install)
    serve = ["parley", "serve", "--config", "/etc/parley/parley.conf", "--port", "0"]
    owner = Root(root.folder, dict(root.environment), user="parley:parley")
    with owner.serving(*serve) as port:
        note = write(port)
        took = time.monotonic() - began
        root.run("parley", "health", "--port", port)
    (root.folder / "etc/parley/parley.conf").open("a").write("# A line of the operator's.\n")
    # The same package with a later version.
    tree = work / "package"
    subprocess.run(["dpkg-deb", "-R", package, tree], check=True)
    look_at_pages(tree / "usr" / "share")
    control = tree / "DEBIAN" / "control"
    fields = control.read_text().splitlines()
    control.write_text(
        "\n".join(f"{x}+later" if x.startswith("Version:") else x for x in fields) + "\n"
    )
    subprocess.run(
        ["dpkg-deb", "--root-owner-group", "--build", tree, root.folder / "parley.deb"],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    root.run(*install)
    assert "+later" in root.run("dpkg-query", "--show", "parley")
    settings = (root.folder / "etc/parley/parley.conf").read_text()
    assert settings.endswith("# A line of the operator's.\n"), "the upgrade changed the settings"
    with owner.serving(*serve) as port:
        read(port, note)
    root.run("apt-get", "-qq", "purge", "-y", "parley")
    assert not (root.folder / "usr/bin/parley").exists()
    assert any((root.folder / "var/lib/parley").iterdir()), "purging took the notes"
    return took


def unpack_image(archive, folder):
    """Unpacks an image's layers, and returns its settings."""
    with tarfile.open(archive) as image:
        manifest = json.load(image.extractfile("manifest.json"))[0]
        settings = json.load(image.extractfile(manifest["Config"]))["config"]
        for layer in manifest["Layers"]:
            with tarfile.open(fileobj=image.extractfile(layer)) as files:
                files.extractall(folder, numeric_owner=True)
    return settings


def try_image(work):
    """Runs the image's command as its user, with only the image's own files, which are read-only."""
    archive = newest("parley-*-image-*.tar")
    began = time.monotonic()

    @contextlib.contextmanager
    def container(number, volume=work / "volume", user=None):
        folder = work / f"container{number}"
        settings = unpack_image(archive, folder)
        assert settings["User"].split(":")[0] not in ("", "0", "root")
        assert list(settings["Volumes"]) == ["/data"]
        environment = dict(pair.split("=", 1) for pair in settings["Env"])
        if not volume.exists():
            # A new volume is filled with the image's files at its path.
            shutil.copytree(folder / "data", volume)
            status = (folder / "data").stat()
            os.chown(volume, status.st_uid, status.st_gid)
            volume.chmod(status.st_mode)
        with (
            mounted(folder, "--bind", folder),
            # The image's own files are read-only.
            remounted_for_reading(folder),
            mounted(folder / "data", "--bind", volume),
            mounted(folder / "proc", "-t", "proc", "proc"),
        ):
            yield Root(folder, environment, user or settings["User"]), settings

    port = str(free_port())
    chosen = {"PARLEY_PORT": port, "PARLEY_ALLOW_OPEN_NETWORK": "true"}
    with container(1) as (root, settings):
        command = settings["Entrypoint"] + settings["Cmd"]
        with root.serving(*command, environment=chosen):
            note = write(int(port))
            took = time.monotonic() - began
            check = settings["Healthcheck"]["Test"]
            assert check[0] == "CMD", check
            root.environment |= chosen
            root.run(*check[1:])
        # Without a setting that grants access, the program does not listen on the network.
        refused = subprocess.run(
            root.command(*command), capture_output=True, text=True,
            env=dict(root.environment, PARLEY_ALLOW_OPEN_NETWORK="false"),
        )  # fmt: skip
        assert refused.returncode == 2, refused
    with container(2) as (root, settings), root.serving(*command, environment=chosen):
        read(int(port), note)
    # The settings of the compose file, with a user as its first comment describes.
    composed = re.findall(r"^ +(PARLEY_\w+): (\S+)$", COMPOSE.read_text(), re.MULTILINE)
    chosen = {"PARLEY_PORT": port} | dict(composed)
    with container(3) as (root, settings):
        root.run(
            *settings["Entrypoint"], "user", "add", "ada@example.org", "--name", "Ada",
            "document:*=read,write,presence", "--file", "/data/users", input=PASSWORD,
        )  # fmt: skip
        with root.serving(*command, environment=chosen):
            login = json.dumps({"email": "ada@example.org", "password": PASSWORD})
            status, answer = request(int(port), "POST", "/api/user/login", login)
            assert status == 200, (status, answer)
            assert request(int(port), "GET", note)[0] == 401
    # A user without an entry in the image; container engines give such a user the group 0.
    chosen = {"PARLEY_PORT": port, "PARLEY_ALLOW_OPEN_NETWORK": "true"}
    with container(4, work / "other", "12345:0") as (root, settings):
        with root.serving(*command, environment=chosen):
            write(int(port))
        files = list((work / "other").iterdir())
        assert files and {path.stat().st_uid for path in files} == {12345}
    return took


KINDS = {"tarball": try_tarball, "deb": try_deb, "image": try_image}


def main(kinds):
    for kind in kinds or KINDS:
        with tempfile.TemporaryDirectory(prefix="parley-install-") as work:
            took = KINDS[kind](pathlib.Path(work))
        print(f"{kind}: installed, started, written to, upgraded, removed; "
              f"{took:.1f} s to a served note", flush=True)  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1:])
