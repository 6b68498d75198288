"""`parley health` asks the running server whether it takes changes."""

import os
import signal
import socket
import subprocess

import pytest
from parley_server import PROGRAM
from test_tls import make_certificate


def ask(port, *flags):
    """Runs the check. Returns its exit code, output and errors."""
    ended = subprocess.run(
        [PROGRAM, "health", "--port", str(port), *map(str, flags)], capture_output=True, text=True
    )
    return ended.returncode, ended.stdout, ended.stderr


def test_a_server_that_serves(server):
    assert ask(server.port) == (0, "ready\n", "")


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_a_server_on_all_addresses_is_asked_at_loopback(start, host):
    flags = ["--host", host, "--allow-open-network"]
    assert ask(start(*flags).port, *flags)[0] == 0


def test_a_certificate_of_another_name(start, tmp_path):
    certificate, key = make_certificate(tmp_path)
    flags = ["--host", "localhost", "--tls-certificate", certificate, "--tls-key", key]
    assert ask(start(*map(str, flags)).port, *flags)[0] == 0


@pytest.mark.parametrize("proxy", ["127.0.0.1", "10.0.0.1"])
def test_a_server_behind_the_proxy_protocol(start, proxy):
    flags = ["--proxy-protocol", "--trusted-proxy", proxy]
    assert ask(start(*flags).port, *flags)[0] == 0


def test_a_port_without_a_listener():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    code, output, complaint = ask(port)
    assert (code, output) == (1, "")
    assert f"http://127.0.0.1:{port}/ready does not answer" in complaint


def test_a_stopped_server_does_not_block_the_check(server):
    os.kill(server.process.pid, signal.SIGSTOP)
    try:
        code, _, complaint = ask(server.port)
    finally:
        os.kill(server.process.pid, signal.SIGCONT)
    assert code == 1 and "does not answer" in complaint


def test_another_service_at_the_port(start, tmp_path):
    # A TLS server, requested without TLS.
    certificate, key = make_certificate(tmp_path)
    port = start("--tls-certificate", str(certificate), "--tls-key", str(key)).port
    code, output, _ = ask(port)
    assert (code, output) == (1, "")


def test_the_port_is_required():
    code, _, complaint = ask(0)
    assert code == 2 and "port" in complaint
