// A note with "\r" is shown and edited as if it contained "\n". Positions and edits are converted to those of the note.

import assert from "node:assert/strict";
import { test } from "node:test";
import { runsOf } from "../../Web/js/history/history.js";
import { LineEnds, applied, lineEndsOf, shownOf, wholeText } from "../../Web/js/ground/lineends.js";
import { ShownNote } from "../../Web/js/state/shownnote.js";
import { rangeOf } from "../../Web/js/editing/foundplace.js";
import { Random, openedNote, randomChanges } from "./support.mjs";

test("each line end is shown as LF, and a whole text loses its byte order mark", () => {
  assert.equal(shownOf("a\r\nb\rc\n\r\r\n"), "a\nb\nc\n\n\n");
  assert.equal(wholeText("\ufeffa\r\n\ufeff"), "a\n\ufeff");
  assert.equal(wholeText("a\u0085b\u2028c\u2029d\fe"), "a\u0085b\u2028c\u2029d\fe");
  assert.equal(lineEndsOf("a\nb"), undefined);
});

const pieces = ["\r", "\n", "\r\n", "a", "b", "😀"];
const textOf = (/** @type {Random} */ random, length = 12) =>
  Array.from({ length: random.below(length) }, () => random.pick(pieces)).join("");

test("positions convert between the note and the shown text", () => {
  for (let seed = 1; seed <= 300; seed += 1) {
    const text = textOf(new Random(seed), 30);
    const ends = new LineEnds(text);
    for (let place = 0; place <= shownOf(text).length; place += 1) {
      const own = ends.toNote(place);
      assert.equal(shownOf(text.slice(0, own)).length, place, JSON.stringify({ seed, text, place }));
      assert.equal(ends.toShown(own), place);
    }
  }
});

test("edits convert between the note and the shown text, also beside a line end", () => {
  for (let seed = 1; seed <= 5_000; seed += 1) {
    const random = new Random(seed);
    const text = textOf(random);
    const ends = new LineEnds(text);
    const named = (/** @type {object} */ changes) => JSON.stringify({ seed, text, changes });
    // Edits of another program may separate CR and LF.
    const theirs = randomChanges(random, text).map((change) => ({ ...change, insert: textOf(random, 3) || "\r" }));
    assert.equal(applied(shownOf(text), ends.shown(theirs)), shownOf(applied(text, theirs)), named(theirs));
    const own = randomChanges(random, shownOf(text)).map((change) => ({ ...change, insert: shownOf(change.insert) }));
    assert.equal(shownOf(applied(text, ends.note(own))), applied(shownOf(text), own), named(own));
  }
});

/** @param {string} text */
function joined(text) {
  const opened = openedNote({ Kind: ShownNote });
  opened.line.tell("joined", { text });
  return opened;
}

test("text typed at the end of a line is inserted before its CR LF", () => {
  const { line, note, screen, type } = joined("😀\r\ncd\r\n");
  assert.equal(screen.text, "😀\ncd\n");
  assert.equal(note.text, "😀\ncd\n");
  type(2, "X");
  assert.deepEqual(line.last("change")?.data.operation, [1, "X", 6]);
  note.select(4, 4);
  line.tell("acknowledged", { sequence: 1, revision: 8 });
  type(6, "Y");
  assert.deepEqual(line.last("change")?.data.operation, [6, "Y", 2]);
  assert.equal(screen.text, "😀X\ncdY\n");
});

test("a received CR is not a character of the shown text", async () => {
  const { line, note, screen, type } = joined("ab");
  line.tell("changes", { revision: 8, changes: [
    { clientId: "bo", sequence: 1, operation: [1, "\r\n", 1] }, { clientId: "bo", sequence: 2, operation: [4, "!"] },
  ] });
  await Promise.resolve();
  assert.equal(screen.text, "a\nb!");
  assert.equal(note.text, screen.text);
  type(3, "?");
  assert.deepEqual(line.last("change")?.data.operation, [4, "?", 1]);
  // Changes are received one by one.
  line.tell("changes", { revision: 10, changes: [{ clientId: "bo", sequence: 3, operation: ["\r", 5] }] });
  assert.equal(screen.text, "\na\nb?!");
  assert.equal(note.text, screen.text);
});

test("carets, authors and found passages have positions in the shown text", () => {
  const { line, note } = joined("a\r\nb\r\nc");
  line.tell("presence", { joined: [{ clientId: "bo", name: "Bo" }] });
  line.tell("selections", { clientId: "bo", revision: 7, selections: [[6, 2]] });
  assert.deepEqual(note.peerSelections.map(({ anchor, head }) => [anchor, head]), [[4, 1]]);
  assert.deepEqual(runsOf("a\r\nb", [{ author: "A", count: 2 }, { author: "B", count: 2 }]), [
    { author: "A", from: 0, to: 1 }, { author: "B", from: 1, to: 3 },
  ]);
  const place = { text: "b  c", start: 3, marks: [{ from: 3, to: 4 }] };
  assert.deepEqual(rangeOf(place, "a\nb\nc", lineEndsOf("a\r\nb\r\nc")), { from: 4, to: 5 });
});
