"""Values of rooms in the Python package, against the running program."""

import asyncio
import contextlib
import io
import json
import os
import random
import re
import runpy
import subprocess
import sys

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


WRITER = """
import asyncio, sys, parley

async def main():
    async with parley.connect(sys.argv[1], name="Ada", keep=sys.argv[2], timeout=None) as client:
        values = client.room("board").values
        await values.ready()
        number = int(sys.argv[3])
        while True:
            number += 1
            change = asyncio.ensure_future(values.change([{"add": "n", "by": 1}, {"set": "last", "to": number}]))
            change.add_done_callback(lambda _, number=number: print("stored", number, flush=True))
            await asyncio.sleep(0.002)
            assert values["n"] == number
            # Without a connection it is on disk now.
            print(client.state, number, flush=True)

asyncio.run(main())
"""


def test_changes_outlive_a_killed_process_and_a_killed_server_and_count_once(server, parley, folder, tmp_path):
    made = 0
    for is_server_killed in (True, False, True):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, server.origin, tmp_path / "state", str(made)],
            env={"PYTHONPATH": str(folder), "PATH": os.environ["PATH"]}, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        # Changes with a connection, and then without one; the process is killed in the middle of either.
        durable = count = 0
        for line in writer.stdout:
            state, number = line.split()
            if state != "online":
                durable = max(durable, int(number))
            count += 1
            if count == 20 and is_server_killed:
                server.kill()
            if state not in ("online", "stored") or (count >= 60 and not is_server_killed):
                break
        writer.kill()
        rest = [line.split() for line in writer.stdout if line.endswith("\n")]
        durable = max([durable, *(int(number) for state, number in rest if state != "online")])
        writer.wait()
        if is_server_killed:
            server.start()

        async def read():
            async with parley.connect(server.origin, name="Ada", keep=tmp_path / "state") as client:
                values = client.room("board").values
                await values.ready()
                await until(lambda: values.waiting == 0)
                return dict(values)

        values = asyncio.run(read())
        # Each change once and in order, and none of those that were stored is missing.
        assert values["n"] == values["last"] >= durable > made
        assert asyncio.run(read()) == values
        made = values["n"]
    assert not list((tmp_path / "state").glob("values-*"))


def test_a_kept_change_that_is_refused_is_reported_to_the_next_process(server, parley, tmp_path):
    async def main():
        async with parley.connect(server.origin, keep=tmp_path / "state") as client:
            values = client.room("board").values
            await values.ready()
            await values.set("card", "text")
            server.kill()
            await until(lambda: client.state != "online")
            adding = asyncio.ensure_future(values.add("card", 1))
            setting = asyncio.ensure_future(values.change([{"set": "n", "to": 1}], if_offsets={"n": 0}))
            await asyncio.sleep(0)
        for change in (adding, setting):
            with pytest.raises(parley.ConnectionEnded):
                await change
        server.start()
        async with parley.connect(server.origin, keep=tmp_path / "state") as client:
            values = client.room("board").values
            refused = []
            values.on_refused(lambda operations, error: refused.append((operations, error.code)))
            assert values["n"] == 1
            await values.ready()
            await until(lambda: values.waiting == 0)
            assert dict(values) == {"card": "text", "n": 1}
            assert refused == [([{"add": "card", "by": 1}], "badOperation")]

    asyncio.run(main())


def test_a_transaction_is_repeated_with_the_current_values(server, parley):
    async def main():
        async with parley.connect(server.origin, name="Ada") as ada, parley.connect(server.origin, name="Bo") as bo:
            mine, theirs = ada.room("shop").values, bo.room("shop").values
            await mine.ready()
            await theirs.ready()
            await mine.set("stock", 3)
            seen = []

            def buy(values):
                seen.append(dict(values))
                # The connection's messages are handled later, so each try loses to this change.
                return [{"set": "stock", "to": values.get("stock", 0) - 1}, {"set": "sold", "to": values.get("sold", 0) + 1}]

            both = await asyncio.gather(*(each.transaction(["stock", "sold"], buy) for each in (mine, theirs)))
            await until(lambda: dict(mine) == dict(theirs) == {"stock": 1, "sold": 2})
            assert both[0] != both[1] and {"stock": 2, "sold": 1} in seen
            # It contains own changes that were not answered yet, and publishes nothing if there is nothing to change.
            unanswered = asyncio.ensure_future(mine.set("stock", 0))
            await asyncio.sleep(0)
            assert await mine.transaction(["stock"], lambda values: [{"add": "stock", "by": -1}] if values["stock"] else None) is None
            await unanswered

            def lose(values):
                # Sent before this change: the other's connection is another one, so the server is asked for it.
                server.request("PATCH", "/api/rooms/shop/values", b'{"values":[{"add":"stock","by":1}]}')
                return [{"set": "stock", "to": 100}]

            with pytest.raises(parley.TooManyConflicts) as lost:
                await mine.transaction(["stock"], lose, tries=3)
            assert lost.value.values["stock"]["value"] == 3
            await until(lambda: mine["stock"] == theirs["stock"] == 3)

    asyncio.run(main())


def test_without_a_connection_a_transaction_and_an_undo_fail_and_change_nothing(server, parley):
    async def main():
        async with parley.connect(server.origin, name="Ada", timeout=0.2) as ada:
            values = ada.room("shop").values
            await until(lambda: values.is_ready)
            await values.set("stock", 3)
            server.kill()
            await until(lambda: ada.state != "online")
            with pytest.raises(parley.NoAnswer):
                await values.transaction(["stock"], lambda _: pytest.fail("called"))
            with pytest.raises(parley.NoAnswer):
                await values.undo()
            assert (values.waiting, values.can_undo) == (0, True)
            server.start()
            waiting = asyncio.ensure_future(until(lambda: ada.state == "online"))
            await waiting
            await values.undo()
            await until(lambda: dict(values) == {})
            undoing = asyncio.ensure_future(values.transaction(["stock"], lambda _: None))
        with pytest.raises(parley.ConnectionEnded):
            await undoing
            await values.undo()
            await values.set("stock", 1)

    asyncio.run(main())


UNDONE = [
    # Values, own operations, another's later ones, and the values after the undo, or the name that prevents it.
    ({"a": 1}, [{"set": "a", "to": 2}], [], {"a": 1}),
    ({}, [{"set": "a", "to": 2}], [], {}),
    ({"a": {"b": None}}, [{"delete": "a"}], [], {"a": {"b": None}}),
    ({}, [{"delete": "a"}], [], {}),
    ({"n": 5}, [{"add": "n", "by": 2}], [{"add": "n", "by": 10}], {"n": 15}),
    ({}, [{"add": "n", "by": 2}], [], {}),
    ({}, [{"add": "n", "by": 2}], [{"add": "n", "by": 1}], {"n": 1}),
    (
        {"a": {"x": 1, "y": 1, "in": {"u": 1, "v": None}}},
        [{"merge": "a", "with": {"x": 2, "y": None, "z": 3, "in": {"u": None}}}],
        [{"merge": "a", "with": {"w": 9, "in": {"t": 1}}}],
        {"a": {"x": 1, "y": 1, "w": 9, "in": {"u": 1, "v": None, "t": 1}}},
    ),
    ({"a": {"x": None}}, [{"merge": "a", "with": {"x": 2}}], [], {"a": {"x": None}}),
    ({"a": {"x": {"n": None}}}, [{"merge": "a", "with": {"x": 2}}], [], {"a": {"x": {"n": None}}}),
    ({"a": True}, [{"set": "a", "to": 1}], [], {"a": True}),
    ({"a": 5}, [{"merge": "a", "with": {"x": 2}}], [], {"a": 5}),
    (
        {"a": {"x": 1}}, [{"set": "a", "to": {"y": 2}}, {"merge": "a", "with": {"z": 3}}, {"add": "n", "by": 1}], [],
        {"a": {"x": 1}},
    ),
    ({"a": 1}, [{"set": "a", "to": 2}], [{"set": "b", "to": 3}], {"a": 1, "b": 3}),
    ({"a": 1}, [{"set": "a", "to": 2}], [{"set": "a", "to": 3}], "a"),
    ({"a": 1}, [{"set": "a", "to": 2}], [{"set": "a", "to": 2}], "a"),
    ({"a": 1}, [{"delete": "a"}], [{"set": "a", "to": 1}], "a"),
    ({"a": 1}, [{"set": "a", "to": 2}], [{"delete": "a"}], "a"),
    ({}, [{"merge": "a", "with": {"x": 1}}], [{"merge": "a", "with": {"y": 1}}], "a"),
    ({"a": {"x": 1}}, [{"merge": "a", "with": {"x": 2}}], [{"merge": "a", "with": {"x": 2}}], "a"),
    ({"n": 1}, [{"add": "n", "by": 2}], [{"set": "n", "to": 3}], "n"),
    ({"a": 1, "b": 1}, [{"set": "a", "to": 2}, {"set": "b", "to": 2}], [{"set": "b", "to": 3}], "b"),
]  # fmt: skip


@pytest.mark.parametrize("is_seen", [True, False])
def test_undo_restores_a_value_unless_another_has_changed_it(server, parley, is_seen):
    async def run(ada, bo, number, start, own, others, expected):
        name = f"undo-{number}"
        mine, theirs = ada.room(name).values, bo.room(name).values
        await mine.ready()
        await theirs.ready()
        if start:
            await theirs.change([{"set": name, "to": value} for name, value in start.items()])
        await mine.change(own)
        done = dict(mine)
        if others and is_seen:
            position = await theirs.change(others)
            await until(lambda: mine._offset >= position.offset)
        elif others:
            # The server has it before the undo, and this client after the undo was sent.
            body = json.dumps({"values": others}).encode()
            server.request("PATCH", f"/api/rooms/{name}/values", body)
        if isinstance(expected, str):
            with pytest.raises(parley.ChangedSince) as changed:
                await mine.undo()
            assert changed.value.names == [expected] and (mine.can_undo, mine.can_redo) == (False, False)
        else:
            await mine.undo()
            await until(lambda: mine.waiting == 0 and dict(mine) == expected)
            await mine.redo()
            assert others or dict(mine) == done
            await mine.undo()
            assert dict(mine) == expected
            assert not mine.can_undo
        assert await mine.undo() is None

    async def main():
        async with parley.connect(server.origin, name="Ada") as ada, parley.connect(server.origin, name="Bo") as bo:
            for number, case in enumerate(UNDONE):
                await run(ada, bo, number, *case)

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
        assert keys == sorted(set(keys)) and max(map(len, keys)) <= 32
        low, high = parley.OrderKey.between(None, None), None
        for _ in range(100):
            high = parley.OrderKey.between(low, high)
        assert len(high) <= parley.OrderKey.LENGTH_MAX
    for _ in range(5_000):
        low = parley.OrderKey.between(low, None)
    assert len(low) <= 8
    spread = parley.OrderKey.spread(50)
    assert spread == sorted(set(spread))
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
        folder = None

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
