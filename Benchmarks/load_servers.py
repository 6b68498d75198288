"""Servers under test and the load program, for `bench_load.py`, `bench_growth.py` and `bench_peers.py`.

The server has the first core, the load program the second. Numbers are medians of rounds that
alternate between servers, so that what else the machine does falls on all alike.
"""

import json
import os
import pathlib
import platform
import shlex
import shutil
import socket
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILT = pathlib.Path(os.environ.get("BUILT", ROOT / ".build" / "release"))
LOAD = BUILT / "parley-load"
PARLEY = (
    f"{BUILT}/parley serve --port {{port}} --data-dir {{folder}}/data --web-dir {ROOT}/Web "
    "--echo-path /echo --connections-max 20000 --log-level warning "
    "--connection-message-rate 0 --connection-byte-rate 0 "
    "--user-connections-max 0 --user-connect-rate 0"
)
NULL = f"{LOAD} null --port {{port}}"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A server under test, on the first core, with a folder of its own.

    In its command `{port}`, `{folder}`, `{certificate}` and `{key}` are filled in, in the texts of its
    files the port.
    """

    def __init__(self, command, memory=False, environment=None, files=None):
        self.port = free_port()
        parent = "/dev/shm" if memory else None
        self.folder = tempfile.mkdtemp(prefix="parley-load-", dir=parent)
        for name, text in (files or {}).items():
            pathlib.Path(self.folder, name).write_text(text.format(port=self.port))
        self.certificate, key = None, None
        if "{certificate}" in command:
            self.certificate, key = make_certificate(self.folder)
        words = shlex.split(
            command.format(
                port=self.port, folder=self.folder, certificate=self.certificate, key=key
            )
        )
        self.process = subprocess.Popen(
            ["taskset", "-c", "0", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL, cwd=self.folder, env={**os.environ, **(environment or {})},
        )  # fmt: skip
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        self.__exit__()
        raise RuntimeError(f"{command} does not listen")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder)


def make_certificate(folder):
    """A certificate for this machine that signs itself, and its key."""
    files = [pathlib.Path(folder) / name for name in ("certificate.pem", "key.pem")]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
         "-out", files[0], "-keyout", files[1]],
        check=True, capture_output=True,
    )  # fmt: skip
    return files


def measure(server, words):
    """One run of the load program, on the second core; `None` if it fails."""
    trust = ["--trust", server.certificate] if server.certificate else []
    result = subprocess.run(
        ["taskset", "-c", "1", LOAD, *words, *trust, "--port", str(server.port),
         "--pid", str(server.process.pid)],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    if result.returncode:
        print(f"    failed: {' '.join(words)}: {result.stderr.strip()}", flush=True)
        return None
    return json.loads(result.stdout)


def median(runs):
    """The median of each number over runs."""
    runs = [run for run in runs if run]
    if not runs:
        return {}
    return {
        name: statistics.median(run[name] for run in runs)
        for name, value in runs[0].items()
        if isinstance(value, (int, float))
    }


def rate(figures):
    return next((value for name, value in figures.items() if name.endswith("_per_second")), 0)


def cost(figures):
    """Microseconds of the server for each message."""
    return figures["server_microseconds_each"]


def tail(figures):
    for name in ("echo_p99_ms", "delivery_p99_ms"):
        if name in figures:
            return figures[name]
    return None


def machine():
    """Rows of a table about the machine and the build."""
    model = "unknown"
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    commit = subprocess.run(
        ["git", "-C", ROOT, "rev-parse", "--short", "HEAD"],
        capture_output=True, text=True, check=False,
    ).stdout.strip()  # fmt: skip
    return [
        "| | |",
        "| --- | --- |",
        f"| processor | {model}, {os.cpu_count()} cores, {platform.machine()} |",
        f"| memory | {memory:.0f} GB |",
        f"| system | Linux {platform.release()} |",
        f"| commit | {commit} |",
        f"| day | {time.strftime('%Y-%m-%d')} |",
        f"| load average at the start | {os.getloadavg()[0]:.1f} |",
    ]


def write(path, lines):
    path.write_text("\n".join(lines) + "\n")
    print(f"wrote {path.relative_to(ROOT)}", flush=True)
