"""The program in a container: as a user without a name, with a read-only root."""

import contextlib
import json
import os
import re
import shutil
import subprocess

import pytest
import yaml
from parley_server import PROGRAM, ROOT, ParleyServer
from patience import PROGRAM_SECONDS

KUBERNETES = ROOT / "Packaging" / "kubernetes.yaml"

# Makes every mounted file system read-only but the folder, then runs the rest as an unknown user.
CONTAINER = """
set -eu
folder=$1; shift
mount --bind "$folder" "$folder"
awk '{ print $5 }' /proc/self/mountinfo | grep -vxF "$folder" | grep -v -e '^/proc' -e '^/sys' -e '^/dev' |
  while read -r place; do mount -o remount,bind,ro "$place" 2>/dev/null || true; done
cd /
exec setpriv --reuid 12345 --regid 12345 --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all \\
  env --ignore-environment "$@"
"""

needs_root = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("setpriv") or not shutil.which("unshare"),
    reason="only the superuser makes a root that may not be written",
)


def contained(folder, *words):
    """Returns the command that runs arguments in such a container, in which only the folder is writable."""
    return ["unshare", "--mount", "--propagation", "private", "bash", "-c", CONTAINER, "container", str(folder), *words]


@pytest.fixture
def folder(tmp_path):
    """A data folder of the user, whose parents are accessible to all users."""
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    os.chown(data, 12345, 12345)
    for above in tmp_path.parents:
        if above.stat().st_mode & 0o001 == 0:
            above.chmod(above.stat().st_mode | 0o011)
    tmp_path.chmod(0o711)
    return data


class Contained(ParleyServer):
    """Runs a server in such a container."""

    def launch(self):
        words = [PROGRAM, "serve", "--port", str(self.port), "--data-dir", str(self.data), "--web-dir", str(ROOT / "Web")]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                contained(self.data, *words, *self.flags), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=log, text=True,
            )  # fmt: skip
        self.output = []
        return self


@contextlib.contextmanager
def serving(folder):
    server = Contained(folder.parent)
    try:
        yield server.start()
    finally:
        if server.is_running:
            server.kill()


def run(folder, *words):
    return subprocess.run(
        contained(folder, PROGRAM, *words), capture_output=True, text=True, timeout=PROGRAM_SECONDS
    )


@needs_root
def test_any_user_with_a_read_only_root(folder):
    flags = ["--data-dir", str(folder)]
    with serving(folder) as server:
        note = server.create_note("Contained")
        for text in ("long " * 200_000, "short"):
            status, _, answer = server.request(
                "PUT", f"/api/notes/{note}/text", text.encode(), {"Content-Type": "text/plain; charset=utf-8"}
            )
            assert status == 200, answer
        asked = run(folder, "health", "--port", str(server.port))
        assert (asked.returncode, asked.stdout) == (0, "ready\n")
        saved = run(folder, "backup", str(folder / "saved"), *flags)
        assert saved.returncode == 0, saved.stderr
        assert server.stop() == 0
        log = server.log.read_text()
        assert " error " not in log and " warning " not in log, log
    for words in (["check"], ["compact", "--history-changes-min", "1"], ["reindex"], ["notes"]):
        ended = run(folder, *words, *flags)
        assert ended.returncode == 0, (words, ended.stdout[-500:], ended.stderr)
    owners = {(entry.stat().st_uid, entry.stat().st_mode & 0o077) for entry in folder.iterdir()}
    assert owners == {(12345, 0)}


@needs_root
def test_a_read_only_data_folder_is_reported(folder):
    words = [PROGRAM, "serve", "--port", "0", "--data-dir", "/usr/parley-data", "--web-dir", str(ROOT / "Web")]
    ended = subprocess.run(contained(folder, *words), capture_output=True, text=True, timeout=PROGRAM_SECONDS)
    assert ended.returncode == 1 and "Read-only file system" in ended.stderr, ended.stderr
    # A store that was there before its file system became one that may not be written.
    with serving(folder) as server:
        server.create_note()
        server.stop()
    outside = folder.parent / "outside"
    shutil.copytree(folder, outside)
    for path in (outside, *outside.iterdir()):
        os.chown(path, 12345, 12345)
    words[words.index("/usr/parley-data")] = str(outside)
    ended = subprocess.run(contained(folder, *words), capture_output=True, text=True, timeout=PROGRAM_SECONDS)
    assert ended.returncode == 1, ended
    assert "mounted read-only" in ended.stderr and "owner and mode" not in ended.stderr, ended.stderr


def documents():
    return {it["kind"]: it for it in yaml.safe_load_all(KUBERNETES.read_text())}


def test_the_kubernetes_example_fits_the_image(tmp_path):
    parts = documents()
    pod = parts["Deployment"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    image = (ROOT / "Scripts" / "make-image.sh").read_text()
    version = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    assert container["image"] == f"parley:{version}"
    (port,) = container["ports"]
    assert port["containerPort"] == int(re.search(r"--port (\d+)", image)[1])
    (service,) = parts["Service"]["spec"]["ports"]
    assert service["targetPort"] == port["name"]
    assert parts["Service"]["spec"]["selector"] == parts["Deployment"]["spec"]["template"]["metadata"]["labels"]
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert mounts.keys() == {volume["name"] for volume in pod["volumes"]}
    assert mounts["notes"] == re.search(r"--volume (\S+)", image)[1]
    assert pod["enableServiceLinks"] is False and pod["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert parts["Deployment"]["spec"]["strategy"] == {"type": "Recreate"}
    # The settings are the program's; the folders are those of this machine.
    key = tmp_path / "private.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", key], check=True, capture_output=True)
    public = tmp_path / "public.pem"
    subprocess.run(["openssl", "pkey", "-in", key, "-pubout", "-out", public], check=True, capture_output=True)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PARLEY_")}
    chosen = {entry["name"]: entry["value"].replace(mounts["keys"], str(tmp_path)) for entry in container["env"]}
    ended = subprocess.run(
        [PROGRAM, "check", "--json"], capture_output=True, text=True, timeout=PROGRAM_SECONDS,
        env=clean | chosen | {"PARLEY_DATA_DIR": str(tmp_path / "data"), "PARLEY_WEB_DIR": str(ROOT / "Web")},
    )  # fmt: skip
    assert json.loads(ended.stdout)["problems"] == [], ended.stdout


def test_the_variables_of_a_kubernetes_service_are_no_settings(start):
    links = {
        "PARLEY_SERVICE_HOST": "10.96.0.7", "PARLEY_SERVICE_PORT": "8080", "PARLEY_PORT": "tcp://10.96.0.7:8080",
        "PARLEY_PORT_8080_TCP": "tcp://10.96.0.7:8080", "PARLEY_PORT_8080_TCP_ADDR": "10.96.0.7",
        "PARLEY_PORT_8080_TCP_PORT": "8080", "PARLEY_PORT_8080_TCP_PROTO": "tcp",
    }  # fmt: skip
    server = start(environment=links)
    server.create_note()
    assert server.log.read_text().count("enableServiceLinks: false") == 1
    environment = os.environ | links
    for words in (["notes"], ["check"], ["health", "--port", str(server.port)], ["doctor", "--port", "0"]):
        flags = ["--data-dir", str(server.data), "--web-dir", str(ROOT / "Web")]
        ended = subprocess.run([PROGRAM, *words, *flags], capture_output=True, text=True, env=environment)
        assert ended.returncode == 0, (words, ended.stderr)
        assert ended.stderr.count("enableServiceLinks: false") == 1, (words, ended.stderr)
    # Variables that a user has written are settings nevertheless.
    assert "tcp" not in subprocess.run(
        [PROGRAM, "check"], capture_output=True, text=True, env=os.environ | {"PARLEY_PORT": "8081"}
    ).stdout
