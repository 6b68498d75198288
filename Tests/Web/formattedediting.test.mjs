// What keys and typed text do in a formatted note, by states of the editor alone.

import assert from "node:assert/strict";
import { test } from "node:test";
import { apply } from "../../Web/js/formatted/applying.js";
import { keepSelection } from "../../Web/js/formatted/caret.js";
import { documentOf, toDocument } from "../../Web/js/formatted/document.js";
import { formatAfter, formatBefore, touches } from "../../Web/js/formatted/held.js";
import {
  backspace, deleteForward, enter, enterAfterMarks, enterWithin, indent, nextHeading, startOfLine, tick, tickLine, toggleKind,
} from "../../Web/js/formatted/linecommands.js";
import { changesBetween, rewritten } from "../../Web/js/formatted/rewriting.js";
import { clearMarks, linkHere, linkTo, markTyped, toggleMark, typedMarks, valueHere } from "../../Web/js/formatted/textmarks.js";
import { EditorState, TextSelection, Transform } from "../../Web/js/prosemirror.js";
import { Random, applied } from "./support.mjs";

/**
 * Returns a state: each line with its kind and indent before "|", and a text with the caret "¦", or the selection
 * between two of them; bold text in "*".
 *
 * @param {string[]} lines
 */
function stateOf(...lines) {
  /** @type {object[]} */
  const sets = [];
  /** @type {number[]} */
  const runs = [];
  let text = "";
  const add = (/** @type {string} */ piece, /** @type {object} */ set) => {
    text += piece;
    if (piece) runs.push(piece.length, Object.keys(set).length > 0 ? sets.push(set) : 0);
  };
  /** @type {number[]} */
  const places = [];
  lines.forEach((line, index) => {
    const [, kind = "", level = "", words = ""] = /^(h[1-6]|[a-z]*)(\d?)\|(.*)$/.exec(line) ?? [];
    let isBold = false;
    for (const piece of words.split(/([*¦])/)) {
      if (piece === "¦") places.push(text.length);
      else if (piece === "*") isBold = !isBold;
      else add(piece, isBold ? { bold: true } : {});
    }
    if (index < lines.length - 1) add("\n", { ...(kind && { block: kind }), ...(level && { indent: Number(level) }) });
  });
  const doc = documentOf(text, { sets, runs });
  const [anchor = 0, head = anchor] = places;
  return EditorState.create({ doc, selection: TextSelection.create(doc, toDocument(doc, anchor), toDocument(doc, head)) });
}

/** @param {import("../../Web/js/prosemirror.js").EditorState} state @returns {string[]} */
function written({ doc, selection }) {
  /** @type {string[]} */
  const lines = [];
  doc.forEach((line, pos) => {
    let words = "";
    const caret = (/** @type {number} */ from, /** @type {number} */ to) =>
      [selection.from, selection.to].filter((place, index) => place >= from && place < to && (index === 0 || !selection.empty)).map((place) => place - from);
    line.forEach((node, offset) => {
      let text = node.text ?? "\ufffc";
      for (const at of caret(pos + 1 + offset, pos + 1 + offset + node.nodeSize).reverse()) text = `${text.slice(0, at)}¦${text.slice(at)}`;
      words += node.marks.length > 0 ? `*${text}*` : text;
    });
    const end = pos + 1 + line.content.size;
    words += "¦".repeat(caret(end, end + 1).length);
    const { block = "", indent: level = "" } = line.attrs.set;
    lines.push(`${block}${level}|${words}`);
  });
  return lines;
}

/** @typedef {(state: import("../../Web/js/prosemirror.js").EditorState) => import("../../Web/js/prosemirror.js").Transaction | undefined} Command */

/** @type {[string, Command, string[], string[] | undefined][]} Name, command, before, after; undefined: nothing to do. */
const cases = [
  ["Enter splits a paragraph", enter, ["|ab¦c"], ["|ab", "|¦c"]],
  ["Enter at a heading's end begins a paragraph", enter, ["h1|Title¦", "|"], ["h1|Title", "|¦", "|"]],
  ["Enter at a heading's start begins a paragraph above", enter, ["h2|¦Title", "|"], ["|", "h2|¦Title", "|"]],
  ["Enter within a heading makes two", enter, ["h2|Ti¦tle", "|"], ["h2|Ti", "h2|¦tle", "|"]],
  ["Enter goes to the next item", enter, ["bullet1|a¦", "|"], ["bullet1|a", "bullet1|¦", "|"]],
  ["Enter after a ticked task begins an open one", enter, ["done|a¦", "|"], ["done|a", "task|¦", "|"]],
  ["Enter on an empty item goes out a level", enter, ["bullet1|¦", "|"], ["bullet|¦", "|"]],
  ["Enter on an empty item ends the list", enter, ["ordered|¦", "|"], ["|¦", "|"]],
  ["Enter ends a quote", enter, ["quote|a", "quote|¦", "|"], ["quote|a", "|¦", "|"]],
  ["Enter ends code at its empty last line", enter, ["code|a", "code|¦", "|"], ["code|a", "|¦", "|"]],
  ["Enter keeps an empty line within code", enter, ["code|a", "code|¦", "code|b", "|"], ["code|a", "code|", "code|¦", "code|b", "|"]],
  ["Enter keeps the only line of code", enter, ["code|¦", "|"], ["code|", "code|¦", "|"]],
  ["Shift Enter goes on with code at its empty last line", enterWithin, ["code|a", "code|¦", "|"], ["code|a", "code|", "code|¦", "|"]],
  ["Shift Enter replaces selected code", enterWithin, ["code|a¦b", "code|c¦d", "|"], ["code|a", "code|¦d", "|"]],
  ["Shift Enter in an empty item is Enter", enterWithin, ["bullet|¦", "|"], ["|¦", "|"]],
  ["Enter replaces what is selected", enter, ["|a¦b", "|c¦d"], ["|a", "|¦d"]],
  ["Enter after a fence begins code", enterAfterMarks, ["|```swift¦"], ["code|¦"]],
  ["Enter after dashes puts a rule", enterAfterMarks, ["|---¦"], ["|\ufffc", "|¦"]],
  ["Enter after dashes in a list is Enter", enterAfterMarks, ["bullet|---¦", "|"], undefined],
  ["Backspace within a line is the browser's", backspace, ["|ab¦c"], undefined],
  ["Backspace joins paragraphs", backspace, ["|a", "|¦b"], ["|a¦b"]],
  ["Backspace keeps the kind of the line above", backspace, ["h1|a", "|¦b"], ["h1|a¦b"]],
  ["Backspace makes a heading a paragraph first", backspace, ["|a", "h1|¦b", "|"], ["|a", "|¦b", "|"]],
  ["Backspace makes an item less deep first", backspace, ["bullet|a", "bullet1|¦b", "|"], ["bullet|a", "bullet|¦b", "|"]],
  ["Backspace makes an item a paragraph", backspace, ["bullet|a", "bullet|¦b", "|"], ["bullet|a", "|¦b", "|"]],
  ["Backspace removes an empty line above, and keeps the kind", backspace, ["|", "h1|¦b", "|"], ["h1|¦b", "|"]],
  ["Backspace joins lines of code", backspace, ["code|a", "code|¦b", "|"], ["code|a¦b", "|"]],
  ["Backspace at the start does nothing", backspace, ["|¦a"], undefined],
  ["Backspace removes what is selected", backspace, ["|a¦b", "|c¦d"], ["|a¦d"]],
  ["Delete joins the line below", deleteForward, ["h1|a¦", "|b"], ["h1|a¦b"]],
  ["Delete removes an empty line, and the next keeps its kind", deleteForward, ["|¦", "h1|b", "|"], ["h1|¦b", "|"]],
  ["Delete at the end does nothing", deleteForward, ["|a¦"], undefined],
  ["a kind for all selected lines", toggleKind("bullet"), ["|a¦", "h1|b¦", "|"], ["bullet|a¦", "bullet|b¦", "|"]],
  ["a kind that all lines have is taken back", toggleKind("quote"), ["quote|a¦", "quote|b¦", "|"], ["|a¦", "|b¦", "|"]],
  ["ticked tasks are tasks", toggleKind("task"), ["done|a¦", "task|b¦", "|"], ["|a¦", "|b¦", "|"]],
  ["a list keeps its indent in another list", toggleKind("ordered"), ["bullet2|a¦", "|"], ["ordered2|a¦", "|"]],
  ["a heading has no indent", toggleKind("h1"), ["bullet2|a¦", "|"], ["h1|a¦", "|"]],
  ["headings in turn", nextHeading, ["h1|a¦", "|"], ["h2|a¦", "|"]],
  ["after the third, none", nextHeading, ["h3|a¦", "|"], ["|a¦", "|"]],
  ["all boxes are ticked", tick, ["done|a¦", "task|b¦", "|"], ["done|a¦", "done|b¦", "|"]],
  ["or unticked", tick, ["done|a¦", "done|b¦", "|"], ["task|a¦", "task|b¦", "|"]],
  ["without a box nothing is ticked", tick, ["bullet|a¦", "|"], undefined],
  ["items are indented, paragraphs are not", indent(1), ["bullet|a¦", "|b¦", "|"], ["bullet1|a¦", "|b¦", "|"]],
  ["eight levels at most", indent(1), ["bullet8|a¦", "|"], undefined],
  ["none below the first", indent(-1), ["bullet|a¦", "|"], undefined],
  ["# and a space", startOfLine, ["|## ¦Title"], ["h2|¦Title"]],
  ["- and a space", startOfLine, ["|- ¦"], ["bullet|¦"]],
  ["1. and a space", startOfLine, ["|1. ¦a"], ["ordered|¦a"]],
  ["[] and a space", startOfLine, ["|[] ¦"], ["task|¦"]],
  ["[x] in a list", startOfLine, ["bullet1|[x] ¦a", "|"], ["done1|¦a", "|"]],
  ["> and a space", startOfLine, ["|> ¦"], ["quote|¦"]],
  ["a sign within code is a sign", startOfLine, ["code|# ¦", "|"], undefined],
  ["a sign in a heading is a sign", startOfLine, ["h1|- ¦", "|"], undefined],
  ["2. is no list", startOfLine, ["|2. ¦"], undefined],
  ["marks around a word", markTyped, ["|a `b c`¦"], ["|a *b c*¦"]],
  ["marks around a space are signs", markTyped, ["|a ~~ b~~¦"], undefined],
  ["bold", toggleMark("bold"), ["|a¦b¦c"], ["|a*¦b*¦c"]],
  ["not bold", toggleMark("bold"), ["|a*¦b¦c*"], ["|a¦b*¦c*"]],
  ["bold over a part that is", toggleMark("bold"), ["|¦a*b*c¦"], ["|*¦abc*¦"]],
  ["no formatting", clearMarks, ["|¦a*b*¦"], ["|¦ab¦"]],
];

for (const [name, command, before, after] of cases) {
  test(`editing: ${name}`, () => {
    const state = stateOf(...before);
    const transaction = command(state);
    transaction?.doc.check();
    assert.deepEqual(transaction && written(state.apply(transaction)), after);
  });
}

test("typed text goes on with marks that do, and takes none at a line's start", () => {
  const here = (/** @type {string} */ line) => typedMarks(stateOf(line).selection.$from).map(({ type }) => type.name);
  assert.deepEqual(here("|*ab¦*c"), ["bold"]);
  assert.deepEqual(here("|*ab*¦c"), ["bold"]);
  assert.deepEqual(here("|¦*ab*"), []);
  const code = (/** @type {number} */ place) => {
    const doc = documentOf("abcd", { sets: [{ code: true }, { code: true, link: "/n/x" }], runs: [1, 1, 2, 2, 1, 0] });
    return typedMarks(doc.resolve(toDocument(doc, place))).map(({ type }) => type.name);
  };
  assert.deepEqual([1, 2, 3].map(code), [["code"], ["link", "code"], []]);
});

test("a link is found, changed, removed, and put in", () => {
  const linked = (/** @type {import("../../Web/js/prosemirror.js").EditorState} */ state) => linkHere(state)?.value;
  const state = stateOf("|a¦b¦c");
  const made = state.apply(/** @type {any} */ (linkTo("https://a.example/")(state)));
  assert.equal(linked(made), "https://a.example/");
  assert.equal(valueHere(made, "link"), "https://a.example/");
  const caret = made.apply(made.tr.setSelection(TextSelection.create(made.doc, 3)));
  const changed = caret.apply(/** @type {any} */ (linkTo("/n/x")(caret)));
  assert.equal(linked(changed), "/n/x");
  assert.equal(linked(changed.apply(/** @type {any} */ (linkTo(null)(changed)))), undefined);
  const empty = stateOf("|a ¦");
  assert.equal(empty.apply(/** @type {any} */ (linkTo("https://a.example/")(empty))).doc.textContent, "a https://a.example/");
});

test("a box is ticked by its number", () => {
  const { doc } = stateOf("task|a", "|b", "done|c", "|");
  const ticked = (/** @type {number} */ number, /** @type {boolean} */ isTicked) => tickLine(new Transform(doc), number, isTicked)?.doc;
  assert.equal(ticked(0, true)?.child(0).attrs.set.block, "done");
  assert.equal(ticked(1, false)?.child(2).attrs.set.block, "task");
  assert.equal(ticked(2, true), undefined);
});

test("formatting of the shown text is that of the note's, over what waits", () => {
  const kept = (/** @type {number[]} */ before, /** @type {any[]} */ waiting) => formatAfter({ sets: [], kept: before }, waiting)?.kept;
  assert.deepEqual(kept([2, 3, 1], []), [2, 3, 1]);
  assert.deepEqual(kept([2, 3, 1], [{ from: 0, to: 0, insert: "xy" }]), [4, 3, 1]);
  assert.deepEqual(kept([2, 3, 1], [{ from: 3, to: 4, insert: "" }]), [2, 1, 1, 0, 1, 1]);
  assert.deepEqual(kept([2, 3, 1], [{ from: 3, to: 3, insert: "z" }]), [2, 1, 1, 1, 2, 1]);
  assert.deepEqual(kept([2, 3, 1, 1, 2, 2], [{ from: 0, to: 6, insert: "" }]), [0, 2, 2]);
  const waiting = [{ from: 2, to: 3, insert: "xyz" }];
  assert.deepEqual(formatBefore({ sets: [], kept: [0, 1, 1, 6, 2, 2] }, waiting)?.kept, [0, 1, 1, 4, 2, 2]);
  assert.ok(touches({ changes: [], format: { kept: [4, 2, 1] } }, { from: 5, to: 5 }));
  assert.ok(!touches({ changes: [{ from: 9, to: 9, insert: "x" }], format: { kept: [0, 2, 1] } }, { from: 4, to: 6 }));
});

test("a text is rewritten without losing what it keeps", () => {
  for (let seed = 1; seed <= 300; seed += 1) {
    const random = new Random(seed);
    const text = () => Array.from({ length: random.below(30) }, () => random.pick(["a", "b", "\n", "*", "😀", "é"])).join("");
    const [former, next] = [text(), text()];
    assert.equal(applied(former, rewritten(former, next)), next, `seed ${seed}`);
    const longer = former.replace(/a/g, "**a**");
    assert.ok(rewritten(former, longer).every(({ from, to }) => from === to), "only insertions");
  }
  const doc = documentOf("ab\ufffc", { sets: [{ bold: true }, { embed: { rule: true } }], runs: [1, 1, 1, 0, 1, 2] });
  assert.deepEqual(changesBetween(doc, "**a**b---"), {
    changes: [{ from: 0, to: 0, insert: "**" }, { from: 1, to: 1, insert: "**" }, { from: 2, to: 3, insert: "---" }],
    format: { sets: [Object.assign(Object.create(null), { bold: null })], kept: [0, 1, 1] },
  });
});

test("text that others insert at the caret comes behind it, and at an end of the selection stays outside of it", () => {
  /** @type {[string[], {from: number, to: number, insert: string}, string[]][]} Before, change, after. */
  const expected = [
    [["|a ¦tea¦ b"], { from: 5, to: 5, insert: "pot" }, ["|a ¦tea¦pot b"]],
    [["|a ¦tea¦ b"], { from: 2, to: 2, insert: "x" }, ["|a x¦tea¦ b"]],
    [["|a ¦tea¦ b"], { from: 3, to: 3, insert: "x" }, ["|a ¦txea¦ b"]],
    [["|a ¦tea¦"], { from: 5, to: 5, insert: "\n" }, ["|a ¦tea¦", "|"]],
    [["|a ¦tea¦ b"], { from: 4, to: 6, insert: "x" }, ["|a ¦te¦xb"]],
    [["|a¦ tea"], { from: 1, to: 1, insert: "x" }, ["|a¦x tea"]],
  ];
  for (const [before, change, after] of expected) {
    const state = stateOf(...before);
    const { tr } = state;
    apply(tr, { changes: [change] });
    keepSelection(tr, state);
    assert.deepEqual(written(state.apply(tr)), after);
  }
  // The selection keeps its direction.
  const state = stateOf("|abcd");
  const turned = state.apply(state.tr.setSelection(TextSelection.create(state.doc, 4, 2)));
  const { tr } = turned;
  apply(tr, { changes: [{ from: 3, to: 3, insert: "x" }] });
  keepSelection(tr, turned);
  assert.deepEqual([tr.selection.anchor, tr.selection.head], [4, 2]);
});
