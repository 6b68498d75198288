// Changes that name their author by a number carry formatting, as those that name it by an id.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Note } from "../../Web/js/client/note.js";
import { Line } from "./support.mjs";

test("the formatting of a numbered change is applied", () => {
  const line = new Line();
  const note = new Note({ core: line.core, connection: line.connection, documentId: "d", formats: true });
  /** @type {object[]} */
  const seen = [];
  note.on("changes", (change) => seen.push(change));
  const numbers = { document: 1, time: 1_000, authors: [{ number: 1, clientId: "bo" }] };
  line.tell("joined", { text: "tea\n", kind: "rich", format: { sets: [{ block: "task" }], runs: [3, 0, 1, 1] }, numbers });
  const format = { sets: [{ block: "done" }], kept: [3, 1, 1] };
  line.receive(JSON.stringify({ type: "c", data: { c: [1, 8, 2_359, 1, 2, [4], format] } }));
  line.pass(100);
  assert.deepEqual(note.format(), { sets: [{ block: "done" }], runs: [3, 0, 1, 1] });
  assert.deepEqual(seen, [{ changes: [], format, isOwn: false }]);
});
