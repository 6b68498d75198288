// The line in which a word is composed: which changes wait, which are shown at once, and for how long.

import assert from "node:assert/strict";
import { test } from "node:test";
import { placeBefore } from "../../Web/js/client/changes.js";
import { movedPlace } from "../../Web/js/client/places.js";
import { ComposedLine, compositionTimeMax } from "../../Web/js/editing/composedline.js";
import { Random, applied, randomChanges, stopTime } from "./support.mjs";

/** @typedef {import("../../Web/js/client/door.js").TextChange} TextChange */

/** A note and its view, with the parts that a composition uses. */
class Stage {
  shown;
  note;
  caret;
  commits = 0;
  field = { blur: () => (this.commits += 1) };
  element = Object.assign(new EventTarget(), { getRootNode: () => ({ activeElement: this.field }) });

  /** @param {string} text @param {number} caret @param {boolean} [isOneField] Whether each change redraws the whole text. */
  constructor(text, caret, isOneField = false) {
    this.shown = this.note = text;
    this.caret = { from: caret, to: caret };
    const lineAt = (/** @type {number} */ place) => {
      const end = this.shown.indexOf("\n", place);
      return { from: this.shown.lastIndexOf("\n", place - 1) + 1, to: end < 0 ? this.shown.length : end };
    };
    this.line = new ComposedLine({
      element: /** @type {any} */ (this.element),
      selection: () => ({ anchor: this.caret.to, head: this.caret.from }),
      slice: (from, to) => this.shown.slice(from, to),
      lineAt: isOneField ? () => ({ from: 0, to: Infinity }) : lineAt,
      make: (changes) => {
        this.shown = applied(this.shown, changes);
        this.caret = { from: movedPlace(this.caret.from, changes, -1), to: movedPlace(this.caret.to, changes, -1) };
      },
      focus: () => {},
    });
  }

  /** Dispatch the events of a browser. */
  begin = (data = "") => this.element.dispatchEvent(Object.assign(new Event("compositionstart"), { data }));
  end = () => this.element.dispatchEvent(new Event("compositionend"));

  /** @param {number} from @param {number} to @param {string} insert In the shown text. */
  edit(from, to, insert) {
    this.shown = applied(this.shown, [{ from, to, insert }]);
    this.caret = { from: from + insert.length, to: from + insert.length };
    this.note = applied(this.note, this.line.follow([{ from, to, insert }]));
  }

  /** @param {TextChange[]} changes Of the note's text. */
  remote(...changes) {
    this.note = applied(this.note, changes);
    this.line.take(changes);
  }
}

test("a change of the composed line waits for the end of the composition, and other changes are shown at once", (context) => {
  const pass = stopTime(context);
  const stage = new Stage("one\nabc\nend", 7);
  stage.begin();
  stage.edit(7, 7, "に");
  stage.remote({ from: 6, to: 6, insert: "X" }, { from: 9, to: 9, insert: "!" });
  assert.deepEqual([stage.shown, stage.note], ["one\nabcに\n!end", "one\nabXcに\n!end"]);
  assert.deepEqual([stage.line.inNote(8), placeBefore(9, stage.line.waiting)], [9, 8]);
  stage.edit(7, 8, "日本");
  stage.end();
  assert.equal(stage.shown, "one\nabc日本\n!end");
  pass(0);
  assert.deepEqual([stage.shown, stage.note], ["one\nabXc日本\n!end", "one\nabXc日本\n!end"]);
});

test("a composition is committed a minute after the first waiting change", (context) => {
  const pass = stopTime(context);
  const stage = new Stage("abc", 3);
  stage.begin();
  stage.edit(3, 3, "に");
  pass(compositionTimeMax);
  assert.equal(stage.commits, 0);
  stage.remote({ from: 0, to: 0, insert: "X" });
  pass(compositionTimeMax - 1);
  assert.deepEqual([stage.shown, stage.note, stage.commits], ["abcに", "Xabcに", 0]);
  pass(1);
  assert.equal(stage.commits, 1);
  pass(0);
  assert.equal(stage.shown, "Xabcに");
  // The minute begins again for the next composition.
  stage.begin();
  stage.edit(5, 5, "ほ");
  stage.remote({ from: 0, to: 0, insert: "Y" });
  pass(compositionTimeMax - 1);
  assert.deepEqual([stage.shown, stage.commits], ["Xabcにほ", 1]);
});

test("a waiting change that is undone does not end the composition", (context) => {
  const pass = stopTime(context);
  const stage = new Stage("abc", 3);
  stage.begin();
  stage.edit(3, 3, "に");
  stage.remote({ from: 0, to: 0, insert: "X" });
  stage.remote({ from: 0, to: 1, insert: "" });
  pass(compositionTimeMax);
  assert.deepEqual([stage.line.waiting, stage.commits], [[], 0]);
});

test("composing an existing word again keeps text inserted beside it", (context) => {
  const pass = stopTime(context);
  // The word is selected, or contains the caret.
  for (const caret of [{ from: 4, to: 8 }, { from: 6, to: 6 }]) {
    const stage = new Stage("say word!", 0);
    stage.caret = caret;
    stage.begin("word");
    stage.remote({ from: 4, to: 4, insert: "X" }, { from: 8, to: 8, insert: "Y" });
    stage.edit(4, 8, "words");
    stage.remote({ from: 5, to: 5, insert: "Z" });
    stage.edit(4, 9, "Word");
    stage.end();
    pass(0);
    assert.equal(stage.note, "say XZWordY!");
    assert.equal(stage.shown, stage.note);
  }
});

test("text inserted after a word stays after it while the word is composed again", (context) => {
  const pass = stopTime(context);
  const stage = new Stage("a word", 4);
  stage.begin("word");
  stage.edit(5, 6, "");
  stage.edit(4, 5, "");
  stage.remote({ from: 4, to: 4, insert: "X" });
  stage.edit(4, 4, "rk");
  stage.end();
  pass(0);
  assert.equal(stage.shown, "a workX");
});

for (const isOneField of [false, true]) {
  test(`view and note have one text after a composition${isOneField ? ", of a field that is redrawn as a whole" : ""}`, (context) => {
    const pass = stopTime(context);
    for (let seed = 1; seed <= 1_000; seed += 1) {
      const random = new Random(seed);
      const stage = new Stage(["one two", "three", "", "- four"].join("\n"), random.below(22), isOneField);
      for (let word = 0; word < 2; word += 1) {
        let from = stage.caret.from;
        let to = from;
        stage.begin();
        for (let step = 0; step < 4; step += 1) {
          const before = stage.shown.slice(from, to);
          stage.remote(...randomChanges(random, stage.note));
          // Changes above may have moved the word.
          to = stage.caret.to;
          from = to - before.length;
          assert.equal(stage.shown.slice(from, to), before, `seed ${seed}`);
          const insert = "にほんごかきく".slice(0, 1 + random.below(4)) + seed;
          stage.edit(from, to, insert);
          to = from + insert.length;
        }
        stage.end();
        pass(0);
        assert.equal(stage.shown, stage.note, `seed ${seed}`);
        assert.deepEqual(stage.line.waiting, []);
        stage.caret = { from: random.below(stage.shown.length + 1), to: 0 };
        stage.caret.to = stage.caret.from;
      }
    }
  });
}
