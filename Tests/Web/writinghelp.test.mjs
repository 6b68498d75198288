// Writing aids: choices of menus, and keys in tables. “¦” is the caret, “‹” and “›” are the ends of a selection.

import assert from "node:assert/strict";
import { test } from "node:test";
import { EditorSelection } from "../../Web/js/codemirror.js";
import { linkText } from "../../Web/js/editing/textcommands.js";
import { emojiChoices, matching, notesToLink, partsOfText, people, wantedAt } from "../../Web/js/editing/writing/choices.js";
import { newRow, toCell } from "../../Web/js/editing/writing/tablekeys.js";
import { parsedText } from "./parsedtext.mjs";

/** @param {string} marked @param {(state: any) => object | undefined} command @returns {string | undefined} */
function after(marked, command) {
  const anchor = marked.search(/[¦‹]/);
  const head = marked.includes("›") ? marked.indexOf("›") - 1 : anchor;
  const state = parsedText(marked.replace(/[¦‹›]/g, ""), { selection: EditorSelection.range(anchor, head) });
  const change = command(state);
  if (!change) return undefined;
  const next = state.update(change).state;
  const { from, to } = next.selection.main;
  const text = next.doc.toString();
  return from === to ? `${text.slice(0, from)}¦${text.slice(from)}` : `${text.slice(0, from)}‹${text.slice(from, to)}›${text.slice(to)}`;
}

const table = "| a | b |\n| - | - |\n| c | d |";

/** @type {[string, (state: any) => object | undefined, string, string | undefined][]} */
const keys = [
  ["Tab selects the next cell", toCell(1), table.replace("a", "¦a"), table.replace("b", "‹b›")],
  ["Tab goes over the rule below the head", toCell(1), table.replace("b", "b¦"), table.replace("c", "‹c›")],
  ["Tab in the last cell adds a row", toCell(1), table.replace("d", "¦d"), `${table}\n| ¦    |     |`],
  ["Shift Tab selects the cell before", toCell(-1), table.replace("c", "¦c"), table.replace("b", "‹b›")],
  ["Shift Tab leaves the first cell", toCell(-1), table.replace("a", "¦a"), undefined],
  ["Tab elsewhere is no key of tables", toCell(1), "a | b¦", undefined],
  ["Tab goes to empty cells", toCell(1), "| a |  |\n| - | - |\n| ¦c |  |", "| a |  |\n| - | - |\n| c | ¦ |"],
  ["a bar in a cell ends no cell", toCell(1), "| a\\|x¦ | b |\n| - | - |", "| a\\|x | ‹b› |\n| - | - |"],
  ["Enter at the end of the table adds a row", newRow, `${table}¦`, `${table}\n| ¦    |     |`],
  ["Enter at the end of the last cell adds a row", newRow, table.replace("d", "d¦"), `${table}\n| ¦    |     |`],
  ["Enter at the end of a row adds one below it", newRow, `${table}¦\n| e | f |`, `${table}\n| ¦    |     |\n| e | f |`],
  ["Enter in an empty last row ends the table", newRow, `${table}\n| ¦  |   |`, `${table}\n¦`],
  ["Enter within a cell is the editor's", newRow, table.replace("c", "¦c"), undefined],
  ["rows of a quoted table are quoted", newRow, `${table.replace(/^/gm, "> ")}¦`, `${table.replace(/^/gm, "> ")}\n> | ¦    |     |`],
];
for (const [name, command, before, expected] of keys) test(name, () => assert.equal(after(before, command), expected));

test("a menu opens where its sign begins a word", () => {
  for (const [before, kind, query] of [
    ["/", "part", ""], ["- [ ] /h", "part", "h"], ["> /co", "part", "co"], ["@", "person", ""], ["ask @An", "person", "An"],
    ["[[", "note", ""], ["see [[my note", "note", "my note"], [":ta", "emoji", "ta"], ["ok :+1", "emoji", "+1"],
  ]) assert.deepEqual([wantedAt(before ?? "")?.kind, wantedAt(before ?? "")?.query], [kind, query], before);
  for (const before of ["a /", "and/or", "https://", "me@example", "a:b", ":", "10:30", "[[a]]", "[a", "/a b", "/a/b"]) assert.equal(wantedAt(before), undefined, before);
});

test("choices are found by labels and by English words", () => {
  const t = /** @type {any} */ ((/** @type {string} */ key, /** @type {any} */ values) => `${key}${values?.level ?? ""}`);
  const parts = partsOfText(t, { addFile: () => {}, useTemplate: () => {} });
  assert.deepEqual(matching(parts, "todo").map(({ hint }) => hint), ["- [ ]"]);
  assert.equal(matching(parts, "").length, parts.length);
  assert.equal(matching(parts, "nothing").length, 0);
  for (const { insert, run } of parts) assert.ok(run || insert?.split("¦").length === 2);
  assert.equal(matching(emojiChoices(), "tada")[0]?.insert, "🎉¦");
  for (const { insert, label } of emojiChoices()) assert.match(`${insert} ${label}`, /^\S+¦ \S+ [\w+-]+$/);
  assert.deepEqual(matching([{ label: "Zoë" }, { label: "Chloé" }], "zoe").map(({ label }) => label), ["Zoë"]);
});

test("names and titles are escaped when they are inserted", () => {
  assert.equal(people(["a*b", "a*b"]).map(({ insert }) => insert).join(), "@a\\*b ¦");
  assert.equal(notesToLink([{ id: "1", title: "a] (x)" }], linkText)[0]?.insert, "[a\\] (x)](/n/1)¦");
});
