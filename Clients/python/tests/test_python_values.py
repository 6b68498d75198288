"""Values of rooms in the Python package, against the running program."""

import asyncio
import contextlib
import io
import random
import re
import runpy

import pytest
from native_client import NativeClient
from parley_server import ROOT
from python_core import lay_out


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return lay_out(tmp_path_factory.mktemp("values"))


@pytest.fixture
def parley(folder, monkeypatch):
    monkeypatch.syspath_prepend(str(folder))
    import parley

    return parley


async def until(condition):
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.01)


def test_own_changes_show_at_once_and_others_follow(server, parley):
    async def main():
        async with parley.connect(server.origin, name="Ada") as ada, parley.connect(server.origin, name="Bo") as bo:
            mine, theirs = ada.room("board").values, bo.room("board").values
            await mine.ready()
            await theirs.ready()
            assert dict(mine) == {}
            change = asyncio.ensure_future(mine.set("card-7", {"column": "todo", "by": None}))
            await asyncio.sleep(0)
            assert mine["card-7"] == {"column": "todo", "by": None}
            position = await change
            await until(lambda: "card-7" in theirs)
            await asyncio.gather(
                mine.merge("card-7", {"column": "done"}), theirs.merge("card-7", {"by": "bo"}),
                mine.add("moves"), theirs.add("moves", 2),
            )  # fmt: skip
            await until(lambda: dict(mine) == dict(theirs) == {"card-7": {"column": "done", "by": "bo"}, "moves": 3})
            with pytest.raises(parley.ValueConflict) as lost:
                await theirs.change([{"delete": "card-7"}], if_offsets={"card-7": position.offset})
            assert lost.value.values["card-7"]["value"]["column"] == "done"
            assert "card-7" in theirs
            with pytest.raises(parley.PublishRefused) as refused:
                await mine.change([{"add": "card-7", "by": 1}])
            assert refused.value.code == "badOperation"
            # Data in the same room reach readers of publications, and changes of values do not.
            seen = bo.room("board").publications()
            await ada.room("board").publish({"text": "hello"})
            assert (await anext(seen)).data == {"text": "hello"}

    asyncio.run(main())


def test_changes_made_without_a_connection_are_sent_once_and_in_order(server, parley):
    async def main():
        async with parley.connect(server.origin, name="Ada") as ada:
            values = ada.room("board").values
            await values.ready()
            await values.set("list", 0)
            server.kill()
            await until(lambda: ada.state != "online")
            waiting = [asyncio.ensure_future(values.set("list", number)) for number in range(1, 20)]
            waiting += [asyncio.ensure_future(values.add("count")) for _ in range(20)]
            await asyncio.sleep(0)
            assert (values["list"], values["count"], values.waiting) == (19, 20, 39)
            server.start()
            await asyncio.gather(*waiting)
            await until(lambda: values.waiting == 0)
            assert (values["list"], values["count"]) == (19, 20)
        with NativeClient(server) as late:
            kind, data = late.request("subscribe", {"room": "board", "values": True})
            assert {name: item["value"] for name, item in data["values"].items()} == {"list": 19, "count": 20}
            assert data["offset"] == 40

    asyncio.run(main())


def test_signals_reach_the_others(server, parley):
    async def main():
        async with parley.connect(server.origin, name="Ada") as ada, parley.connect(server.origin, name="Bo") as bo:
            heard = []
            bo.room("board").on_signal(lambda name, client, data: heard.append((name, data)))
            await bo.room("board").opened()
            values = ada.room("board").values
            await values.ready()
            values.signal("pointer", [1, 2])
            await until(lambda: heard)
            assert heard == [("pointer", [1, 2])]

    asyncio.run(main())


@pytest.mark.parametrize(("page", "said"), [("SharedValues", "Soup {'Rice': 1, 'Soup': 2}\n"), ("Signals", "")])
def test_the_pages_programs_run(server, parley, page, said):
    (program,) = re.findall(r"```python\n(.*?)```", (ROOT / "Documentation" / f"{page}.md").read_text(), re.S)
    operations = [{"add": dish, "by": 1} for dish in ("Rice", "Soup")]
    assert server.request("PATCH", "/api/rooms/lunch/values", {"values": operations})[0] == 200
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(compile(program.replace("http://127.0.0.1:8080", server.origin), page, "exec"), {})
    assert output.getvalue() == said


def test_the_bot_moves_the_first_card_that_is_not_done(server, parley):
    cards = {"b": ("done", "V1"), "c": ("doing", "V2"), "a": ("todo", "V3")}
    operations = [
        {"set": name, "to": {"text": name, "column": column, "order": order}} for name, (column, order) in cards.items()
    ]
    server.request("PATCH", "/api/rooms/plans/values", {"values": operations})
    bot = runpy.run_path(str(ROOT / "Examples" / "board" / "bot.py"))
    for _ in range(4):
        asyncio.run(bot["main"](server.origin, "plans"))
    with NativeClient(server) as late:
        _, data = late.request("subscribe", {"room": "plans", "values": True})
    values = {name: item["value"] for name, item in data["values"].items()}
    assert values.pop("moves") == 3
    assert {card["column"] for card in values.values()} == {"done"}
    assert sorted(values, key=lambda name: values[name]["order"]) == ["b", "c", "a"]


def test_order_keys_lie_between_their_neighbours(parley):
    for seed in range(50):
        random.seed(seed)
        keys = []
        for _ in range(100):
            at = random.randrange(len(keys) + 1)
            keys.insert(at, parley.OrderKey.between(keys[at - 1] if at else None, keys[at] if at < len(keys) else None))
        assert keys == sorted(set(keys))
    with pytest.raises(ValueError):
        parley.OrderKey.between("b", "a")


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("answered seen", 11), ("seen answered", 11), ("answered lineLost recovered", 11),
        ("answered lineLost anew", 11), ("seen lineLost anew", 11), ("lineLost recovered", 11),
        ("lineLost anew answered", 11), ("answered lineLost lost", 1), ("answered lineLost lostInAnotherEpoch", 1),
        ("seen lineLost lostInAnotherEpoch", 1),
    ],
)  # fmt: skip
def test_an_accepted_change_counts_once_or_not_at_all_if_it_is_lost(parley, order, expected):
    from parley.position import Position
    from parley.values import Values, _Pending

    class Hub:
        client = "A"

        def send(self, *_):
            return "m1"

    own = {"offset": 6, "senderId": "k", "values": [{"add": "n", "by": 10}]}

    def subscribed(values, epoch, offset, n):
        values.subscribed({"epoch": epoch, "offset": offset, "values": {"n": {"value": n, "offset": 3}}})

    steps = {
        "answered": lambda values: values.answered("k", Position("p", 6)),
        "seen": lambda values: values.published("p", own),
        "lineLost": lambda values: values.disconnected(),
        "recovered": lambda values: values.subscribed(
            {"epoch": "p", "offset": 6, "recovered": True, "publications": [own]}
        ),
        "anew": lambda values: subscribed(values, "p", 16, 11),
        "lost": lambda values: subscribed(values, "p", 5, 1),
        "lostInAnotherEpoch": lambda values: subscribed(values, "q", 5, 1),
    }

    async def main():
        values = Values(Hub(), "board")
        subscribed(values, "p", 5, 1)
        change = _Pending([{"add": "n", "by": 10}], "k", None)
        values._pending.append(change)
        for step in order.split():
            steps[step](values)
        assert values["n"] == expected
        # Its own publication is an answer, too: the connection may end before the other one comes.
        assert change.answer.done()

    asyncio.run(main())
