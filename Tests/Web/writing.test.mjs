// Commands that change the text. “|” is the caret, “‹” and “›” are the ends of a selection.

import assert from "node:assert/strict";
import { test } from "node:test";
import { EditorSelection } from "../../Web/js/codemirror.js";
import { fetchLanguage, loadedLanguage, nameOfLanguage } from "../../Web/js/markdown/codelanguages.js";
import { slugsOf } from "../../Web/js/reading/headings.js";
import { listEnd } from "../../Web/js/editing/listend.js";
import { alignedTable, cellsOf, widthOf } from "../../Web/js/markdown/tables.js";
import { addressAt, textCommands } from "../../Web/js/editing/textcommands.js";
import { directionIn } from "../../Web/js/ground/texts.js";
import { parsed, parsedText } from "./parsedtext.mjs";

/** @param {string} marked @returns {any} */
function stateOf(marked) {
  const anchor = marked.search(/[|‹]/);
  const head = marked.includes("›") ? marked.indexOf("›") - 1 : anchor;
  const doc = marked.replace(/[‹›]|(?<!\\)\|/g, (sign) => (sign === "|" && marked.includes("‹") ? sign : ""));
  const text = marked.includes("‹") ? doc : marked.slice(0, anchor) + marked.slice(anchor + 1);
  return parsedText(text, { selection: EditorSelection.range(anchor, head) });
}

/** @param {any} state */
function marked(state) {
  const { from, to } = state.selection.main;
  const text = state.doc.toString();
  return from === to ? `${text.slice(0, from)}|${text.slice(from)}` : `${text.slice(0, from)}‹${text.slice(from, to)}›${text.slice(to)}`;
}

/** @param {keyof typeof textCommands} name @param {string} before @returns {string | undefined} */
function after(name, before) {
  const state = stateOf(before);
  const change = textCommands[name](state);
  return change && marked(state.update(change).state);
}

/** @type {[keyof typeof textCommands, string, string | undefined][]} */
const cases = [
  ["bold", "a ‹word› b", "a **‹word›** b"],
  ["bold", "a **‹word›** b", "a ‹word› b"],
  ["bold", "a |b", "a **|**b"],
  ["italic", "‹word›", "*‹word›*"],
  ["italic", "**‹word›**", "***‹word›***"],
  ["italic", "*‹word›*", "‹word›"],
  ["code", "‹x›", "`‹x›`"],
  ["code", "‹one\ntwo```›", "````|\none\ntwo```\n````\n"],
  ["heading", "A |title", "# A |title"],
  ["heading", "## A |title", "### A |title"],
  ["heading", "### A |title", "A |title"],
  ["bullets", "‹one\n  two›", "- ‹one\n  - two›"],
  ["bullets", "- one|", "one|"],
  ["numbers", "‹one\n\ntwo›", "1. ‹one\n\n2. two›"],
  ["boxes", "- one|", "- [ ] one|"],
  ["boxes", "- [x] one|", "- [ ] one|"],
  ["boxes", "|", "- [ ] |"],
  ["quote", "one|", "> one|"],
  ["tick", "- [ ] one|", "- [x] one|"],
  ["tick", "  > 1. [X] one|", "  > 1. [ ] one|"],
  ["tick", "‹- [x] one\n- [ ] two\nthree›", "‹- [x] one\n- [x] two\nthree›"],
  ["tick", "no box|", undefined],
  ["tick", "[ ] no item|", undefined],
  ["link", "see ‹this›", "see [this](‹https://›)"],
  ["link", "‹https://a.example/›", "[|](https://a.example/)"],
];

for (const [name, before, expected] of cases) {
  test(`${name}: ${JSON.stringify(before)}`, () => assert.equal(after(name, before), expected));
}

test("a new table is inserted below the line, with the caret in its first cell", () => {
  const text = after("table", "a line|") ?? "";
  assert.match(text, /^a line\n\n\| \| {4}\|.*\n\| --- \| --- \| --- \|\n/);
});

test("alignTable aligns the table around the caret, which stays in its cell", () => {
  const state = stateOf("before\n\n> x\n\n");
  const table = "| a | long cell |\n|:--|--:|\n| **b** | 1 |\n| 緑茶 | \\| | 7 |";
  const doc = `before\n\n${table}\n\nafter`;
  const at = doc.indexOf("1 |");
  const inTable = parsedText(doc, { selection: { anchor: at } });
  const change = /** @type {any} */ (textCommands.alignTable(inTable));
  const next = parsed(inTable.update(change).state);
  assert.equal(
    next.doc.toString(),
    "before\n\n" +
      "| a     | long cell |     |\n" +
      "| :---- | --------: | --- |\n" +
      "| **b** |         1 |     |\n" +
      "| 緑茶  |        \\| | 7   |\n\nafter",
  );
  assert.equal(next.doc.lineAt(next.selection.main.head).text.slice(0, 8), "| **b** ");
  // The command does nothing in an aligned table or outside of tables.
  assert.equal(textCommands.alignTable(next), undefined);
  assert.equal(textCommands.alignTable(state), undefined);
});

test("cells are separated at unescaped bars, and their width is that of the characters", () => {
  assert.deepEqual(cellsOf("| a | b \\| c |  |"), ["a", "b \\| c", ""]);
  assert.deepEqual(cellsOf("a|b"), ["a", "b"]);
  assert.deepEqual(cellsOf("|"), [""]);
  assert.equal(widthOf("é👨‍👩‍👧緑a"), 6);
  const once = alignedTable("|a|b|\n|-|-|\n|1|" + "x".repeat(300) + "|");
  assert.equal(alignedTable(once), once);
  assert.ok((once.split("\n")[0]?.length ?? 0) < 100);
});

test("addressAt finds a link's address from any position in the link", () => {
  const text = "[the site](https://a.example/x) <https://b.example> https://c.example me@d.example ![p](files/x) [^1] [ref]\n\n[ref]: https://e.example";
  const state = parsedText(text);
  const at = (/** @type {string} */ words) => addressAt(state, text.indexOf(words) + 1);
  assert.equal(at("the site"), "https://a.example/x");
  assert.equal(at("a.example"), "https://a.example/x");
  assert.equal(at("b.example"), "https://b.example");
  assert.equal(at("c.example"), "https://c.example");
  assert.equal(at("me@d"), "mailto:me@d.example");
  assert.equal(at("![p]"), "files/x");
  assert.ok(!at("[^1]"));
});

test("headings get the names that GitHub gives, and each another one", () => {
  assert.deepEqual(
    slugsOf(["What to bring?", "A  b", "Über uns", "日本語 の", "…", "A  b", "a/b_c-d", "A", "A-1", "A", "A", "a"]),
    ["what-to-bring", "a--b", "über-uns", "日本語-の", "section", "a--b-1", "ab_c-d", "a", "a-1", "a-2", "a-3", "a-4"],
  );
});

test("a code language has several names, and is loaded on demand", async () => {
  assert.deepEqual(
    ["js", "{.python}", "C++ title", "sh", "Swift", "c#", "plain", "", "constructor", "__proto__"].map(nameOfLanguage),
    ["javascript", "python", "cpp", "shell", "swift", "csharp", undefined, undefined, undefined, undefined],
  );
  assert.equal(loadedLanguage("py"), undefined);
  const python = await fetchLanguage("python");
  assert.equal(loadedLanguage("py"), python);
  const known = ["c", "cpp", "csharp", "css", "diff", "dockerfile", "go", "html", "ini", "java", "javascript", "json", "kotlin", "lua",
    "nginx", "objectivec", "perl", "powershell", "python", "r", "ruby", "rust", "scala", "shell", "sql", "swift", "toml", "typescript", "xml", "yaml"];
  for (const name of known) {
    const { parser } = await fetchLanguage(name);
    assert.ok(parser.parse("a = 1 # x\n").length > 0, name);
  }
});

test("the first letter determines the direction of a block", () => {
  assert.deepEqual(["12: abc", "… قائمة abc", "שלום", "12", "緑 ا"].map(directionIn), ["ltr", "rtl", "rtl", undefined, "ltr"]);
});

test("Enter on an empty second item ends the list", () => {
  /** @param {string} before */
  const ended = (before) => {
    const state = stateOf(before);
    const change = listEnd(state);
    return change && marked(state.update(change).state);
  };
  for (const [before, expected] of [
    ["- a\n- |", "- a\n|"],
    ["- a\n-|", "- a\n|"],
    ["* a\n* |\n* c", "* a\n|\n* c"],
    ["1. a\n2. |", "1. a\n|"],
    ["- [ ] a\n- [ ] |", "- [ ] a\n|"],
    ["> - a\n> - |", "> - a\n> |"],
    ["- a\n  - b\n  - |", "- a\n  - b\n- |"],
    ["3. a\n   - b\n   - |", "3. a\n   - b\n4. |"],
    ["- [x] a\n  - b\n  - |", "- [x] a\n  - b\n- [ ] |"],
    // These items are left to CodeMirror's command, are not empty, or are not list items.
    ["- |", undefined],
    ["- a\n- b\n- |", undefined],
    ["- a\n- b|", undefined],
    ["- a\n|- ", undefined],
    ["```\n- a\n- |\n```", undefined],
  ]) {
    assert.equal(ended(/** @type {string} */ (before)), expected, before);
  }
});
