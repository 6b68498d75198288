// Notes that are begun before the server made them, and titles given before it heard of them.

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { Emitter } from "../../Web/js/emitter.js";
import { EarlyWords } from "../../Web/js/early.js";
import { RequestError } from "../../Web/js/http.js";
import { NewNote } from "../../Web/js/newnote.js";
import { NoteList } from "../../Web/js/notes.js";
import { stopTime } from "./support.mjs";

/** What `sessionStorage` is for the page. */
class Storage {
  /** @type {Map<string, string>} */
  items = new Map();

  /** @param {string} key */
  getItem = (key) => this.items.get(key) ?? null;
  /** @param {string} key @param {string} value */
  setItem = (key, value) => void this.items.set(key, value);
  /** @param {string} key */
  removeItem = (key) => void this.items.delete(key);
}

/** A list whose answers the test gives. */
class List {
  /** @type {{title: string, answer: (note: any) => void, fail: (error: Error) => void}[]} */
  asked = [];

  /** @param {string} title @returns {Promise<any>} */
  create = (title) => new Promise((answer, fail) => this.asked.push({ title, answer, fail }));
}

function begun() {
  const line = new Emitter();
  const list = new List();
  const storage = new Storage();
  const newNote = new NewNote({ list, connection: /** @type {any} */ (line), storage, owner: "" });
  /** @type {any[]} */
  const made = [];
  newNote.on("made", (event) => made.push(event));
  newNote.begin();
  return { line, list, storage, newNote, made };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("a note is asked for once, and takes the title written meanwhile", async () => {
  const { list, newNote, made, storage } = begun();
  newNote.begin();
  newNote.title = "Plans";
  assert.equal(list.asked.length, 1);
  list.asked[0]?.answer({ id: "n-1", title: "Untitled note" });
  await turn();
  assert.deepEqual(made, [{ note: { id: "n-1", title: "Untitled note" }, title: "Plans" }]);
  assert.equal(newNote.isBegun, false);
  assert.equal(storage.items.size, 0);
});

test("without an answer it is asked for again when the line is back, also after a reload", async (context) => {
  const pass = stopTime(context);
  const { line, list, newNote, storage } = begun();
  newNote.title = "Plans";
  list.asked[0]?.fail(new RequestError("The server cannot be reached.", 0));
  await turn();
  assert.deepEqual(newNote.problem, { text: "The server cannot be reached.", isFinal: false });
  line.emit("welcome", {});
  assert.equal(list.asked[1]?.title, "Plans");
  assert.equal(newNote.problem, undefined);
  list.asked[1]?.fail(new RequestError("The store is busy.", 503));
  await turn();
  pass(5_000);
  assert.equal(list.asked.length, 3);

  const again = (/** @type {string} */ owner) =>
    new NewNote({ list, connection: /** @type {any} */ (line), storage, owner });
  assert.equal(again("").title, "Plans");
  assert.equal(again("eve").isBegun, false);
});

test("a server that is asked too often is asked again", async (context) => {
  const pass = stopTime(context);
  const { list, newNote } = begun();
  list.asked[0]?.fail(new RequestError("slower", 429));
  await turn();
  assert.equal(newNote.problem?.isFinal, false);
  pass(5_000);
  assert.equal(list.asked.length, 2);
});

test("the list is subscribed to again when the server has time", (context) => {
  const pass = stopTime(context);
  globalThis.fetch = /** @type {any} */ (async () => new Response('{"notes":[]}'));
  /** @type {((reply: any) => void)[]} */
  const replies = [];
  const send = (/** @type {string} */ _type, /** @type {any} */ _data, /** @type {any} */ reply) =>
    replies.push(reply);
  const line = Object.assign(new Emitter(), { send });
  new NoteList(/** @type {any} */ (line));
  line.emit("welcome", {});
  replies[0]?.({ type: "error", data: { code: "tooFast", retryable: true, retryAfter: 200 } });
  pass(200);
  assert.equal(replies.length, 2);
  replies[1]?.({ type: "error", data: { code: "notAllowed", retryable: false } });
  pass(5_000);
  assert.equal(replies.length, 2);
});

test("a refusal waits for the person; what is given up is not asked for again", async () => {
  const { line, list, newNote, made, storage } = begun();
  list.asked[0]?.fail(new RequestError("Not you.", 403));
  await turn();
  assert.equal(newNote.problem?.isFinal, true);
  line.emit("welcome", {});
  assert.equal(list.asked.length, 1);
  void newNote.retry();
  newNote.forget();
  list.asked[1]?.answer({ id: "n-1", title: "Untitled note" });
  await turn();
  assert.deepEqual(made, []);
  assert.equal(storage.items.size, 0);
  line.emit("welcome", {});
  assert.equal(list.asked.length, 2);
});

const { fetch } = globalThis;
afterEach(() => (globalThis.fetch = fetch));

test("a title waits for the server, and holds against the list until then", async () => {
  const line = Object.assign(new Emitter(), { send: () => true });
  const list = new NoteList(/** @type {any} */ (line));
  let isDown = false;
  let stored = "Old";
  globalThis.fetch = /** @type {any} */ (async (/** @type {string} */ _path, /** @type {any} */ { method, body }) => {
    if (isDown) throw new TypeError("no network");
    if (method === "PATCH") stored = JSON.parse(body).title;
    return new Response(JSON.stringify({ notes: [{ id: "n-1", title: stored }] }));
  });
  await list.refresh();
  isDown = true;
  assert.equal(await list.rename("n-1", "New"), false);
  assert.equal(list.titleOf("n-1"), "New");
  isDown = false;
  await list.refresh();
  assert.equal(list.titleOf("n-1"), "New");
  assert.equal(list.wantedTitleOf("n-1"), "New");
  line.emit("welcome", {});
  while (list.wantedTitleOf("n-1") !== undefined) await turn();
  assert.equal(stored, "New");
  assert.equal(list.titleOf("n-1"), "New");

  globalThis.fetch = /** @type {any} */ (async () => new Response('{"message":"no"}', { status: 403 }));
  await assert.rejects(list.rename("n-1", "Newer"), /no/);
  assert.equal(list.titleOf("n-1"), "New");
});

/** What a text field is for `EarlyWords`. */
class Field {
  value = "";
  hidden = true;
  selectionStart = 0;
  selectionEnd = 0;
  selectionDirection = "none";
  ownerDocument = { activeElement: /** @type {any} */ (undefined) };
  /** @type {Map<string, () => void>} */
  listeners = new Map();

  /** @param {string} name @param {() => void} listener */
  addEventListener = (name, listener) => void this.listeners.set(name, listener);

  /** @param {string} text @param {number} caret */
  type(text, caret) {
    this.value = text;
    this.selectionStart = this.selectionEnd = caret;
    this.listeners.get("input")?.();
  }
}

test("words stay with their note, and with who typed them", () => {
  const storage = new Storage();
  const field = new Field();
  const wordsOf = (/** @type {string} */ owner) =>
    new EarlyWords({ field: /** @type {any} */ (field), storage, owner });
  const early = wordsOf("ada");
  early.show("");
  field.type("new", 2);
  early.move("", "n-1");
  assert.equal(early.note, "n-1");
  early.show("n-2");
  assert.equal(field.value, "");
  field.type("other", 5);
  early.show(undefined);
  assert.equal(field.hidden, true);

  assert.deepEqual(wordsOf("eve").notes, []);
  const again = wordsOf("ada");
  assert.deepEqual(again.notes, ["n-1", "n-2"]);
  again.show("n-1");
  assert.equal(field.value, "new");
  field.type("new!", 1);
  assert.deepEqual(again.take("n-1"), { text: "new!", anchor: 1, head: 1 });
  assert.equal(field.value, "");
  assert.deepEqual(again.take("n-2"), { text: "other", anchor: 5, head: 5 });
  assert.equal(again.take("n-2"), undefined);
  assert.equal(storage.items.size, 0);
});

test("a word that is being composed is waited for", () => {
  const field = new Field();
  const early = new EarlyWords({ field: /** @type {any} */ (field), storage: new Storage(), owner: "" });
  let count = 0;
  early.whenComposed = () => (count += 1);
  early.show("n-1");
  field.listeners.get("compositionstart")?.();
  field.type("か", 1);
  assert.equal(early.isComposing, true);
  field.value = "漢";
  field.listeners.get("compositionend")?.();
  assert.equal(early.isComposing, false);
  assert.equal(count, 1);
  assert.equal(early.text("n-1"), "漢");
});
