// Parts of the page that are loaded on demand, and servers that no longer have them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPart } from "../../Web/js/ground/parts.js";
import { stopTime } from "./support.mjs";

const page = (/** @type {string} */ build) => `<head>\n<meta charset="utf-8" />\n<meta name="build" content="${build}" />`;

/**
 * Sets up a browser with a page of the build `own`, and a server with the answers of `answer`.
 *
 * @param {import("node:test").TestContext} context
 * @param {{own?: string, answer: () => Promise<any>, store?: Map<string, string>, now?: number}} options
 */
function browser(context, { own, answer, store = new Map(), now = 1_000_000_000_000 }) {
  let reloads = 0;
  const sessionStorage = {
    getItem: (/** @type {string} */ key) => store.get(key) ?? null,
    setItem: (/** @type {string} */ key, /** @type {string} */ value) => void store.set(key, value),
  };
  const document = { querySelector: () => (own === undefined ? null : { getAttribute: () => own }) };
  const globals = { document, sessionStorage, fetch: answer, location: { reload: () => (reloads += 1) } };
  for (const [name, value] of Object.entries(globals)) {
    const given = Object.getOwnPropertyDescriptor(globalThis, name);
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
    context.after(() => {
      if (given) Object.defineProperty(globalThis, name, given);
      else Reflect.deleteProperty(globalThis, name);
    });
  }
  context.mock.method(Date, "now", () => now);
  return { reloads: () => reloads };
}

const missing = () => Promise.reject(new TypeError("Failed to fetch dynamically imported module"));
const answering = (/** @type {string} */ build) => async () => ({ ok: true, text: async () => page(build) });

test("an available part is returned without a request", async (context) => {
  const { reloads } = browser(context, { own: "one", answer: () => assert.fail("asked") });
  assert.equal(await loadPart(async () => "part"), "part");
  assert.equal(reloads(), 0);
});

/** Waits until all pending callbacks have run. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

test("a page of a former build reloads itself once, and reports the failure if that does not help", async (context) => {
  const pass = stopTime(context);
  const store = new Map();
  const first = browser(context, { own: "one", answer: answering("two"), store });
  let hasFailed = false;
  const loading = assert.rejects(loadPart(missing), /Failed to fetch/).then(() => (hasFailed = true));
  await settle();
  assert.equal(first.reloads(), 1);
  assert.ok(!hasFailed);
  pass(5_000);
  await loading;
  // The browser got the former build again, from another server.
  await assert.rejects(loadPart(missing), /Failed to fetch/);
  assert.equal(first.reloads(), 1);
  const later = browser(context, { own: "one", answer: answering("two"), store, now: 1_000_000_060_000 });
  const again = assert.rejects(loadPart(missing));
  await settle();
  assert.equal(later.reloads(), 1);
  pass(5_000);
  await again;
});

test("a page does not reload if the server has the same build or gives no valid answer", async (context) => {
  const answers = [
    answering("one"),
    () => Promise.reject(new TypeError("offline")),
    async () => ({ ok: false, text: async () => page("two") }),
    async () => ({ ok: true, text: async () => "<p>A proxy's own page</p>" }),
  ];
  for (const answer of answers) {
    const { reloads } = browser(context, { own: "one", answer });
    await assert.rejects(loadPart(missing), /Failed to fetch/);
    assert.equal(reloads(), 0);
  }
});

test("a page served from the sources has no build, and sends no request", async (context) => {
  const { reloads } = browser(context, { answer: () => assert.fail("asked") });
  await assert.rejects(loadPart(missing), /Failed to fetch/);
  assert.equal(reloads(), 0);
});
