"""The Python package in a stranger's hands: time limits, threads, programs that end early, wrong addresses, types."""

import asyncio
import gc
import hashlib
import http.server
import logging
import os
import re
import subprocess
import sys
import textwrap
import threading
import time

import pytest
import test_tokens
from parley_server import ROOT
from patience import PROGRAM_SECONDS, SECONDS
from python_core import lay_out


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return lay_out(tmp_path_factory.mktemp("habits"))


@pytest.fixture
def parley(folder, monkeypatch):
    monkeypatch.syspath_prepend(str(folder))
    import parley

    return parley


class Turn:
    """Awaited, it lets everything else that is ready go first."""

    def __await__(self):
        yield


async def hear(events):
    return await asyncio.wait_for(anext(events), SECONDS)


def test_a_time_limit_loses_no_event(server, parley):
    id = server.create_note("Patience")

    async def main():
        async with parley.connect(server.origin) as client:
            note, room = await client.note(id), client.room("orders")
            await room.opened()
            changes, news = note.changes(), room.publications()
            for number in range(3):
                for events in (changes, news):
                    with pytest.raises(asyncio.TimeoutError):
                        await asyncio.wait_for(anext(events), 0)
                note.append(str(number))
                await room.publish(number)
                assert (await hear(changes)).changes[0].text == str(number)
                assert (await hear(news)).data == number

    asyncio.run(main())


def test_an_iterator_hears_from_its_call_on(server, parley):
    id = server.create_note("At once")

    async def main():
        async with parley.connect(server.origin) as client:
            note = await client.note(id)
            changes = note.changes()
            note.append("a")
            note.append("b")
            assert [(await hear(changes)).changes[0].text for _ in range(2)] == ["a", "b"]
            await changes.aclose()
            note.append("c")
            assert [each async for each in changes] == []

    asyncio.run(main())


def test_a_released_iterator_is_fed_no_longer(server, parley):
    id = server.create_note("Let go")

    async def main():
        async with parley.connect(server.origin) as client:
            note, room = await client.note(id), client.room("orders")
            await room.opened()
            for _ in range(50):
                note.changes()
                room.publications()
            kept = note.changes()
            gc.collect()
            assert (len(note._state.readers), len(room._state.readers)) == (1, 0)
            note.append("x")
            await hear(kept)

    asyncio.run(main())


def test_an_iterator_of_what_is_over_ends(server, parley):
    id, other = server.create_note("Over"), server.create_note("Open")

    async def main():
        async with parley.connect(server.origin) as client:
            note, room = await client.note(id), client.room("orders")
            open_one = await client.note(other)
            changes = open_one.changes()
            await note.close()
            assert [each async for each in note.changes()] == []
        assert [each async for each in changes] == [each async for each in open_one.changes()] == []
        with pytest.raises(parley.ConnectionEnded):
            await hear(room.publications())

    asyncio.run(main())


def test_after_the_end_nothing_is_taken(server, parley):
    id = server.create_note("Late")

    async def main():
        async with parley.connect(server.origin) as client:
            note = await client.note(id)
            note.append("in time")
        for late in (
            lambda: note.append("late"), lambda: note.select(0), lambda: client.set_profile(name="Late"),
            lambda: client.room("orders"),
        ):  # fmt: skip
            with pytest.raises(parley.ConnectionEnded, match="the connection was closed"):
                late()
        with pytest.raises(parley.ConnectionEnded):
            await client.until("online")
        assert note.text == "in time"
        await client.close()

    asyncio.run(main())
    assert server.request("GET", f"/api/notes/{id}/text?format=text")[2] == b"in time"


def test_edits_that_are_dropped_at_the_end_are_said(server, parley, caplog):
    id = server.create_note("Dropped")

    async def main():
        async with parley.connect(server.origin) as client:
            note = await client.note(id)
            server.kill()
            await asyncio.wait_for(client.until("waiting"), SECONDS)
            note.append("secret words")

    asyncio.run(main())
    server.start()
    assert "closed with 1 edits that are not saved" in caplog.text and "secret" not in caplog.text


def test_a_note_that_is_refused_keeps_no_other_from_being_saved(start, parley):
    server = start("--document-length-max", "1000")
    small, large = server.create_note("Small"), server.create_note("Large")

    async def main():
        async with parley.connect(server.origin) as client:
            first, second = await client.note(large), await client.note(small)
            first.append("x" * 2_000)
            second.append("saved")

    with pytest.raises(parley.ChangesRefused) as caught:
        asyncio.run(main())
    assert caught.value.note == large
    assert server.request("GET", f"/api/notes/{small}/text?format=text")[2] == b"saved"


def test_no_publication_ends_a_reader(server, parley):
    """Data that Python does not read by itself: a number of 5,000 digits."""

    async def main():
        async with parley.connect(server.origin) as client:
            room = client.room("orders")
            await room.opened()
            news = room.publications()
            for data in ("1" * 5_000, '"after"'):
                body = ('{"data":' + data + "}").encode()
                answer = await asyncio.to_thread(server.request, "POST", "/api/rooms/orders/publish", body)
                assert answer[0] == 200, answer
            assert (await hear(news)).data == float("inf")
            assert (await hear(news)).data == "after"

    asyncio.run(main())


def test_a_folder_open_to_others_shows_them_nothing(server, parley, tmp_path):
    id, keep = server.create_note("Secret"), tmp_path / "state"
    keep.mkdir(mode=0o755)

    async def main():
        async with parley.connect(server.origin, keep=keep) as client:
            note = await client.note(id)
            note.append("unsaved")
            await note.saved()
        files = [file for file in keep.iterdir() if file.is_file()]
        assert files and all(file.stat().st_mode & 0o077 == 0 for file in files)

    asyncio.run(main())


def test_a_damaged_file_is_said_each_time(server, parley, tmp_path):
    id, keep = server.create_note("Damaged"), tmp_path / "state"
    keep.mkdir()
    (keep / f"note-{hashlib.sha256(id.encode()).hexdigest()[:32]}").write_bytes(b"{")

    async def main():
        async with parley.connect(server.origin, keep=keep) as client:
            for _ in range(2):
                with pytest.raises(parley.StorageFailed, match="move it away"):
                    await asyncio.wait_for(client.note(id), SECONDS)
            for file in keep.glob("note-*"):
                file.unlink()
            note = await client.note(id)
            note.append("whole")
            await note.saved()

    asyncio.run(main())


def test_a_token_function_that_fails_leaves_the_folder_free(server, parley, tmp_path):
    def failing():
        raise LookupError("no token today")

    async def main():
        with pytest.raises(LookupError):
            async with parley.connect(server.origin, token=failing, keep=tmp_path / "state"):
                pass
        async with parley.connect(server.origin, keep=tmp_path / "state") as client:
            await asyncio.wait_for(client.until("online"), SECONDS)

    asyncio.run(main())


def test_a_call_from_another_thread_raises_with_advice(server, parley):
    id = server.create_note("Threads")

    async def main():
        async with parley.connect(server.origin) as client:
            note = await client.note(id)
            loop = asyncio.get_running_loop()

            def elsewhere():
                with pytest.raises(RuntimeError, match="call_soon_threadsafe"):
                    note.append("lost")
                loop.call_soon_threadsafe(note.append, "from a thread")
                asyncio.run_coroutine_threadsafe(note.saved(), loop).result(SECONDS)

            await asyncio.to_thread(elsewhere)
            assert note.text == "from a thread"

    asyncio.run(main())
    assert server.request("GET", f"/api/notes/{id}/text?format=text")[2] == b"from a thread"


def test_clients_on_loops_of_their_own(server, parley):
    id = server.create_note("Loops")

    def write(number):
        async def main():
            async with parley.connect(server.origin) as client:
                note = await client.note(id)
                for step in range(20):
                    note.append(f"{number}.{step} ")
                    await note.saved()

        asyncio.run(main())

    threads = [threading.Thread(target=write, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    words = server.request("GET", f"/api/notes/{id}/text?format=text")[2].decode().split()
    assert sorted(words) == sorted(f"{number}.{step}" for number in range(4) for step in range(20))


class Elsewhere(http.server.BaseHTTPRequestHandler):
    """A server that is no gateway."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_error(404)

    def log_message(self, *_):
        pass


def test_a_server_that_is_not_parley_is_reported(parley, caplog):
    other = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
    threading.Thread(target=other.serve_forever, daemon=True).start()

    async def main():
        async with parley.connect(f"http://127.0.0.1:{other.server_port}") as client:
            await asyncio.wait_for(client.until("waiting"), SECONDS)

    with caplog.at_level(logging.WARNING):
        asyncio.run(main())
    other.shutdown()
    other.server_close()
    assert "expected a gateway, got the HTTP status 404" in caplog.text


def test_a_proxy_that_cannot_be_used_ends_the_connection(parley, monkeypatch):
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    # Proxies of this kind want a package that is not there.
    monkeypatch.setitem(sys.modules, "python_socks", None)
    monkeypatch.setenv("socks_proxy", "socks5://127.0.0.1:9")

    async def main():
        async with parley.connect("http://127.0.0.1:9") as client:
            with pytest.raises(parley.ConnectionEnded) as caught:
                await asyncio.wait_for(client.note("minutes"), SECONDS)
            assert caught.value.reason == "failed" and caught.value.__cause__ is not None
            assert client.state == "stopped"

    asyncio.run(main())


@pytest.fixture
def guarded(start, tmp_path):
    """A server that checks tokens."""
    (tmp_path / "secret").write_bytes(test_tokens.SECRET + b"\n")
    return start("--hmac-secret-file", tmp_path / "secret", "--audience", "parley", "--clock-skew", "0s")


def test_tokens_by_an_async_function_are_renewed_without_a_break(guarded, parley):
    id = test_tokens.make_note(guarded)
    given = []

    async def token():
        await Turn()
        # The first ones are short-lived.
        given.append(test_tokens.token(test_tokens.EVERYTHING, exp=time.time() + (6 if len(given) < 2 else 3_600)))
        return given[-1]

    async def main():
        async with parley.connect(guarded.origin, token=token) as client:
            note = await client.note(id)
            changes = note.changes()
            while len(given) < 3:
                note.append("x")
                await note.saved()
                await hear(changes)
            note.append("end")

    asyncio.run(main())
    _, _, text = guarded.request("GET", f"/api/notes/{id}/text?format=text", None, test_tokens.bearer(given[-1]))
    assert re.fullmatch(b"x+end", text)


def test_access_that_is_not_renewed_ends_what_is_read(guarded, parley, caplog):
    id = test_tokens.make_note(guarded)
    given = []

    def token():
        given.append(test_tokens.token(test_tokens.EVERYTHING, exp=time.time() + 6))
        if len(given) == 2:
            raise LookupError("a secret of the program's")
        return given[0] if len(given) == 1 else None

    async def main():
        async with parley.connect(guarded.origin, token=token) as client:
            note, room = await client.note(id), client.room("orders")
            await room.opened()
            for events in (note.changes(), room.publications()):
                with pytest.raises(parley.ConnectionEnded) as caught:
                    await hear(events)
                assert caught.value.reason == "noAccess"
            for late in (lambda: note.append("late"), lambda: client.room("other")):
                with pytest.raises(parley.ConnectionEnded):
                    late()
            with pytest.raises(parley.ConnectionEnded):
                await hear(note.changes())

    asyncio.run(main())
    assert "LookupError" in caplog.text and "secret" not in caplog.text and given[0] not in caplog.text


BUSY = """
import asyncio, sys, parley
async def main():
    # How long a step may take is the machine's affair.
    asyncio.get_running_loop().slow_callback_duration = 1e9
    async with parley.connect(sys.argv[1], token=lambda: None, keep=sys.argv[3]) as client:
        note, room = await client.note(sys.argv[2]), client.room("orders", is_present=True)
        await room.opened()
        waiting = asyncio.ensure_future(anext(note.changes()))
        left = note.changes()
        asked = [asyncio.ensure_future(room.publish(number)) for number in range(5)]
        note.append("text")
        async for changed in left:
            break
        asked[0].cancel()
        late = asyncio.ensure_future(client.note("not there"))
    for task in (waiting, late, *asked):
        task.cancel()
    print(*(type(each).__name__ for each in await asyncio.gather(waiting, return_exceptions=True)))
    try:
        async with parley.connect(sys.argv[1]) as client:
            raise KeyError("the program's own")
    except KeyError:
        print("raised")
asyncio.run(main())
"""


@pytest.mark.parametrize("core", ["library", "wasm"])
def test_asyncio_has_nothing_to_complain_of(server, folder, tmp_path, core):
    id = server.create_note("Debugged")
    ended = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", BUSY, server.origin, id, tmp_path / "state"],
        env={"PYTHONPATH": str(folder), "PATH": os.environ["PATH"], "PARLEY_CORE": core},
        capture_output=True, text=True, timeout=PROGRAM_SECONDS,
    )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout == "Changed\nraised\n"


GUIDE = (ROOT / "Documentation" / "PythonClient.md").read_text()


def test_types_hold_in_the_package_and_for_its_users(folder, tmp_path):
    """The package in mypy's strict mode, and the guide's programs with it."""
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", GUIDE, re.S)):
        given = "client: parley.Client, note: parley.Note, room: parley.Room"
        for name, kind in (("note", "Note"), ("client", "Client")):
            if re.search(rf"^ *(?:async with .* as )?{name}(?: =|:$)", block, re.M):
                given = given.replace(f"{name}: parley.{kind}, ", "")
        body = textwrap.indent(block, "    ")
        (tmp_path / f"block{number}.py").write_text(f"import parley\nasync def main({given}) -> None:\n{body}")
    ended = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", folder / "parley",
         *sorted(tmp_path.glob("block*.py")), ROOT / "Examples" / "python" / "clock.py"],
        env={**os.environ, "MYPYPATH": str(folder)}, capture_output=True, text=True, timeout=PROGRAM_SECONDS,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout
