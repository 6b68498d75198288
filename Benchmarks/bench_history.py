#!/usr/bin/env python3
"""Measures how a long history opens: the server's answers, and the page from the key to the text that is shown.

    make bench-history
    .venv/bin/python Benchmarks/bench_history.py [REVISIONS]

Two people type by turns, a letter each, in sessions of a thousand changes; from one seed. The note is imported from a file
of operations, so that a million revisions are there in a minute. Each number is the best of three; the first of them is
printed beside it, since it reads what the system has not kept in memory.
"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "Tests" / "System"))

from parley_server import PROGRAM, ParleyServer  # noqa: E402

#: The text stays shorter: from then on, a letter is deleted for each that is typed.
SCALARS = 100_000
SESSION = 1_000
PAUSE = 10 * 60_000


def operations(revisions):
    """The lines of a file of operations."""
    chance = random.Random(7)
    now, length = 1_700_000_000_000, 0
    yield {
        "format": "parley.operations.1", "id": "long", "title": "A long history", "createdAt": now, "updatedAt": now,
        "epoch": "e", "revision": revisions, "baseRevision": 0, "baseTime": now, "baseText": "",
    }  # fmt: skip
    for revision in range(1, revisions + 1):
        now += PAUSE if revision % SESSION == 0 else 300
        place = chance.randrange(length + 1)
        is_full = length >= SCALARS and place < length
        parts = [place, chance.choice("etaoin shrdlu\n"), -1 if is_full else 0, length - place - is_full]
        length += not is_full
        author = f"typist-{revision % 2}"
        yield {
            "revision": revision, "client": author, "sequence": (revision + 1) // 2, "digest": "0",
            "operation": [one for one in parts if one], "author": author, "time": now,
        }  # fmt: skip


def best(name, server, path):
    """Asks three times, and prints how long that took; the answer."""
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        status, _, body = server.request("GET", path)
        times.append(1_000 * (time.perf_counter() - begin))
        assert status == 200, body
    print(f"{name}: {min(times):.0f} ms, the first {times[0]:.0f} ms", flush=True)
    return json.loads(body)


def in_page(server, note):
    """Opens the history in a browser, if there is one."""
    sys.path.insert(0, str(ROOT / "Tests" / "Browser"))
    from conftest import CHROMIUM, FLAGS
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS).new_page()
        page.goto(f"http://127.0.0.1:{server.port}/n/{note}")
        page.wait_for_selector("#status[data-state=saved]")

        def opened():
            page.keyboard.press("Alt+h")
            page.wait_for_selector("#history[data-shown] #history-sessions .session")

        def again():
            page.keyboard.press("Escape")
            page.wait_for_selector("#history", state="hidden")

        times = []
        for _ in range(3):
            begin = time.perf_counter()
            opened()
            times.append(1_000 * (time.perf_counter() - begin))
            again()
        print(f"the history in the page: {min(times):.0f} ms, the first {times[0]:.0f} ms")


def main():
    revisions = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "long.ops"
        with file.open("w") as lines:
            lines.writelines(json.dumps(one, separators=(",", ":")) + "\n" for one in operations(revisions))
        server = ParleyServer(pathlib.Path(folder), "--web-dir", ROOT / "Web" / "built")
        begin = time.monotonic()
        made = subprocess.run(
            [PROGRAM, "import", file, "--format", "ops", "--data-dir", server.data], capture_output=True, text=True
        )
        assert made.returncode == 0, made.stderr
        note = made.stdout.strip()
        print(f"{revisions} revisions, imported in {time.monotonic() - begin:.0f} s")
        file.unlink()
        server.start()
        path = f"/api/notes/{note}"
        newest = best("the newest sessions", server, f"{path}/sessions?limit=50")
        best("sessions in the middle", server, f"{path}/sessions?before={revisions // 2}&limit=50")
        best("the newest text", server, f"{path}/text?revision={revisions}")
        best("the text in the middle", server, f"{path}/text?revision={revisions // 2}")
        first = newest["sessions"][0]["firstRevision"]
        best("changes of the newest session", server, f"{path}/diff?from={first - 1}&to={revisions}")
        in_page(server, note)
        server.stop()


if __name__ == "__main__":
    main()
