"""`parley setup`: from nothing to a configuration that serves, at a terminal and from a script."""

import os
import resource
import signal
import subprocess

import pytest
from parley_server import PROGRAM, ParleyServer
from patience import PROGRAM_SECONDS
from test_login import PASSWORD, log_in
from test_tls import make_certificate
from test_users import OTHER, Terminal, listed

ANSWERS = [
    "--host-name", "notes.example.org", "--reach", "proxy", "--access", "users", "--user", "ada@example.org",
    "--name", "Ada", "--data-dir", "notes",
]  # fmt: skip


def setup(folder, *words, password=PASSWORD, **options):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PARLEY_")}
    return subprocess.run(
        [PROGRAM, "setup", *map(str, words)], input=password + "\n", capture_output=True, text=True, cwd=folder,
        env=environment, timeout=PROGRAM_SECONDS, **options,
    )  # fmt: skip


def settings(file):
    lines = [line for line in file.read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split(" = ", 1) for line in lines)


@pytest.fixture
def serve(tmp_path):
    servers = []

    def serve(config):
        server = ParleyServer(tmp_path / "server", "--config", config, "--data-dir", tmp_path / "notes")
        (tmp_path / "server").mkdir()
        servers.append(server)
        return server.start()

    yield serve
    for server in servers:
        assert server.stop() == 0


def test_a_server_that_a_script_has_set_up_starts(tmp_path, serve):
    ended = setup(tmp_path, *ANSWERS)
    assert ended.returncode == 0, ended.stderr
    assert PASSWORD not in ended.stdout + ended.stderr
    config = tmp_path / "parley.conf"
    assert settings(config) == {
        "host": "127.0.0.1", "port": "8080", "trusted-proxy": "127.0.0.1",
        "users-file": f"{tmp_path}/notes/users", "data-dir": f"{tmp_path}/notes",
    }  # fmt: skip
    assert (tmp_path / "notes" / "users").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "notes").stat().st_mode & 0o777 == 0o700
    for said in ("no problems", f"parley serve --config {config}", "caddy reverse-proxy"):
        assert said in ended.stdout
    assert "https://notes.example.org" in ended.stdout
    assert log_in(serve(config))["data"]["response"]["name"] == "Ada"


def test_a_person_is_asked_five_questions(tmp_path):
    terminal = Terminal("setup", folder=tmp_path)
    terminal.answer("1/5", "https://Notes.Example.org/\n")
    terminal.answer("2/5", "magic\n")
    terminal.expect("Expected tls, proxy or local")
    terminal.answer("2/5", "proxy\n")
    terminal.answer("3/5", "\n")
    terminal.answer("4/5", "ada@example.org\n")
    terminal.answer("Password: ", PASSWORD + "\n")
    terminal.answer("Once more: ", PASSWORD + "\n")
    terminal.answer("5/5", "\n")
    code, said = terminal.end()
    assert code == 0, said
    assert "https://notes.example.org" in said and PASSWORD not in said
    assert settings(tmp_path / "parley.conf")["data-dir"] == f"{tmp_path}/data"
    assert [user["id"] for user in listed(tmp_path / "data" / "users")] == ["ada@example.org"]


def test_a_password_that_cannot_be_set_costs_no_answers(tmp_path, serve):
    terminal = Terminal("setup", folder=tmp_path)
    for asked, words in [
        ("1/5", "\n"), ("2/5", "\n"), ("3/5", "\n"), ("4/5", "ada\n"),
        ("Password: ", "short\n"), ("Expected a password of 8 characters or more", ""),
        ("Password: ", PASSWORD + "\n"), ("Once more: ", PASSWORD + "x\n"), ("not the same", ""),
        ("Password: ", PASSWORD + "\n"), ("Once more: ", PASSWORD + "\n"), ("5/5", "\n"),
    ]:  # fmt: skip
        terminal.answer(asked, words)
    code, said = terminal.end()
    assert code == 0, said
    assert log_in(serve(tmp_path / "parley.conf"), "ada")["code"] == 1000


@pytest.mark.parametrize("question", ["1/5", "3/5", "Password: ", "5/5"])
def test_ctrl_c_leaves_no_files(tmp_path, question):
    terminal = Terminal("setup", folder=tmp_path)
    for asked, words in [
        ("1/5", "\n"), ("2/5", "\n"), ("3/5", "\n"), ("4/5", "ada\n"), ("Password: ", f"{PASSWORD}\n"), ("Once more: ", f"{PASSWORD}\n"),
        ("5/5", "\n"),
    ]:  # fmt: skip
        if asked == question:
            break
        terminal.answer(asked, words)
    terminal.expect(question)
    assert terminal.echoes() == (question != "Password: ")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.process.wait(timeout=PROGRAM_SECONDS) == 130
    assert terminal.echoes()
    assert "Nothing was written" in terminal.end()[1]
    assert os.listdir(tmp_path) == []


def test_existing_files_are_replaced_only_on_request(tmp_path):
    config = tmp_path / "parley.conf"
    config.write_text("port = 9000\n")
    config.chmod(0o640)
    ended = setup(tmp_path, *ANSWERS)
    assert ended.returncode == 2 and "--replace" in ended.stderr
    assert os.listdir(tmp_path) == ["parley.conf"] and config.read_text() == "port = 9000\n"
    terminal = Terminal("setup", *ANSWERS, folder=tmp_path)
    terminal.answer("write a new one", "\n")
    assert terminal.end()[0] == 2
    assert config.read_text() == "port = 9000\n"
    assert setup(tmp_path, *ANSWERS, "--replace").returncode == 0
    assert (tmp_path / "parley.conf.old").read_text() == "port = 9000\n"
    assert config.stat().st_mode & 0o777 == 0o640
    # A second time: the user keeps the password.
    before = (tmp_path / "notes" / "users").read_bytes()
    ended = setup(tmp_path, *ANSWERS, "--replace", password=OTHER)
    assert ended.returncode == 0 and "its password does not change" in ended.stderr
    assert (tmp_path / "notes" / "users").read_bytes() == before


@pytest.mark.parametrize(
    "words, said",
    [
        (["--host-name", "a b"], "--host-name expects"),
        (["--host-name", "x" * 254], "--host-name expects"),
        (["--reach", "magic"], "tls, proxy or local"),
        (["--reach", "tls"], "--tls-certificate is missing"),
        (["--reach", "tls", "--tls-certificate", "none", "--tls-key", "none"], "a file that is there"),
        (["--access", "anyone"], "every note"),
        (["--access", "tokens"], "--auth-key is missing"),
        (["--user", "a b"], "--user expects"),
        (["--user", "share/x"], "--user expects"),
        (["--port", "0"], "--port expects"),
        (["--data-dir", "a #b"], "cannot hold"),
        (["--data-dir", "a\nlog-level = debug"], "nothing was written"),
        (["--data-dir", "file/below"], "cannot be created"),
        (["--prot", "1"], "no flag is called --prot"),
        (["stray"], "no flag is called stray"),
    ],
)
def test_wrong_answers_write_nothing(tmp_path, words, said):
    (tmp_path / "file").touch()
    answers = dict(zip(ANSWERS[::2], ANSWERS[1::2], strict=True))
    if "anyone" in words or "tokens" in words:
        del answers["--user"]
    if words[0].startswith("--"):
        answers |= dict(zip(words[::2], words[1::2], strict=True))
        words = []
    ended = setup(tmp_path, "--non-interactive", *[word for pair in answers.items() for word in pair], *words)
    assert ended.returncode in (1, 2) and said in ended.stderr, ended.stderr
    assert os.listdir(tmp_path) == ["file"]


def test_a_password_that_is_missing_writes_nothing(tmp_path):
    assert setup(tmp_path, *ANSWERS, password="").returncode == 2
    assert os.listdir(tmp_path) == []


def test_a_full_disk_leaves_no_files(tmp_path):
    def limit():
        # Enough for the user, and not for the configuration.
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (256, 256))

    ended = setup(tmp_path, *ANSWERS, preexec_fn=limit)
    assert ended.returncode == 1 and "parley.conf cannot be written" in ended.stderr
    assert os.listdir(tmp_path) == []


def test_a_server_that_encrypts_itself(tmp_path, serve):
    make_certificate(tmp_path)
    before = set(os.listdir(tmp_path))
    certificate, key = make_certificate(tmp_path)
    answers = dict(zip(ANSWERS[::2], ANSWERS[1::2], strict=True)) | {
        "--reach": "tls", "--tls-certificate": certificate, "--tls-key": key,
    }  # fmt: skip
    words = [word for pair in answers.items() for word in pair]
    ended = setup(tmp_path, *words)
    assert ended.returncode == 0, ended.stderr
    config = settings(tmp_path / "parley.conf")
    assert (config["host"], config["port"], config["tls-key"]) == ("0.0.0.0", "443", str(key))
    (tmp_path / "parley.conf").unlink()
    swapped = setup(tmp_path, *words, "--tls-certificate", key, "--tls-key", certificate)
    assert swapped.returncode == 1
    assert set(os.listdir(tmp_path)) == before | {"notes"}


def test_only_this_machine_and_anyone_on_it(tmp_path):
    ended = setup(tmp_path, "--non-interactive", "--access", "anyone")
    assert ended.returncode == 0, ended.stderr
    assert "http://localhost:8080" in ended.stdout
    assert settings(tmp_path / "parley.conf") == {
        "host": "127.0.0.1", "port": "8080", "data-dir": f"{tmp_path}/data",
    }  # fmt: skip
