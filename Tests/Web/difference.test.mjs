// The change that turns one text into another, without their common beginning and end.

import assert from "node:assert/strict";
import { test } from "node:test";
import { differenceBetween } from "../../Web/js/ground/difference.js";
import { Random, applied, isBoundary, randomChanges, randomText } from "./support.mjs";

test("differenceBetween keeps the common beginning and end, in whole scalars", () => {
  assert.equal(differenceBetween("same", "same"), undefined);
  assert.deepEqual(differenceBetween("one two", "one big two"), { from: 4, to: 4, insert: "big " });
  assert.deepEqual(differenceBetween("aaa", "aa"), { from: 2, to: 3, insert: "" });
  // The emoji have the same first half; the next two scalars have the same second half.
  assert.deepEqual(differenceBetween("a😀b", "a😁b"), { from: 1, to: 3, insert: "😁" });
  assert.deepEqual(differenceBetween("a\u{10000}b", "a\u{10400}b"), { from: 1, to: 3, insert: "\u{10400}" });
});

test("differenceBetween turns each text into the other", () => {
  const random = new Random(7);
  for (let round = 0; round < 500; round += 1) {
    const before = randomText(random, 8);
    const after = round % 2 ? randomText(random, 8) : applied(before, randomChanges(random, before));
    const change = differenceBetween(before, after);
    assert.equal(change ? applied(before, [change]) : before, after);
    if (change) assert.ok(isBoundary(before, change.from) && isBoundary(before, change.to), JSON.stringify([before, after]));
  }
});
