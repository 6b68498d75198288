"""The echo endpoint: disabled by default, and announced if it is enabled."""

import subprocess

import pytest
from parley_server import PROGRAM
from patience import PROGRAM_SECONDS, SECONDS
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect


def echo(server, **options):
    return connect(
        f"ws://127.0.0.1:{server.port}/echo", compression=None, max_size=None, **options
    )


def test_there_is_no_echo_by_default(server):
    with pytest.raises(InvalidStatus) as refused:
        echo(server)
    assert refused.value.response.status_code == 404
    assert "ECHO" not in "\n".join(server.output)


def test_messages_are_echoed_unchanged(start):
    server = start("--echo-path", "/echo")
    assert "*** ECHO: anyone who can connect is answered at /echo." in "\n".join(server.output)
    with echo(server) as socket:
        for message in ("", "text é 👍🏽", b"", bytes(range(256)), "x" * 100_000, b"y" * 1_000_000):
            socket.send(message)
            assert socket.recv(timeout=SECONDS) == message
        socket.send(["in ", "pieces"])
        assert socket.recv(timeout=SECONDS) == "in pieces"
    with echo(server) as socket:
        socket.send(b"z" * (5 << 20))
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(timeout=SECONDS)
        assert closed.value.rcvd.code == 1009


@pytest.mark.parametrize("path", ["echo", "/ws", "/socket"])
def test_it_refuses_a_path_in_use(tmp_path, path):
    result = subprocess.run(
        [PROGRAM, "serve", "--port", "0", "--data-dir", str(tmp_path), "--echo-path", path],
        capture_output=True, text=True, timeout=PROGRAM_SECONDS, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert result.returncode == 2
    assert "echo-path" in result.stderr
