"""After malformed bytes, the server still answers others, and keeps no state of their sender."""

import contextlib
import json
import os
import ssl

import pytest
from edge_run import run
from native_client import NativeClient
from test_tls import make_certificate


def sockets(server):
    """The server's open sockets; files come and go with other work."""
    count = 0
    for entry in os.scandir(f"/proc/{server.process.pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            count += os.readlink(entry.path).startswith("socket:")
    return count


@pytest.mark.parametrize("first", [1, 251, 501])
def test_spoilt_streams_harm_no_other_client(start, first):
    server = start("--echo-path", "/echo")
    with NativeClient(server) as typist:
        before = sockets(server)
        assert run(server, None, range(first, first + 250), typist) == 25
        # Each has been closed; the typist's own is counted on both sides.
        assert sockets(server) <= before + 1
    lines = [json.loads(line) for line in server.log.read_text().splitlines() if line[:1] == "{"]
    assert not [line for line in lines if line.get("level") == "error"]


def test_spoilt_encrypted_streams_harm_no_other_client(start, tmp_path):
    certificate, key = make_certificate(tmp_path)
    server = start(
        "--echo-path", "/echo", "--tls-certificate", str(certificate), "--tls-key", str(key)
    )
    run(server, ssl.create_default_context(cafile=certificate), range(751, 1_001))
