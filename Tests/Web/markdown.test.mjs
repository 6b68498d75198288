// Parsing Markdown in pieces of bounded size.

import assert from "node:assert/strict";
import { test } from "node:test";
import { markdown, markdownLanguage } from "../../Web/js/codemirror.js";
import { html } from "../../Web/js/html.js";
import { plainMarkdown, markdownWithHTML } from "../../Web/js/markdown/markdown.js";
import { parsedText } from "./parsedtext.mjs";

const [language] = await markdownWithHTML();
const { language: whole } = markdown({ base: markdownLanguage, htmlTagLanguage: html({ matchClosingTags: false }) });
const pieceMax = 8_000;

const sample =
  "# Heading\n\nText with *emphasis*, **strong**, `code`, [a link](https://example.org).\nGoes on\n\n" +
  "- item\n  - inner\n- [ ] task\n\n1. one\n2. two\n\n> quote\n> more\n\n```js\nlet a = 1;\n```\n\n" +
  "| a | b |\n|---|---|\n| 1 | 2 |\n\nSetext\n===\n\n<b>html</b>\n\n---\n\n[ref]: https://example.org\n";

test("a text without long paragraphs is parsed as without pieces", () => {
  const text = sample.repeat(50);
  assert.equal(language.parser.parse(text).toString(), whole.parser.parse(text).toString());
  assert.equal(plainMarkdown[0].parser.parse(text).toString(), whole.parser.parse(text).toString());
});

test("tags are parsed only if the language for HTML is loaded", () => {
  const text = "a <b title='x'>b</b>";
  /** @param {any} language @param {number} at @returns {string} */
  const nameAt = ({ parser }, at) => parser.parse(text).resolveInner(at, 1).name;
  assert.equal(nameAt(language, 3), "TagName");
  assert.equal(nameAt(language, 5), "AttributeName");
  assert.equal(nameAt(plainMarkdown[0], 3), "HTMLTag");
});

test("a long table is one table, up to a maximum length", () => {
  /** @param {number} rows @returns {number} */
  const rowsOf = (rows) => language.parser.parse(`| a | b |\n|---|---|\n${"| 1 | 2 |\n".repeat(rows)}`).toString().split("TableRow").length - 1;
  assert.equal(rowsOf(10_000), 10_000);
  assert.ok(rowsOf(40_000) < 21_000);
});

/** Returns the length of the longest paragraph that is parsed as a whole. */
function longestPiece(/** @type {string} */ text) {
  let longest = 0;
  language.parser.parse(text).iterate({
    enter({ name, from, to }) {
      if (name === "Paragraph" && /[^ ]\*/.test(text.slice(from, to))) longest = Math.max(longest, to - from);
    },
  });
  return longest;
}

test("a long paragraph is parsed in pieces", () => {
  const line = "words of *a line* that is not so long\n";
  for (const before of ["", "> ", "- "]) {
    const text = before + line.repeat(30_000);
    const longest = longestPiece(text);
    assert.ok(longest > 0 && longest <= pieceMax + 2 * line.length, `${longest} with “${before}”`);
    assert.equal(language.parser.parse(text).length, text.length);
  }
});

test("a line longer than a piece is plain text", () => {
  const long = "words of *a line* ".repeat(2_000).trimEnd();
  for (const text of [long, `# Heading\n\n${long}\n\n*after*`, `- ${long}\n- *two*`, `> ${long}`]) {
    const tree = language.parser.parse(text).toString();
    const after = (text.match(/\*(after|two)\*/g) ?? []).length;
    assert.equal((tree.match(/Emphasis\(/g) ?? []).length, after, tree.slice(0, 200));
  }
});

test("key bindings of CodeMirror's Markdown are active in this language", () => {
  const state = parsedText("- item *one*", { extensions: [language] });
  assert.ok(whole.isActiveAt(state, 5));
});
