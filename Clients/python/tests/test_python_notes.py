"""A note's whole life by the Python package, over HTTP."""

import asyncio
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from python_core import lay_out
from test_tokens import BAD, EVERYTHING, guarded, token  # noqa: F401


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return lay_out(tmp_path_factory.mktemp("notes"))


@pytest.fixture
def parley(folder, monkeypatch):
    monkeypatch.syspath_prepend(str(folder))
    import parley

    return parley


def source():
    return token(EVERYTHING)


def test_a_notes_whole_life(guarded, parley):  # noqa: F811
    async def main():
        async with parley.connect(guarded.origin, token=source) as client:
            notes = client.notes
            made = await notes.create("Shopping", folder="home")
            note = await client.note(made.id)
            note.append("milk and bread")
            await note.saved()
            await find_and_change(notes, made)
            await comment_and_version(notes, made.id)
            await share_and_upload(notes, made.id)
            await notes.delete(made.id)
            with pytest.raises(parley.NoteUnavailable, match="create it first"):
                await notes.info(made.id)
            assert [each.id for each in await notes.deleted()] == [made.id]
            assert (await notes.restore(made.id)).title == "Groceries"
            await notes.delete(made.id)
            await notes.purge(made.id)
            assert await notes.deleted() == ()

    async def find_and_change(notes, made):
        assert (await notes.info(made.id)).created_at == made.created_at
        page = await notes.list(folder="home", limit=1)
        assert page.notes[0].id == made.id and "manage" in page.notes[0].may
        await notes.rename(made.id, "Groceries")
        assert (await notes.move(made.id, "home/old")).folder == "home/old"
        assert await notes.folders() == {"": 1, "home/old": 1} or "home/old" in await notes.folders()
        assert isinstance(await notes.search("groc"), tuple)

    async def comment_and_version(notes, id):
        newest = await notes.text(id)
        assert newest.text == "milk and bread"
        first = await notes.comment(id, "Which?", start=0, end=4, revision=newest.revision)
        await notes.answer(id, first.id, "Oats")
        await notes.edit_comment(id, first.id, "Which one?")
        assert (await notes.resolve(id, first.id)).resolved
        texts = [each.text for each in await notes.comments(id)]
        assert texts == ["Which one?", "Oats"]
        await notes.delete_comment(id, first.id)
        await notes.add_version(id, "first", newest.revision)
        assert [each.name for each in await notes.versions(id)] == ["first"]
        await notes.remove_version(id, newest.revision)
        history = await notes.history(id)
        assert history.head == newest.revision and history.sessions[0].authors[0]["inserted"] == 14
        assert {"inserted": "milk and bread"}.items() <= (await notes.changes(id, 0, newest.revision))[0].items()
        assert await notes.restore_to(id, 0) == newest.revision + 1
        assert (await notes.text(id)).text == ""

    async def share_and_upload(notes, id):
        link = await notes.share(id, "write", expires_in=60)
        assert link.url.startswith(guarded.origin + "/s/")
        assert [each.id for each in await notes.links(id)] == [link.id]
        await notes.unshare(id, link.id)
        assert await notes.links(id) == ()
        file = await notes.upload(id, b"plan", "a plan.txt")
        assert [each.hash for each in await notes.files(id)] == [file.hash]
        assert await notes.download(id, file) == b"plan"

    asyncio.run(main())


def test_a_mention_reaches_the_other_user(guarded, parley):  # noqa: F811
    async def main():
        async with (
            parley.connect(guarded.origin, token=lambda: token(EVERYTHING, sub="ann")) as ann,
            parley.connect(guarded.origin, token=lambda: token(EVERYTHING, sub="bob")) as bob,
        ):
            made = await ann.notes.create("Shopping")
            note = await ann.note(made.id)
            note.append("milk")
            await note.saved()
            newest = await ann.notes.text(made.id)
            asked = await ann.notes.comment(
                made.id, "@bob which?", start=0, end=4, revision=newest.revision, mentions=["bob"]
            )
            (mention,) = (await bob.notices.list()).notices
            assert (mention.kind, mention.note, mention.comment) == ("mention", made.id, asked.id)
            assert not mention.read
            assert await bob.notices.unread() == parley.UnreadNotices(1, {made.id: 1})
            assert await bob.notices.read(mention.id) == 1
            await bob.notes.answer(made.id, asked.id, "oats")
            await bob.notes.resolve(made.id, asked.id)
            first = await ann.notices.list(limit=1)
            second = await ann.notices.list(before=first.next, limit=1)
            assert [first.notices[0].kind, second.notices[0].kind] == ["resolved", "answer"]
            assert await ann.notices.read_note(made.id) == 2
            await bob.notes.answer(made.id, asked.id, "or soy")
            newest = (await ann.notices.list()).notices[0]
            assert await ann.notices.read_all(newest.id) == 1
            assert (await ann.notices.unread()).count == 0

    asyncio.run(main())


def test_a_request_that_fails_says_why(guarded, parley):  # noqa: F811
    """Refused, expired and then renewed tokens, names that are no notes, and servers that are not gateways."""

    class Portal(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html>Sign in to this network</html>")

        def log_message(self, *_):
            pass

    async def main(portal):
        tokens = iter([BAD["expired"](), source()])
        async with parley.connect(guarded.origin, token=lambda: next(tokens, None)) as client:
            assert (await client.notes.list()).notes
            with pytest.raises(parley.NoteUnavailable, match="no note has the id a/b"):
                await client.notes.rename("a/b", "x")
            with pytest.raises(parley.RequestRefused, match="badMessage"):
                await client.notes.create("two\nlines")
        async with parley.connect(guarded.origin, token=BAD["another audience"]) as client:
            with pytest.raises(parley.RequestRefused, match="unauthorised"):
                await client.notes.list()
        async with parley.connect(portal) as client:
            with pytest.raises(parley.RequestRefused, match="another server"):
                await client.notes.list()

    portal = HTTPServer(("127.0.0.1", 0), Portal)
    threading.Thread(target=portal.serve_forever, daemon=True).start()
    try:
        asyncio.run(main(f"http://127.0.0.1:{portal.server_port}"))
    finally:
        portal.shutdown()
        portal.server_close()
