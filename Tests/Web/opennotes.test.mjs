// Notes that are opened, left, and opened again; what the page's parts share is the test's.

import assert from "node:assert/strict";
import { register } from "node:module";
import { test } from "node:test";
import { Emitter } from "../../Web/js/emitter.js";
import { core } from "./support.mjs";

/** @type {Map<string, string>} */
const stored = new Map();
Object.defineProperty(globalThis, "localStorage", {
  value: {
    getItem: (/** @type {string} */ key) => stored.get(key) ?? null,
    setItem: (/** @type {string} */ key, /** @type {string} */ value) => void stored.set(key, value),
    removeItem: (/** @type {string} */ key) => void stored.delete(key),
  },
});

/** The line, with a server at its end that answers every join. */
class Line extends Emitter {
  identity = { id: "ann", resumeToken: "token" };
  isOnline = true;
  /** @type {{type: string, data: any}[]} */
  sent = [];

  /** @param {string} type @param {any} data */
  send = (type, data) => void this.sent.push({ type, data });
  /** @param {string} type @param {string} text */
  sendEncoded = (type, text) => this.send(type, JSON.parse(text));

  /** @param {string} type @param {object} data */
  say(type, data) {
    this.emit("message", { messageId: "s1", type, data: { documentId: "d", ...data } });
  }

  /** @param {string} type */
  last = (type) => this.sent.findLast((message) => message.type === type)?.data;
}

const line = new Line();
const session = {
  connection: line,
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
  "./editor.js": moduleOf("export const wellFormed = (text) => text;"),
};
register(
  moduleOf(`
    const stands = ${JSON.stringify(stands)};
    export const resolve = (name, context, next) =>
      name in stands ? { url: stands[name], shortCircuit: true } : next(name, context);
  `),
);
const { leaveNote, notes, openNote } = await import("../../Web/js/opennotes.js");

/** @param {object} [more] */
const joined = (more) =>
  line.say("joined", {
    title: "Title", epoch: "e", revision: 7, text: "text", lastSequence: 0, access: "write", presence: [], ...more,
  });
/** What is asked of `queueMicrotask` has happened. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

test("a note that failed with unsaved edits has them when it is opened again", async () => {
  const note = openNote("d");
  joined();
  note.edit([{ from: 4, to: 4, insert: "!" }]);
  line.say("accessChanged", { access: "none" });
  assert.equal(note.phase, "failed");
  leaveNote(note);
  await turn();
  assert.equal(openNote("d"), note);
  assert.equal(note.text, "text!");
  joined({ text: undefined, changes: [] });
  assert.deepEqual(line.last("change").operation, [4, "!"]);
  line.say("acknowledged", { sequence: 1, revision: 8 });
  await turn();
  assert.equal(notes.size, 0);
  assert.equal(stored.size, 0);
});

test("one that failed with nothing unsaved is given up", async () => {
  const note = openNote("d");
  joined();
  line.say("accessChanged", { access: "none" });
  leaveNote(note);
  await turn();
  assert.equal(notes.size, 0);
});

test("what could not be saved of a deleted note is there when it is looked for again", async () => {
  const note = openNote("d");
  joined();
  note.edit([{ from: 4, to: 4, insert: "!" }]);
  line.say("documentChanged", { deleted: true });
  leaveNote(note);
  assert.equal(notes.size, 0);
  assert.deepEqual([...stored.keys()].sort(), ["parley.base.a.ann.d", "parley.pending.ann.d"]);
  const again = openNote("d");
  assert.equal(again.text, "text!");
  assert.equal(line.last("join").resume.revision, 7);
  again.discardUnconfirmed();
  joined();
  await turn();
  assert.equal(notes.size, 0);
  assert.equal(stored.size, 0);
});

test("edits that another version of the page wrote do not keep the note from opening", () => {
  const { identity } = line;
  stored.set("parley.pending.ann.d", JSON.stringify({ identity, documentId: "d", title: "", session: "?" }));
  const note = openNote("d");
  assert.equal(note.hasText, false);
  joined();
  assert.equal(note.text, "text");
  line.sent = [];
  line.emit("welcome", {});
  assert.equal(line.sent.length, 1);
});
