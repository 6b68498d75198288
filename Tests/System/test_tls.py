"""Encrypted connections: the program reads its certificate, and reads it again on SIGHUP."""

import contextlib
import http.client
import json
import signal
import socket
import ssl
import subprocess

import pytest
from parley_server import PROGRAM
from patience import SECONDS
from sealed import connect_sealed


def make_certificate(folder, name="server"):
    """Creates a self-signed certificate for 127.0.0.1, and its key."""
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    subprocess.run(
        [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
            "-nodes", "-days", "2", "-subj", f"/CN={name}",
            "-addext", "subjectAltName=IP:127.0.0.1",
            "-addext", "basicConstraints=critical,CA:FALSE",
            "-keyout", key, "-out", certificate,
        ],
        check=True, capture_output=True,
    )  # fmt: skip
    return certificate, key


def presented(server):
    """Returns the certificate of a new connection, as PEM."""
    return ssl.get_server_certificate(("127.0.0.1", server.port)).strip()


def open_sealed(server, context):
    return connect_sealed(
        f"wss://127.0.0.1:{server.port}/ws", context, subprotocols=["parley.v1"]
    )


def log_lines(server):
    return server.log.read_text().splitlines()


def hang_up(server, words):
    """Sends SIGHUP, and returns when the log has a new line with these words."""
    before = len(log_lines(server))
    server.process.send_signal(signal.SIGHUP)
    while not any(words in line for line in log_lines(server)[before:]):
        # Each connection is an event at the server's loop, so this waits no longer than it takes.
        presented(server)


@pytest.fixture
def pair(tmp_path):
    return make_certificate(tmp_path)


@pytest.fixture
def server(start, pair):
    return start("--tls-certificate", str(pair[0]), "--tls-key", str(pair[1]))


def trusting(certificate):
    return ssl.create_default_context(cafile=certificate)


def test_everything_is_encrypted(server, pair):
    assert server.output[-1].startswith("listening on https://")
    context = trusting(pair[0])
    connection = http.client.HTTPSConnection("127.0.0.1", server.port, context=context)
    connection.request("POST", "/api/notes", json.dumps({"title": "Sealed"}))
    response = connection.getresponse()
    assert response.status == 201
    note = json.loads(response.read())
    connection.request("GET", "/")
    page = connection.getresponse()
    assert page.status == 200 and b"Parley" in page.read()
    with open_sealed(server, context) as socket_:
        socket_.send(json.dumps({"messageId": "1", "type": "hello", "data": {"name": "Ada"}}))
        assert json.loads(socket_.recv())["type"] == "welcome"
        socket_.send(
            json.dumps({"messageId": "2", "type": "join", "data": {"documentId": note["id"]}})
        )
        assert json.loads(socket_.recv())["type"] == "joined"


def test_an_unencrypted_request_gets_nothing(server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS) as plain:
        plain.sendall(b"GET /api/notes HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = b""
        with contextlib.suppress(ConnectionResetError):
            while chunk := plain.recv(4096):
                answer += chunk
    assert b"notes" not in answer


def test_sighup_reads_the_certificate_again(server, pair, tmp_path):
    first = presented(server)
    assert first == pair[0].read_text().strip()
    with open_sealed(server, trusting(pair[0])) as standing:
        certificate, key = make_certificate(tmp_path, "renewed")
        certificate.replace(pair[0])
        key.replace(pair[1])
        assert presented(server) == first, "read before it was asked to"
        hang_up(server, "certificate reloaded")
        assert presented(server) == pair[0].read_text().strip() != first
        standing.send(json.dumps({"messageId": "1", "type": "hello", "data": {"name": "Ada"}}))
        assert json.loads(standing.recv())["type"] == "welcome"


@pytest.mark.parametrize("fault", ["other key", "no certificate", "no file"])
def test_unusable_certificates_are_ignored(server, pair, tmp_path, fault):
    first = presented(server)
    if fault == "other key":
        _, key = make_certificate(tmp_path, "other")
        key.replace(pair[1])
    elif fault == "no certificate":
        pair[0].write_text("nothing of the kind\n")
    else:
        pair[0].unlink()
    hang_up(server, "certificate not reloaded")
    assert presented(server) == first
    assert any(str(tmp_path) in line for line in log_lines(server)), "the file is not named"


def test_sighup_without_tls_ends_nothing(start):
    server = start()
    server.process.send_signal(signal.SIGHUP)
    server.create_note()


@pytest.mark.parametrize("flags", [["--tls-certificate"], ["--tls-key"]])
def test_a_certificate_without_its_key_is_refused(pair, flags):
    ended = subprocess.run([PROGRAM, "serve", *flags, pair[0]], capture_output=True, text=True)
    assert ended.returncode != 0
    assert "tls-certificate and tls-key belong together" in ended.stderr


def test_a_foreign_key_is_refused_at_the_start(pair, tmp_path):
    _, key = make_certificate(tmp_path, "other")
    ended = subprocess.run(
        [
            PROGRAM, "serve", "--port", "0", "--data-dir", tmp_path / "data",
            "--tls-certificate", pair[0], "--tls-key", key,
        ],
        capture_output=True, text=True,
    )  # fmt: skip
    assert ended.returncode != 0
    assert "is not the key of" in ended.stderr
