// The current position of a passage that a search has found.

import assert from "node:assert/strict";
import { test } from "node:test";
import { rangeOf } from "../../Web/js/editing/foundplace.js";

const place = { text: "the duck is", start: 3, marks: [{ from: 4, to: 8 }] };

/** @param {string} text */
const shown = (text) => {
  const { from, to } = rangeOf(place, text);
  return [from, text.slice(from, to)];
};

test("a passage is at its position in scalars if the text is unchanged", () => {
  assert.deepEqual(shown("or the duck is"), [7, "duck"]);
  assert.deepEqual(shown("😀r the duck is, not a duck"), [8, "duck"]);
});

test("in a changed text, the nearest occurrence of the words is used", () => {
  assert.deepEqual(shown("duck! A, the duck is"), [13, "duck"]);
  assert.deepEqual(shown("duck ".repeat(9)), [5, "duck"]);
  assert.deepEqual(shown("duck! and then what else is there"), [0, "duck"]);
});

test("in a text without the words, a position within the text is used", () => {
  assert.deepEqual(shown("geese, many of them"), [7, ""]);
  assert.deepEqual(shown(""), [0, ""]);
  assert.deepEqual(rangeOf({ text: "", start: 0, marks: [] }, "text"), { from: 0, to: 0 });
});
