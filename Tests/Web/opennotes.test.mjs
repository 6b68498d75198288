// Notes that are opened, left and reopened. The test replaces the page's shared session.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { register } from "node:module";
import { test } from "node:test";
import { FakeStorage, Line } from "./support.mjs";

const storage = new FakeStorage();
Object.defineProperty(globalThis, "localStorage", { value: storage });

const line = new Line();
const { connection, core } = line;
const session = {
  access: {},
  connection,
  copies: { of: () => undefined, remove: () => {} },
  core,
  early: { text: () => "", take: () => undefined },
  list: { titleOf: () => "Title" },
  ownerNow: () => "",
};
Object.assign(globalThis, { session });

/** @param {string} source */
const moduleOf = (source) => `data:text/javascript,${encodeURIComponent(source)}`;
const stands = {
  "./session.js": moduleOf(`export const { ${Object.keys(session)} } = globalThis.session;`),
};
register(
  moduleOf(`
    const stands = ${JSON.stringify(stands)};
    export const resolve = (name, context, next) =>
      name in stands ? { url: stands[name], shortCircuit: true } : next(name, context);
  `),
);
const { leaveNote, notes, openNote } = await import("../../Web/js/state/opennotes.js");

/** @param {object} [more] */
const joined = (more) => line.tell("joined", { text: "text", ...more });
/** Waits until the callbacks of `queueMicrotask` have run. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

test("a failed note with unsaved edits has them when it is reopened", async () => {
  const note = openNote("d");
  joined();
  note.edit([{ from: 4, to: 4, insert: "!" }]);
  line.tell("accessChanged", { access: "none" });
  assert.equal(note.phase, "failed");
  leaveNote(note);
  await turn();
  assert.equal(openNote("d"), note);
  assert.equal(note.text, "text!");
  joined({ text: undefined, changes: [] });
  assert.deepEqual(line.last("change")?.data.operation, [4, "!"]);
  line.tell("acknowledged", { sequence: 1, revision: 8 });
  await turn();
  assert.equal(notes.size, 0);
  assert.equal(storage.items.size, 0);
});

test("a failed note without unsaved edits is closed", async () => {
  const note = openNote("d");
  joined();
  line.tell("accessChanged", { access: "none" });
  leaveNote(note);
  await turn();
  assert.equal(notes.size, 0);
});

test("unsaved edits of a deleted note are restored when it is reopened", async () => {
  const note = openNote("d");
  joined();
  note.edit([{ from: 4, to: 4, insert: "!" }]);
  line.tell("documentChanged", { deleted: true });
  leaveNote(note);
  assert.equal(notes.size, 0);
  assert.deepEqual([...storage.items.keys()].sort(), ["parley.base.a.ann.d", "parley.pending.ann.d"]);
  const again = openNote("d");
  assert.equal(again.text, "text!");
  assert.equal(line.last("join")?.data.resume.revision, 7);
  again.discardUnconfirmed();
  joined();
  await turn();
  assert.equal(notes.size, 0);
  assert.equal(storage.items.size, 0);
});

test("unreadable edits are set aside, and the note opens", async () => {
  const identity = { id: "ann", resumeToken: "token of ann" };
  const record = (/** @type {string} */ session) =>
    JSON.stringify({ identity, documentId: "d", title: "", session, slot: "b", tag: "7 e" });
  for (const [index, session] of ["?", "parley.note.1\n7\n", "parley.session.2\n7\n"].entries()) {
    storage.setItem("parley.pending.ann.d", record(session));
    storage.setItem("parley.base.b.ann.d", `text ${index}`);
    const note = openNote("d");
    /** @type {string[]} */
    const notices = [];
    note.on("notice", ({ kind }) => notices.push(kind));
    assert.equal(note.hasText, false);
    await turn();
    assert.deepEqual(notices, ["aside"]);
    joined();
    assert.equal(note.text, "text");
    const joins = line.count("join");
    line.lose();
    line.comeBack();
    assert.equal(line.count("join"), joins + 1);
    joined({ changes: [] });
    // New edits do not overwrite the edits set aside, and neither do edits set aside later.
    note.edit([{ from: 0, to: 0, insert: "a" }]);
    note.persistNow();
    line.tell("acknowledged", { sequence: line.last("change")?.data.sequence, revision: 8 });
    leaveNote(note);
    await turn();
    for (let number = 0; number <= index; number += 1) {
      assert.equal(storage.getItem(`parley.aside.${number + 1}.b.ann.d`), `text ${number}`);
    }
    assert.equal(storage.getItem(`parley.aside.${index + 1}.ann.d`), record(session));
    assert.equal(storage.items.size, 2 * (index + 1));
  }
});

// Scripts/make_fixtures.py writes a version's fixture with this test.
test("the fixture of stored edits is written", { skip: process.env.FIXTURES_TO === undefined }, async () => {
  storage.items.clear();
  const note = openNote("d");
  joined();
  line.lose();
  note.edit([{ from: 4, to: 4, insert: " é" }]);
  note.persistNow();
  writeFileSync(`${process.env.FIXTURES_TO}/page.json`, `${JSON.stringify(Object.fromEntries(storage.items), undefined, 1)}\n`);
  line.comeBack();
  joined({ text: undefined, changes: [] });
  line.tell("acknowledged", { sequence: line.last("change")?.data.sequence, revision: 8 });
  leaveNote(note);
  await turn();
  assert.equal(storage.items.size, 0);
});

test("edits stored by the page of 0.1.0 are sent when the note is opened", { skip: process.env.FIXTURES_TO !== undefined }, async () => {
  storage.items.clear();
  const kept = readFileSync(new URL("../Fixtures/0.1.0/page.json", import.meta.url), "utf8");
  for (const [key, value] of Object.entries(JSON.parse(kept))) storage.setItem(key, value);
  const note = openNote("d");
  assert.equal(note.text, "text é");
  joined({ text: undefined, changes: [] });
  assert.deepEqual(line.last("change")?.data.operation, [4, " é"]);
  line.tell("acknowledged", { sequence: line.last("change")?.data.sequence, revision: 8 });
  leaveNote(note);
  await turn();
  assert.equal(storage.items.size, 0);
});
