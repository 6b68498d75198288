// Notes that the server has not created yet, and titles and texts entered before it has them.

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { Emitter } from "../../Web/js/ground/emitter.js";
import { Drawer, hasThings } from "../../Web/js/state/drawer.js";
import { EarlyWords } from "../../Web/js/state/early.js";
import { RequestError } from "../../Web/js/client/http.js";
import { NewNotes } from "../../Web/js/state/newnote.js";
import { NoteList } from "../../Web/js/state/notes.js";
import { FakeStorage, World, stopTime } from "./support.mjs";

/** A list whose requests the test answers. */
class List {
  /** @type {{title: string, key: string, answer: (note: any) => void, fail: (error: Error) => void}[]} */
  asked = [];

  /** @param {string} title @param {string} key @returns {Promise<any>} */
  create = (title, key) => new Promise((answer, fail) => this.asked.push({ title, key, answer, fail }));
}

/** The drawer of a tab, on a storage that outlives the tab. */
const drawerOn = (/** @type {FakeStorage} */ storage, id = "tab", owner = "") => new Drawer({ storage, owner: () => owner, id });

function begun() {
  const line = new Emitter();
  const list = new List();
  const storage = new FakeStorage();
  const tab = (/** @type {Drawer} */ drawer) => new NewNotes({ list, connection: /** @type {any} */ (line), drawer });
  const newNotes = tab(drawerOn(storage));
  /** @type {any[]} */
  const made = [];
  newNotes.on("made", ({ newNote, note }) => made.push([newNote.title, note]));
  const newNote = newNotes.begin();
  return { line, list, storage, tab, newNotes, newNote, made };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("a new note is requested once, and has the title entered meanwhile", async () => {
  const { list, newNotes, newNote, made, storage } = begun();
  void newNotes.retry(newNote);
  newNote.title = "Plans";
  assert.equal(list.asked.length, 1);
  list.asked[0]?.answer({ id: "n-1", title: "Untitled note" });
  await turn();
  assert.deepEqual(made, [["Plans", { id: "n-1", title: "Untitled note" }]]);
  assert.deepEqual(newNotes.all, []);
  assert.equal(storage.items.size, 0);
});

test("a request without an answer is repeated after a reconnect, under the same key", async (context) => {
  const pass = stopTime(context);
  const { line, list, newNotes, newNote } = begun();
  newNote.title = "Plans";
  list.asked[0]?.fail(new RequestError(0));
  await turn();
  assert.deepEqual(newNote.problem, { text: "The server cannot be reached.", isFinal: false });
  line.emit("welcome", {});
  assert.equal(newNote.problem, undefined);
  list.asked[1]?.fail(new RequestError(503, "busy"));
  await turn();
  pass(5_000);
  assert.equal(list.asked.length, 3);
  // The first request may have arrived, so it is repeated unchanged, and a newer title is sent later.
  const { key } = newNote;
  assert.deepEqual(list.asked.map((asked) => [asked.title, asked.key]), Array(3).fill(["Untitled note", key]));
  assert.equal(newNotes.find(key), newNote);
});

test("a new note outlives its tab, and a later tab repeats its request", async () => {
  const { list, storage, tab, newNote } = begun();
  newNote.title = "Plans";
  // The tab is closed before the answer.
  const drawer = drawerOn(storage, "later");
  assert.deepEqual(tab(drawer).all, []);
  drawer.add("tab");
  const again = tab(drawer);
  const made = /** @type {any[]} */ ([]);
  again.on("made", (event) => made.push(event));
  assert.deepEqual(again.all.map(({ key, title }) => [key, title]), [[newNote.key, "Plans"]]);
  void again.retry(/** @type {any} */ (again.find(undefined)));
  assert.deepEqual([list.asked[1]?.title, list.asked[1]?.key], ["Untitled note", newNote.key]);
  list.asked[1]?.answer({ id: "n-1", title: "Untitled note" });
  await turn();
  assert.equal(made[0]?.newNote.title, "Plans");
  assert.equal(storage.items.size, 0);
});

test("another user of this browser does not find a new note", () => {
  const { storage, tab } = begun();
  const drawer = drawerOn(storage, "later", "eve");
  drawer.add("tab");
  assert.deepEqual(tab(drawer).all, []);
  assert.equal(hasThings(storage, ""), true);
  assert.equal(hasThings(storage, "eve"), false);
});

test("at most 100 new notes wait", () => {
  const { newNotes, list, newNote } = begun();
  while (!newNotes.isFull) newNotes.begin();
  assert.equal(newNotes.all.length, 100);
  assert.equal(newNotes.all[99], newNote);
  assert.equal(new Set(list.asked.map(({ key }) => key)).size, 100);
});

test("isKept is false if the storage is full", () => {
  const { newNote, storage } = begun();
  storage.room = 0;
  newNote.title = "Plans";
  assert.equal(newNote.isKept, false);
  assert.equal(newNote.title, "Plans");
});

test("a request over the rate limit is retried", async (context) => {
  const pass = stopTime(context);
  const { list, newNote } = begun();
  list.asked[0]?.fail(new RequestError(429, "tooFast"));
  await turn();
  assert.equal(newNote.problem?.isFinal, false);
  pass(5_000);
  assert.equal(list.asked.length, 2);
});

test("a rate-limited subscription to the list is retried, and repeated after each connection", async () => {
  let fetched = 0;
  globalThis.fetch = /** @type {any} */ (async () => ((fetched += 1), new Response('{"notes":[]}')));
  const world = new World();
  new NoteList(world.connection);
  world.connection.start();
  world.welcome();
  assert.equal(world.count("subscribe"), 1);
  world.refuse("subscribe", { code: "tooFast", retryable: true, retryAfter: 200 });
  world.pass(200);
  assert.equal(world.count("subscribe"), 2);
  world.refuse("subscribe", { code: "notAllowed" });
  world.pass(5_000);
  assert.equal(world.count("subscribe"), 2);
  // It is subscribed once for each connection, and fetched again after each notification.
  world.hangUp(1006);
  world.connection.retryNow();
  world.welcome();
  assert.equal(world.count("subscribe"), 3);
  await turn();
  const before = fetched;
  world.say("resourceUpdate", { resourceId: "notes" });
  await turn();
  assert.equal(fetched, before + 1);
});

test("a refused note waits for the user, and a discarded note is not requested again", async () => {
  const { line, list, newNotes, newNote, made, storage } = begun();
  list.asked[0]?.fail(new RequestError(403, "notAllowed"));
  await turn();
  assert.equal(newNote.problem?.isFinal, true);
  line.emit("welcome", {});
  assert.equal(list.asked.length, 1);
  void newNotes.retry(newNote);
  newNotes.forget(newNote);
  list.asked[1]?.answer({ id: "n-1", title: "Untitled note" });
  await turn();
  assert.deepEqual(made, []);
  assert.equal(storage.items.size, 0);
  line.emit("welcome", {});
  assert.equal(list.asked.length, 2);
});

const { fetch } = globalThis;
afterEach(() => (globalThis.fetch = fetch));

test("an unsent title overrides the title in the list", async () => {
  const line = Object.assign(new Emitter(), { subscribe: () => {} });
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

  globalThis.fetch = /** @type {any} */ (async () => new Response('{"code":"notAllowed","message":"the token does not grant this"}', { status: 403 }));
  await assert.rejects(list.rename("n-1", "Newer"), /^Error: You are not allowed to do this\.$/);
  assert.equal(list.titleOf("n-1"), "New");
});

/** Changes by this page, and notifications of changes by other users. */
const changesOfList = {
  "a deletion": (/** @type {NoteList} */ list) => list.remove("n-1", "Ann"),
  "a title": (/** @type {NoteList} */ list) => list.rename("n-1", "New"),
  "a folder": (/** @type {NoteList} */ list) => list.move("n-1", "Plans"),
  "a note made": (/** @type {NoteList} */ list) => list.create("Another", "key"),
  "another's deletion": (/** @type {NoteList} */ _list, /** @type {Emitter<any>} */ line) =>
    line.emit("document", { documentId: "n-1", deleted: true }),
  "another's title": (/** @type {NoteList} */ _list, /** @type {Emitter<any>} */ line) =>
    line.emit("document", { documentId: "n-1", title: "New" }),
};

for (const [name, change] of Object.entries(changesOfList)) {
  test(`${name} is not taken back by a list that was read before it`, async () => {
    const line = Object.assign(new Emitter(), { subscribe: () => {} });
    const list = new NoteList(/** @type {any} */ (line));
    const notes = [{ id: "n-1", title: "Old", folder: "" }];
    let isOnItsWay = Promise.resolve();
    globalThis.fetch = /** @type {any} */ (async (/** @type {string} */ _path, /** @type {any} */ { method, body }) => {
      if (method === "POST") return new Response(JSON.stringify(notes[notes.push({ id: "n-2", title: "Another", folder: "" }) - 1]));
      if (method === "DELETE") return new Response(JSON.stringify(notes.shift()));
      if (method === "PATCH") return new Response(JSON.stringify(Object.assign(notes[0] ?? {}, JSON.parse(body))));
      const read = JSON.stringify({ notes });
      await isOnItsWay;
      return new Response(read);
    });
    await list.refresh();
    const before = JSON.stringify(list.notes);
    let arrive = () => {};
    isOnItsWay = new Promise((resolve) => (arrive = resolve));
    const fetched = new Promise((resolve) => list.on("fetched", resolve));
    void list.refresh();
    await change(list, line);
    const after = JSON.stringify(list.notes);
    assert.notEqual(after, before);
    arrive();
    await fetched;
    assert.equal(JSON.stringify(list.notes), after);
  });
}

test("of several titles the newest is stored last, even on a slow connection", async () => {
  const line = Object.assign(new Emitter(), { subscribe: () => {} });
  const list = new NoteList(/** @type {any} */ (line));
  let stored = "Old";
  /** @type {(() => void)[]} Pending requests. */
  const waiting = [];
  globalThis.fetch = /** @type {any} */ ((/** @type {string} */ _path, /** @type {any} */ { body }) =>
    new Promise((resolve) =>
      waiting.push(() => {
        stored = JSON.parse(body).title;
        resolve(new Response("{}"));
      })));
  const renamings = ["One", "Two", "Three"].map((title) => list.rename("n-1", title));
  // The server handles the latest request first.
  while (waiting.length > 0) {
    waiting.pop()?.();
    for (let step = 0; step < 9; step += 1) await turn();
  }
  assert.deepEqual(await Promise.all(renamings), [true, true, true]);
  assert.equal(stored, "Three");
  assert.equal(list.wantedTitleOf("n-1"), undefined);
});

/** A text field with the members that `EarlyWords` uses. */
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

test("early text belongs to its note and its user", () => {
  const storage = new FakeStorage();
  const field = new Field();
  const wordsOf = (/** @type {string} */ owner) =>
    new EarlyWords({ field: /** @type {any} */ (field), drawer: drawerOn(storage, "tab", owner) });
  const early = wordsOf("ada");
  early.show("new/1");
  field.type("new", 2);
  early.move("new/1", "n-1");
  assert.equal(early.note, "n-1");
  early.show("n-2");
  assert.equal(field.value, "");
  field.type("other", 5);
  early.show(undefined);
  assert.equal(field.hidden, true);
  early.flush();

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

test("long early text is stored once for several keystrokes, and separately for each note", (context) => {
  const pass = stopTime(context);
  const storage = new FakeStorage();
  const field = new Field();
  const early = new EarlyWords({ field: /** @type {any} */ (field), drawer: drawerOn(storage) });
  let full = 0;
  early.whenFull = () => (full += 1);
  const written = /** @type {string[]} */ ([]);
  const { setItem } = storage;
  storage.setItem = (key, value) => (written.push(key), setItem(key, value));
  early.show("n-1");
  field.type("a", 1);
  assert.deepEqual(written.splice(0), ["parley.kept.tab.early.n-1"]);
  for (const text of ["a", "ab", "abc"]) field.type(text.repeat(4_001), 0);
  assert.deepEqual(written, []);
  pass(150);
  assert.deepEqual(written, ["parley.kept.tab.early.n-1"]);
  early.show("n.2");
  field.type("x", 1);
  pass(150);
  assert.deepEqual(written.slice(1), ["parley.kept.tab.early.n.2"]);
  assert.deepEqual(drawerOn(storage).names("early."), ["n-1", "n.2"]);
  assert.equal(full, 0);
  storage.room = 10;
  field.type("xy", 2);
  early.flush();
  assert.equal(full, 1);
  assert.equal(early.text("n.2"), "xy");
});

test("an unsent title outlives its tab", async () => {
  const storage = new FakeStorage();
  const line = Object.assign(new Emitter(), { subscribe: () => {} });
  const listOf = (/** @type {string} */ tab, /** @type {string[]} */ ...gone) => {
    const drawer = drawerOn(storage, tab);
    for (const other of gone) drawer.add(other);
    return new NoteList(/** @type {any} */ (line), { drawer });
  };
  globalThis.fetch = /** @type {any} */ (async () => Promise.reject(new TypeError("no network")));
  assert.equal(await listOf("first").rename("n-1", "New"), false);
  const later = listOf("later", "first");
  assert.equal(later.titleOf("n-1"), "New");
  /** @type {string[]} */
  const asked = [];
  globalThis.fetch = /** @type {any} */ (async (/** @type {string} */ path, /** @type {any} */ { method, body }) => {
    if (method === "PATCH") asked.push(`${path} ${body}`);
    return new Response('{"notes":[]}');
  });
  line.emit("welcome", {});
  while (later.wantedTitleOf("n-1") !== undefined) await turn();
  assert.equal(asked.at(-1), '/api/notes/n-1 {"title":"New"}');
  assert.equal(storage.items.size, 0);
});

test("a composed word is part of the early text when the composition ends", () => {
  const field = new Field();
  const early = new EarlyWords({ field: /** @type {any} */ (field), drawer: drawerOn(new FakeStorage()) });
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

test("a title is retried while the server is busy, and a rejection is reported", async (context) => {
  const pass = stopTime(context);
  const line = Object.assign(new Emitter(), { subscribe: () => {} });
  const storage = new FakeStorage();
  const list = new NoteList(/** @type {any} */ (line), { drawer: drawerOn(storage) });
  /** @type {any[]} */
  const refused = [];
  list.on("refused", ({ id, title, error }) => refused.push([id, title, error.status]));
  /** @type {(() => Response)[]} */
  const answers = [];
  globalThis.fetch = /** @type {any} */ (async () => answers.shift()?.() ?? Promise.reject(new TypeError("no network")));
  const refusal = (/** @type {string} */ code, /** @type {number} */ status) => () => new Response(JSON.stringify({ code }), { status });
  const cut = () => new Response(new ReadableStream({ start: (controller) => controller.error(new TypeError("the line ended")) }));
  answers.push(cut);
  assert.equal(await list.rename("n-1", "Plans"), false);
  answers.push(refusal("busy", 503));
  assert.equal(await list.rename("n-1", "Plan"), false);
  assert.equal(list.titleOf("n-1"), "Plan");
  assert.equal(storage.items.size, 1);
  answers.push(refusal("tooFast", 429));
  pass(5_000);
  for (let step = 0; step < 9; step += 1) await turn();
  assert.deepEqual([list.titleOf("n-1"), refused], ["Plan", []]);
  answers.push(refusal("notAllowed", 403));
  pass(5_000);
  for (let step = 0; step < 9; step += 1) await turn();
  assert.deepEqual(refused, [["n-1", "Plan", 403]]);
  assert.equal(list.wantedTitleOf("n-1"), undefined);
  assert.equal(storage.items.size, 0);
});

test("a new note whose answer is cut off has no final problem", async () => {
  const line = Object.assign(new Emitter(), { subscribe: () => {} });
  const storage = new FakeStorage();
  const list = new NoteList(/** @type {any} */ (line));
  globalThis.fetch = /** @type {any} */ (async () =>
    new Response(new ReadableStream({ start: (controller) => controller.error(new TypeError("the line ended")) })));
  const newNotes = new NewNotes({ list, connection: /** @type {any} */ (line), drawer: drawerOn(storage) });
  const newNote = newNotes.begin();
  for (let step = 0; step < 9; step += 1) await turn();
  assert.equal(newNote.problem?.isFinal, false);
  newNotes.forget(newNote);
});
