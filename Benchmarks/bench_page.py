#!/usr/bin/env python3
"""Script, style and layout of a page for each change by others, with 50 people in a note, and the time of an own key.

    .venv/bin/python Benchmarks/bench_page.py [--other WEB] [--people 50] [--changes 600] [--rate 40] [--profile]

Fifty clients join a note and type in turn, each in a line of its own, with a caret; a page in Chromium shows it. The times
are the processor times of the renderer's main thread (`Performance.getMetrics`), divided by the changes; styles and layouts
are how often they were computed. While as many changes come again, the page's own person types: from each key to the frame
that shows its letter.

`--other` names the folder of another page, such as `Web/built` of a former commit; the two are measured in turn in one run,
with the same program. `--profile` lists the functions that take the most time; of a page that is not bundled (`--web Web`)
they have names. PARLEY_PROGRAM names the program, if it is not the release build.
"""

import argparse
import asyncio
import collections
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import threading
import time

import websockets
from bench_first_visit import CHROMIUM, ROOT
from playwright.sync_api import sync_playwright

PROGRAM = os.environ.get("PARLEY_PROGRAM", ROOT / ".build" / "release" / "parley")
TIMES = {"script": "ScriptDuration", "style": "RecalcStyleDuration", "layout": "LayoutDuration", "all": "TaskDuration"}
LINE = "a line of some words in a long note\n\n"
COUNTS = {"styles": "RecalcStyleCount", "layouts": "LayoutCount"}
# Changes that are not measured.
WARM_UP = 150

# In a page: notes when keys are pressed, and when the next frame is painted. Times are those of all pages.
WATCH_KEYS = """() => {
    const inside = document.querySelector("#editor")?.shadowRoot ?? document;
    window.content = inside.querySelector(".cm-content");
    // A task that a frame begins runs once the frame is painted.
    window.painted = () => new Promise((resolve) => requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => resolve(performance.timeOrigin + performance.now());
        port2.postMessage(undefined);
    }));
    window.keys = [];
    content.addEventListener("keydown", async ({ timeStamp }) => {
        const key = { pressed: performance.timeOrigin + timeStamp };
        keys.push(key);
        key.painted = await painted();
    }, { capture: true });
}"""


class Typist:
    """One connection that has joined the note."""

    def __init__(self, socket, number):
        self.socket, self.number = socket, number
        self.sent = self.typed = 0

    async def say(self, kind, data):
        self.sent += 1
        message = {"messageId": f"c{self.sent}", "type": kind, "data": data}
        await self.socket.send(json.dumps(message, separators=(",", ":")))

    async def hear(self, kind):
        while True:
            message = json.loads(await self.socket.recv())
            if message["type"] == kind:
                return message["data"]

    async def listen(self, crowd):
        """Reads what the server says, so that it need not wait."""
        length = len(crowd.joined["text"])
        async for text in self.socket:
            message = json.loads(text)
            data = message["data"]
            if message["type"] == "acknowledged":
                crowd.acknowledged.put_nowait(data)
            elif message["type"] == "changes":
                for index, change in enumerate(data["changes"]):
                    # Beside others' changes of one commit, an own one is its acknowledgement.
                    if change["clientId"] == self.id:
                        crowd.acknowledged.put_nowait({"revision": data["revision"] + index})
                    if self.number < crowd.count:
                        continue
                    parts = change["operation"]
                    length += sum(len(part) if isinstance(part, str) else min(part, 0) for part in parts)
                    crowd.heard.put_nowait((data["revision"] + index, length))


class Crowd:
    """The people who type."""

    def __init__(self, port, note, count):
        self.port, self.note, self.count = port, note, count
        self.acknowledged = asyncio.Queue()
        self.heard = asyncio.Queue()
        self.typists = []

    async def join(self):
        # The last one is the observer, who hears of every change.
        for number in range(self.count + 1):
            url = f"ws://127.0.0.1:{self.port}/ws"
            typist = Typist(await websockets.connect(url, subprotocols=["parley.v1"], max_size=None), number)
            color = f"#{(number * 4_321 + 99_999) % 0x1000000:06x}"
            await typist.say("hello", {"name": f"Typist {number}", "color": color})
            typist.id = (await typist.hear("welcome"))["clientId"]
            await typist.say("join", {"documentId": self.note})
            self.joined = await typist.hear("joined")
            self.typists.append(typist)
        self.length, self.revision = len(self.joined["text"]), self.joined["revision"]
        self.lengths = [len(LINE)] * self.count
        self.listeners = [asyncio.create_task(one.listen(self)) for one in self.typists]

    async def type(self, changes, rate):
        """Each types in turn at the end of the own line, which its caret follows."""
        begin = time.monotonic()
        for turn in range(changes):
            await asyncio.sleep(max(0, begin + turn / rate - time.monotonic()))
            typist = self.typists[turn % self.count]
            place = sum(self.lengths[: typist.number + 1]) - 2
            typist.typed += 1
            await typist.say("change", {
                "documentId": self.note, "epoch": self.joined["epoch"], "revision": self.revision,
                "sequence": typist.typed, "operation": [place, "x", self.length - place],
            })  # fmt: skip
            self.lengths[typist.number] += 1
            await self.follow((await self.acknowledged.get())["revision"])
            select = {"documentId": self.note, "revision": self.revision, "selections": [[place + 1, place + 1]]}
            await typist.say("select", select)
        return time.monotonic() - begin

    async def follow(self, revision):
        """Waits until the observer has heard of a revision."""
        while self.revision < revision:
            self.revision, self.length = await self.heard.get()

    async def leave(self):
        for listener in self.listeners:
            listener.cancel()
        for typist in self.typists:
            await typist.socket.close()


class Server:
    """The program, with one page."""

    def __init__(self, web):
        self.web = web

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        limits = ["--connection-message-rate", "100000"]
        self.process = subprocess.Popen(
            [PROGRAM, "serve", "--port", "0", "--data-dir", self.folder.name, "--web-dir", self.web, *limits],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        line = next(line for line in self.process.stdout if line.startswith("listening on "))
        self.port = int(line.rsplit(":", 1)[1])
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()
        self.folder.cleanup()


def in_background(work):
    """Runs a coroutine beside the page, which Playwright drives from here; what returns its result."""
    results = []
    thread = threading.Thread(target=lambda: results.append(asyncio.run(work())))
    thread.start()

    def wait():
        thread.join()
        return results[0]

    return thread, wait


def metrics(session):
    found = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    return {name: found[metric] * (1000 if name in TIMES else 1) for name, metric in (TIMES | COUNTS).items()}


def functions(profile):
    """The functions of a profile with the most time: all of it, and their own, in milliseconds."""
    nodes = {node["id"]: node for node in profile["nodes"]}
    parents = {child: node["id"] for node in profile["nodes"] for child in node.get("children", [])}
    own, whole = collections.Counter(), collections.Counter()

    def name(node):
        frame = node["callFrame"]
        return f"{frame['functionName'] or '-'} {frame['url'].rsplit('/', 1)[-1]}:{frame['lineNumber'] + 1}"

    for sample, delta in zip(profile["samples"], profile["timeDeltas"]):
        own[name(nodes[sample])] += delta / 1000
        on_stack = set()
        while sample is not None:
            on_stack.add(name(nodes[sample]))
            sample = parents.get(sample)
        for one in on_stack:
            whole[one] += delta / 1000
    return [(one, time, own[one]) for one, time in whole.most_common(60)]


def measure(browser, web, asked):
    """Milliseconds for each change, by kind."""
    with Server(web) as server:
        page = browser.new_page(base_url=f"http://127.0.0.1:{server.port}", viewport={"width": 1180, "height": 760})
        made = page.request.post("/api/notes", data={"title": "Crowd"}, headers={"Origin": f"http://127.0.0.1:{server.port}"})
        note = made.json()["id"]
        headers = {"Content-Type": "text/plain", "Origin": f"http://127.0.0.1:{server.port}"}
        page.request.put(f"/api/notes/{note}/text", data=LINE * (asked.people + 1), headers=headers)
        page.goto(f"/n/{note}")
        page.locator("#editor .cm-content").focus()
        page.keyboard.press("Control+End")
        session = page.context.new_cdp_session(page)
        # Processor time: what else the machine does counts less.
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        crowd = Crowd(server.port, note, asked.people)
        ready, go, measured, again = (threading.Event() for _ in range(4))

        async def run():
            await crowd.join()
            await crowd.type(WARM_UP, asked.rate)
            ready.set()
            await asyncio.to_thread(go.wait)
            seconds = await crowd.type(asked.changes, asked.rate)
            measured.set()
            await asyncio.to_thread(again.wait)
            await crowd.type(asked.changes, asked.rate)
            await crowd.leave()
            return seconds

        thread, wait = in_background(run)
        ready.wait()
        page.wait_for_function("(count) => document.querySelectorAll('#people-list li').length >= count", arg=asked.people)
        if asked.profile:
            session.send("Profiler.enable")
            session.send("Profiler.start")
        before = metrics(session)
        go.set()
        while not measured.is_set():
            page.wait_for_timeout(100)
        after = metrics(session)
        if asked.profile:
            for name, whole, own in functions(session.send("Profiler.stop")["profile"]):
                print(f"{whole:8.1f} {own:8.1f} {name}")
        page.evaluate(WATCH_KEYS)
        again.set()
        while thread.is_alive():
            page.keyboard.press("e")
            page.wait_for_timeout(100)
        seconds = wait()
        keys = page.evaluate("() => keys.flatMap(({ pressed, painted }) => (painted ? [painted - pressed] : []))")
        each = {name: (after[name] - before[name]) / asked.changes for name in after}
        page.close()
        own = {"own key": statistics.median(keys), "p95": statistics.quantiles(keys, n=20)[-1]}
        return each | {"changes/s": asked.changes / seconds} | own


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--web", type=pathlib.Path, default=ROOT / "Web" / "built")
    parser.add_argument("--other", type=pathlib.Path)
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--changes", type=int, default=600)
    parser.add_argument("--rate", type=float, default=40)
    parser.add_argument("--profile", action="store_true")
    asked = parser.parse_args()
    pages = {"this page": asked.web} | ({"the other": asked.other} if asked.other else {})
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        print("| ms for each change | script | style | layout | all | styles | layouts | changes/s | own key | p95 |\n|" + " --- |" * 10)
        for name, web in pages.items():
            found = measure(browser, web, asked)
            print(f"| {name} | " + " | ".join(f"{found[key]:.2f}" for key in found) + " |", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
