"""A board shared by pages, a Swift app and a bot in Python: each move counts once, whatever happens to the server.

`make test` runs a short form, `make test-long` 5,000 moves with ten kills of the server.
"""

import contextlib
import json
import os
import random
import re
import subprocess
import sys
import threading
import time
from typing import NamedTuple

import pytest
from companions import python_package  # First: it makes the modules of Tests/System importable.
from conftest import PROGRAM, ROOT, Server, wait_until
from native_client import NativeClient
from playwright.sync_api import expect
from sites import Site

BOARD = ROOT / "Examples" / "board"
COLUMNS = ["todo", "doing", "done"]
CARDS = [f"card-{number}" for number in range(1, 21)]


class Run(NamedTuple):
    """The number of moves of all clients, of kills, and of moves that one client misses."""

    moves: int
    kills: int
    missed: int


# A bot that moves any card, with the functions of the example. Says "moved" after each move, and its board on request.
BOT = """
import asyncio, json, random, sys
import bot, parley

async def main(url, room):
    async with parley.connect(url, name="Bot", timeout=600) as client:
        board = client.room(room).values
        await board.ready()
        moves, seed = map(int, sys.stdin.readline().split())
        chance = random.Random(seed)
        while moves > 0:
            name, column = chance.choice(bot.cards(board)), chance.choice(bot.COLUMNS)
            is_stored = await bot.move(board, name, column)
            moves -= is_stored
            print("stored: move" if is_stored else "not stored: move", flush=True)
        while await asyncio.to_thread(sys.stdin.readline):
            print(json.dumps(dict(board)), flush=True)

asyncio.run(main(sys.argv[1], sys.argv[2]))
"""

# Moves cards, four at a time, and notes the positions of those that were stored.
MOVE = """([moves, seed, columns]) => {
    const run = globalThis.run = { accepted: [], refused: 0, begun: 0 };
    let state = seed;
    const below = (bound) => (state = (state * 1103515245 + 12345) % 2147483648, (state >> 8) % bound);
    globalThis.step = async () => {
        run.begun += 1;
        const names = [...board].filter(([, card]) => card?.text).map(([name]) => name).sort();
        const position = await move(names[below(names.length)], columns[below(columns.length)]);
        if (position) run.accepted.push(position.offset);
        else run.refused += 1;
    };
    const mover = async () => {
        while (run.begun < moves) await step();
    };
    for (let count = 0; count < 4; count += 1) void mover();
}"""


class Page:
    """A browser with the example's page. With `line`, its connection can be cut."""

    def __init__(self, browser, site, server, name, line=False):
        self.name = name
        self.is_down = False
        self.sockets = []
        self.context = browser.new_context()
        if line:
            self.context.route_web_socket(re.compile(r"/ws$"), self.connect)
        self.page = self.context.new_page()
        self.problems = []
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        path = f"/board?gateway={server.url}&board=plans&name={name}"
        site.pages[path] = (BOARD / "index.html").read_bytes()
        self.page.goto(site.url + path)
        self.page.wait_for_function("() => globalThis.move")

    def connect(self, socket):
        if self.is_down:
            socket.close(code=1011)
            return
        self.sockets.append(socket)
        socket.connect_to_server()

    def cut(self):
        self.is_down = True
        for socket in self.sockets:
            socket.close(code=1011)
        self.sockets = []

    def begin(self, moves, seed):
        self.moves = moves
        self.page.evaluate(MOVE, [moves, seed, COLUMNS])

    def poll(self):
        """Returns the number of own moves that were stored."""
        stored, refused = self.page.evaluate("() => [run.accepted.length, run.refused]")
        assert refused == 0, f"{refused} moves of {self.name} were refused"
        return stored

    def accepted(self):
        return self.page.evaluate("() => run.accepted")

    def values(self):
        return self.page.evaluate("() => Object.fromEntries(board)")

    def close(self):
        self.context.close()
        assert self.problems == []


class Program:
    """A program with a board, and what it says."""

    def __init__(self, name, *command, **options):
        self.name = name
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options)
        self.stored = self.lost = 0
        self.last = ""
        self.shown = None
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            if line.startswith("stored: move"):
                self.stored += 1
            elif line.startswith("not stored: "):
                self.lost += 1
            elif line.startswith("{"):
                self.shown = json.loads(line)
            else:
                self.last = line

    def poll(self):
        """Returns the number of own moves that were stored."""
        assert self.process.poll() is None, f"{self.name} has ended: {self.last}"
        return self.stored

    def write(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def values(self):
        self.shown = None
        self.write("show")
        wait_until(lambda: self.shown is not None)
        return self.shown

    def close(self):
        self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stdin.close()
        self.process.stdout.close()


class App(Program):
    """The example in Swift, which moves what it is told to."""

    def begin(self, moves, seed):
        self.moves = moves
        self.chance = random.Random(seed)
        self.begun = 0

    def poll(self):
        stored = super().poll()
        assert self.lost == 0, self.last
        while self.begun < min(self.moves, stored + 8):
            self.write(f"move {self.chance.choice(CARDS)} {self.chance.choice(COLUMNS)}")
            self.begun += 1
        return stored

    def values(self):
        # Its cards have a type of their own, so that the number of moves is not among them.
        moves = int(self.last.rsplit(" ", 1)[1])
        return super().values() | {"moves": moves}


class Bot(Program):
    """A bot on the example's functions, whose moves are conditional."""

    def begin(self, moves, seed):
        self.moves = moves
        self.write(f"{moves} {seed}")


def fold(server):
    """Returns the values that the log gives, the number of moves of each client, and the authors by offset."""
    values, authors, since = {}, {}, 0
    with NativeClient(server) as reader:
        # Only a reader of values is shown publications without data.
        assert reader.request("subscribe", {"room": "plans", "values": True})[0] == "subscribed"
        more = True
        while more:
            kind, page = reader.request("roomHistory", {"room": "plans", "since": since, "limit": 100})
            assert kind == "roomHistory" and not page["gap"]
            for publication in page["publications"]:
                since += 1
                assert publication["offset"] == since
                for operation in publication["values"]:
                    if "set" in operation:
                        values[operation["set"]] = operation["to"]
                    elif "merge" in operation:
                        values[operation["merge"]] = values[operation["merge"]] | operation["with"]
                        authors[since] = operation["with"]["by"]
                    else:
                        values[operation["add"]] = values.get(operation["add"], 0) + operation["by"]
            more = page["more"]
    return values, authors


def stored_values(server):
    """Returns the server's values."""
    page = server.request("GET", "/api/rooms/plans/values")
    assert not page["more"]
    return {name: item["value"] for name, item in page["values"].items()}


class BoardRun:
    """All clients of one board, and what happens to them."""

    def __init__(self, run, server, movers, offline):
        self.run = run
        self.server = server
        self.movers = movers
        self.offline = offline
        self.kills = 0
        self.cut_at = None
        self.missed = 0

    def poll(self):
        """Counts the moves; kills the server and cuts a client when it is time. Returns whether all have ended."""
        counts = {mover.name: mover.poll() for mover in self.movers}
        total = sum(counts.values())
        others = total - counts[self.offline.name]
        if self.kills < self.run.kills and total >= (self.kills + 1) * self.run.moves // (self.run.kills + 1):
            self.server.kill()
            self.kills += 1
            self.server.start()
        if self.cut_at is None and total >= self.run.moves // 4:
            self.offline.cut()
            self.cut_at = others
            # Its own moves wait, and show at once.
            self.offline.page.evaluate("(count) => { while (count--) void step(); }", self.offline.moves // 10)
        elif self.offline.is_down and others >= self.cut_at + self.run.missed:
            self.missed = others - self.cut_at
            self.offline.is_down = False
        return all(counts[mover.name] == mover.moves for mover in self.movers)


@pytest.mark.parametrize(
    "run", [Run(200, 2, 40), pytest.param(Run(5_000, 10, 500), marks=pytest.mark.long)], ids=["short", "long"]
)
def test_all_boards_are_equal_and_each_move_counts_once(run, browser, tmp_path):
    began = time.monotonic()
    package = python_package(tmp_path)
    (tmp_path / "moves.py").write_text(BOT)
    with contextlib.ExitStack() as stack:
        site = Site()
        stack.callback(site.server_close)
        stack.callback(site.shutdown)
        rates = [f"--{who}-{what}-rate" for who in ("connection", "user", "address") for what in ("message", "byte")]
        server = Server(
            tmp_path, "--allowed-origin", site.url, "--room-history-max", "20000",
            *(word for rate in rates for word in (rate, "0")),
        )  # fmt: skip
        stack.callback(server.stop)
        operations = [
            {"set": name, "to": {"text": f"Dish {name}", "column": "todo", "order": f"V{number:05}1", "by": "Cook"}}
            for number, name in enumerate(CARDS)
        ]
        server.request("PATCH", "/api/rooms/plans/values", {"values": operations})
        pages = [Page(browser, site, server, name, line=name == "Cy") for name in ("Ann", "Ben", "Cy")]
        app = App("Dan", PROGRAM.parent / "parley-example-board", server.url.replace("http", "ws"), "plans", "Dan")
        bot = Bot(
            "Bot", sys.executable, tmp_path / "moves.py", server.url, "plans",
            env={**os.environ, "PYTHONPATH": f"{package}:{BOARD}"},
        )  # fmt: skip
        movers = [*pages, app, bot]
        for mover in movers:
            stack.callback(mover.close)
        for number, mover in enumerate(movers):
            mover.begin(run.moves // len(movers), seed=number + 1)
        board = BoardRun(run, server, movers, offline=pages[-1])
        wait_until(board.poll, lambda: str([(mover.name, mover.poll()) for mover in movers]), seconds=600)
        assert board.kills == run.kills
        assert board.missed >= run.missed

        values, authors = fold(server)
        assert values == stored_values(server)
        assert values["moves"] == len(authors) == sum(mover.moves for mover in movers)
        for mover in movers:
            assert list(authors.values()).count(mover.name) == mover.moves
        for page in pages:
            own = page.accepted()
            assert len(own) == len(set(own)) and {authors[offset] for offset in own} == {page.name}
        for mover in movers:
            wait_until(lambda mover=mover: mover.values() == values, lambda mover=mover: f"{mover.name} differs")
        late = Page(browser, site, server, "Eve")
        stack.callback(late.close)
        assert late.values() == values
        assert late.page.locator("article").count() == len(CARDS)
        print(
            f"{len(authors)} moves, {board.kills} kills, {board.missed} moves missed by {board.offline.name}, "
            f"{bot.lost} conditional moves lost, {time.monotonic() - began:.0f} s"
        )


@pytest.fixture
def open_block(browser, tmp_path):
    """Opens the HTML of a page of the documentation in several browsers."""
    with contextlib.ExitStack() as stack:
        site = Site()
        stack.callback(site.server_close)
        stack.callback(site.shutdown)
        server = Server(tmp_path, "--allowed-origin", site.url)
        stack.callback(server.stop)

        def open_block(name):
            (block,) = re.findall(r"```html\n(.*?)```", (ROOT / "Documentation" / f"{name}.md").read_text(), re.S)
            text = block.replace("https://notes.example.org", server.url)
            site.pages["/block.html"] = f'<!doctype html><meta charset="utf-8"><title>A page</title>\n{text}'.encode()
            context = browser.new_context()
            stack.callback(context.close)
            page = context.new_page()
            page.on("pageerror", lambda error: pytest.fail(str(error)))
            page.goto(f"{site.url}/block.html")
            return page

        yield open_block


def test_the_poll_of_the_documentation_counts_every_vote(open_block):
    ann, ben = (open_block("SharedValues") for _ in range(2))
    ann.get_by_label("A dish").fill("Soup")
    ann.get_by_label("A dish").press("Enter")
    for _ in range(2):
        ben.get_by_text("Soup").click()
    expect(ann.locator("li")).to_have_text(["Soup: 3"])
    late = open_block("SharedValues")
    expect(late.locator("li")).to_have_text(["Soup: 3"])


def test_the_cursors_of_the_documentation_follow(open_block):
    ann, ben = (open_block("Signals") for _ in range(2))
    # The page handles the pointer once it has the values.
    ann.wait_for_function("() => onpointermove !== null")
    ben.wait_for_function("() => onpointermove !== null")
    ann.mouse.move(120, 80)
    expect(ben.locator("i")).to_have_attribute("style", "left: 120px; top: 80px;")
    expect(ann.locator("i")).to_have_count(0)
