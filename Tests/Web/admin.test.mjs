// Numbers, durations, charts and lists of the operator's page.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fetchAudit } from "../../Web/js/admin/audit.js";
import { bytes, duration, latency, number } from "../../Web/js/admin/figures.js";
import { drawList, totalOf } from "../../Web/js/admin/lists.js";
import { pathsOf, roundUp } from "../../Web/js/admin/sparkline.js";
import { countOf } from "../../Web/js/client/words.js";

test("numbers have three significant digits at most", () => {
  assert.equal(number(3.14159), "3.1");
  assert.equal(number(314.159), "314");
  assert.equal(bytes(0), "0 B");
  assert.equal(bytes(1_500), "1.5 kB");
  assert.equal(bytes(123_456_789), "123 MB");
  assert.equal(latency(420), "420 µs");
  assert.equal(latency(4_800), "4.8 ms");
  assert.equal(latency(2_500_000), "2.5 s");
  assert.equal(countOf(1, "entry", "entries"), "1 entry");
  assert.equal(countOf(2, "commit"), "2 commits");
});

test("durations show their two largest units", () => {
  assert.equal(duration(-5), "0 s");
  assert.equal(duration(999), "0 s");
  assert.equal(duration(61_000), "1 min 1 s");
  assert.equal(duration(3_600_000), "1 h");
  assert.equal(duration(90_061_000), "1 d 1 h");
});

test("the upper edge of a chart is a round number", () => {
  for (const [value, top] of [[0, 1], [-1, 1], [1, 1], [1.2, 2], [3, 5], [7, 10], [4_800, 5_000], [0.03, 0.05]]) {
    assert.ok(Math.abs(roundUp(/** @type {number} */ (value)) - /** @type {number} */ (top)) < 1e-9, String(value));
  }
});

test("a chart's line has gaps where values are missing, and a dot for a single value", () => {
  const frame = { from: 1_000, to: 3_000, top: 10, width: 200, height: 56 };
  const samples = [
    { time: 0, values: [9] },
    { time: 1_000, values: [0] },
    { time: 1_500, values: [10] },
    { time: 2_000, values: [undefined] },
    { time: 3_000, values: [5] },
  ];
  const { line, area } = pathsOf(samples, 0, frame);
  assert.equal(line, "M0.0 54.0L50.0 2.0M200.0 28.0h0");
  assert.equal(area, "M0.0 56L0.0 54.0L50.0 2.0L50.0 56ZM200.0 56L200.0 28.0L200.0 56Z");
  assert.deepEqual(pathsOf([], 0, frame), { line: "", area: "" });
});

test("a list that is incomplete says so, also with a filter", () => {
  let remark = "";
  const table = /** @type {any} */ ({ draw: (/** @type {any} */ _items, /** @type {string} */ text) => (remark = text) });
  const list = /** @type {any} */ ({ table, words: (/** @type {string} */ item) => item, none: "None.", part: "The first." });
  const remarkOf = (/** @type {any} */ answer, filter = "") => (drawList(list, answer, filter), remark);
  assert.equal(remarkOf({ items: ["a", "b"], total: 2 }), "");
  assert.equal(remarkOf({ items: [], total: 0 }), "None.");
  assert.equal(remarkOf({ items: ["a", "b"], total: 57 }), "2 entries of 57. The first.");
  // The server sends only the first notes, without their total.
  const cut = { items: ["a", "b"], total: 2, more: true };
  assert.equal(remarkOf(cut), "2 entries of more than 2. The first.");
  assert.equal(remarkOf(cut, "c"), "Nothing here has “c” in it. 2 entries of more than 2. The first.");
  assert.deepEqual([totalOf(cut), totalOf({ items: [], total: 57 })], ["2+", "57"]);
});

test("the audit log asks the server for older records of a name, and shows each record once", async () => {
  /** @type {string[]} */
  const paths = [];
  const all = [9, 8, 7].map((number) => ({ number, time: 0, actor: "ada" }));
  const former = globalThis.fetch;
  globalThis.fetch = /** @type {any} */ (async (/** @type {string} */ path) => {
    paths.push(String(path));
    const records = String(path).includes("actor=") ? [all[1], all[2]] : [all[0], all[1]];
    const isOther = /target=|action=/.test(String(path));
    return new Response(JSON.stringify({ records: isOther ? [] : records, next: 8 }), {
      headers: { "content-type": "application/json" },
    });
  });
  try {
    const { items, more } = await fetchAudit("ada & co");
    assert.deepEqual(items.map(({ number }) => number), [9, 8, 7]);
    assert.equal(more, true);
    assert.ok(paths.some((path) => path.endsWith("actor=ada%20%26%20co")), paths.join(" "));
    paths.length = 0;
    await fetchAudit("");
    assert.equal(paths.length, 1);
  } finally {
    globalThis.fetch = former;
  }
});
