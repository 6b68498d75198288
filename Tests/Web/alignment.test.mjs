// The longest common part of two lists, and the edits of lines that follow from it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { alongRuns, keptRuns } from "../../Web/js/history/alignment.js";
import { editsBetween } from "../../Web/js/history/edits.js";
import { Random } from "./support.mjs";

/** @param {string} former @param {string} next @returns {string} What stays, checked for its order. */
function kept(former, next) {
  const [before, after] = [[...former], [...next]];
  let [left, right, common] = ["", "", ""];
  alongRuns(
    keptRuns(before, after),
    { former: before.length, next: after.length },
    ({ former: from, next: to, count }) => {
      const run = before.slice(from, from + count).join("");
      assert.equal(after.slice(to, to + count).join(""), run);
      [left, right, common] = [left + run, right + run, common + run];
    },
    (one, other) => {
      left += before.slice(one.from, one.to).join("");
      right += after.slice(other.from, other.to).join("");
    },
  );
  assert.deepEqual([left, right], [former, next]);
  return common;
}

/** @param {string} one @param {string} other @returns {number} The length of their longest common part, by the book. */
function longestCommon(one, other) {
  let row = new Array(other.length + 1).fill(0);
  for (const letter of one) {
    const next = [0];
    for (let at = 1; at <= other.length; at += 1) {
      next.push(letter === other[at - 1] ? row[at - 1] + 1 : Math.max(row[at], next[at - 1] ?? 0));
    }
    row = next;
  }
  return row[other.length];
}

test("keptRuns finds a longest common subsequence", () => {
  assert.equal(kept("abc", "axc"), "ac");
  assert.equal(kept("", "abc"), "");
  for (let seed = 1; seed <= 2_000; seed += 1) {
    const random = new Random(seed);
    const text = () => Array.from({ length: random.below(14) }, () => "abcd"[random.below(4)]).join("");
    const [former, next] = [text(), text()];
    assert.equal(kept(former, next).length, longestCommon(former, next), `seed ${seed}: ${former} ${next}`);
  }
});

test("aligning long lists with little in common takes bounded time", () => {
  const former = Array.from({ length: 200_000 }, (_, index) => index);
  const next = former.map((entry) => (entry % 2 ? entry : -entry));
  const begin = process.cpuUsage();
  const runs = keptRuns(former, next);
  const { user } = process.cpuUsage(begin);
  assert.ok(runs.length > 200);
  assert.ok(user < 1_500_000, `${user / 1_000} ms`);
});

test("editsBetween turns one text into the other, and does not touch common lines", () => {
  for (let seed = 1; seed <= 1_000; seed += 1) {
    const random = new Random(seed);
    const text = () => Array.from({ length: random.below(9) }, () => ["a", "b\n", "c\n", "😀", "😁\n", "\n"][random.below(6)]).join("");
    const [before, after] = [text(), text()];
    let made = before;
    for (const { from, to, insert } of editsBetween(before, after).reverse()) made = made.slice(0, from) + insert + made.slice(to);
    assert.equal(made, after, `seed ${seed}`);
  }
  const lines = Array.from({ length: 50 }, (_, index) => `line ${index}\n`);
  const changed = lines.map((line, index) => (index === 3 || index === 40 ? "another\n" : line));
  const edits = editsBetween(lines.join(""), changed.join(""));
  assert.equal(edits.length, 2);
  assert.ok(edits.every(({ insert }) => insert.split("\n").length <= 2));
});
