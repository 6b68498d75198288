// Copies of notes: which of them have to go, and that one opens as the server's text without edits.

import assert from "node:assert/strict";
import { test } from "node:test";
import { surplus } from "../../Web/js/copies.js";
import { Note } from "../../Web/js/note.js";
import { Line, World } from "./support.mjs";

const entry = (/** @type {string} */ id, /** @type {number} */ usedAt, units = 1) => ({ owner: "", id, units, usedAt });
const limits = { notes: 3, units: 10, age: 1 };

test("the notes that were used last stay, up to a number", () => {
  const entries = [entry("old", 1), entry("newest", 4), entry("mid", 2), entry("newer", 3)];
  assert.deepEqual(surplus(entries, limits).map(({ id }) => id), ["old"]);
});

test("and up to so much text: from the first that does not fit, older ones go", () => {
  const entries = [entry("a", 3, 6), entry("b", 2, 6), entry("c", 1, 1)];
  assert.deepEqual(surplus(entries, limits).map(({ id }) => id), ["b", "c"]);
});

test("a copy has the server's text, and none of the edits that wait", () => {
  const line = new Line();
  const note = new Note({ core: line.core, connection: line.connection, documentId: "d" });
  assert.equal(note.copy, undefined);
  line.tell("joined", { text: "text" });
  note.edit([{ from: 4, to: 4, insert: "!" }]);
  assert.equal(note.text, "text!");
  const copy = note.copy;
  assert.equal(copy?.text, "text");
  assert.equal(copy?.access, "write");

  // Another tab, without a server: the text is there, and edits are kept under an identity of the tab.
  const world = new World();
  /** @type {any[]} */
  const kept = [];
  world.connection.setUnsentIdentity({ id: "unsent-1", resumeToken: "" });
  const pending = {
    save: (/** @type {any} */ _note, /** @type {any} */ edits) => kept.push(edits) > 0,
    remove: () => {},
  };
  const copied = { .../** @type {any} */ (copy), access: /** @type {const} */ ("read") };
  const opened = new Note({ core: world.core, connection: world.connection, documentId: "d", pending, copied });
  assert.equal(opened.text, "text");
  assert.equal(opened.phase, "away");
  // As it was allowed then, until the server says what is.
  assert.equal(opened.access, "read");
  opened.edit([{ from: 0, to: 0, insert: "more " }]);
  opened.persistNow();
  assert.equal(kept.length, 1);
  assert.deepEqual(kept[0].identity, { id: "unsent-1", resumeToken: "" });

  // And a third one, which goes on from that.
  const third = new World();
  const restored = { ...kept[0], base: "text", title: "" };
  const last = new Note({ core: third.core, connection: third.connection, documentId: "d", restored });
  assert.equal(last.text, "more text");
  assert.equal(last.unconfirmedCount, 1);
});
