// Two revisions as one text: deleted text, and the operation that reverts a part.

import assert from "node:assert/strict";
import { test } from "node:test";
import { restoredFormat } from "../../Web/js/history/restoredformat.js";
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
    { from: 4, to: 20, operation: [4, "😀 old", -3, 6, -1, 3], restored: [{ from: 4, to: 10 }] },
    { from: 23, to: 27, operation: [17, "last"], restored: [{ from: 19, to: 23 }] },
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
    for (const { operation, restored } of hunks) {
      const inserted = operation.filter((one) => typeof one === "string").join("");
      assert.equal(restored.map(({ from, to }) => older.slice(from, to)).join(""), inserted, `seed ${seed}`);
    }
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

test("restored text has the attributes that it had", () => {
  const committed = "a 😀bold\nplain link";
  const sets = [{ bold: true }, { block: "h1" }, { color: "#c00000" }, { link: "/" }];
  const format = { sets, runs: [2, 0, 6, 1, 1, 2, 6, 0, 4, 4] };
  const of = (/** @type {[number, number][]} */ ...ranges) => restoredFormat({ committed, format }, ranges.map(([from, to]) => ({ from, to })));
  assert.deepEqual(of([0, committed.length]), { sets: [sets[0], sets[1], sets[3]], put: [2, 0, 5, 1, 1, 2, 6, 0, 4, 3] });
  // Neighbours of one set are one run, and what follows the last set is left out.
  assert.deepEqual(of([2, 4], [6, 8], [9, 12]), { sets: [sets[0]], put: [3, 1] });
  assert.deepEqual(of([15, 19], [8, 9]), { sets: [sets[3], sets[1]], put: [4, 1, 1, 2] });
  assert.equal(of([9, 12]), undefined);
  assert.equal(restoredFormat({ committed }, [{ from: 0, to: 2 }]), undefined);
  // Text after the last run has no attributes.
  assert.deepEqual(restoredFormat({ committed: "abc", format: { sets, runs: [1, 1] } }, [{ from: 0, to: 3 }]), { sets: [sets[0]], put: [1, 1] });
});
