"""A person types formatted text while the server is killed at random moments: each word is there once, as it was typed.

`make page-crash-test` kills it KILLS=1000 times.
"""

import collections
import itertools
import json
import os
import random
import re
import subprocess
import threading
import time

import pytest
from conftest import PROGRAM, wait_until
from formatted_forms import PAGE_LINES, joined, lines_of, over_http, pairs_of_runs
from playwright.sync_api import expect
from rich_client import RichClient
from test_formatted import Writer, rich
from websockets.exceptions import WebSocketException

KILLS, SEED = int(os.environ.get("KILLS", "100")), int(os.environ.get("SEED", "1"))
KILLS_OF_A_NOTE = 100
# What is typed at the start of a line for each kind, and whether Enter continues it.
KINDS = {"": ("", False), "h1": ("# ", False), "h2": ("## ", False), "bullet": ("- ", True), "ordered": ("1. ", True),
         "task": ("[] ", True), "quote": ("> ", True)}  # fmt: skip
STYLES = {"": (), "bold": ("Control+b",), "italic": ("Control+i",), "bold italic": ("Control+b", "Control+i")}
BREAKS = (WebSocketException, OSError, EOFError)


class Companion:
    """A client of its own program, which writes lines at the start of the note."""

    def __init__(self, server, note):
        self.client = RichClient(server.url.replace("http", "ws"), note, "Companion").connect()
        self.lines = []

    def write(self):
        word = f"c{len(self.lines)}"
        kept = [("keep", {})] * len(self.client.text)
        self.lines.insert(0, [{"block": "h3"}, [[word, {"bold": True}]]])
        try:
            self.client.edit([("insert", one, {"bold": True}) for one in word] + [("insert", "\n", {"block": "h3"})] + kept)
        except BREAKS:
            self.client.close()

    def come_back(self):
        """Connects after a kill. Returns whether the server is there."""
        try:
            self.client.connect()
        except BREAKS:
            return False
        return True

    def look(self):
        try:
            while self.client.socket and self.client.pump():
                pass
        except BREAKS:
            self.client.close()


class Run:
    """A note that a page and a companion write in, while the server is killed."""

    def __init__(self, server, person, rng):
        self.server, self.rng = server, rng
        self.note = rich(server)
        self.writer = Writer(person, self.note)
        self.companion = Companion(server, self.note)
        self.expected, self.words, self.kills = [], 0, 0
        self.writer.content.focus()
        # The companion's lines come above: in an empty note they would be at the caret.
        self.type_line()

    def type_line(self):
        """Types a line, and the beginning of the next one."""
        keys, rng = self.writer.keys, self.rng
        kind = rng.choice(list(KINDS))
        signs, goes_on = KINDS[kind]
        keys.type(signs)
        pieces = []
        for _ in range(rng.randint(1, 6)):
            word, style = f"w{self.words}", rng.choice(list(STYLES))
            self.words += 1
            if pieces:
                keys.type(" ")
                pieces.append([" ", {}])
            for key in STYLES[style]:
                keys.press(key)
            keys.type(word)
            for key in STYLES[style]:
                keys.press(key)
            pieces.append([word, dict.fromkeys(style.split(), True)])
            self.companion.look()
        keys.press("Enter")
        if goes_on:
            keys.press("Enter")
        self.expected.append([{"block": kind} if kind else {}, pieces])

    def kill(self):
        """Kills and starts the server, in a thread of its own."""
        self.server.kill()
        self.server.start()
        self.kills += 1

    def step(self):
        failed = []

        def work():
            try:
                self.kill()
            except BaseException as error:
                failed.append(error)

        killer = threading.Timer(self.rng.uniform(0, 0.3), work)
        killer.start()
        if self.rng.random() < 0.3:
            self.companion.write()
        while killer.is_alive():
            self.type_line()
        killer.join()
        assert not failed, failed
        wait_until(self.companion.come_back)
        self.writer.page.evaluate("() => void dispatchEvent(new Event('online'))")
        expect(self.writer.page.locator("#status")).to_have_attribute("data-state", re.compile("sav"))
        if self.rng.random() < 0.3:
            self.writer.person.wait_until_saved()

    def finish(self):
        """Compares all copies with what was typed. Returns the numbers of lost and of doubled words."""
        self.writer.person.wait_until_saved()
        self.companion.client.settle()
        # A kind of the last line makes an empty line below.
        below = [[{}, []]] * (2 if any(attributes for attributes, _ in self.expected) else 1)
        expected = joined([*self.companion.lines, *self.expected, *below])

        def page():
            return joined(self.writer.page.evaluate(PAGE_LINES))

        def other():
            self.companion.look()
            return joined(lines_of(self.companion.client.text))

        wait_until(lambda: page() == other() == joined(over_http(self.server, self.note)), lambda: f"{page()}\n{other()}")
        counts = collections.Counter(re.findall(r"[wc]\d+", json.dumps(page())))
        words = {*(f"w{number}" for number in range(self.words)), *(f"c{number}" for number in range(len(self.companion.lines)))}
        lost, doubled = len(words - counts.keys()), sum(counts[word] > 1 for word in words)
        assert differing(page(), expected) == []
        self.companion.client.close()
        self.writer.page.goto("about:blank")
        assert self.stored() == expected
        assert joined(over_http(self.server, self.note)) == expected
        return lost, doubled

    def stored(self):
        """Returns the lines in the store, as it is after a kill."""
        self.server.kill()
        for command in (["check"], ["export", self.note, "--format", "json"]):
            done = subprocess.run([PROGRAM, *command, "--data-dir", self.server.folder / "data"], capture_output=True)
            assert done.returncode == 0, done.stderr
        self.server.start()
        document = json.loads(done.stdout)
        return joined(lines_of(pairs_of_runs(document["text"], document.get("format"))))


def differing(found, expected):
    """Returns the first differing lines."""
    pairs = enumerate(itertools.zip_longest(found, expected))
    return [(at, *pair) for at, pair in pairs if pair[0] != pair[1]][:3]


def run(server, person, kills, seed):
    rng = random.Random(seed)
    figures = collections.Counter()
    began = time.monotonic()
    ann = person("Ann")
    while figures["kills"] < kills:
        one = Run(server, ann, rng)
        while one.kills < min(KILLS_OF_A_NOTE, kills - figures["kills"]):
            one.step()
        lost, doubled = one.finish()
        figures.update(kills=one.kills, words=one.words, lines=len(one.expected), lost=lost, doubled=doubled, again=one.companion.client.resent)
        print(f"{dict(figures)}, {time.monotonic() - began:.0f} s", flush=True)
    assert (figures["lost"], figures["doubled"]) == (0, 0)


def test_formatted_text_is_typed_through_kills(server, person):
    run(server, person, 3, seed=3)


@pytest.mark.long
@pytest.mark.timeout(4 * 3600)
def test_formatted_text_is_typed_through_many_kills(server, person):
    run(server, person, KILLS, SEED)
