"""`parley doctor` checks the machine, and predicts the behaviour of the server."""

import contextlib
import os
import resource
import socket
import subprocess
import threading

import pytest
from parley_server import PROGRAM, ROOT
from patience import SECONDS
from test_tls import make_certificate


def examine(folder, *flags, **options):
    """Runs the doctor. Returns its exit code, and its lines as {subject: [(severity, text)]}."""
    ended = subprocess.run(
        [
            PROGRAM, "doctor", "--port", "0", "--data-dir", folder, "--web-dir", ROOT / "Web",
            *map(str, flags),
        ],
        capture_output=True, text=True, **options,
    )  # fmt: skip
    assert ended.stderr == ""
    findings = {}
    for line in ended.stdout.splitlines():
        severity, subject, text = line.split(maxsplit=2)
        findings.setdefault(subject, []).append((severity, text))
    return ended.returncode, findings


def test_every_subject_is_checked(tmp_path):
    code, findings = examine(tmp_path)
    assert code == 0
    assert set(findings) == {
        "files", "listening", "tls", "access", "origin", "disk", "store", "clock",
        "page",
    }  # fmt: skip
    assert findings["listening"][0][0] == "ok"
    assert any("a sync takes" in text for _, text in findings["disk"])
    assert findings["access"][0][0] == "warning", "an open demo is worth a warning"
    assert os.listdir(tmp_path) == [], "it has left something behind"


def test_a_port_in_use(server, tmp_path):
    code, findings = examine(tmp_path, "--port", server.port)
    assert findings["listening"][0][0] == "warning" and code == 0
    server.create_note()


def test_few_files(tmp_path):
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))

    _, findings = examine(tmp_path, "--connections-max", 1000, preexec_fn=limit)
    severity, text = findings["files"][0]
    assert severity == "warning" and "the limit is 256" in text and "1064" in text
    # As serve counts, which takes 64 connections of programs beside.
    flags = ["--connections-max", 1000, "--api-listen", "127.0.0.1:0"]
    _, findings = examine(tmp_path, *flags, preexec_fn=limit)
    assert "connections-max requires 1128" in findings["files"][0][1]
    _, findings = examine(tmp_path, "--connections-max", 100, preexec_fn=limit)
    assert findings["files"][0][0] == "ok"


def test_certificates(tmp_path):
    certificate, key = make_certificate(tmp_path)
    flags = ["--tls-certificate", certificate, "--tls-key", key]
    _, findings = examine(tmp_path, *flags)
    severity, text = findings["tls"][0]
    assert severity == "warning" and "expires at" in text, "it is good for two days only"
    _, other = make_certificate(tmp_path, "other")
    code, findings = examine(tmp_path, "--tls-certificate", certificate, "--tls-key", other)
    assert code == 1 and "is not the key of" in findings["tls"][0][1]


def test_a_folder_that_cannot_be_written():
    code, findings = examine("/proc")
    assert code == 1
    assert ("problem", "/proc cannot be written to: No such file or directory") in findings["disk"]


def test_no_page(tmp_path):
    code, findings = examine(tmp_path, "--web-dir", tmp_path)
    assert code == 1 and findings["page"][0][0] == "problem"


def test_origins(tmp_path):
    _, findings = examine(tmp_path, "--allowed-origin", "*")
    assert findings["origin"][0][0] == "warning"


def test_more_loops_than_cores(tmp_path):
    flags = ["--store-url", f"postgres://nobody@/none?host={tmp_path}"]
    _, findings = examine(tmp_path, *flags, "--loops", 64)
    (severity, text) = findings["loops"][0]
    assert severity == "warning" and ", or auto" in text
    _, findings = examine(tmp_path, "--loops", "auto")
    assert findings["loops"] == [("ok", "one, which is best for a file in data-dir")]


@contextlib.contextmanager
def relaying(port, passes):
    """A proxy before a port that forwards one request, with its headers Upgrade and Connection or without."""

    def relay(listener):
        with contextlib.suppress(OSError), listener.accept()[0] as client:
            head = client.makefile("rb")
            lines = list(iter(head.readline, b"\r\n"))
            if not passes:
                lines = [line for line in lines if not line.lower().startswith((b"upgrade:", b"connection:"))]
            with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as server:
                server.sendall(b"".join(lines) + b"\r\n")
                client.sendall(server.recv(65536))

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=relay, args=(listener,))
        thread.start()
        yield listener.getsockname()[1]
        thread.join(SECONDS)


@pytest.mark.parametrize("passes", [True, False])
def test_websockets_through_the_public_address(start, tmp_path, passes):
    server = start()
    with relaying(server.port, passes) as port:
        code, findings = examine(tmp_path, "--port", server.port, "--public-url", f"http://127.0.0.1:{port}")
    severity, text = findings["websockets"][0]
    assert (severity, code) == (("ok", 0) if passes else ("problem", 1)), text
    assert ("WebSockets pass" if passes else "removes the headers Upgrade") in text
    # While the server does not run, there is nothing to ask.
    _, findings = examine(tmp_path, "--public-url", "http://127.0.0.1:1")
    assert findings["websockets"][0][0] == "ok"
