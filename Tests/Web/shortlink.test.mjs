// Short links: the server opens each once for a tab, and a busy server is asked again.

import assert from "node:assert/strict";
import { test } from "node:test";
import { noteAt } from "../../Web/js/ground/base.js";
import { ended, openShortLink, unopened } from "../../Web/js/state/shortlink.js";

/** @param {number[]} statuses The statuses of the answers, in order. */
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

test("a request to a busy server is retried", async () => {
  const asked = server(503, 429, 200);
  assert.deepEqual(await openShortLink(place, undefined, atOnce), { key: "key", token: "t" });
  assert.equal(asked.count, 3);
});

test("an ended link is requested again only after a reload", async () => {
  const asked = server(404, 200);
  const ended = await openShortLink(place, undefined, atOnce);
  assert.equal(asked.count, 1);
  assert.deepEqual(await openShortLink(place, ended, atOnce), { key: "key", token: "t" });
});

test("a tab that has opened a link does not request it again", async () => {
  const asked = server(200);
  const opened = await openShortLink(place, undefined, atOnce);
  assert.deepEqual(await openShortLink(place, opened, atOnce), opened);
  assert.equal(asked.count, 1);
});

test("a link has not ended if the server is unavailable; a reload requests it again", async () => {
  const asked = server(503, 502, 503, 200);
  const link = await openShortLink(place, undefined, atOnce);
  assert.deepEqual(link, { key: "key", token: unopened });
  assert.deepEqual(await openShortLink(place, link, atOnce), { key: "key", token: "t" });
  assert.equal(asked.count, 4);
});

test("the address of a published note is requested at each load, and identifies the note", async () => {
  const asked = server(503, 200, 200);
  const minutes = { pathname: "/p/minutes", hash: "" };
  const opened = await openShortLink(minutes, undefined, atOnce);
  assert.deepEqual(opened, { key: "/p/minutes", token: "t" });
  assert.deepEqual(await openShortLink(minutes, opened, atOnce), opened);
  assert.equal(asked.count, 3);
  assert.equal(noteAt("/p/minutes"), "n");
  assert.equal(noteAt("/p/other"), undefined, "another name is no note's of this tab");
});

test("an unknown name opens no note; after an outage it may open later", async () => {
  server(404);
  assert.deepEqual(await openShortLink({ pathname: "/p/none", hash: "" }, undefined, atOnce), { key: "/p/none", token: ended });
  assert.equal(noteAt("/p/none"), "/p/none", "no note's id");
  server(503, 503, 503);
  assert.deepEqual(await openShortLink({ pathname: "/p/late", hash: "" }, undefined, atOnce), { key: "/p/late", token: unopened });
});
