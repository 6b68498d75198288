// Positions in a text that is edited: laws over random edits.

import assert from "node:assert/strict";
import { test } from "node:test";
import { movedPlace, movedRange } from "../../Web/js/client/places.js";
import { applied } from "../../Web/js/ground/lineends.js";
import { DrawnText } from "../../Web/js/reading/drawntext.js";
import { Random } from "./support.mjs";

const seed = 39;

test("a position at an edit moves to the requested side", () => {
  const insert = [{ from: 2, to: 2, insert: "xy" }];
  assert.deepEqual([movedPlace(2, insert, -1), movedPlace(2, insert, 1), movedPlace(1, insert, 1)], [2, 4, 1]);
  const replace = [{ from: 1, to: 4, insert: "xy" }];
  assert.deepEqual([1, 2, 4].map((place) => movedPlace(place, replace, -1)), [1, 1, 3]);
  assert.deepEqual([1, 2, 4].map((place) => movedPlace(place, replace, 1)), [1, 3, 3]);
  assert.equal(movedRange({ from: 1, to: 4 }, [{ from: 0, to: 5, insert: "" }]), undefined);
  assert.deepEqual(movedRange({ from: 1, to: 4 }, [{ from: 1, to: 1, insert: "x" }, { from: 4, to: 4, insert: "y" }]), { from: 2, to: 5 });
});

test("a character that remains is found after any edits", () => {
  const random = new Random(seed);
  let next = 0x4e00;
  /** @param {number} count Characters that no text has had before. */
  const fresh = (count) => Array.from({ length: count }, () => String.fromCharCode((next += 1))).join("");
  for (let round = 0; round < 200; round += 1) {
    next = 0x4e00;
    const before = fresh(12);
    const drawn = new DrawnText(before);
    let text = before;
    for (let edit = random.below(4); edit >= 0; edit -= 1) {
      const changes = [];
      for (let place = random.below(4); place <= text.length && changes.length < 3; place += 1 + random.below(4)) {
        const to = Math.min(text.length, place + random.below(3));
        changes.push({ from: place, to, insert: fresh(random.below(3)) });
        place = to;
      }
      const former = text;
      text = applied(text, changes);
      drawn.follow(changes);
      assert.equal(drawn.isCurrent && former !== text, false);
    }
    for (const [index, character] of [...before].entries()) {
      const range = drawn.movedRange({ from: index, to: index + 1 });
      if (text.includes(character)) assert.equal(range && text.slice(range.from, range.to), character, `seed ${seed}, round ${round}`);
    }
  }
});

test("positions before and after the difference are kept when the whole text is replaced", () => {
  const drawn = new DrawnText("one two three");
  drawn.follow([{ from: 0, to: 0, insert: "- " }]);
  drawn.become("- one 2 three");
  assert.deepEqual(drawn.movedRange({ from: 0, to: 3 }), { from: 2, to: 5 });
  assert.equal(drawn.moved(8), 8);
  drawn.become("");
  assert.equal(drawn.movedRange({ from: 0, to: 3 }), undefined);
});
