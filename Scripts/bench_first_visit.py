"""What a browser fetches at its first visit: requests, and bytes with headers, as Chromium counts them.

    .venv/bin/python Scripts/bench_first_visit.py [--plain]

PARLEY_PROGRAM names the program, if it is not the release build. With `--plain` the page's folder has no
compressed files, as before `make page` wrote them.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import tempfile

from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("PARLEY_PROGRAM", str(ROOT / ".build" / "release" / "parley"))
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")


def visit(port):
    """Opens the page in a new browser, and returns (URL, type, bytes) of each request."""
    fetched = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page()
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.on(
            "Network.responseReceived",
            lambda event: fetched.setdefault(
                event["requestId"], [event["response"]["url"], event["type"], 0]
            ),
        )

        def finished(event):
            if event["requestId"] in fetched:
                fetched[event["requestId"]][2] = event["encodedDataLength"]

        session.on("Network.loadingFinished", finished)
        page.goto(f"http://127.0.0.1:{port}/")
        # The list of notes is drawn when everything is there and the server has answered.
        page.wait_for_selector("#status, #welcome:not([hidden])")
        page.wait_for_load_state("networkidle")
        browser.close()
    return list(fetched.values())


def main():
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plain", action="store_true", help="serve no compressed files")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        web = ROOT / "Web"
        if options.plain:
            web = shutil.copytree(web, f"{folder}/web", ignore=shutil.ignore_patterns("*.gz"))
        server = subprocess.Popen(
            [PROGRAM, "serve", "--port", "0", "--data-dir", f"{folder}/data", "--web-dir", web],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        try:
            line = next(line for line in server.stdout if line.startswith("listening on "))
            fetched = visit(int(line.rsplit(":", 1)[1]))
        finally:
            server.terminate()
            server.wait()
    kinds = {}
    for _, kind, size in fetched:
        count, total = kinds.get(kind, (0, 0))
        kinds[kind] = (count + 1, total + size)
    print("| kind | requests | kB |\n| --- | --- | --- |")
    for kind, (count, size) in sorted(kinds.items(), key=lambda item: -item[1][1]):
        print(f"| {kind} | {count} | {size / 1000:.0f} |")
    print(f"| **all** | **{len(fetched)}** | **{sum(size for *_, size in fetched) / 1000:.0f}** |")


if __name__ == "__main__":
    main()
