// The authors of each part of a text that changes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ChangeSet, EditorState, Transaction } from "../../Web/js/codemirror.js";
import { authorsAfter, writtenBy } from "../../Web/js/history/writtenby.js";
import { palette } from "../../Web/js/state/people.js";
import { Random } from "./support.mjs";

const remote = Transaction.remote.of(true);

/** @returns {{written: ReturnType<typeof writtenBy>, state: any}} */
function empty(doc = "") {
  const written = writtenBy({ me: () => "me", isOwn: (transaction) => !transaction.annotation(Transaction.remote) });
  return { written, state: EditorState.create({ doc, extensions: [written.field] }) };
}

/** @param {ReturnType<typeof writtenBy>} written @param {any} state @returns {(string | undefined)[]} By UTF-16 unit. */
function lettersOf(written, state) {
  const authors = new Array(state.doc.length).fill(undefined);
  for (const { author, from, to } of written.runs(state, 0, state.doc.length)) authors.fill(author, from, to);
  return authors;
}

/** @param {Random} random @param {number} length */
const someChanges = (random, length) => {
  const changes = [];
  for (let place = random.below(4); place <= length; place += 1 + random.below(6)) {
    const to = Math.min(length, place + random.below(4));
    changes.push({ from: place, to, insert: "xyz".slice(0, random.below(4)) });
    place = to;
  }
  return changes;
};

/** @param {(string | undefined)[]} authors @param {{from: number, to: number, insert: string}[]} changes @param {string | undefined} author */
function changed(authors, changes, author) {
  const next = [...authors];
  for (const { from, to, insert } of [...changes].reverse()) next.splice(from, to - from, ...new Array(insert.length).fill(author));
  return next;
}

test("each letter keeps its author, own text has the user, and received text has no author yet", () => {
  for (let seed = 1; seed <= 400; seed += 1) {
    const random = new Random(seed);
    let { written, state } = empty("a text of some letters");
    let authors = [...state.doc.toString()].map((_, index) => (index < 7 ? "Ann" : "Bo"));
    state = state.update({ effects: written.become([{ author: "Ann", from: 0, to: 7 }, { author: "Bo", from: 7, to: 22 }]) }).state;
    for (let step = 0; step < 6; step += 1) {
      const isOwn = random.below(2) === 0;
      const changes = someChanges(random, state.doc.length);
      state = state.update({ changes, annotations: isOwn ? [] : [remote] }).state;
      authors = changed(authors, changes, isOwn ? "me" : undefined);
      assert.deepEqual(lettersOf(written, state), authors, `seed ${seed}, step ${step}`);
    }
  }
});

test("the server's authors apply to the requested text, and are moved over later edits", () => {
  for (let seed = 1; seed <= 400; seed += 1) {
    const random = new Random(seed);
    let { written, state } = empty("0123456789");
    let authors = /** @type {(string | undefined)[]} */ (new Array(10).fill("Ann"));
    let since = ChangeSet.of([], 10);
    for (let step = 0; step < 4; step += 1) {
      const isOwn = random.below(2) === 0;
      const changes = someChanges(random, state.doc.length);
      const update = state.update({ changes, annotations: isOwn ? [] : [remote] });
      since = since.compose(update.changes);
      state = update.state;
      authors = changed(authors, changes, isOwn ? "me" : undefined);
    }
    const runs = written.after(state, [{ author: "Ann", from: 0, to: 10 }], since);
    state = state.update({ effects: written.become(runs) }).state;
    assert.deepEqual(lettersOf(written, state), authors, `seed ${seed}`);
  }
});

test("authorsAfter applies the server's difference", () => {
  const before = [{ author: "Ann", count: 4 }, { author: "Bo", count: 6 }];
  const parts = [{ kept: 2 }, { deleted: "😀x" }, { kept: 1 }, { inserted: "new 😀", author: "Cy" }, { kept: 5 }];
  assert.deepEqual(authorsAfter(before, parts), [
    { author: "Ann", count: 2 }, { author: "Bo", count: 1 }, { author: "Cy", count: 5 }, { author: "Bo", count: 5 },
  ]);
});

test("authors' lines have enough contrast in the light and in the dark theme", () => {
  /** @param {number[]} colour */
  const luminance = (colour) =>
    colour
      .map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
      .reduce((sum, value, index) => sum + value * ([0.2126, 0.7152, 0.0722][index] ?? 0), 0);
  const contrast = (/** @type {number[]} */ one, /** @type {number[]} */ other) => {
    const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  for (const color of palette) {
    const rgb = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
    assert.ok(contrast(rgb, [0xff, 0xfe, 0xfb]) >= 3, color);
    assert.ok(contrast(rgb.map((value) => value * 0.5 + 255 * 0.5), [0x1b, 0x1f, 0x23]) >= 3, color);
  }
});
