// The list of notes in parts: the requests, and the effects of answers.

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { askingOnce } from "../../Web/js/client/knownanswers.js";
import { Emitter } from "../../Web/js/ground/emitter.js";
import { Folders } from "../../Web/js/state/folders.js";
import { merged, notesOf } from "../../Web/js/state/noteparts.js";
import { NoteList } from "../../Web/js/state/notes.js";
import { Tags } from "../../Web/js/state/tags.js";
import { stopTime } from "./support.mjs";

const { fetch } = globalThis;
afterEach(() => (globalThis.fetch = fetch));

async function turn() {
  for (let step = 0; step < 8; step += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** @typedef {{id: string, title: string, updatedAt?: number, folder?: string, may?: string[]}} Given */

/**
 * Returns an answer of the server.
 *
 * @param {number} count
 * @param {[number, string, Given[]][]} parts
 * @param {object} [more]
 */
function answerOf(count, parts, more) {
  const notes = parts.flatMap(([, , all]) => all);
  return {
    count,
    parts: parts.map(([place, digest, all]) => [place, digest, all.length]),
    may: [["read"], ["read", "write"]],
    rights: notes.map(({ may = [] }) => (may.length > 1 ? 1 : 0)),
    revisions: notes.map(() => 1),
    createdAt: notes.map(() => 1),
    updatedAt: notes.map(({ updatedAt = 1 }) => updatedAt),
    deletedAgeMax: 7, mayCreate: true,
    ids: notes.map(({ id }) => id), folders: notes.map(({ folder = "" }) => folder), titles: notes.map(({ title }) => title),
    ...more,
  };
}

/** A server with these answers in order; undefined is 304. */
function server(/** @type {(object | undefined)[]} */ answers) {
  /** @type {{path: string, tag: string | undefined}[]} */
  const asked = [];
  globalThis.fetch = /** @type {any} */ (async (/** @type {string} */ path, /** @type {any} */ { headers }) => {
    asked.push({ path, tag: headers["If-None-Match"] });
    const answer = answers.shift();
    const tag = `"${answers.length}"`;
    return answer ? new Response(JSON.stringify(answer), { headers: { ETag: tag } }) : new Response(null, { status: 304 });
  });
  return asked;
}

/** A connection on which rooms confirm each subscription. */
const line = () => {
  const made = Object.assign(new Emitter(), {
    subscribe: (/** @type {string} */ room) => setImmediate(() => made.emit("room", room)),
  });
  return made;
};

const titlesOf = (/** @type {NoteList} */ list) => list.notes?.map(({ title }) => title);

test("only changed parts are fetched, and the list is sorted by newest change", async () => {
  const asked = server([
    answerOf(2, [[0, "aaaaaaaa", [{ id: "1", title: "One" }, { id: "2", title: "Two", updatedAt: 3 }]], [1, "bbbbbbbb", [{ id: "3", title: "Three", updatedAt: 2, folder: "f", may: ["read", "write"] }]]]),
    answerOf(2, [[1, "cccccccc", [{ id: "3", title: "New", updatedAt: 4 }]]]),
    undefined,
    answerOf(1, [[0, "dddddddd", [{ id: "2", title: "Two" }]]], { more: true, mayCreate: false }),
    { notes: [{ id: "9", title: "Of a former server" }], mayCreate: true },
    answerOf(1, []),
  ]);
  const list = new NoteList(/** @type {any} */ (line()));
  await list.refresh();
  assert.deepEqual(titlesOf(list), ["Two", "Three", "One"]);
  assert.deepEqual(list.notes?.[1], { id: "3", title: "Three", revision: 1, createdAt: 1, updatedAt: 2, may: ["read", "write"], folder: "f" });
  await list.refresh();
  assert.deepEqual(titlesOf(list), ["New", "Two", "One"]);
  assert.equal(list.folderOf("3"), undefined);
  const held = list.held;
  await list.refresh();
  assert.deepEqual(titlesOf(list), ["New", "Two", "One"]);
  assert.equal(list.held, held, "what is the same is not kept again");
  await list.refresh();
  assert.deepEqual([titlesOf(list), list.isCut, list.mayCreate], [["Two"], true, false]);
  await list.refresh();
  assert.deepEqual([titlesOf(list), list.isCut, list.mayCreate], [["Of a former server"], false, true]);
  await list.refresh();
  assert.deepEqual(asked.map(({ path, tag }) => [path.split("=")[1], tag]), [
    ["", undefined], ["aaaaaaaabbbbbbbb", '"5"'], ["aaaaaaaacccccccc", '"4"'], ["aaaaaaaacccccccc", '"4"'], ["dddddddd", '"2"'], ["", '"1"'],
  ]);
});

test("a reloaded page begins with the stored list", async () => {
  const asked = server([undefined]);
  const copy = merged(undefined, answerOf(1, [[0, "aaaaaaaa", [{ id: "1", title: "One" }]]]), '"kept"');
  const list = new NoteList(/** @type {any} */ (line()), { copy });
  assert.deepEqual(titlesOf(list), ["One"]);
  await list.refresh();
  assert.deepEqual(asked, [{ path: "/api/notes?parts=aaaaaaaa", tag: '"kept"' }]);
  assert.equal(list.held, copy);
  // The form in which former pages stored it.
  const former = new NoteList(/** @type {any} */ (line()), { copy: { notes: notesOf(copy), mayCreate: true } });
  assert.deepEqual([titlesOf(former), former.held], [["One"], undefined]);
});

test("after another user signs in, the former user's parts are neither requested nor shown", async () => {
  let owner = "ada";
  const asked = server([answerOf(1, [[0, "aaaaaaaa", [{ id: "1", title: "Ada's" }]]]), answerOf(1, [[0, "bbbbbbbb", [{ id: "2", title: "Eve's" }]]])]);
  const list = new NoteList(/** @type {any} */ (line()), { owner: () => owner });
  await list.refresh();
  owner = "eve";
  await list.refresh();
  assert.deepEqual(asked[1], { path: "/api/notes?parts=", tag: undefined });
  assert.deepEqual(titlesOf(list), ["Eve's"]);
});

test("after connecting, notes, folders and tags are each requested once", async () => {
  const asked = server(Array(9).fill({ notes: [], folders: [], tags: [] }));
  const connection = line();
  const list = new NoteList(/** @type {any} */ (connection));
  new Folders(list);
  new Tags(list, /** @type {any} */ (connection));
  connection.emit("welcome", {});
  await turn();
  assert.deepEqual(asked.map(({ path }) => path).sort(), ["/api/folders?limit=5000", "/api/notes?parts=", "/api/tags"]);
});

test("a list whose room does not answer is fetched after three seconds", async (context) => {
  const pass = stopTime(context);
  const asked = server([{ notes: [] }]);
  const connection = Object.assign(new Emitter(), { subscribe: () => {} });
  new NoteList(/** @type {any} */ (connection));
  connection.emit("welcome", {});
  await turn();
  assert.equal(asked.length, 0);
  pass(3_000);
  await turn();
  assert.equal(asked.length, 1);
});

test("a stored answer is requested with its entity tag", async () => {
  /** @type {Map<string, any>} */
  const kept = new Map();
  const ask = askingOnce({
    answer: async (/** @type {string} */ path) => kept.get(path),
    keepAnswer: async (/** @type {any} */ answer) => void kept.set(answer.path, answer),
  });
  const asked = server([{ tags: [1] }, undefined, { tags: [2] }]);
  assert.deepEqual([await ask("/api/tags"), await ask("/api/tags"), await ask("/api/tags")], [{ tags: [1] }, { tags: [1] }, { tags: [2] }]);
  assert.deepEqual(asked.map(({ tag }) => tag), [undefined, '"2"', '"2"']);
});
