#!/usr/bin/env python3
"""Measures search over many notes, and typing beside it, over HTTP and sockets of a server of its own.

    make bench-search
    .venv/bin/python Benchmarks/bench_search.py [NOTES [BYTES]]

Words are drawn as in texts, a few of them often and most of them seldom (Zipf's law), from one seed.
"""

import http.client
import itertools
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "Tests" / "System"))

from native_client import NativeClient  # noqa: E402
from parley_server import PROGRAM, ParleyServer  # noqa: E402

LETTERS = "etaoinshrdlucmfwypvbgkjqxz"
#: Rates that never limit.
FREE = [
    word
    for rate in ("user-request", "address-request", "user-message", "connection-message")
    for word in (f"--{rate}-rate", "0")
]


def vocabulary(chance, count):
    words = set()
    while len(words) < count:
        words.add("".join(chance.choices(LETTERS, weights=range(26, 0, -1), k=chance.randint(2, 11))))
    return sorted(words, key=lambda word: (len(word), word))


class Texts:
    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.words = vocabulary(self.chance, 50_000)
        self.sums = list(itertools.accumulate(1 / (rank + 1) for rank in range(len(self.words))))

    def text(self, size):
        text = " ".join(self.chance.choices(self.words, cum_weights=self.sums, k=size // 5))
        return text[:size]


def fill(server, texts, count, size):
    """Makes the notes, on several connections."""
    todo = list(range(count))
    made = [texts.text(size) for _ in range(200)]

    def work():
        line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
        chance = random.Random(threading.get_ident())
        while todo:
            number = todo.pop()
            # Parts of texts in another order each: as many words, and cheaper to make.
            text = " ".join(chance.choice(made)[: size // 4] for _ in range(4))[:size]
            title = " ".join(text.split()[5:9])
            for path, body, kind in [
                (f"/api/notes/n{number}", json.dumps({"title": title}).encode(), "application/json"),
                (f"/api/notes/n{number}/text", text.encode(), "text/plain"),
            ]:
                line.request("PUT", path, body, {"content-type": kind})
                answer = line.getresponse()
                said = answer.read()
                assert answer.status in (200, 201), (answer.status, said)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def shares(times):
    """Median, 95 of 100, and the longest, in milliseconds."""
    times = sorted(times)
    at = lambda part: times[min(len(times) - 1, int(len(times) * part))] * 1000  # noqa: E731
    return f"{at(0.5):.1f} / {at(0.95):.1f} / {times[-1] * 1000:.1f} ms"


def timed(server, paths):
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    times, found = [], []
    for path in paths:
        begin = time.perf_counter()
        line.request("GET", path)
        answer = line.getresponse()
        body = answer.read()
        times.append(time.perf_counter() - begin)
        assert answer.status == 200, body
        found.append(len(json.loads(body)["notes"]))
    return times, statistics.mean(found)


def typing(server, count):
    """Times from a change to its acknowledgement."""
    note = server.create_note("Typing")
    with NativeClient(server, "Typist") as client:
        joined = client.join(note)
        times = []
        for number in range(count):
            operation = [number, "x"] if number else ["x"]
            begin = time.perf_counter()
            kind, data = client.change(note, joined, number + 1, operation, revision=number)
            assert kind == "acknowledged", data
            times.append(time.perf_counter() - begin)
        return times


def query(path):
    return f"/api/search?q={urllib.parse.quote(path)}"


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    size = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    texts = Texts(7)
    chance = random.Random(8)
    rare = lambda: chance.choice(texts.words[5_000:])  # noqa: E731
    common = lambda: chance.choice(texts.words[:300])  # noqa: E731
    print(f"{count} notes of {size} bytes, {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as folder:
        server = ParleyServer(pathlib.Path(folder), *FREE).start()
        begin = time.monotonic()
        fill(server, texts, count, size)
        print(f"made in {time.monotonic() - begin:.0f} s")
        server.stop()
        store, index = server.data / "notes.parley", server.data / "notes.parley-search"
        begin = time.monotonic()
        ended = subprocess.run([PROGRAM, "reindex", "--data-dir", server.data], capture_output=True, text=True)
        print(f"index, all of the machine: {time.monotonic() - begin:.1f} s ({ended.stdout.strip()})")
        print(f"store {store.stat().st_size >> 20} MiB, index {index.stat().st_size >> 20} MiB")
        server.start()
        kinds = {
            "one seldom word": lambda: rare(), "one frequent word": lambda: common(),
            "two words": lambda: f"{common()} {rare()}", "three frequent words": lambda: f"{common()} {common()} {common()}",
            "two letters of a word": lambda: rare()[:2], "no note": lambda: rare() + "zqx",
        }  # fmt: skip
        for name, words in kinds.items():
            times, found = timed(server, [query(words()) for _ in range(300)])
            print(f"search, {name}: {shares(times)}, {found:.1f} notes shown")
        times, _ = timed(server, ["/api/notes"] * 30)
        print(f"list, whole: {shares(times)}")
        times, _ = timed(server, ["/api/notes?limit=100"] * 100)
        print(f"list, a page: {shares(times)}")
        print(f"typing alone: {shares(typing(server, 1_000))}")
        ended = threading.Event()
        searches = []

        def search():
            while not ended.is_set():
                times, _ = timed(server, [query(f"{common()} {rare()}") for _ in range(20)])
                searches.extend(times)

        thread = threading.Thread(target=search)
        thread.start()
        print(f"typing beside searches without a pause: {shares(typing(server, 1_000))}")
        ended.set()
        thread.join()
        print(f"these {len(searches)} searches: {shares(searches)}")
        server.stop()
        index.unlink()
        begin = time.monotonic()
        server.start()
        print(f"typing while all is indexed again: {shares(typing(server, 1_000))}")
        pause = threading.Event()
        done = lambda: subprocess.run(  # noqa: E731
            ["sqlite3", f"file:{index}?mode=ro", "SELECT count(*) FROM notes"], capture_output=True, text=True
        ).stdout.strip()
        while int(done() or 0) < count:
            pause.wait(0.5)
        print(f"rebuilding the index beside a server: {time.monotonic() - begin:.0f} s")
        server.stop()


if __name__ == "__main__":
    main()
