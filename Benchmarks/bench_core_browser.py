"""The client core's WebAssembly in Chromium: its size, and what a call takes as the page makes it."""

import gzip
import json
import os
import pathlib
import shutil

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODULE = ROOT / "Web" / "generated" / "client.wasm"
ORIGIN = "http://bench.localhost"

PAGE = """
async ({ pairs, patches }) => {
  const { Core } = await import("/js/client/door.js");
  const module = await WebAssembly.compileStreaming(fetch("/generated/client.wasm"));
  const core = new Core(new WebAssembly.Instance(module));
  const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
  const timed = (count, body) => {
    const runs = [];
    const begin = performance.now();
    while (runs.length < 3 || performance.now() - begin < 1500) {
      const start = performance.now();
      body();
      runs.push((performance.now() - start) / count);
    }
    return median(runs);
  };
  const transform = timed(pairs.length, () => {
    for (const [a, b] of pairs) core.transform(a, b);
  });
  // A client that is welcomed, and has joined an empty note.
  const joined = () => {
    const core = new Core(new WebAssembly.Instance(module));
    core.create({ name: "Ann", color: "#123456" }, 7);
    let messageId;
    const take = (actions) => {
      for (const { kind, text } of actions) if (kind === "send") messageId = JSON.parse(text).messageId;
    };
    const answer = (type, data) => take(core.handle(0, "received", JSON.stringify({ messageId, type, data })));
    take(core.handle(0, "start"));
    take(core.handle(0, "opened"));
    answer("welcome", {
      protocol: "parley.v1", clientId: "ann", resumeToken: "t", serverTime: 0, demo: false, capabilities: [],
      limits: {},
    });
    take(core.handle(0, "open", "d"));
    answer("joined", {
      documentId: "d", title: "", text: "", epoch: "e", revision: 0, lastSequence: 0, access: "write", presence: [],
    });
    return core;
  };
  const texts = [];
  const edit = timed(patches.length, () => {
    const core = joined();
    patches.forEach(({ from, to, insert }, index) => {
      core.edit(0, "d", [{ from, to, insert }]);
      const number = index + 1;
      core.handle(
        0, "received",
        `{"messageId":"s","type":"acknowledged","data":{"documentId":"d","sequence":${number},"revision":${number}}}`,
      );
    });
    texts[0] = core.text("d");
  });
  const receive = timed(patches.length, () => {
    const core = joined();
    patches.forEach(({ operation }, index) => {
      const number = index + 1;
      core.handle(
        0, "received",
        `{"messageId":"s","type":"changes","data":{"documentId":"d","revision":${number},"changes":` +
          `[{"clientId":"bo","sequence":${number},"operation":${operation}}]}}`,
      );
    });
    texts[1] = core.text("d");
  });
  return { transform, edit, receive, texts };
}
"""


def read(data, name):
    with open(data / f"{name}.jsonl", encoding="utf-8") as file:
        next(file)
        for line in file:
            yield json.loads(line)


def dump(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def measure(data):
    """Rows for the page of results."""
    from playwright.sync_api import sync_playwright

    pairs = [[dump(line["a"]), dump(line["b"])] for line in read(data, "pairs-small")][:5000]
    patches = []
    text = "x"
    # The synthetic trace is ASCII, so that a position is one of UTF-16 as well.
    for position, deleted, inserted in list(read(data, "trace-synthetic"))[:10000]:
        operation = [position, inserted, -deleted, len(text) - position - deleted]
        text = text[:position] + inserted + text[position + deleted :]
        patches.append(
            {
                "from": position,
                "to": position + deleted,
                "insert": inserted,
                "operation": dump([part for part in operation if part]),
            }
        )

    def serve(route):
        path = route.request.url.removeprefix(ORIGIN)
        if path == "/":
            route.fulfill(content_type="text/html", body="<!doctype html><title>bench</title>")
            return
        file = ROOT / "Web" / path.lstrip("/")
        kind = "application/wasm" if file.suffix == ".wasm" else "text/javascript"
        route.fulfill(content_type=kind, body=file.read_bytes())

    browser_path = os.environ.get("CHROMIUM") or shutil.which("chromium-headless-shell") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=browser_path, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page()
        page.route("**/*", serve)
        page.goto(ORIGIN + "/")
        start = {"from": 0, "to": 0, "insert": "x", "operation": '["x"]'}
        found = page.evaluate(PAGE, {"pairs": pairs, "patches": [start, *patches]})
        version = browser.version
        browser.close()
    assert found["texts"] == [text, text], "the browser computes something else"
    module = MODULE.read_bytes()

    def row(what, milliseconds):
        return {
            "what": what,
            "value": f"{milliseconds * 1e6:,.0f} ns, {1000 / milliseconds:,.0f} a second",
        }

    return [
        {"what": "Chromium", "value": version},
        {
            "what": "the module, packed with gzip",
            "value": f"{len(module):,} bytes, {len(gzip.compress(module, 9)):,} bytes",
        },
        row("transform, a small pair, JSON to JSON", found["transform"]),
        row("an own edit and its acknowledgement", found["edit"]),
        row("a received message of one operation, until the editor has its change", found["receive"]),
    ]
