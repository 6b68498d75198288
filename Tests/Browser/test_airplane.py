"""An hour in an airplane: a person writes offline, others write meanwhile, and the tab crashes.

`make airplane-page` runs it in full length, over the 10,000 changes after which a server sends pages of its
log; `make test` runs a short one.
"""

import os
import pathlib
import random
import re
import signal
import sys

import pytest
from conftest import VIEW_IN, wait_until
from playwright.sync_api import expect

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "System"))

from native_client import NativeClient  # noqa: E402

WORKER = True

IS_LONG = os.environ.get("AIRPLANE") == "long"
EDITS, CHANGES, LINES = (10_000, 12_000, 500) if IS_LONG else (400, 600, 60)

# Types words at the ends of lines and deletes hyphens, each as a separate edit. Other events are handled in between.
WRITE = """async (edits) => {
    const view = (VIEW_IN)("#editor");
    for (const [index, [line, word]] of edits.entries()) {
        const { from, to } = view.state.doc.line(line + 1);
        const changes = word === "" ? { from: from + 5, to: from + 6 } : { from: to, insert: word };
        view.dispatch({ changes, userEvent: "input.type" });
        if (index % 100 === 99) await new Promise((resolve) => setTimeout(resolve, 0));
    }
}""".replace("VIEW_IN", VIEW_IN)

KEPT = "(word) => Object.keys(localStorage).some((key) => (localStorage.getItem(key) ?? '').includes(word))"


@pytest.fixture
def server_options():
    rates = ("connection-message", "user-message", "address-message")
    sizes = ("connection-byte", "user-byte", "address-byte")
    return [part for name in (*rates, *sizes) for part in (f"--{name}-rate", "0")]


class Line:
    """The browser's connection to the server, which can be cut."""

    def __init__(self, context):
        self.is_down = False
        self.sockets = []
        context.route_web_socket(re.compile(r"/ws$"), self.connect)

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


def write_elsewhere(server, note, text, chance):
    """Edits by another user, on the text that this user has; returns the words by line."""
    lines = text.split("\n")
    words = [[] for _ in lines]
    with NativeClient(server, name="Bo") as bo:
        joined = bo.join(note)
        assert joined["text"] == text
        revision = joined["revision"]
        length = len(text)
        for number in range(CHANGES):
            line = chance.randrange(len(lines))
            word = f"[b{number}]"
            place = sum(map(len, lines[:line])) + line + len(lines[line])
            operation = [place, word, length - place] if place < length else [place, word]
            kind, answer = bo.change(note, joined, number + 1, operation, revision)
            assert kind == "acknowledged", (kind, answer)
            revision = answer["revision"]
            lines[line] += word
            words[line].append(word)
            length += len(word)
    return words


def kill(browser, page):
    """Kills the page's process, as a phone does to free memory."""
    processes = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    with page.expect_event("crash"):
        for process in processes:
            # This is the only page, so every renderer belongs to it.
            if process["type"] == "renderer":
                os.kill(process["id"], signal.SIGKILL)


def test_every_word_is_in_the_line_where_it_was_typed(server, browser, person):
    chance = random.Random(1)
    note = server.create("Airplane")
    text = "\n".join(f"#{line:04}-" for line in range(LINES))
    server.put_text(note, text)
    ann = person("Ann")
    line = Line(ann.context)
    ann.open(note)
    ann.wait_for_text(text)
    line.cut()
    ann.wait_for_status("offline")

    # Ann writes for half of the hour in one tab, which crashes, and for the other half in another tab.
    own = [[] for _ in range(LINES)]
    hyphens = set(range(LINES))
    edits = []
    for number in range(EDITS):
        at = chance.randrange(LINES)
        if at in hyphens and number % 20 == 0:
            hyphens.remove(at)
            edits.append((at, ""))
        else:
            own[at].append(f"[a{number}]")
            edits.append((at, own[at][-1]))
    half = EDITS // 2
    for part in (edits[:half], edits[half:]):
        ann.page.evaluate(WRITE, part)
        last = next(word for _, word in reversed(part) if word)
        wait_until(lambda: ann.page.evaluate(KEPT, last), lambda: f"{last} was not kept")  # noqa: B023
        known = ann.text()
        kill(browser, ann.page)
        ann.page = ann.new_page()
        ann.page.goto(f"/n/{note}")
        ann.wait_for_text(known)

    theirs = write_elsewhere(server, note, text, chance)

    line.is_down = False
    ann.reload()
    ann.wait_until_saved()
    wait_until(lambda: ann.text().count("[") == sum(map(len, own)) + sum(map(len, theirs)))
    result = ann.text()
    assert server.request("GET", f"/api/notes/{note}/text")["text"] == result
    lines = result.split("\n")
    assert len(lines) == LINES
    for at, found in enumerate(lines):
        start = f"#{at:04}" + ("-" if at in hyphens else "")
        assert found.startswith(start)
        words = re.findall(r"\[[^\]]*\]", found)
        # The line contains exactly these words.
        assert start + "".join(words) == found
        assert [word for word in words if word[1] == "a"] == own[at]
        assert [word for word in words if word[1] == "b"] == theirs[at]
    expect(ann.page.locator(".notice")).to_have_count(0)
