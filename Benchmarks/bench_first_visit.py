"""A first visit in Chromium without a cache: what is fetched, and how soon a person can type.

    .venv/bin/python Benchmarks/bench_first_visit.py [--other FOLDER] [--runs 5] [--gzip]

The bytes are those on the wire, headers included, as Chromium counts them. The times are those of a line of
1.6 Mbit/s and 150 ms, from the address to

- the click: **Start a note** is seen, and does what it says;
- the letter: the first one typed into a note that is opened by its link is on the screen;
- the acknowledgement: the page says that it is saved.

`--other` names the checkout of another version, with its program and page built; both are measured in turn in the
same run. `--gzip` takes Brotli away, as browsers do on a plain http address other than this machine's own.
PARLEY_PROGRAM names the program of this checkout, if it is not the release build.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time
import urllib.request

from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).resolve().parent.parent
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium-headless-shell") or shutil.which("chromium")
LINE = {"latency": 150, "downloadThroughput": 1_600_000 / 8, "uploadThroughput": 1_600_000 / 8}


class Version:
    """A checkout whose program serves its page."""

    def __init__(self, name, root, program=None, options=()):
        self.name = name
        self.options = options
        self.program = program or root / ".build" / "release" / "parley"
        built = root / "Web" / "built"
        self.web = built if built.is_dir() else root / "Web"

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.server = subprocess.Popen(
            [self.program, "serve", "--port", "0", "--data-dir", self.folder.name, "--web-dir", self.web,
             *self.options],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        line = next(line for line in self.server.stdout if line.startswith("listening on "))
        self.url = f"http://127.0.0.1:{line.rsplit(':', 1)[1].strip()}"
        return self

    def __exit__(self, *_):
        self.server.terminate()
        self.server.wait()
        self.server.stdout.close()
        self.folder.cleanup()

    def create(self):
        """Makes a note; the path of its page."""
        headers = {"Content-Type": "application/json", "Origin": self.url}
        request = urllib.request.Request(f"{self.url}/api/notes", b'{"title":"Note"}', headers, method="POST")
        with urllib.request.urlopen(request) as answer:
            return "/n/" + answer.read().decode().split('"id":"')[1].split('"')[0]


def new_page(browser, is_gzip, line=None):
    """A page of a browser without a cache, over a line, and the page's session of the protocol."""
    page = browser.new_page()
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    if is_gzip:
        session.send("Network.setExtraHTTPHeaders", {"headers": {"Accept-Encoding": "gzip, deflate"}})
    if line:
        session.send("Network.emulateNetworkConditions", {"offline": False, **line})
    return page, session


def fetched(browser, url, is_gzip):
    """Opens the list of notes; (URL, type, bytes) of each request."""
    page, session = new_page(browser, is_gzip)
    requests = {}

    def answered(event):
        response = event["response"]
        requests.setdefault(event["requestId"], [response["url"], event["type"], 0])

    def finished(event):
        if event["requestId"] in requests:
            requests[event["requestId"]][2] = event["encodedDataLength"]

    session.on("Network.responseReceived", answered)
    session.on("Network.loadingFinished", finished)
    page.goto(url)
    page.wait_for_selector("#status, #welcome:not([hidden])")
    page.wait_for_load_state("networkidle")
    page.close()
    return [one for one in requests.values() if not one[0].startswith("data:")]


def times(browser, version, is_gzip):
    """Seconds until the click, the letter and the acknowledgement."""
    page, _ = new_page(browser, is_gzip, LINE)
    began = time.monotonic()
    page.goto(version.url, wait_until="commit")
    page.get_by_role("button", name="Start a note").click(no_wait_after=True)
    page.get_by_label("Title of the note").wait_for()
    click = time.monotonic() - began
    page.close()

    address = version.url + version.create()
    page, _ = new_page(browser, is_gzip, LINE)
    began = time.monotonic()
    page.goto(address, wait_until="commit")
    # Whichever comes first: the field for early words, or the text.
    page.wait_for_selector("#early:not([hidden]), #editor .cm-content")
    page.keyboard.press("Alt+e")
    page.keyboard.type("a")
    page.wait_for_function(
        """() => document.querySelector("#early").value === "a" ||
            document.querySelector("#editor").shadowRoot?.querySelector(".cm-line")?.textContent === "a" """
    )
    letter = time.monotonic() - began
    page.wait_for_selector("#editor .cm-content")
    # The letter is in the text, and the server has stored it.
    page.wait_for_function(
        """() => document.querySelector("#editor").shadowRoot?.querySelector(".cm-line")?.textContent === "a" &&
            document.querySelector("#status").dataset.state === "saved" &&
            document.querySelector("#status").dataset.unsaved === "0" """
    )
    acknowledged = time.monotonic() - began
    page.close()
    return click, letter, acknowledged


def main():
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--other", type=pathlib.Path, help="the checkout of another version")
    parser.add_argument("--runs", type=int, default=5, help="visits for the times; 0 measures bytes alone")
    parser.add_argument("--gzip", action="store_true", help="take no Brotli")
    options = parser.parse_args()
    program = os.environ.get("PARLEY_PROGRAM")
    versions = [Version("this", ROOT, program and pathlib.Path(program))]
    if options.other:
        versions.insert(0, Version("other", options.other.resolve()))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        for version in versions:
            with version:
                requests = fetched(browser, version.url, options.gzip)
            kinds = {}
            for _, kind, size in requests:
                count, total = kinds.get(kind, (0, 0))
                kinds[kind] = (count + 1, total + size)
            print(f"\n| {version.name} | requests | kB |\n| --- | --- | --- |")
            for kind, (count, size) in sorted(kinds.items(), key=lambda item: -item[1][1]):
                print(f"| {kind} | {count} | {size / 1000:.0f} |")
            total = sum(size for *_, size in requests)
            print(f"| **all** | **{len(requests)}** | **{total / 1000:.0f}** |")
        if options.runs:
            measured = {version.name: [] for version in versions}
            for _ in range(options.runs):
                for version in versions:
                    with version:
                        measured[version.name].append(times(browser, version, options.gzip))
            print("\n| 1.6 Mbit/s, 150 ms; median (range), s | click | letter | acknowledged |\n| --- | --- | --- | --- |")
            for name, rows in measured.items():
                columns = [
                    f"{statistics.median(column):.1f} ({min(column):.1f}–{max(column):.1f})"
                    for column in zip(*rows)
                ]
                print(f"| {name} | {' | '.join(columns)} |")
        browser.close()


if __name__ == "__main__":
    main()
