"""From a page's address to the first text: the SDK for web pages beside y-websocket's provider, in one run.

    .venv/bin/python Benchmarks/bench_sdk.py [--runs 7]

Each page holds a text area and the client in Brotli, and shows a shared text of 1,000 characters; each visit is one
without a cache, in turn. yjs and y-websocket are Debian's packages, bundled by esbuild and served by their own server;
they are fetched to a temporary folder, and not installed. The times are Chromium's, from the navigation until the text
is in the field: on this machine, and over a line of 1.6 Mbit/s and 150 ms.
"""

import argparse
import contextlib
import http.server
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import threading
import urllib.request

from bench_first_visit import CHROMIUM, LINE, ROOT, Version
from playwright.sync_api import sync_playwright

PACKAGES = ["node-yjs", "node-lib0", "node-y-protocols", "node-y-websocket", "node-ws", "node-lodash-packages", "node-isomorphic.js"]
TEXT = "0123456789" * 100

Y_MODULE = """
import * as Y from "yjs";
import { WebsocketProvider } from "y-websocket";
const area = document.querySelector("textarea");
const doc = new Y.Doc();
const text = doc.getText("text");
text.observe(() => { area.value = text.toString(); window.shown ??= performance.now(); });
const provider = new WebsocketProvider(`ws://127.0.0.1:${document.body.dataset.port}`, "note", doc);
window.write = (words) => void text.insert(0, words);
"""

Y_PAGE = """<!doctype html><meta charset="utf-8"><title>y</title><body data-port="{port}"><textarea></textarea>
<script type="module" src="/y.js"></script>"""

PARLEY_PAGE = """<!doctype html><meta charset="utf-8"><title>Parley</title><textarea></textarea>
<script type="module">
  import {{ bind, connect }} from "{url}/sdk/1/parley.js";
  const parley = await connect("{url}", {{ name: "Bench" }});
  const note = parley.note("{note}");
  bind(note, document.querySelector("textarea"));
  await note.ready;
  window.shown = performance.now();
</script>"""


class Site(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        self.files = {}
        super().__init__(("127.0.0.1", 0), Files)
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Files(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        kind, coding, body = self.server.files.get(self.path, ("text/plain", None, None))
        self.send_response(404 if body is None else 200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body or b"")))
        if coding:
            self.send_header("content-encoding", coding)
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_):
        pass


def fetch_packages(folder):
    """Debian's packages, unpacked; where their modules are."""
    subprocess.run(["apt-get", "-q", "download", *PACKAGES], cwd=folder, check=True, capture_output=True)
    for package in folder.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", package, folder], check=True)
    return folder / "usr" / "share" / "nodejs"


@contextlib.contextmanager
def y_server(modules):
    """y-websocket's own server; its port."""
    with http.server.HTTPServer(("127.0.0.1", 0), None) as found:
        port = found.server_port
    process = subprocess.Popen(
        [shutil.which("node"), modules / "y-websocket" / "bin" / "server.js"], stdout=subprocess.PIPE, text=True,
        env={**os.environ, "NODE_PATH": str(modules), "HOST": "127.0.0.1", "PORT": str(port)},
    )  # fmt: skip
    try:
        assert "running" in process.stdout.readline()
        yield port
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def bundled(modules, folder, source=Y_MODULE):
    """The provider and yjs for a page, in Brotli."""
    (folder / "y.mjs").write_text(source)
    subprocess.run(
        ["esbuild", folder / "y.mjs", "--bundle", "--minify", "--format=esm", "--target=es2022", "--log-level=error",
         f"--outfile={folder / 'y.js'}"],
        env={**os.environ, "NODE_PATH": str(modules)}, check=True,
    )  # fmt: skip
    return subprocess.run(["brotli", "-q", "11", "-c", folder / "y.js"], check=True, capture_output=True).stdout


def visit(browser, address, line):
    """Milliseconds from the address to the text, and the bytes that came."""
    context = browser.new_context()
    page = context.new_page()
    devtools = context.new_cdp_session(page)
    devtools.send("Network.enable")
    received = []
    devtools.on("Network.loadingFinished", lambda event: received.append(event["encodedDataLength"]))
    if line:
        devtools.send("Network.emulateNetworkConditions", {"offline": False, **line})
    page.goto(address)
    page.wait_for_function("length => document.querySelector('textarea').value.length === length && window.shown", arg=len(TEXT))
    shown = page.evaluate("window.shown")
    context.close()
    return shown, sum(received)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        modules = fetch_packages(folder)
        site = Site()
        stack.callback(site.server_close)
        stack.callback(site.shutdown)
        port = stack.enter_context(y_server(modules))
        site.files["/y.js"] = ("text/javascript", "br", bundled(modules, folder))
        site.files["/y.html"] = ("text/html", None, Y_PAGE.format(port=port).encode())
        gateway = stack.enter_context(Version("parley", ROOT, options=["--allowed-origin", site.url]))
        note = gateway.create().rsplit("/", 1)[1]
        headers = {"Content-Type": "text/plain", "Origin": gateway.url}
        text = f"{gateway.url}/api/notes/{note}/text"
        urllib.request.urlopen(urllib.request.Request(text, TEXT.encode(), headers, method="PUT")).close()
        page = PARLEY_PAGE.format(url=gateway.url, note=note)
        site.files["/parley.html"] = ("text/html", None, page.encode())
        browser = stack.enter_context(sync_playwright()).chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        stack.callback(browser.close)
        writer = browser.new_page()
        writer.goto(f"{site.url}/y.html")
        writer.wait_for_function("() => window.write")
        writer.evaluate("words => window.write(words)", TEXT)
        for title, line in (("this machine", None), ("1.6 Mbit/s, 150 ms", LINE)):
            times = {name: [] for name in ("parley", "y")}
            for _ in range(runs):
                for name, seen in times.items():
                    seen.append(visit(browser, f"{site.url}/{name}.html", line))
            for name, seen in times.items():
                middle = statistics.median(time for time, _ in seen)
                worst = max(time for time, _ in seen)
                print(f"{title}: {name}: {middle:.0f} ms, at most {worst:.0f}; {seen[0][1] / 1000:.0f} kB")


if __name__ == "__main__":
    main()
