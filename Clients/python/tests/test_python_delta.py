"""Notes with formatting in Python: Delta in, Delta out, in characters, through the client core."""

import asyncio
import json
import random
import sys

import pytest
from patience import SECONDS
from python_core import Line, lay_out

WORDS = ["a", "word ", "\n", "é", "字", "😀", "👨‍👩‍👧", "x\ny"]


@pytest.fixture(scope="module")
def parley(tmp_path_factory):
    """The package's modules, loaded for these tests, which compile its WebAssembly once."""
    forget_package()
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PARLEY_CORE", "wasm")
        patched.syspath_prepend(str(lay_out(tmp_path_factory.mktemp("delta"), library=False)))
        import parley
        import parley.core
        import parley.delta
        import parley.doors
        import parley.note

        yield parley
    forget_package()


def forget_package():
    for name in [name for name in sys.modules if name.split(".")[0] == "parley"]:
        del sys.modules[name]


class Gateway(Line):
    """A core that has joined a rich note, and an engine of it without a loop."""

    ended = None

    def __init__(self, parley, text, form=None, kind="rich", capabilities=("rich",)):
        self.core = parley.core.Core(parley.doors.create_core())
        self.messages = []
        self.now = 0
        self.state = parley.note.NoteState(self, "d", has_formats=True)
        self.note = parley.note.Note(self.state, lambda: None)
        self.core.create("Ann", "#123456", 7, None)
        self.do("start")
        self.do("opened")
        self.answer(
            "welcome", protocol="parley.v1", clientId="ann", resumeToken="t", serverTime=0, demo=False,
            capabilities=list(capabilities), limits={},
        )  # fmt: skip
        self.do("openFormatted", "d")
        more = {"kind": "rich", **({"format": form} if form else {})} if kind == "rich" else {}
        self.answer(
            "joined", documentId="d", title="", text=text, epoch="e", revision=0, lastSequence=0, access="write",
            presence=[], **more,
        )  # fmt: skip

    def check(self):
        pass

    def do(self, kind, *values):
        self.take(self.core.handle(self.now, kind, *values))

    def edit(self, note, changes, form):
        self.take(self.core.edit(self.now, note, changes, form))

    def take(self, actions):
        super().take(actions)
        for action in actions:
            if action.note:
                self.state.take(action)

    @property
    def sent(self):
        return [message["data"] for message in self.messages if message["type"] == "change"]

    def receive_change(self, revision, operation, form):
        change = {"clientId": "bo", "sequence": revision, "operation": operation, "format": form}
        data = {"documentId": "d", "revision": revision, "changes": [change]}
        self.do("received", json.dumps({"messageId": "s", "type": "changes", "data": data}))


def applied(pieces, ops):
    """Applies a Delta to a list of characters or embedded things with Quill's attributes."""
    result, place = [], 0
    for op in ops:
        attributes = op.get("attributes", {})
        if "insert" in op:
            known = {key: value for key, value in attributes.items() if value is not None}
            each = [op["insert"]] if isinstance(op["insert"], dict) else list(op["insert"])
            result += [(one, known) for one in each]
        elif "delete" in op:
            place += op["delete"]
        else:
            for one, before in pieces[place : place + op["retain"]]:
                after = {key: value for key, value in {**before, **attributes}.items() if value is not None}
                result.append((one, after))
            place += op["retain"]
    return result + pieces[place:]


def test_a_note_is_read_and_changed_as_delta(parley):
    form = {"sets": [{"bold": True}, {"block": "h2"}, {"embed": {"image": "h/a.png"}, "width": 9}], "runs": [1, 1, 1, 0, 1, 2, 1, 3]}
    gateway = Gateway(parley, "😀b\n\ufffc", form)
    note = gateway.note
    assert note.kind == "rich"
    assert note.delta == [
        {"insert": "😀", "attributes": {"bold": True}}, {"insert": "b"}, {"insert": "\n", "attributes": {"header": 2}},
        {"insert": {"image": "h/a.png"}, "attributes": {"width": 9}},
    ]  # fmt: skip
    pieces, changes = applied([], note.delta), note.changes()
    ops = [
        {"retain": 1, "attributes": {"bold": None}}, {"insert": "😀!", "attributes": {"link": "/"}}, {"retain": 1},
        {"retain": 1, "attributes": {"list": "checked"}}, {"delete": 1}, {"insert": {"video": "v"}},
    ]  # fmt: skip
    note.update(ops)
    assert gateway.sent[-1]["operation"] == [1, "😀!", 2, "\ufffc", -1]
    assert gateway.sent[-1]["format"] == {
        "sets": [{"bold": None}, {"block": "done"}, {"link": "/"}, {"embed": {"video": "v"}}],
        "kept": [0, 1, 1, 1, 1, 2], "put": [2, 3, 1, 4],
    }  # fmt: skip
    assert note.text == "😀😀!b\n\ufffc"
    gateway.receive_change(1, [4], {"sets": [{"color": "red"}], "kept": [0, 2, 1]})
    note.format(0, 4, {"italic": True, "header": 1})
    note.undo()
    waiting = list(changes._waiting)
    assert [change.is_own for change in waiting] == [True, False, True, True]
    # The other's colour covers what was inserted within.
    assert waiting[1].delta == [{"retain": 4, "attributes": {"color": "red"}}]
    for change in waiting:
        pieces = applied(pieces, change.delta)
    assert pieces == applied([], note.delta)
    assert note.can_redo


def test_a_plain_note_becomes_rich_by_the_first_format(parley):
    gateway = Gateway(parley, "ab", kind="plain")
    assert gateway.note.kind == "plain"
    gateway.note.append("c")
    gateway.note.format(0, 1, {"bold": True})
    gateway.answer("acknowledged", documentId="d", sequence=1, revision=1)
    assert gateway.sent[-1]["format"] == {"kind": "rich", "sets": [{"bold": True}], "kept": [0, 1, 1]}
    assert gateway.note.kind == "rich"
    older = Gateway(parley, "ab", kind="plain", capabilities=())
    older.note.update([{"insert": "c", "attributes": {"bold": True}}])
    assert (older.note.text, older.note.kind, older.note.delta) == ("cab", "plain", [{"insert": "cab"}])


@pytest.mark.parametrize(
    "ops",
    [
        [{"retain": 4}], [{"delete": 4}], [{"retain": -1}], [{"insert": "\ud83d"}], [{"insert": {"a": 1, "b": 2}}],
        [{"insert": {"mention": {"id": 1}}}], [{"insert": 7}], [{"retain": 1, "attributes": {"Bold": True}}],
        [{"retain": 1, "attributes": {"size": 1.5}}], [{"retain": 3, "attributes": {"list": "other"}}],
        [{"retain": 1, "attributes": {"embed": "x"}}],
    ],
)  # fmt: skip
def test_what_no_note_can_have_raises_and_changes_nothing(parley, ops):
    gateway = Gateway(parley, "a😀\n")
    with pytest.raises(ValueError):
        gateway.note.update(ops)
    assert gateway.note.text == "a😀\n"
    assert gateway.sent == []


def test_formats_have_to_be_asked_for(parley):
    gateway = Gateway(parley, "ab")
    gateway.state.has_formats = False
    with pytest.raises(ValueError, match="formats=True"):
        gateway.note.format(0, 1, {"bold": True})
    with pytest.raises(IndexError):
        gateway.note.format(0, 3, {"bold": True})


def test_whatever_is_edited_the_deltas_are_the_document(parley):
    for seed in range(1, 41):
        chance = random.Random(seed)
        gateway = Gateway(parley, "The 😀\n", {"sets": [{"bold": True}], "runs": [4, 1]})
        note, changes = gateway.note, gateway.note.changes()
        pieces = applied([], note.delta)
        revision = answered = 0
        for _ in range(30):
            length = len(note.text)
            start = chance.randint(0, length)
            end = min(length, start + chance.randint(0, 4))
            match chance.randint(0, 5):
                case 0:
                    attributes = chance.choice([{}, {"bold": True}, {"link": "/"}])
                    note.update([{"retain": start}, {"insert": chance.choice(WORDS), "attributes": attributes}, {"delete": end - start}])
                case 1:
                    note.format(start, end, chance.choice([{"bold": True}, {"bold": None}, {"header": 1}, {"list": None}]))
                case 2:
                    note.replace(start, end, chance.choice(WORDS))
                case 3:
                    chance.choice([note.undo, note.redo])()
                case 4 if len(gateway.sent) > answered:
                    revision, answered = revision + 1, answered + 1
                    gateway.answer("acknowledged", documentId="d", sequence=answered, revision=revision)
                case _:
                    # Others edit the gateway's text, which is this one if nothing waits.
                    if note.unsaved == 0:
                        revision += 1
                        form = {"sets": [{"color": "red"}], "kept": [start, end - start, 1]} if end > start else {"kind": "rich"}
                        gateway.receive_change(revision, [length or 0], form)
            while changes._waiting:
                pieces = applied(pieces, changes._waiting.popleft().delta)
            assert pieces == applied([], note.delta), seed
            assert len(pieces) == len(note.text), seed


@pytest.mark.parametrize("seed", range(3))
def test_programs_with_and_without_formats_have_one_content(server, parley, seed):
    """Two programs change text and formatting, one the text alone, and they undo; a fourth reads the result."""
    chance = random.Random(seed)
    id = server.create_note("Formatted")

    async def main():
        connect = lambda name: parley.connect(server.origin, name=name)  # noqa: E731
        async with connect("Ann") as ann, connect("Bo") as bo, connect("Cy") as cy, connect("Di") as di:
            both = [await client.note(id, formats=True) for client in (ann, bo)]
            notes = [*both, await cy.note(id)]
            both[0].update([{"insert": "The 😀 fox\n", "attributes": {"bold": True}}])
            for _ in range(60):
                note = chance.choice(notes)
                start = chance.randint(0, len(note.text))
                end = min(len(note.text), start + chance.randint(0, 4))
                what = chance.choice(["text", "update", "format", "undo", "redo"])
                if what == "text" or note is notes[2]:
                    note.replace(start, end, chance.choice(WORDS))
                elif what == "update":
                    attributes = chance.choice([{}, {"bold": True}, {"link": "/"}])
                    note.update([{"retain": start}, {"insert": "x\n", "attributes": attributes}, {"delete": end - start}])
                elif what == "format":
                    note.format(start, end, chance.choice([{"bold": None}, {"header": 1}, {"list": "bullet"}]))
                else:
                    getattr(note, what)()
                await asyncio.sleep(0)
            for note in notes:
                await note.saved()
            async with asyncio.timeout(SECONDS):
                while len({note.revision for note in notes}) > 1:
                    await asyncio.sleep(0.01)
            reader = await di.note(id, formats=True)
            assert len({note.text for note in [*notes, reader]}) == 1
            assert both[0].delta == both[1].delta == reader.delta
            assert {note.kind for note in [*both, reader]} == {"rich"}

    asyncio.run(main())
