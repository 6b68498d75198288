"""Each call that waits for the gateway, and each reason for which it gives no answer."""

import asyncio
import itertools
import logging
import time

import pytest
from ports import free_port
from patience import SECONDS
from python_core import lay_out
from test_tokens import BAD, EVERYTHING, guarded, token  # noqa: F401


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return lay_out(tmp_path_factory.mktemp("waits"))


@pytest.fixture
def parley(folder, monkeypatch):
    monkeypatch.syspath_prepend(str(folder))
    import parley

    return parley


class LoginFailed(Exception):
    pass


CALLS = {
    "note": lambda client, id: client.note(id),
    "until": lambda client, id: client.until("online"),
    "opened": lambda client, id: client.room("r").opened(),
    "publish": lambda client, id: client.room("r").publish(1),
}


def no_token():
    return None


def failing():
    raise LoginFailed()


async def hanging():
    await asyncio.Event().wait()


def once():
    """A token function whose second call fails; the first token is one that has expired."""
    tokens = itertools.chain([BAD["expired"](), LoginFailed()], itertools.repeat(token(EVERYTHING)))

    def give():
        given = next(tokens)
        if isinstance(given, Exception):
            raise given
        return given

    return give


#: The token function, and the words of the error of each call; None where the call returns.
CAUSES = {
    "no token": (no_token, "expected a token"),
    "refused": (BAD["garbage"], "expected a token"),
    "wrong audience": (BAD["another audience"], "expected a token"),
    "expired": (BAD["expired"], "expected a token"),
    "throws once": (once(), None),
    "throws from the second call on": (None, "the token function failed with LoginFailed"),
    "gone": (lambda: token(EVERYTHING), "none within the timeout"),
    "closed": (lambda: token(EVERYTHING), "closed"),
    "cancelled": (lambda: token(EVERYTHING), ""),
}


@pytest.mark.parametrize("cause", CAUSES)
def test_each_call_ends_in_bounded_time_with_an_error_in_words(guarded, parley, cause, caplog, monkeypatch):  # noqa: F811
    source, words = CAUSES[cause]
    if cause == "throws from the second call on":
        given = iter([BAD["expired"]()])
        source = lambda: next(given, None) or failing()  # noqa: E731
    origin = f"http://127.0.0.1:{free_port()}" if cause in ("gone", "cancelled") else guarded.origin
    timeout = 0.2 if cause in ("gone", "throws from the second call on") else SECONDS
    monkeypatch.setattr("parley.client._TOKEN_PAUSE", 0.01)
    caplog.set_level(logging.INFO, "parley")

    async def ended(work, client):
        if cause == "cancelled":
            task = asyncio.ensure_future(work)
            await asyncio.sleep(0)
            task.cancel()
            return (await asyncio.gather(task, return_exceptions=True))[0]
        return (await asyncio.gather(work, return_exceptions=True))[0]

    async def main():
        async with parley.connect(origin, token=source, timeout=timeout) as client:
            if cause == "closed":
                await client.close()
            ends = []
            for call in CALLS.values():
                try:
                    ends.append(ended(call(client, guarded.note), client))
                except parley.ParleyError as error:
                    ends.append(asyncio.sleep(0, error))
            ends = await asyncio.wait_for(asyncio.gather(*ends), SECONDS)
            return ends, client.problem

    began = time.monotonic()
    ends, problem = asyncio.run(main())
    assert time.monotonic() - began < SECONDS
    for end in ends:
        if words is None:
            assert not isinstance(end, BaseException), end
        elif cause == "cancelled":
            assert isinstance(end, asyncio.CancelledError)
        else:
            assert isinstance(end, parley.ParleyError) and words in str(end), end
    if words and cause not in ("closed", "cancelled"):
        assert problem
    if "throws" in cause:
        assert "the token function failed with LoginFailed" in caplog.text
    assert token(EVERYTHING)[:20] not in caplog.text


def test_a_token_function_that_fails_or_hangs_at_first_ends_the_connecting(guarded, parley):  # noqa: F811
    async def main(source, error):
        with pytest.raises(error):
            async with parley.connect(guarded.origin, token=source, timeout=0.05):
                pass

    asyncio.run(main(failing, LoginFailed))
    asyncio.run(main(hanging, parley.NoAnswer))


def test_edits_outlive_a_wait_and_a_full_disk(guarded, parley, tmp_path, monkeypatch):  # noqa: F811
    """A wait ends without its connection; the edits do not. A folder that takes nothing ends no call."""

    def full(*_):
        raise parley.StorageFailed("no space")

    monkeypatch.setattr("parley.storage.EditFolder.keep", full)

    async def main():
        source = lambda: token(EVERYTHING)  # noqa: E731
        async with parley.connect(guarded.origin, token=source, keep=tmp_path / "k", timeout=0.2) as client:
            note = await client.note(guarded.note)
            room = client.room("r")
            await room.opened()
            position = await room.publish(1)
            note.append("one")
            await note.saved()
            guarded.kill()
            await client.until("waiting")
            note.append(" two")
            for call in (note.saved, lambda: room.receipts_of(position)):
                with pytest.raises(parley.NoAnswer, match="the client still tries"):
                    await call()
            assert note.unsaved == 1 and client.problem
            guarded.start()
            while note.unsaved:
                try:
                    await note.saved()
                except parley.NoAnswer:
                    pass

    asyncio.run(asyncio.wait_for(main(), SECONDS))
    text = guarded.request("GET", f"/api/notes/{guarded.note}/text?format=text", headers={
        "Authorization": "Bearer " + token(EVERYTHING)})[2]
    assert text == b"one two"


def test_a_note_that_was_never_made_is_unknown(guarded, parley):  # noqa: F811
    async def main():
        async with parley.connect(guarded.origin, token=lambda: token(EVERYTHING)) as client:
            with pytest.raises(parley.NoteUnavailable, match="no note has the id never; create it first"):
                await client.note("never")

    asyncio.run(main())
