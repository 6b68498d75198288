"""The data folder's contents: one file after an orderly stop, and a log never without it."""

import shutil
import sqlite3
import subprocess
import time

import pytest
from parley_server import PROGRAM, ROOT
from patience import SECONDS


def parley(*arguments):
    """Runs a command of the program to its end."""
    return subprocess.run(
        [PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=60
    )


def put(server, note, text):
    assert server.request("PUT", f"/api/notes/{note}/text", text.encode())[0] == 200


def read(server, note):
    return server.request("GET", f"/api/notes/{note}/text?format=text")[2].decode()


def write(server):
    """Makes a note and changes it often enough that most of it is in the log; returns its id."""
    note = server.create_note("Kept")
    for number in range(20):
        put(server, note, f"text {number}")
    return note


def test_an_orderly_stop_leaves_everything_in_one_file(server):
    note = write(server)
    assert server.stop() == 0
    names = {path.name for path in server.data.iterdir()}
    assert not {name for name in names if name.endswith(("-wal", "-shm"))}, names
    copy = server.data.parent / "copy"
    copy.mkdir()
    shutil.copy(server.data / "notes.parley", copy)
    shutil.rmtree(server.data)
    copy.rename(server.data)
    server.start()
    assert read(server, note) == "text 19"


def test_a_stop_beside_a_reader_names_the_files_that_remain(server):
    note = write(server)
    path = server.data / "notes.parley"
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM documents").fetchone()
    put(server, note, "the last text")
    assert server.stop() == 0
    log = server.log.read_text()
    assert "store closed with its log beside it" in log
    assert "another program is reading the store" in log
    assert (server.data / "notes.parley-wal").stat().st_size > 0
    reader.close()
    server.start()
    assert read(server, note) == "the last text"


@pytest.mark.parametrize("state", ["missing", "empty", "a folder"])
def test_a_log_without_its_database_is_refused(server, state):
    note = write(server)
    server.kill()
    path = server.data / "notes.parley"
    log = (server.data / "notes.parley-wal").read_bytes()
    assert len(log) > 10_000
    away = path.rename(server.data.parent / "away")
    if state == "empty":
        path.touch()
    elif state == "a folder":
        path.mkdir()
    started = parley("serve", "--port", 0, "--data-dir", server.data, "--web-dir", ROOT / "Web")
    checked = parley("check", "--data-dir", server.data)
    examined = parley("doctor", "--port", 0, "--data-dir", server.data, "--web-dir", ROOT / "Web")
    for ended in (started, checked):
        assert ended.returncode == 1
        assert f"notes.parley-wal holds changes, but the database itself is {state}" in ended.stderr
        assert "Kept" not in ended.stderr
    assert examined.returncode == 1
    assert any(
        line.split()[:2] == ["problem", "store"] and f"itself is {state}" in line
        for line in examined.stdout.splitlines()
    ), examined.stdout
    assert (server.data / "notes.parley-wal").read_bytes() == log
    if state == "a folder":
        path.rmdir()
    away.replace(path)
    server.start()
    assert read(server, note) == "text 19"


def test_a_folder_in_the_place_of_the_database(tmp_path):
    (tmp_path / "notes.parley").mkdir()
    for command in ("serve", "check"):
        ended = parley(command, "--data-dir", tmp_path, *(["--port", 0] if command == "serve" else []))
        assert ended.returncode == 1 and "it is a folder" in ended.stderr, ended


def test_importing_a_file_whose_ending_says_no_format(tmp_path):
    for name, words in (
        ("notes.docx", "the ending “.docx” of the file's name says no format"),
        ("notes", "the file's name has no ending that says its format"),
    ):
        file = tmp_path / name
        file.write_text("text")
        ended = parley("import", file, "--data-dir", tmp_path / "data")
        assert ended.returncode == 2
        assert words in ended.stderr and "give --format, one of md, txt, json, ops" in ended.stderr
    assert parley("import", file, "--format", "txt", "--data-dir", tmp_path / "data").returncode == 0


def await_readiness(server, expected):
    """Asks until the server is ready, or is not; returns the answer."""
    deadline = time.monotonic() + SECONDS
    while True:
        status, _, body = server.request("GET", "/ready")
        if status == expected:
            return body.decode()
        assert time.monotonic() < deadline, (status, body)


def test_a_database_that_is_moved_while_the_server_runs(server):
    note = write(server)
    place, other = server.data / "notes.parley", server.data / "elsewhere"
    place.rename(other)
    reason = await_readiness(server, 503)
    assert "notes.parley was moved or deleted" in reason and str(server.data) not in reason
    status, _, body = server.request("PUT", f"/api/notes/{note}/text", b"lost")
    assert status == 503, body
    assert server.request("OPTIONS", "/ready")[0] == 503, "a check by another method means the same"
    assert server.request("GET", "/health")[0] == 200
    assert read(server, note) == "text 19", "reading goes on"
    assert b"parley_ready 0" in server.request("GET", "/metrics")[2]
    other.rename(place)
    await_readiness(server, 200)
    put(server, note, "after")
    assert server.stop() == 0
    log = server.log.read_text()
    assert log.count("changes are rejected: the store's files are unusable") == 1
    assert log.count("the store's files are usable again") == 1
    server.start()
    assert read(server, note) == "after"


def test_a_copy_without_its_log_does_not_pass_the_check(server, tmp_path):
    write(server)
    copy = tmp_path / "copy"
    copy.mkdir()
    shutil.copy(server.data / "notes.parley", copy)
    checked = parley("check", "--data-dir", copy, "--web-dir", ROOT / "Web")
    assert checked.returncode == 1, checked
    assert "the log (-wal) that was beside it is missing" in checked.stderr
    shutil.copy(server.data / "notes.parley-wal", copy)
    for _ in range(2):
        checked = parley("check", "--data-dir", copy, "--web-dir", ROOT / "Web")
        assert (checked.returncode, checked.stderr) == (0, "")


def test_the_store_is_checked_without_a_page(server):
    write(server)
    server.stop()
    checked = parley("check", "--data-dir", server.data, "--web-dir", server.data)
    assert checked.returncode == 2 and "web-dir expects" in checked.stderr
    assert "sound, 1 notes" in checked.stdout
    copy = server.data.parent / "copy"
    shutil.copytree(server.data, copy)
    with open(copy / "notes.parley", "r+b") as file:
        file.seek(8192)
        file.write(bytes(40_000))
    checked = parley("check", "--data-dir", copy, "--web-dir", copy)
    assert "sound" not in checked.stdout and "notes.parley: " in checked.stderr
    server.start()
