"""Pictures and files in notes: storage, rights, and removal when no revision refers to them."""

import hashlib
import json
import os
import shutil
import socket
import struct
import subprocess
import threading
import time
import zlib

import pytest
from parley_server import PROGRAM
from patience import SECONDS
from postgres_server import PostgresServer
from test_tokens import EVERYTHING, bearer, token

MEGABYTE = 1 << 20


def picture(width=2, height=2, fill=b"\x10\x80\xff"):
    """Returns a PNG of one colour."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + fill * width for _ in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def parley(*arguments):
    """Runs a command of the program. Returns its exit code and output."""
    ended = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)
    return ended.returncode, ended.stdout + ended.stderr


def upload(server, note, data, name="f.png", headers=None):
    status, _, body = server.request("POST", f"/api/notes/{note}/files?name={name}", data, headers or {})
    return status, json.loads(body)


def put(server, note, data, name="f.png"):
    """Uploads a file to a note, and returns the server's answer."""
    status, file = upload(server, note, data, name)
    assert status == 201, file
    assert file["hash"] == hashlib.sha256(data).hexdigest()
    return file


def get(server, note, file, headers=None):
    return server.request("GET", f"/api/notes/{note}/{file['path']}", headers=headers or {})


def write(server, note, text):
    sent = {"content-type": "text/plain"}
    assert server.request("PUT", f"/api/notes/{note}/text", text.encode(), sent)[0] == 200


def names(server, note):
    status, _, body = server.request("GET", f"/api/notes/{note}/files")
    assert status == 200
    return {file["name"] for file in json.loads(body)["files"]}


def wait_until(condition):
    deadline = time.monotonic() + SECONDS
    pause = threading.Event()
    while not condition():
        assert time.monotonic() < deadline
        pause.wait(0.1)


@pytest.fixture(params=["a file", "PostgreSQL"])
def store_flags(request):
    if request.param == "a file":
        yield []
        return
    server = PostgresServer().start()
    yield ["--store-url", server.new_database()]
    server.remove()


def test_acknowledged_files_survive_a_kill_and_unreferenced_ones_are_removed(start, store_flags, tmp_path):
    server = start("--unused-files-age-min", "1s", *store_flags)
    note, other = server.create_note("n"), server.create_note("m")
    large = picture() + os.urandom(5 * MEGABYTE)
    kept, same = put(server, note, large, "large.png"), put(server, other, large, "other.png")
    write(server, note, f"![]({kept['path']})")
    write(server, other, f"![]({same['path']})")
    server.kill()
    server.start()
    status, headers, body = get(server, note, kept)
    assert (status, body == large) == (200, True)
    assert headers["content-type"] == "image/png"
    assert headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert headers["x-content-type-options"] == "nosniff"
    assert get(server, note, kept, {"if-none-match": headers["etag"]})[0] == 304
    assert server.request("HEAD", f"/api/notes/{note}/{kept['path']}")[0] == 200
    assert upload(server, note, large)[0] == 200
    # A file that no revision refers to is removed; the other one is in the history.
    put(server, note, b"never named", "unused")
    write(server, note, "nothing")
    wait_until(lambda: names(server, note) == {"large.png"})
    # A deleted note keeps its files until it is removed permanently.
    assert server.request("DELETE", f"/api/notes/{note}")[0] == 204
    assert get(server, note, kept)[0] == 404
    assert server.request("POST", f"/api/deleted/{note}/restore")[0] == 200
    assert get(server, note, kept)[2] == large
    server.request("DELETE", f"/api/notes/{note}")
    assert server.request("DELETE", f"/api/deleted/{note}")[0] == 204
    assert get(server, other, same)[2] == large
    # The log of a note with its files is a note with its files elsewhere.
    exported = tmp_path / "n.ops"
    assert parley("export", other, "--format", "ops", "--output", exported, "--data-dir", server.data, *store_flags)[0] == 0
    folder = tmp_path / "all"
    assert parley("export", "--all", "--output", folder, "--data-dir", server.data, *store_flags)[0] == 0
    assert (folder / same["path"]).read_bytes() == large
    assert server.stop() == 0
    code, said = parley("check", "--data-dir", server.data, *store_flags)
    assert code == 0, said
    moved = start()
    moved.stop()
    code, said = parley("import", exported, "--data-dir", moved.data)
    assert code == 0, said
    moved.start()
    # The first line is the note's id; its progress may follow.
    assert get(moved, said.split()[0], same)[2] == large
    server.start()


def test_a_backup_has_the_files(start, tmp_path):
    server = start()
    note = server.create_note("n")
    file = put(server, note, picture())
    backup = tmp_path / "backup"
    code, said = parley("backup", backup, "--data-dir", server.data)
    assert code == 0, said
    server.stop()
    shutil.rmtree(server.data)
    code, said = parley("restore", backup, "--data-dir", server.data)
    assert code == 0, said
    server.start()
    assert get(server, note, file)[2] == picture()
    server.stop()
    # Changed bytes on the disk are detected.
    path = server.data / "notes.parley"
    raw = path.read_bytes()
    assert raw.count(picture()) == 1
    path.write_bytes(raw.replace(picture(), picture()[:-1] + b"\0"))
    code, said = parley("check", "--data-dir", server.data)
    assert code != 0
    assert "a file of a note differs from its checksum" in said
    path.write_bytes(raw)
    server.start()


def test_a_file_has_the_rights_of_its_note(start, tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(b"a secret that is long enough for HS256, and then some")
    key = secret.read_bytes()
    server = start("--hmac-secret-file", secret, "--audience", "parley")
    everything = bearer(token(EVERYTHING, secret=key))
    reads = bearer(token({"documents": [{"match": "n", "may": ["read"]}]}, secret=key))
    elsewhere = bearer(token({"documents": [{"match": "m", "may": ["read", "write"]}]}, secret=key))
    for note in ("n", "m"):
        assert server.request("PUT", f"/api/notes/{note}", {"title": note}, everything)[0] == 201
    status, file = upload(server, "n", picture(), headers=everything)
    assert status == 201
    assert get(server, "n", file, reads)[2] == picture()
    assert [get(server, "n", file, who)[0] for who in ({}, elsewhere)] == [401, 403]
    assert get(server, "m", file, elsewhere)[0] == 404
    link = json.loads(server.request("POST", "/api/notes/n/share", {"access": "read"}, everything)[2])
    assert get(server, "n", file, bearer(link["token"]))[2] == picture()
    for headers, code in ((reads, 403), ({}, 401)):
        assert upload(server, "n", b"x", headers=headers)[0] == code
        # Before any of it is read.
        assert answer_to_head(server, "n", 5 * MEGABYTE, headers)[0] == code
    assert server.request("DELETE", "/api/notes/n/share", headers=everything)[0] == 204
    assert get(server, "n", file, bearer(link["token"]))[0] in (401, 403)


def answer_to_head(server, note, count, headers=None):
    """Sends only the head of an upload. Returns status and body of the answer."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS) as line:
        lines = [f"POST /api/notes/{note}/files HTTP/1.1", "host: 127.0.0.1", f"content-length: {count}"]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        line.sendall("\r\n".join([*lines, "", ""]).encode())
        answer = b""
        while piece := line.recv(65_536):
            answer += piece
    return int(answer.split(b" ")[1]), answer.split(b"\r\n\r\n", 1)[1].decode()


def test_uploads_that_are_bad_or_too_much_are_refused_in_words(start):
    server = start("--uploads-size-max", "8MiB", "--note-files-size-max", "6MiB")
    note = server.create_note("n")
    status, said = answer_to_head(server, note, 50 * MEGABYTE)
    assert status == 413
    assert json.loads(said)["code"] == "tooLarge"
    assert f"{50 * MEGABYTE}" in json.loads(said)["message"]
    assert upload(server, note, b"")[0] == 400
    assert upload(server, "no-such", b"x")[0] == 404
    status, said = answer_to_head(server, "no-such/text", 5 * MEGABYTE)
    assert status == 404
    # Some who do not send what they have announced take the room, until they are gone.
    slow = socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS)
    slow.sendall(
        f"POST /api/notes/{note}/files HTTP/1.1\r\nhost: 127.0.0.1\r\nexpect: 100-continue\r\n"
        f"content-length: {6 * MEGABYTE}\r\n\r\n".encode()
    )
    assert slow.recv(100).startswith(b"HTTP/1.1 100")
    slow.sendall(b"x" * 100_000)
    status, said = answer_to_head(server, note, 6 * MEGABYTE)
    assert (status, json.loads(said)["code"]) == (503, "busy")
    slow.close()
    wait_until(lambda: upload(server, note, b"y" * (5 * MEGABYTE))[0] in (200, 201))
    status, said = upload(server, note, b"z" * (2 * MEGABYTE))
    assert (status, said["code"]) == (413, "tooMany")
    assert "this note's have 5242880" in said["message"]
    assert names(server, note) == {"f.png"}


def test_hostile_files_are_only_ever_downloaded(server):
    note = server.create_note("n")
    svg = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
    page = b"<!doctype html><script>alert(1)</script>"
    huge = picture()[:16] + struct.pack(">II", 100_000, 100_000) + picture()[24:]
    for data in (svg, page, huge, b"\0", picture()[:15]):
        file = put(server, note, data, "..%2F..%2F%07nice%E2%80%AE.png")
        assert (file["name"], file["picture"]) == ("nice.png", False)
        _, headers, body = get(server, note, file)
        assert body == data
        assert headers["content-type"] == "application/octet-stream"
        assert headers["content-disposition"].startswith("attachment;")
        assert headers["x-content-type-options"] == "nosniff"
    long = put(server, note, b"long", "%C3%A4" * 300 + ".jpeg")
    assert len(long["name"].encode()) <= 120
    assert long["name"].endswith(".jpeg")


def test_a_full_disk_takes_no_files_and_still_takes_text(start):
    server = start("--files-disk-reserve", "1024GiB")
    note = server.create_note("n")
    status, said = upload(server, note, picture())
    assert (status, said["code"]) == (503, "unavailable")
    assert "disk" in said["message"]
    write(server, note, "text")
    none = start("--file-size-max", "0")
    status, said = upload(none, none.create_note("n"), picture())
    assert (status, said["code"]) == (403, "notOffered")
