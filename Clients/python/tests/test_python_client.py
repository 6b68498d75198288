"""The Python package, as it is installed, against the running program."""

import asyncio
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap

import pytest
from parley_server import ROOT
from patience import PROGRAM_SECONDS, SECONDS
from python_wheels import install, make_wheels
from test_fixtures import FIXTURES, TEXT, fixture_server  # noqa: F401


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """A folder with the contents of this machine's wheel, made by one of the processes that run tests."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    with open(folder / "package.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "package").exists():
            install(make_wheels(folder / "wheels"), "--no-deps", "--target", folder / "made")
            (folder / "made").rename(folder / "package")
    return folder / "package"


@pytest.fixture(params=["library", "wasm"], autouse=True)
def core(request, monkeypatch):
    """The form in which the client core runs."""
    monkeypatch.setenv("PARLEY_CORE", request.param)
    return request.param


@pytest.fixture
def parley(installed, monkeypatch):
    monkeypatch.syspath_prepend(str(installed))
    import parley

    return parley


def environment_of(package):
    """What a program with the package runs in."""
    return {"PYTHONPATH": str(package), **{name: os.environ[name] for name in ("PATH", "PARLEY_CORE")}}


def text_of(server, note):
    status, _, body = server.request("GET", f"/api/notes/{note}/text?format=text")
    assert status == 200
    return body.decode()


def put_text(server, note, text):
    status, _, body = server.request("PUT", f"/api/notes/{note}/text", text.encode())
    assert status == 200, body


class Turn:
    """Awaited, it lets everything else that is ready go first."""

    def __await__(self):
        yield


async def until(note, condition):
    """Waits for news of a note until something holds."""
    while not condition():
        await asyncio.wait_for(note._state.wait(), SECONDS)


def test_two_programs_write_one_note(server, parley, core):
    id = server.create_note("Shared")
    operation = {"revision": 0, "operation": ["one 😀 two\r\n"]}
    assert server.request("POST", f"/api/notes/{id}/changes", operation)[0] == 200

    async def main():
        async with (
            parley.connect(server.origin, name="Ada") as ada,
            parley.connect(server.origin, name="Bo") as bo,
        ):
            assert ada.core == bo.core == core
            first, second = await ada.note(id), await bo.note(id)
            assert first.text == "one 😀 two\r\n" and first.title == "Shared"
            first.replace(4, 5, "🎉🎉")
            second.insert(0, "zero ")
            first.append("three")
            await asyncio.gather(first.saved(), second.saved())
            await until(first, lambda: first.text == "zero one 🎉🎉 two\r\nthree")
            await until(second, lambda: second.text == first.text)
            await until(second, lambda: [person.name for person in second.people] == ["Ada"])
            with pytest.raises(IndexError):
                first.replace(3, 900, "")
            assert ada.unsaved == 0

    asyncio.run(main())
    assert text_of(server, id) == "zero one 🎉🎉 two\r\nthree"


def test_edits_lead_to_the_text(server, parley):
    """Applying each received change gives the text."""
    id = server.create_note("Followed")
    put_text(server, id, "a😀b")

    async def main():
        async with parley.connect(server.origin) as ada, parley.connect(server.origin) as bo:
            writer, reader = await ada.note(id), await bo.note(id)
            followed = reader.text

            async def follow():
                nonlocal followed
                async for changed in reader.changes():
                    for change in changed.changes:
                        followed = followed[: change.start] + change.text + followed[change.end :]
                    if followed.endswith("end"):
                        return

            task = asyncio.ensure_future(follow())
            await Turn()
            for number in range(200):
                at = number * 7919 % (len(writer.text) + 1)
                writer.replace(at, min(at + number % 3, len(writer.text)), ["x", "😀😀", "é\n", ""][number % 4])
                if number % 5 == 0:
                    reader.insert(number * 31 % (len(reader.text) + 1), "<🙂>")
                if number % 20 == 0:
                    await writer.saved()
            await asyncio.gather(writer.saved(), reader.saved())
            await until(writer, lambda: writer.text == reader.text or None)
            writer.append("end")
            await asyncio.wait_for(task, SECONDS)
            assert followed == reader.text == writer.text

    asyncio.run(main())


def test_a_server_that_is_killed_loses_and_doubles_nothing(server, parley):
    id = server.create_note("Killed")

    async def main():
        async with parley.connect(server.origin) as client:
            note = await client.note(id)
            for number in range(20):
                note.append(f"{number} ")
                if number % 5 == 2:
                    server.kill()
                    await until(note, lambda: note.state == "away")
                    note.append(f"({number} away) ")
                    server.start()
            await asyncio.wait_for(note.saved(), SECONDS)
            return note.text

    text = asyncio.run(main())
    words = [f"{number} " + (f"({number} away) " if number % 5 == 2 else "") for number in range(20)]
    assert text == text_of(server, id) == "".join(words)


def test_edits_of_a_note_that_is_closed_without_a_gateway_are_saved(server, parley):
    id, other = server.create_note("Closed"), server.create_note("Opened again")

    async def main():
        async with parley.connect(server.origin) as client:
            note, again = await client.note(id), await client.note(other)
            server.kill()
            await until(note, lambda: note.state == "away")
            note.append("closed")
            again.append("once")
            await note.close()
            await again.close()
            assert note.state == again.state == "closed"
            again = await client.note(other)
            again.append(", twice")
            assert again.text == "once, twice"
            server.start()
            await asyncio.wait_for(again.saved(), SECONDS)
            while await asyncio.to_thread(text_of, server, id) != "closed":
                pass

    asyncio.run(main())
    assert text_of(server, other) == "once, twice"


CHILD = """
import asyncio, sys, parley
class Turn:
    def __await__(self):
        yield
async def main():
    async with parley.connect(sys.argv[1], keep=sys.argv[3]) as client:
        note = await client.note(sys.argv[2])
        number = note.text.count(".")
        print(number, flush=True)
        while True:
            # Some edits have just been made when the process is killed, some are on their way.
            for _ in range(3):
                note.append(f"{number}.")
                number += 1
                await Turn()
            await note.saved()
            print(number, flush=True)
asyncio.run(main())
"""


def test_a_program_that_is_killed_loses_and_doubles_nothing(server, installed, tmp_path):
    """All that was saved is there, and each edit once and in order: the next process restores it."""
    id = server.create_note("Program")
    environment = environment_of(installed)
    for kill in range(6):
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, server.origin, id, tmp_path / "state"],
            env=environment, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        for _ in range(1 + 2 * kill):
            saved = int(child.stdout.readline())
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
    numbers = [int(number) for number in text_of(server, id).split(".")[:-1]]
    assert numbers == list(range(len(numbers))) and len(numbers) >= saved
    # The last process has left its stored edits; the next process sends them.
    ended = subprocess.run(
        [sys.executable, "-c", CHILD.replace("while True", "for _ in range(1)"), server.origin, id, tmp_path / "state"],
        env=environment, capture_output=True, text=True, timeout=PROGRAM_SECONDS,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    numbers = [int(number) for number in text_of(server, id).split(".")[:-1]]
    assert numbers == list(range(len(numbers))) and len(numbers) >= saved


def test_edits_that_0_1_0_kept_are_sent_once(fixture_server, parley, tmp_path):  # noqa: F811
    shutil.copytree(FIXTURES / "python", tmp_path / "kept")

    async def main():
        async with parley.connect(fixture_server.origin, name="Bot", keep=tmp_path / "kept") as client:
            assert client.left_behind == ["plan"]
            note = await client.note("plan")
            await asyncio.wait_for(note.saved(), SECONDS)

    asyncio.run(main())
    assert text_of(fixture_server, "plan") == TEXT + "kept é\n"


def test_a_folder_has_one_process(server, parley, tmp_path):
    async def main():
        async with parley.connect(server.origin, keep=tmp_path / "state"):
            with pytest.raises(parley.StorageFailed, match="another process"):
                async with parley.connect(server.origin, keep=tmp_path / "state"):
                    pass

    asyncio.run(main())


def test_a_note_that_is_not_there(server, parley):
    async def main():
        async with parley.connect(server.origin) as client:
            with pytest.raises(parley.NoteUnavailable) as caught:
                await client.note("nothing-here")
            assert caught.value.code == "unknownDocument"

    asyncio.run(main())


@pytest.mark.parametrize("address", ["", "/n/", "http://host/n/", "http://host/minutes", "http://host/n/a/b"])
def test_an_address_that_is_no_notes(parley, address):
    with pytest.raises(ValueError, match="expected a note's address"):
        parley.open_note(address)


def test_a_note_is_opened_by_its_address(server, parley):
    status, _, body = server.request("PUT", "/api/notes/%C3%A9t%C3%A9", b'{"title":"Summer"}')
    assert status in (200, 201), body

    async def main():
        async with parley.open_note(f"{server.origin}/n/%C3%A9t%C3%A9?from=mail#there", name="Ada") as note:
            assert (note.id, note.title) == ("\u00e9t\u00e9", "Summer")
            note.append("by its address")
        with pytest.raises(parley.NoteUnavailable):
            async with parley.open_note(f"{server.origin}/n/nothing-here"):
                pass

    asyncio.run(main())
    assert text_of(server, "%C3%A9t%C3%A9") == "by its address"


def test_a_note_that_is_deleted_meanwhile(server, parley):
    id = server.create_note("Short")

    async def main():
        async with parley.connect(server.origin) as client:
            note = await client.note(id)

            async def read():
                return [changed async for changed in note.changes()]

            reading = asyncio.ensure_future(read())
            await Turn()
            server.request("DELETE", f"/api/notes/{id}")
            await asyncio.wait_for(reading, SECONDS)
            with pytest.raises(parley.NoteUnavailable):
                note.append("lost")

    asyncio.run(main())


def test_a_reader_that_is_behind_is_notified(server, parley):
    id = server.create_note("Slow")

    async def main():
        async with parley.connect(server.origin) as client:
            note = await client.note(id)
            changes = note.changes()
            first = asyncio.ensure_future(anext(changes))
            await Turn()
            for _ in range(1_500):
                note.append("x")
            await first
            with pytest.raises(parley.Overflowed):
                async for _ in changes:
                    pass

    asyncio.run(main())


@pytest.mark.parametrize("url", ["", "notes", "ws://127.0.0.1", "ftp://127.0.0.1"])
def test_rejects_a_malformed_address(parley, url):
    async def main():
        async with parley.connect(url):
            pass

    with pytest.raises(ValueError, match="expected the gateway's address"):
        asyncio.run(main())


def test_a_gateway_that_cannot_be_reached_is_tried_again(server, parley):
    id = server.create_note("Late")
    server.kill()

    async def main():
        async with parley.connect(server.origin) as client:
            opening = asyncio.ensure_future(client.note(id))
            await asyncio.wait_for(client.until("waiting"), SECONDS)
            server.start()
            note = await asyncio.wait_for(opening, SECONDS)
            note.append("in the end")

    asyncio.run(main())
    assert text_of(server, id) == "in the end"


def test_a_room_through_a_server_that_is_killed(server, parley):
    """Each publication comes once and in order; missed ones come after the return."""

    async def main():
        async with parley.connect(server.origin, name="Ada") as ada, parley.connect(server.origin, name="Bo") as bo:
            writer, reader = ada.room("orders", is_present=True), bo.room("orders", is_present=True)
            await asyncio.gather(writer.opened(), reader.opened())
            while [person.name for person in reader.people if not person.is_self] != ["Ada"]:
                await asyncio.wait_for(reader.changed(), SECONDS)
            writer.is_typing = True
            while not any(person.is_typing for person in reader.people):
                await asyncio.wait_for(reader.changed(), SECONDS)
            news = reader.publications()
            first = await writer.publish({"dish": "soup 😀", "price": 12.5}, sender_id="till")
            heard = [await asyncio.wait_for(anext(news), SECONDS)]
            assert (heard[0].data, heard[0].position, heard[0].sender_id) == (
                {"dish": "soup 😀", "price": 12.5}, first, "till",
            )  # fmt: skip
            assert heard[0].person_id == ada.person_id
            server.kill()
            await asyncio.wait_for(asyncio.gather(ada.until("waiting"), bo.until("waiting")), SECONDS)
            asked = [asyncio.ensure_future(writer.publish(number)) for number in range(50)]
            await Turn()
            server.start()
            places = await asyncio.wait_for(asyncio.gather(*asked), SECONDS)
            for _ in asked:
                heard.append(await asyncio.wait_for(anext(news), SECONDS))
            assert [each.data for each in heard[1:]] == list(range(50))
            assert [each.position for each in heard[1:]] == places
            # The next process hears from where this one was.
            async with parley.connect(server.origin) as later:
                after = later.room("orders", since=places[39]).publications()
                assert [(await asyncio.wait_for(anext(after), SECONDS)).data for _ in range(10)] == list(range(40, 50))
                other = later.room("lost", since=parley.Position("of another history", 7)).publications()
                assert isinstance(await asyncio.wait_for(anext(other), SECONDS), parley.Gap)
            reader.close()
            assert [each async for each in news] == []

    asyncio.run(main())


def test_receipts_reach_the_author_alone(server, parley):
    async def main():
        async with parley.connect(server.origin, name="Ada") as ada, parley.connect(server.origin, name="Bo") as bo:
            author, reader = ada.room("orders"), bo.room("orders")
            await asyncio.gather(author.opened(), reader.opened())
            told, others = author.receipts(), reader.receipts()
            news = reader.publications()
            place = await author.publish("tea?")
            heard = await asyncio.wait_for(anext(news), SECONDS)
            for stage in ("delivered", "read", "delivered"):
                reader.confirm(heard.position, stage)
            for stage in ("delivered", "read"):
                receipt = await asyncio.wait_for(anext(told), SECONDS)
                assert receipt == parley.Receipt(place, bo.person_id, stage)
            asked = await asyncio.gather(author.receipts_of(place), author.receipts_of(place))
            assert asked == [{bo.person_id: "read"}] * 2
            with pytest.raises(parley.RoomUnavailable) as caught:
                await asyncio.wait_for(reader.receipts_of(place), SECONDS)
            assert caught.value.code == "notAllowed"
            for wrong in (lambda: reader.confirm(place, "seen"), lambda: reader.confirm(parley.Position("else", 1))):
                with pytest.raises(ValueError):
                    wrong()
            # Receipts that are given or requested without a connection are sent on the next one.
            place = await author.publish("now?")
            server.kill()
            await asyncio.wait_for(asyncio.gather(ada.until("waiting"), bo.until("waiting")), SECONDS)
            reader.confirm(place)
            asked = asyncio.ensure_future(author.receipts_of(place))
            await Turn()
            server.start()
            while await asyncio.wait_for(asked, SECONDS) != {bo.person_id: "read"}:
                asked = asyncio.ensure_future(author.receipts_of(place))
            assert not others._waiting
            left = asyncio.ensure_future(author.receipts_of(place))
            await Turn()
        with pytest.raises(parley.ConnectionEnded):
            # The last one may have come with the connection.
            await anext(told)
            await anext(told)
        assert left.done()
        with pytest.raises(parley.ConnectionEnded):
            reader.confirm(place)

    asyncio.run(main())


def test_what_is_not_published_says_why(server, parley):
    async def main():
        async with parley.connect(server.origin) as client:
            room = client.room("orders")
            await room.opened()
            for text in ("x" * 100_000, "x" * 5_000_000):
                with pytest.raises(parley.PublishRefused) as caught:
                    await asyncio.wait_for(room.publish(text), SECONDS)
                assert caught.value.code == "tooLarge"
            with pytest.raises(TypeError):
                await room.publish(object())
            deep = []
            for _ in range(40):
                deep = [deep]
            for data in (deep, float("nan")):
                with pytest.raises(ValueError):
                    await room.publish(data)
            first = asyncio.ensure_future(room.publish(1, key="k"))
            second = asyncio.ensure_future(room.publish(1, key="k"))
            assert await first == await second
            with pytest.raises(parley.PublishRefused) as caught:
                await room.publish(2, key="k")
            assert caught.value.code == "keyReused"
            assert client.state == "online"
            news = room.publications()
        with pytest.raises(parley.ConnectionEnded):
            await anext(news)
        with pytest.raises(parley.ConnectionEnded):
            await room.publish("late")

    asyncio.run(main())


def test_a_reader_of_a_room_that_is_behind_finds_a_gap(server, parley):
    async def main():
        async with parley.connect(server.origin) as client:
            room = client.room("orders")
            await room.opened()
            news = room.publications()
            for group in range(15):
                await asyncio.gather(*(room.publish(group * 100 + number) for number in range(100)))
            gap = await anext(news)
            assert isinstance(gap, parley.Gap) and gap.after.offset == 0
            # The answer to a publication may come before it does.
            offset = gap.through.offset
            while offset < 1_500:
                each = await asyncio.wait_for(anext(news), SECONDS)
                assert each.position.offset == offset + 1
                offset += 1

    asyncio.run(main())


def test_carets_are_shown_in_characters(server, parley):
    id = server.create_note("Carets")
    put_text(server, id, "😀 text")

    async def main():
        async with parley.connect(server.origin) as ada, parley.connect(server.origin) as bo:
            first, second = await ada.note(id), await bo.note(id)
            first.select(1, 6)
            await until(second, lambda: [person.selections for person in second.people] == [((1, 6),)])
            with pytest.raises(IndexError):
                first.select(7)

    asyncio.run(main())


def test_the_example_runs(server, installed):
    example = ROOT / "Examples" / "python" / "clock.py"
    assert example.read_text().count("\n") <= 10
    id = server.create_note("Clock")
    subprocess.run(
        [sys.executable, example, f"{server.origin}/n/{id}"],
        env=environment_of(installed), check=True, timeout=PROGRAM_SECONDS,
    )  # fmt: skip
    assert re.fullmatch(r"It is \d\d:\d\d\.\n", text_of(server, id))


GUIDE = (ROOT / "Documentation" / "PythonClient.md").read_text()


# Runs programs in one process, each with names of its own, and each with the note as it was.
ONE_BY_ONE = """
import json, sys, urllib.request
for number, program in enumerate(json.loads(sys.argv[2])):
    urllib.request.urlopen(urllib.request.Request(sys.argv[1], b"Present: Ada\\n", method="PUT")).close()
    exec(compile(program, f"block {number} of the guide", "exec"), {"__name__": "__main__"})
"""


def program_of(block, server):
    """A block of the guide with what surrounds it in a program."""
    body = textwrap.indent(block, "    ")
    if "connect(" not in block:
        body = textwrap.indent(block, "        ")
        body = f'    async with parley.connect("http://127.0.0.1:8080") as client:\n{body}'
        if "note." in block and "client.note" not in block:
            body = body.replace(
                " as client:\n",
                ' as client:\n        note = await client.note("minutes")\n'
                '        asyncio.get_running_loop().call_soon(note.append, "!")\n',
            )
    program = f"import asyncio, parley\nasync def main():\n{body}\nasyncio.run(main())\n"
    return program.replace("http://127.0.0.1:8080", server.origin)


def test_the_guides_blocks_run(server, installed, tmp_path):
    programs = [program_of(block, server) for block in re.findall(r"```python\n(.*?)```", GUIDE, re.S)]
    assert len(programs) == GUIDE.count("```python") > 5
    server.request("PUT", "/api/notes/minutes", b'{"title":"Minutes"}')
    (tmp_path / "token").write_text("x.y.z\n")
    ended = subprocess.run(
        [sys.executable, "-c", ONE_BY_ONE, f"{server.origin}/api/notes/minutes/text", json.dumps(programs)],
        env=environment_of(installed), cwd=tmp_path, capture_output=True, text=True, timeout=PROGRAM_SECONDS,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
