#!/usr/bin/env python3
"""Makes the fixtures of a version: files that every later version must open.

    make page python && .venv/bin/python Scripts/make_fixtures.py Tests/Fixtures/0.1.0

Run it once for each version that changes a format, with the version's program and tests built. Never repeat it for a
released version: the tests would then compare the new format with itself.

`store.parley.gz` is a store of SQLite, `store.sql.gz` the same in a PostgreSQL database, `plan.*` are exports of one of
its notes, and the other files are what clients keep on a device: the Python client (whose edits belong to that note),
the Swift clients, and the page.
"""

import asyncio
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "Tests" / "Clients"))

from native_client import Editor  # noqa: E402
from parley_server import PROGRAM, ParleyServer  # noqa: E402
from postgres_server import PostgresServer  # noqa: E402
from python_core import lay_out  # noqa: E402
from test_files import picture  # noqa: E402
from test_login import put_user, tokens  # noqa: E402
from test_tokens import bearer  # noqa: E402

NOTE = "plan"
TEXT = "# Plan é\n\nBuy milk 🐦 #shopping\n"
YEARS = "87600h"


def parley(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


class Requests:
    """Requests of one user, each of which must succeed."""

    def __init__(self, server, token):
        self.server = server
        self.headers = bearer(token)

    def __call__(self, method, path, body=None, **headers):
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        status, _, answer = self.server.request(method, path, body, self.headers | named)
        assert status in (200, 201, 204), (method, path, status, answer)
        return json.loads(answer) if answer else None


def fill(server):
    """Uses all features that store something, as a signed-in user."""
    ask = Requests(server, tokens(server)["accessToken"])
    note = f"/api/notes/{NOTE}"
    ask("PUT", note, {"title": "Plan é", "folder": "team/minutes"}, Idempotency_Key="make")
    ask("PUT", f"{note}/text", TEXT.encode())
    file = ask("POST", f"{note}/files?name=plan.png", picture())
    ask("PUT", f"{note}/text", f"{TEXT}\n![]({file['path']})\n".encode(), Idempotency_Key="write")
    ask("POST", f"{note}/versions", {"name": "First", "revision": 1})
    anchor = {"revision": 1, "from": 14, "to": 18}
    comment = ask("POST", f"{note}/comments", {"text": "Which?", "anchor": anchor})
    ask("POST", f"{note}/comments", {"text": "Oat", "thread": comment["id"]})
    ask("POST", f"{note}/share", {"access": "comment", "expiresIn": 604_800})
    ask("PUT", f"{note}/name", {"name": "plan-2026"})
    ask("POST", "/api/notes", {"title": "Without an id"})
    gone = ask("POST", "/api/notes", {"title": "Deleted"})["id"]
    ask("DELETE", f"/api/notes/{gone}")
    room = "/api/rooms/team"
    ask("PUT", f"{room}/group", {"name": "Team", "open": True})
    for number in (1, 2, 3):
        ask("POST", f"{room}/publish", {"data": {"number": number}, "key": f"k{number}"})
    ask("PUT", f"{room}/likes?offset=2", {"reaction": "👍"})
    ask("PUT", f"{room}/read", {"offset": 2})


def write(server):
    """Edits a note as a `parley.v1` client, which leaves the mark of its last change."""
    editor = Editor("Ada", NOTE).attach(server)
    editor.edit(["> ", len(editor.text)])
    editor.settle()
    editor.client.close()


async def keep(server, folder):
    """Edits a note with the Python client while the server is stopped; the edits remain in the folder."""
    import parley as package

    async with package.connect(server.origin, name="Bot", keep=folder) as client:
        note = await client.note(NOTE)
        note.append("saved\n")
        await note.saved()
        assert server.stop() == 0
        note.append("kept é\n")
        while not list(folder.glob("note-*")):
            await asyncio.sleep(0.01)


def pack(path, contents):
    """Compresses so that equal contents result in equal files."""
    path.write_bytes(gzip.compress(contents, mtime=0))


def main(target):
    target.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        put_user(folder / "users", "ada@example.org", "document:*=all", "room:*=all", "folder:*=all", name="Ada L.")
        flags = ["--deleted-age-max", YEARS, "--room-history-age-max", YEARS, "--webhook-url", "http://127.0.0.1:1/"]
        server = ParleyServer(folder, "--users-file", folder / "users", "--public-names", "on", *flags).start()
        fill(server)
        assert server.stop() == 0
        # Without users every client may do everything, and clients store no token.
        server.flags = flags
        server.start()
        write(server)
        sys.path.insert(0, str(lay_out(folder / "package", library=False)))
        os.environ["PARLEY_CORE"] = "wasm"
        asyncio.run(keep(server, target / "python"))
        (target / "python" / "lock").unlink()

        store = server.data / "notes.parley"
        pack(target / "store.parley.gz", store.read_bytes())
        for format in ("md", "txt", "json", "ops"):
            parley("export", NOTE, "--data-dir", server.data, "--format", format, "--output", target / f"plan.{format}")
        postgres = PostgresServer().start()
        try:
            address = postgres.new_database()
            parley("migrate", "--from", server.data, "--to", address)
            dump = postgres.run("pg_dump", "--no-owner", "--no-privileges", "--inserts", "-d", address)
            pack(target / "store.sql.gz", dump.encode())
        finally:
            postgres.remove()

    environment = os.environ | {"FIXTURES_TO": str(target.resolve())}
    subprocess.run(["node", "--test", "Tests/Web/opennotes.test.mjs"], cwd=ROOT, env=environment, check=True)
    swift = "swift test -c release --ignore-lock --disable-xctest --skip-build --filter KeptStateTests/write"
    subprocess.run(swift.split(), cwd=ROOT, env=environment, check=True)
    (target / "swift-client" / "lock").unlink()
    for path in sorted(target.rglob("*")):
        if path.is_file():
            print(f"{path.stat().st_size:7} {path.relative_to(target)}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    shutil.rmtree(sys.argv[1], ignore_errors=True)
    main(pathlib.Path(sys.argv[1]).absolute())
