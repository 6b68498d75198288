"""The program: help, check, invalid configurations, and signals."""

import os
import signal
import socket
import subprocess

import pytest
from native_client import NativeClient
from parley_server import PROGRAM, ROOT
from patience import PROGRAM_SECONDS


def run(*arguments, **environment):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PARLEY_")}
    return subprocess.run(
        [PROGRAM, *arguments], capture_output=True, text=True, timeout=PROGRAM_SECONDS, check=False,
        stdin=subprocess.DEVNULL, env={**clean, **environment}, cwd=ROOT,
    )  # fmt: skip


@pytest.mark.parametrize("arguments", [["--help"], ["help"], ["serve", "--help"], ["serve", "--help-all"], ["check", "-h"]])
def test_help_goes_to_standard_output(arguments):
    result = run(*arguments)
    assert result.returncode == 0
    assert "Usage: parley" in result.stdout
    assert result.stderr == ""
    assert max(map(len, result.stdout.splitlines())) <= 100


def test_version():
    result = run("--version")
    assert result.returncode == 0
    changelog = (ROOT / "CHANGELOG.md").read_text()
    assert result.stdout.startswith("parley ")
    assert f"## {result.stdout.split()[1]}" in changelog


def test_without_a_command_the_usage_is_printed():
    result = run()
    assert result.returncode == 2
    assert "Usage: parley" in result.stderr


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["sevre"], "expected a command"),
        (["serve", "--prot", "1"], "did you mean --port?"),
        (["serve", "--port"], "--port expects a value"),
        (["serve", "--port", "x"], "--port expects a whole number from 0 to 65535"),
        (["serve", "extra"], "expected a flag"),
        (["serve", "--host", "0.0.0.0"], "--allow-open-network"),
        (["serve", "--config", "/nonexistent/parley.conf"], "cannot be read"),
        (["serve", "--web-dir", "/nonexistent"], "index.html"),
    ],
)
def test_wrong_arguments_are_reported_with_exit_code_2(arguments, said):
    result = run(*arguments)
    assert result.returncode == 2
    assert said in result.stderr
    assert result.stdout == ""


def test_check_prints_settings_and_their_sources(tmp_path):
    file = tmp_path / "parley.conf"
    file.write_text("# for the test\nport = 9001\nping-interval = 10s\n")
    result = run(
        "check", "--config", str(file), "--data-dir", str(tmp_path / "data"),
        PARLEY_PING_INTERVAL="11s",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    lines = {line.split()[0]: line for line in result.stdout.splitlines() if line}
    assert f"9001  ({file}, line 2)" in lines["port"]
    assert "11s  (environment)" in lines["ping-interval"]
    assert f"{tmp_path / 'data'}  (command line)" in lines["data-dir"]
    assert "127.0.0.1  (default)" in lines["host"]


def test_check_refuses_unknown_settings(tmp_path):
    file = tmp_path / "parley.conf"
    file.write_text("prot = 9001\n")
    result = run("check", "--config", str(file), PARLEY_HOTS="x")
    assert result.returncode == 2
    assert f"{file}:1: prot is not a setting; did you mean port?" in result.stderr
    assert "PARLEY_HOTS is not a setting; did you mean PARLEY_HOST?" in result.stderr


def test_serve_warns_of_unknown_settings_and_starts(start, tmp_path):
    file = tmp_path / "parley.conf"
    file.write_text("prot = 9001\nlog-format = json\n")
    server = start("--config", str(file))
    assert server.request("GET", "/health")[0] == 200
    assert f"{file}:1: prot is not a setting; did you mean port?" in server.log.read_text()


def test_the_banner_shows_address_store_and_open_access(server):
    text = "\n".join(server.output)
    assert str(server.data) in text
    assert "OPEN DEMO" in text and "anyone who can connect" in text
    assert server.output[-1] == f"listening on {server.origin}"


def test_a_taken_port_is_said(server, tmp_path):
    result = run(
        "serve", "--port", str(server.port), "--data-dir", str(tmp_path / "other"),
        "--web-dir", str(ROOT / "Web"),
    )  # fmt: skip
    assert result.returncode == 1
    assert str(server.port) in result.stderr


def test_a_data_folder_that_cannot_be_created_is_reported(tmp_path):
    (tmp_path / "file").write_text("")
    result = run(
        "serve", "--port", "0", "--data-dir", str(tmp_path / "file" / "data"),
        "--web-dir", str(ROOT / "Web"),
    )  # fmt: skip
    assert result.returncode == 1
    assert str(tmp_path / "file") in result.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_the_server_in_order(start, number):
    server = start()
    client = NativeClient(server)
    server.process.send_signal(number)
    assert client.close_code() == 4002
    assert server.process.wait() == 0
    server.start()


def test_a_second_signal_stops_the_server_at_once(start):
    server = start("--drain-time", "1h")
    # A peer that never answers the close keeps the drain waiting.
    with socket.create_connection(("127.0.0.1", server.port)) as deaf:
        deaf.sendall(
            b"GET /socket HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
            b"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
        assert b"101" in deaf.recv(1024)
        server.process.send_signal(signal.SIGTERM)
        for line in server.process.stdout:
            if line.startswith("stopping"):
                break
        server.process.send_signal(signal.SIGTERM)
        code = server.process.wait()
        # Who answers in time may have let it end in good order before the second signal.
        assert code in (128 + signal.SIGTERM, 0)
    server.start()
