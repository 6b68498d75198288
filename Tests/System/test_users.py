"""`parley user` changes a file of users, beside a server that reads it."""

import concurrent.futures
import contextlib
import json
import os
import pty
import resource
import signal
import subprocess
import termios

import pytest
from parley_server import PROGRAM, ROOT
from patience import PROGRAM_SECONDS
from test_login import PASSWORD, RIGHTS, add_user, log_in, post, tokens, users  # noqa: F401 (a fixture)
from test_tokens import greet

OTHER = "another battery"


def user(*words, password=PASSWORD, **options):
    return subprocess.run(
        [PROGRAM, "user", *map(str, words)], input=password + "\n", capture_output=True, text=True,
        timeout=PROGRAM_SECONDS, **options,
    )  # fmt: skip


def listed(file):
    return json.loads(user("list", "--json", "--file", file).stdout)["users"]


@pytest.fixture
def served(start, users):  # noqa: F811
    return start("--users-file", users)


def test_users_are_listed_with_their_rights(users):  # noqa: F811
    ada, bea = listed(users)
    assert (ada["id"], ada["name"], ada["rights"]) == ("ada@example.org", "Ada L.", RIGHTS)
    assert (bea["id"], bea["name"]) == ("bea@example.org", "bea@example.org")
    shown = user("list", "--file", users).stdout
    assert shown.splitlines()[0] == "ada@example.org  Ada L.  " + "  ".join(RIGHTS)
    assert "scrypt" not in shown


def test_the_file_is_that_of_the_configuration(users, tmp_path):  # noqa: F811
    config = tmp_path / "parley.conf"
    config.write_text(f"users-file = {users}\n")
    assert user("add", "cid", "--config", config, "document:*=read").returncode == 0
    assert user("remove", "cid", "--users-file", users).returncode == 0
    assert user("list").returncode == 2
    line = user("add", "cid", "document:*=read")
    assert line.returncode == 0 and line.stdout.startswith("cid scrypt$")


@pytest.mark.parametrize(
    "name",
    [
        "", " ", "a b", "a#b", "-a", "--name", "key:x", "share/x", "a\nb", "a\u00a0b", "a\u202eb", "a\u200bb",
        "x" * 201,
    ],
)  # fmt: skip
def test_deceptive_names_and_names_with_separators_are_refused(users, name):  # noqa: F811
    before = users.read_bytes()
    assert user("add", name, "document:*=read", "--file", users).returncode == 2
    assert users.read_bytes() == before


def test_a_password_is_no_argument_and_not_in_any_output(users):  # noqa: F811
    assert user("passwd", "ada@example.org", "--password", OTHER, "--file", users).returncode == 2
    for words in (["add", "cid", "document:*=read"], ["passwd", "cid"], ["list"], ["remove", "cid"]):
        ended = user(*words, "--file", users, password=OTHER)
        assert ended.returncode == 0, ended.stderr
        assert OTHER not in ended.stdout + ended.stderr + users.read_text()


def test_an_unknown_user_is_neither_removed_nor_made(users, tmp_path):  # noqa: F811
    for words in (["remove", "eve"], ["passwd", "eve"]):
        ended = user(*words, "--file", users)
        assert ended.returncode == 1 and "no such user" in ended.stderr
        assert user(*words, "--file", tmp_path / "none").returncode == 1
    assert not (tmp_path / "none").exists()
    assert len(listed(users)) == 2


def test_comments_stay_where_they_are(users):  # noqa: F811
    ada, bea = users.read_text().splitlines()
    users.write_text(f"# The team\n\n{ada} # leads\n{bea}")
    assert user("passwd", "ada@example.org", "--file", users).returncode == 0
    assert user("add", "cid", "document:*=read", "--file", users).returncode == 0
    lines = users.read_text().splitlines()
    assert lines[:2] == ["# The team", ""] and lines[2].endswith(" # leads")
    assert lines[2] != f"{ada} # leads" and lines[3] == bea and lines[4].startswith("cid ")


def test_concurrent_changes_are_not_lost(users):  # noqa: F811
    names = [f"user-{number}" for number in range(16)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        ended = list(pool.map(lambda name: add_user(users, name, "document:*=read"), names))
    assert [process.stderr for process in ended if process.returncode] == []
    assert {entry["id"] for entry in listed(users)} >= set(names)


def test_two_processes_that_create_the_file_both_succeed(tmp_path):
    file = tmp_path / "users"
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        ended = list(pool.map(lambda _: add_user(file, "ada", "document:*=read").returncode, range(4)))
    assert sorted(ended) == [0, 1, 1, 1]
    assert [entry["id"] for entry in listed(file)] == ["ada"]


@pytest.mark.parametrize("is_there", [True, False])
def test_a_full_disk_leaves_the_file_as_it_was(users, tmp_path, is_there):  # noqa: F811
    file = users if is_there else tmp_path / "new"
    before = users.read_bytes()

    def limit():
        # A process that may write a few bytes only, in place of a disk without room.
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))

    ended = user("add", "cid", "document:*=read", "--file", file, preexec_fn=limit)
    assert ended.returncode == 1 and "cannot be written" in ended.stderr
    assert users.read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["users"]


def test_the_file_is_its_owners_alone(users):  # noqa: F811
    os.chmod(users, 0o644)
    assert user("remove", "bea@example.org", "--file", users).returncode == 0
    # A group may have been let in on purpose, as that of the service.
    assert users.stat().st_mode & 0o777 == 0o640
    os.chmod(users, 0o600)
    assert add_user(users, "cid", "document:*=read").returncode == 0
    assert users.stat().st_mode & 0o777 == 0o600


def test_a_symbolic_link_to_the_file_is_kept(users, tmp_path):  # noqa: F811
    link = tmp_path / "link"
    link.symlink_to(users)
    assert user("remove", "bea@example.org", "--file", link).returncode == 0
    assert link.is_symlink() and len(listed(users)) == 1


def test_a_user_removed_while_typing_is_notified_and_loses_nothing_confirmed(served, users):  # noqa: F811
    bea, _ = greet(served, tokens(served, "bea@example.org")["accessToken"])
    ada, _ = greet(served, tokens(served)["accessToken"])
    note = served.request(
        "POST", "/api/notes", {"title": "Ours"}, {"Authorization": tokens(served)["accessToken"]}
    )[2]
    note = json.loads(note)["id"]
    joined = ada.join(note)
    assert ada.change(note, joined, 1, ["words"])[0] == "acknowledged"
    assert user("remove", "ada@example.org", "--file", users).returncode == 0
    served.process.send_signal(signal.SIGHUP)
    assert ada.close_code() == 4508
    assert bea.join(note)["text"] == "words"
    assert log_in(served)["code"] == 4001


@pytest.mark.parametrize("how", ["another password", "removed and added again"])
def test_sessions_from_before_end(served, users, how):  # noqa: F811
    old = tokens(served)
    client, _ = greet(served, old["accessToken"])
    if how == "another password":
        assert user("passwd", "ada@example.org", "--file", users, password=OTHER).returncode == 0
    else:
        assert user("remove", "ada@example.org", "--file", users).returncode == 0
        assert add_user(users, "ada@example.org", *RIGHTS, password=OTHER).returncode == 0
    assert client.close_code() == 4508
    # Both changes may have been read at once, or one after the other.
    while not [line for line in served.log.read_text().splitlines() if "users read again" in line][-1].endswith("2"):
        served.request("GET", "/health")
    assert greet(served, old["accessToken"])[1] == "error"
    assert post(served, "/api/user/refresh", {"refreshToken": old["refreshToken"]})[1]["code"] == 4004
    assert log_in(served)["code"] == 4001
    new = log_in(served, password=OTHER)["data"]["tokens"]
    assert greet(served, new["accessToken"])[1] == "welcome"
    assert post(served, "/api/user/refresh", {"refreshToken": new["refreshToken"]})[1]["code"] == 1000


def test_a_user_who_is_added_may_log_in_without_a_restart(served, users):  # noqa: F811
    assert add_user(users, "cid", *RIGHTS).returncode == 0
    served.process.send_signal(signal.SIGHUP)
    while "users read again" not in served.log.read_text():
        served.request("GET", "/health")
    assert log_in(served, "cid")["code"] == 1000


def test_a_user_gets_another_name_or_other_rights(served, users):  # noqa: F811
    pair = tokens(served, "bea@example.org")
    assert user("set", "bea@example.org", "--name", "Béa B.", "--file", users).returncode == 0
    rights = ["document:*=read", "room:news=read"]
    changed = user("set", " BEA@example.org", *rights, "--file", users)
    assert (changed.returncode, changed.stderr) == (0, f"parley user: BEA@example.org has {' '.join(rights)}\n")
    ada, bea = listed(users)
    assert (bea["id"], bea["name"], bea["rights"]) == ("bea@example.org", "Béa B.", rights)
    assert (ada["name"], ada["rights"]) == ("Ada L.", RIGHTS)
    assert post(served, "/api/user/refresh", {"refreshToken": pair["refreshToken"]})[1]["code"] == 1000


@pytest.mark.parametrize(
    "words",
    [
        ["bea@example.org"], [], ["eve", "--name", "Eve"], ["bea@example.org", "--name", "a\nb"],
        ["bea@example.org", "document:*=fly"], ["bea@example.org", "group:none"],
    ],
)  # fmt: skip
def test_invalid_changes_have_no_effect(users, words):  # noqa: F811
    before = users.read_bytes()
    assert user("set", *words, "--file", users).returncode in (1, 2)
    assert users.read_bytes() == before


def test_granted_rights_are_printed(users):  # noqa: F811
    added = user("add", "cid", "document:*=read", "--file", users)
    assert added.stderr == "parley user: cid has document:*=read\n"
    added = user("add", "dora", "--file", users)
    assert "dora may do nothing yet" in added.stderr


@pytest.mark.parametrize("password", ["", "x", "1234567", "é" * 7, "😀" * 7, "x" * 1025])
@pytest.mark.parametrize("words", [["add", "cid", "document:*=read"], ["passwd", "ada@example.org"]])
def test_passwords_have_the_minimum_length_of_the_page(users, words, password):  # noqa: F811
    before = users.read_bytes()
    ended = user(*words, "--file", users, password=password)
    assert ended.returncode == 2 and "8 characters or more" in ended.stderr
    assert users.read_bytes() == before


@pytest.mark.parametrize(
    "words, meant",
    [(["usr"], "user"), (["serv"], "serve"), (["exprot"], "export"), (["user", "ad"], "add"), (["group", "sett"], "set"),
     (["invite", "lst"], "list"), (["token", "mak"], "make")],
)  # fmt: skip
def test_a_misspelt_command_is_corrected(words, meant):
    ended = subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=PROGRAM_SECONDS)
    assert ended.returncode == 2 and f"did you mean {meant}?" in ended.stderr


class Terminal:
    """The program at a terminal of its own."""

    def __init__(self, *words, folder=ROOT):
        self.side, other = pty.openpty()
        self.other = os.dup(other)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PARLEY_")}

        def take_terminal():
            # Keys such as Ctrl-C are signals to the terminal's owner.
            os.setsid()
            os.close(os.open(os.ttyname(0), os.O_RDWR))

        self.process = subprocess.Popen(
            [PROGRAM, *map(str, words)], stdin=other, stdout=other, stderr=other, cwd=folder, env=environment,
            preexec_fn=take_terminal,
        )  # fmt: skip
        os.close(other)
        self.said = ""

    def expect(self, text):
        while text not in self.said:
            self.said += os.read(self.side, 4096).decode()
        self.said = self.said.partition(text)[2]

    def answer(self, question, words):
        self.expect(question)
        os.write(self.side, words.encode())

    def echoes(self):
        return bool(termios.tcgetattr(self.other)[3] & termios.ECHO)

    def end(self):
        """Waits for the end, and returns the exit code and the rest of the output."""
        code = self.process.wait(timeout=PROGRAM_SECONDS)
        os.close(self.other)
        with contextlib.suppress(OSError):
            while piece := os.read(self.side, 4096):
                self.said += piece.decode()
        os.close(self.side)
        return code, self.said


def test_a_password_typed_at_a_terminal_is_not_seen(tmp_path):
    terminal = Terminal("user", "add", "ada", "document:*=all", "--file", tmp_path / "users")
    terminal.answer("Password: ", PASSWORD + "\n")
    terminal.expect("Once more: ")
    assert not terminal.echoes()
    os.write(terminal.side, (PASSWORD + "\n").encode())
    code, said = terminal.end()
    assert code == 0 and PASSWORD not in said
    assert len(listed(tmp_path / "users")) == 1


def test_passwords_that_differ_and_ctrl_c_change_nothing(tmp_path):
    words = ["user", "add", "ada", "document:*=all", "--file", tmp_path / "users"]
    terminal = Terminal(*words)
    terminal.answer("Password: ", PASSWORD + "\n")
    terminal.answer("Once more: ", OTHER + "\n")
    terminal.expect("not the same")
    terminal.answer("Password: ", "half a pass\x03")
    code = terminal.process.wait(timeout=PROGRAM_SECONDS)
    assert code == 130 and terminal.echoes()
    terminal.end()
    assert os.listdir(tmp_path) == []
