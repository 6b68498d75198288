"""From a key to the own screen, and to another person's: the page beside one with Yjs, in one run.

    .venv/bin/python Benchmarks/bench_screens.py [--keys 200] [--web WEB]

Two people have one text open, in contexts of one Chromium; one of them types at its end. Both pages show it in CodeMirror 6,
the page with all of its extensions. The other page binds it to a text of yjs, which y-websocket sends through its own
server, from memory to memory; Parley has each change on the disk before it sends it on. Keys are pressed in turn here and
there. The times are from a key's event until the frame that shows its letter is painted. yjs and y-websocket are Debian's
packages, fetched and bundled as for bench_sdk.py.
"""

import argparse
import contextlib
import pathlib
import random
import statistics
import tempfile

from bench_first_visit import CHROMIUM, ROOT
from bench_page import WATCH_KEYS, Server
from bench_sdk import Site, bundled, fetch_packages, y_server
from playwright.sync_api import sync_playwright

Y_MODULE = f"""
import * as Y from "yjs";
import {{ WebsocketProvider }} from "y-websocket";
import {{ Annotation, EditorView, basicSetup }} from "{ROOT}/Web/vendor/codemirror/index.js";
const doc = new Y.Doc();
const text = doc.getText("text");
const isRemote = Annotation.define();
const follow = EditorView.updateListener.of(({{ changes, docChanged, transactions }}) => {{
  if (!docChanged || transactions.some((one) => one.annotation(isRemote))) return;
  doc.transact(() => changes.iterChanges((from, to, at, _end, inserted) => {{
    if (to > from) text.delete(at, to - from);
    text.insert(at, inserted.toString());
  }}), view);
}});
const view = new EditorView({{ parent: document.body, extensions: [basicSetup, EditorView.lineWrapping, follow] }});
text.observe(({{ delta }}, {{ origin }}) => {{
  if (origin === view) return;
  let place = 0;
  const changes = delta.flatMap(({{ insert, delete: deleted = 0, retain = 0 }}) => {{
    const change = {{ from: place, to: place + deleted, insert }};
    place += deleted + retain;
    return retain ? [] : [change];
  }});
  view.dispatch({{ changes, annotations: isRemote.of(true) }});
}});
const provider = new WebsocketProvider(`ws://127.0.0.1:${{document.body.dataset.port}}`, "note", doc);
provider.on("sync", () => document.body.classList.add("is-ready"));
"""
Y_PAGE = """<!doctype html><meta charset="utf-8"><title>y</title><body data-port="{port}"><script type="module" src="/y.js"></script>"""
READY = "body.is-ready, #status[data-state=saved][data-unsaved='0']"
# In the other's page: `shown` is when the next change of the text is painted.
AWAIT_CHANGE = """() => {
    window.shown = new Promise((resolve) => {
        const observer = new MutationObserver(() => {
            observer.disconnect();
            resolve(painted());
        });
        observer.observe(content, { childList: true, characterData: true, subtree: true });
    });
}"""
KEY = "() => new Promise((resolve) => { const look = () => (keys.at(-1).painted ? resolve(keys.at(-1)) : setTimeout(look, 1)); look(); })"


class Pair:
    """Two people's pages of one text."""

    def __init__(self, browser, address):
        self.own, self.others = [], []
        self.writer, self.reader = (self.open(browser, address) for _ in range(2))

    def open(self, browser, address):
        page = browser.new_context(viewport={"width": 1180, "height": 760}).new_page()
        page.goto(address)
        page.locator(READY).wait_for()
        page.locator(".cm-content").click()
        page.evaluate(WATCH_KEYS)
        return page

    def press(self, key):
        self.reader.evaluate(AWAIT_CHANGE)
        self.writer.keyboard.press(key)
        shown = self.reader.evaluate("() => shown")
        seen = self.writer.evaluate(KEY)
        self.own.append(seen["painted"] - seen["pressed"])
        self.others.append(shown - seen["pressed"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=int, default=200)
    parser.add_argument("--web", type=pathlib.Path, default=ROOT / "Web" / "built")
    asked = parser.parse_args()
    chance = random.Random(39)
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        modules = fetch_packages(folder)
        site = Site()
        stack.callback(site.server_close)
        stack.callback(site.shutdown)
        site.files["/y.js"] = ("text/javascript", "br", bundled(modules, folder, Y_MODULE))
        y_port = stack.enter_context(y_server(modules))
        site.files["/y.html"] = ("text/html", None, Y_PAGE.format(port=y_port).encode())
        gateway = f"http://127.0.0.1:{stack.enter_context(Server(asked.web)).port}"
        browser = stack.enter_context(sync_playwright()).chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        stack.callback(browser.close)
        made = browser.new_page().request.post(f"{gateway}/api/notes", data={"title": "Two"}, headers={"Origin": gateway})
        addresses = {"Parley": f"{gateway}/n/{made.json()['id']}", "Yjs": f"{site.url}/y.html"}
        pairs = {name: Pair(browser, address) for name, address in addresses.items()}
        for _ in range(asked.keys):
            for pair in pairs.values():
                # Words of some letters: lines wrap.
                pair.press(chance.choice("abcdefghijklmnop   "))
                pair.writer.wait_for_timeout(chance.randrange(10, 100))
        print("| ms from a key to | own screen | p95 | the other's | p95 |\n|" + " --- |" * 5)
        for name, pair in pairs.items():
            rows = [[statistics.median(times), statistics.quantiles(times, n=20)[-1]] for times in (pair.own, pair.others)]
            print(f"| {name} | " + " | ".join(f"{time:.1f}" for time in sum(rows, [])) + " |")
        ours, theirs = (statistics.median(pairs[name].others) for name in addresses)
        print(f"\nThe other's screen: {ours / theirs:.2f} × Yjs.")


if __name__ == "__main__":
    main()
