// The laws of lists of changes, over many seeds.

import assert from "node:assert/strict";
import { test } from "node:test";
import { composed, transformed } from "../../Web/js/client/changes.js";
import { Random, applied, randomChanges, randomText } from "./support.mjs";

/** @param {import("../../Web/js/client/door.js").TextChange[]} changes @param {string} name */
function checkAscending(changes, name) {
  let end = 0;
  for (const { from, to, insert } of changes) {
    assert.ok(end <= from && from <= to && (from < to || insert), name);
    end = to;
  }
}

test("concurrent changes lead to one text in both orders", () => {
  for (let seed = 1; seed <= 5_000; seed += 1) {
    const random = new Random(seed);
    const text = randomText(random, 10);
    const [a, b] = [randomChanges(random, text), randomChanges(random, text)];
    const isFirst = random.below(2) === 1;
    const [aAfterB, bAfterA] = [transformed(a, b, isFirst), transformed(b, a, !isFirst)];
    for (const one of [aAfterB, bAfterA]) checkAscending(one, `seed ${seed}`);
    assert.equal(applied(applied(text, a), bAfterA), applied(applied(text, b), aAfterB), `seed ${seed}`);
  }
});

test("composed changes have the effect of both lists", () => {
  for (let seed = 1; seed <= 5_000; seed += 1) {
    const random = new Random(seed);
    const text = randomText(random, 10);
    const first = randomChanges(random, text);
    const between = applied(text, first);
    const second = randomChanges(random, between);
    const both = composed(first, second);
    checkAscending(both, `seed ${seed}`);
    assert.equal(applied(text, both), applied(between, second), `seed ${seed}`);
  }
});

test("insertions at one position have the requested order", () => {
  const [a, b] = [[{ from: 1, to: 1, insert: "a" }], [{ from: 1, to: 2, insert: "b" }]];
  assert.deepEqual(transformed(a, b, true), [{ from: 1, to: 1, insert: "a" }]);
  assert.deepEqual(transformed(a, b, false), [{ from: 2, to: 2, insert: "a" }]);
  assert.deepEqual(transformed(b, a, false), [{ from: 2, to: 3, insert: "b" }]);
});

test("an insertion within deleted text remains", () => {
  const deletion = [{ from: 0, to: 4, insert: "" }];
  const others = [{ from: 2, to: 3, insert: "x" }];
  assert.deepEqual(transformed(deletion, others, true), [{ from: 0, to: 2, insert: "" }, { from: 3, to: 4, insert: "" }]);
});
