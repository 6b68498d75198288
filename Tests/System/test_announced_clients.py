"""Proxies that pass on connections, and announce their clients by the PROXY protocol."""

import contextlib
import http.client
import socket
import ssl
import subprocess

import pytest
from patience import SECONDS
from ports import free_port
from test_proxies import ONE_EACH
from test_tls import make_certificate

REQUEST = b"GET /api/notes HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
FLAGS = ["--trusted-proxy", "127.0.0.1", "--proxy-protocol"]


def read_all(connection):
    said = b""
    while piece := connection.recv(4096):
        said += piece
    return said


def status(port, client, context=None, source="127.0.0.1"):
    """Returns the answer to a request of an announced client; None if the connection is closed."""
    line = socket.create_connection(("127.0.0.1", port), SECONDS, source_address=(source, 0))
    with contextlib.closing(line):
        if client:
            line.sendall(f"PROXY TCP4 {client} 198.51.100.1 50000 443\r\n".encode())
        try:
            if context:
                line = context.wrap_socket(line, server_hostname="127.0.0.1")
            line.sendall(REQUEST)
            said = read_all(line)
        except (ConnectionError, ssl.SSLError):
            said = b""
        line.close()
    return int(said.split(b" ")[1]) if said else None


@pytest.mark.parametrize("is_encrypted", [False, True])
def test_each_announced_client_has_its_own_limits(start, tmp_path, is_encrypted):
    flags, context = [*FLAGS, *ONE_EACH], None
    if is_encrypted:
        certificate, key = make_certificate(tmp_path)
        flags += ["--tls-certificate", str(certificate), "--tls-key", str(key)]
        context = ssl.create_default_context(cafile=certificate)
    server = start(*flags)
    assert status(server.port, "203.0.113.1", context) == 200
    assert status(server.port, "203.0.113.1", context) == 429
    assert status(server.port, "203.0.113.2", context) == 200
    assert status(server.port, None, context) is None
    # Headers of clients that are not proxies are refused.
    assert status(server.port, None, context, source="127.0.0.2") == 200
    assert status(server.port, "203.0.113.3", context, source="127.0.0.2") in (400, None)


def test_refused_headers_are_counted_and_logged(start):
    server = start(*FLAGS, "--address-connect-rate", "1", "--rate-burst-seconds", "1")
    secret = b"GET /secret HTTP/1.1\r\n"
    for _ in range(2):
        with socket.create_connection(("127.0.0.1", server.port), SECONDS) as line:
            line.sendall(secret)
            with contextlib.suppress(ConnectionError):
                assert read_all(line) == b""
    while status(server.port, "203.0.113.1") is not None:
        pass
    metrics = http.client.HTTPConnection(
        "127.0.0.1", server.port, timeout=SECONDS, source_address=("127.0.0.2", 0)
    )
    with contextlib.closing(metrics):
        metrics.request("GET", "/metrics")
        page = metrics.getresponse().read().decode()
    assert 'parley_connections_refused_total{reason="proxyHeader"} 2' in page
    assert 'parley_connections_refused_total{reason="rate"} 1' in page
    log = server.log.read_text()
    assert log.count("proxy header refused") == 1
    assert "proxy=127.0.0.1 count=1" in log
    assert "secret" not in log


@pytest.mark.parametrize("version", ["send-proxy", "send-proxy-v2"])
def test_behind_haproxy(start, tmp_path, version):
    server = start(*FLAGS, *ONE_EACH)
    port = free_port()
    (tmp_path / "haproxy.cfg").write_text(
        "defaults\n  mode tcp\n  timeout connect 60s\n  timeout client 60s\n  timeout server 60s\n"
        f"listen parley\n  bind 127.0.0.1:{port}\n  server a 127.0.0.1:{server.port} {version}\n"
    )
    with subprocess.Popen(["haproxy", "-db", "-f", tmp_path / "haproxy.cfg"]) as proxy:
        try:
            wait_for(proxy, port)
            assert ask(port, "127.0.0.3") == 200
            assert ask(port, "127.0.0.3") == 429
            assert ask(port, "127.0.0.4") == 200
        finally:
            proxy.terminate()


def ask(port, source):
    connection = http.client.HTTPConnection(
        "127.0.0.1", port, timeout=SECONDS, source_address=(source, 0)
    )
    with contextlib.closing(connection):
        connection.request("GET", "/api/notes")
        return connection.getresponse().status


def wait_for(process, port):
    while True:
        assert process.poll() is None
        try:
            socket.create_connection(("127.0.0.1", port), SECONDS).close()
            return
        except OSError:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=0.02)
