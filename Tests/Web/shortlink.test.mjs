// Short links: opened by the server, once for a tab, and not given up for a server that has too much to do.

import assert from "node:assert/strict";
import { test } from "node:test";
import { noteAt } from "../../Web/js/ground/base.js";
import { ended, openShortLink, unopened } from "../../Web/js/state/shortlink.js";

/** @param {number[]} statuses Of the answers, one after another. */
function server(...statuses) {
  const asked = { count: 0 };
  globalThis.fetch = async () => {
    asked.count += 1;
    const status = statuses.shift() ?? 500;
    return new Response(JSON.stringify(status === 200 ? { note: "n", token: "t" } : { code: "busy" }), { status });
  };
  globalThis.history = /** @type {any} */ ({ replaceState: () => undefined });
  return asked;
}

const place = { pathname: "/n/n", hash: "#s=key" };
const atOnce = async () => undefined;

test("a server that has too much to do is asked again", async () => {
  const asked = server(503, 429, 200);
  assert.deepEqual(await openShortLink(place, undefined, atOnce), { key: "key", token: "t" });
  assert.equal(asked.count, 3);
});

test("a link that has ended is not asked for again until the page is reloaded", async () => {
  const asked = server(404, 200);
  const ended = await openShortLink(place, undefined, atOnce);
  assert.equal(asked.count, 1);
  assert.deepEqual(await openShortLink(place, ended, atOnce), { key: "key", token: "t" });
});

test("a tab that has opened a link does not ask the server", async () => {
  const asked = server(200);
  const opened = await openShortLink(place, undefined, atOnce);
  assert.deepEqual(await openShortLink(place, opened, atOnce), opened);
  assert.equal(asked.count, 1);
});

test("a link of a server that cannot be asked has not ended: a reload asks again", async () => {
  const asked = server(503, 502, 503, 200);
  const link = await openShortLink(place, undefined, atOnce);
  assert.deepEqual(link, { key: "key", token: unopened });
  assert.deepEqual(await openShortLink(place, link, atOnce), { key: "key", token: "t" });
  assert.equal(asked.count, 4);
});

test("the address of a published note is a link that is asked for at each load, and names its note", async () => {
  const asked = server(503, 200, 200);
  const minutes = { pathname: "/p/minutes", hash: "" };
  const opened = await openShortLink(minutes, undefined, atOnce);
  assert.deepEqual(opened, { key: "/p/minutes", token: "t" });
  assert.deepEqual(await openShortLink(minutes, opened, atOnce), opened);
  assert.equal(asked.count, 3);
  assert.equal(noteAt("/p/minutes"), "n");
  assert.equal(noteAt("/p/other"), undefined, "another name is no note's of this tab");
});

test("a name without a note opens nothing; one that could not be asked for may open later", async () => {
  server(404);
  assert.deepEqual(await openShortLink({ pathname: "/p/none", hash: "" }, undefined, atOnce), { key: "/p/none", token: ended });
  assert.equal(noteAt("/p/none"), "/p/none", "no note's id");
  server(503, 503, 503);
  assert.deepEqual(await openShortLink({ pathname: "/p/late", hash: "" }, undefined, atOnce), { key: "/p/late", token: unopened });
});
