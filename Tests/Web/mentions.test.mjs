// Mentions in a formatted note, by states of the editor alone.

import assert from "node:assert/strict";
import { test } from "node:test";
import { documentOf, toDocument } from "../../Web/js/formatted/document.js";
import { backspace } from "../../Web/js/formatted/linecommands.js";
import { currentText, mentionOf, mentionsIn, peopleToMention, rememberNames } from "../../Web/js/formatted/mentions.js";
import { EditorState, TextSelection } from "../../Web/js/prosemirror.js";

const sets = [{ mention: "p1" }, { mention: "p1", bold: true }, { mention: "p2" }];
const doc = documentOf("ask @Ann@Bo now\n@Bo", { sets, runs: [4, 0, 2, 1, 2, 2, 3, 3, 5, 0, 3, 3] });

test("neighbours with one id are one mention", () => {
  assert.deepEqual(mentionsIn(doc.child(0)), [
    { from: 4, to: 8, id: "p1", text: "@Ann" }, { from: 8, to: 11, id: "p2", text: "@Bo" },
  ]);
  // Other programs may have written any value.
  assert.deepEqual(mentionsIn(documentOf("a", { sets: [{ mention: true }], runs: [1, 1] }).child(0)), []);
});

test("current names are known by ids", () => {
  assert.equal(currentText("p1"), undefined);
  assert.equal(rememberNames([{ personId: "p1", name: "Anna" }, { personId: "", name: "Guest" }]), true);
  assert.equal(rememberNames([{ personId: "p1", name: "Anna" }]), false);
  assert.equal(currentText("p1"), "@Anna");
  assert.equal(currentText(""), undefined);
  assert.equal(currentText(7), undefined);
});

test("people who are here, are mentioned, or wrote are offered once, by their ids if they have one", () => {
  const here = [{ name: "Cy", personId: "" }, { name: "Anna", personId: "p1" }, { name: "Cy", personId: "p3" }];
  assert.deepEqual(peopleToMention(here, doc, ["Dan", "Anna", ""]), [
    { name: "Anna", id: "p1" }, { name: "Cy", id: "p3" }, { name: "Bo", id: "p2" }, { name: "Dan", id: "Dan" },
  ]);
  assert.deepEqual(JSON.parse(JSON.stringify(mentionOf({ name: "Bo", id: "p2" }))), { type: "text", text: "@Bo", marks: [{ type: "mention", attrs: { value: "p2" } }] });
});

test("Backspace deletes a mention as a whole", () => {
  const after = (/** @type {number} */ place) => {
    const state = EditorState.create({ doc, selection: TextSelection.create(doc, toDocument(doc, place)) });
    const made = backspace(state);
    return made && state.apply(made).doc.textBetween(0, made.doc.content.size, "\n");
  };
  assert.deepEqual([8, 11, 19].map(after), ["ask @Bo now\n@Bo", "ask @Ann now\n@Bo", "ask @Ann@Bo now\n"]);
  // Elsewhere one character is deleted, by the browser.
  assert.deepEqual([7, 12].map(after), [undefined, undefined]);
});
