// Two revisions as one text: deleted text, and the operation that reverts a part.

import assert from "node:assert/strict";
import { test } from "node:test";
import { comparisonOf, differenceOf } from "../../Web/js/history/comparison.js";
import { runsOf } from "../../Web/js/history/history.js";
import { Random, randomText } from "./support.mjs";

/**
 * A text after an operation.
 *
 * @param {string} text
 * @param {(number | string)[]} operation
 */
function after(text, operation) {
  const scalars = [...text];
  let made = "";
  let place = 0;
  for (const component of operation) {
    if (typeof component === "string") made += component;
    else if (component < 0) place -= component;
    else made += scalars.slice(place, (place += component)).join("");
  }
  assert.equal(place, scalars.length, "the operation covers the text");
  return made;
}

test("deleted text precedes inserted text, and the changes of a line are one part", () => {
  const parts = [
    { kept: 4 }, { deleted: "😀 old" }, { inserted: "new", author: "Ann" }, { kept: 6 }, { inserted: "!", author: "Bo" },
    { kept: 3 }, { deleted: "last" },
  ];
  const newer = "the new word !\nx\n".replace(" !", "s!");
  const { text, marks, hunks } = comparisonOf(newer, parts);
  assert.equal(text, "the 😀 oldnew words!\nx\nlast");
  assert.deepEqual(marks, [
    { author: undefined, from: 4, to: 10 },
    { author: "Ann", from: 10, to: 13 },
    { author: "Bo", from: 19, to: 20 },
    { author: undefined, from: 23, to: 27 },
  ]);
  assert.deepEqual(hunks, [
    { from: 4, to: 20, operation: [4, "😀 old", -3, 6, -1, 3] },
    { from: 23, to: 27, operation: [17, "last"] },
  ]);
  assert.equal(after(newer, hunks[0]?.operation ?? []), "the 😀 old words\nx\n");
});

test("reverting all parts gives the older text", () => {
  for (let seed = 1; seed <= 500; seed += 1) {
    const random = new Random(seed);
    let [older, newer] = ["", ""];
    /** @type {import("../../Web/js/history/comparison.js").Part[]} */
    const parts = [];
    const piece = () => randomText(random) + (random.below(3) === 0 ? "\n" : "") + (random.below(9) === 0 ? "\r\n" : "");
    for (let count = random.below(8); count > 0; count -= 1) {
      const kept = piece();
      if (kept) parts.push({ kept: [...kept].length });
      const [deleted, inserted] = [piece(), piece()];
      if (random.below(3) > 0 && deleted) {
        parts.push({ deleted });
        older += kept + deleted;
      } else older += kept;
      newer += kept;
      if (random.below(3) > 0 && inserted) {
        parts.push({ inserted, author: "Ann" });
        newer += inserted;
      }
    }
    const { text, marks, hunks, ...both } = comparisonOf(newer, parts);
    const shown = (/** @type {string} */ one) => one.replace(/\r\n?/g, "\n");
    assert.deepEqual(both, { older: shown(older), newer: shown(newer) }, `seed ${seed}`);
    assert.ok(!text.includes("\r"), `seed ${seed}`);
    for (const { from, to } of marks) assert.ok(from < to && to <= text.length, `seed ${seed}`);
    // Begin with the last part, because each operation applies to the newer text.
    let restored = newer;
    for (const { operation } of [...hunks].reverse()) {
      const length = [...restored].length - [...newer].length;
      const last = operation.at(-1);
      const moved = typeof last === "number" && last > 0 ? [...operation.slice(0, -1), last + length] : [...operation, length];
      restored = after(restored, length === 0 ? operation : moved);
    }
    assert.equal(restored, older, `seed ${seed}`);
  }
});

test("differenceOf turns the older text into the newer one, and names the authors", () => {
  for (let seed = 1; seed <= 300; seed += 1) {
    const random = new Random(seed);
    const text = () => Array.from({ length: random.below(6) }, () => randomText(random) + ["\n", "\r\n", ""][random.below(3)]).join("");
    const [older, newer] = [text(), text()];
    const half = newer.length >> 1;
    const past = (/** @type {string} */ committed) => ({ revision: 0, time: 0, text: "", committed, runs: runsOf(committed, [{ author: "Ann", count: half }, { author: "Bo", count: newer.length }]) });
    const parts = differenceOf(past(older), past(newer));
    let [made, place] = ["", 0];
    const scalars = [...older];
    for (const { kept, deleted, inserted, author } of parts) {
      if (kept !== undefined) made += scalars.slice(place, place + kept).join("");
      place += kept ?? [...(deleted ?? "")].length;
      if (inserted !== undefined) assert.ok(author === "Ann" || author === "Bo", `seed ${seed}`);
      made += inserted ?? "";
    }
    assert.equal(made, newer, `seed ${seed}`);
    assert.equal(place, scalars.length);
  }
});
