// Texts that are designed to be slow, deep or wide in the page view.

import assert from "node:assert/strict";
import { test } from "node:test";
import { TestElement, pageOf } from "./elements.mjs";

const length = 32_000;
/** @param {string} text */
const many = (text) => text.repeat(length / text.length);
/** @param {number} count @param {(index: number) => string} text */
const each = (count, text) => Array.from({ length: count }, (_, index) => text(index)).join("");

/** @type {Record<string, string>} */
const slow = {
  "opening brackets": many("["),
  "closing brackets": many("]"),
  "brackets in brackets": many("[") + many("]"),
  "links that are not ended": many("[a]("),
  "pictures that are not ended": many("![a]("),
  "references without definitions": many("[a][b]"),
  "definitions, and references to them": each(1_500, (index) => `[a${index}]: /u\n`) + each(1_500, (index) => `[a${index}] `),
  "footnotes": each(1_500, (index) => `x[^${index}]\n\n[^${index}]: y\n\n`),
  "footnotes in footnotes": `x[^a]\n\n${many("[^a]: ")}`,
  "parentheses in an address": `[a](${many("(")})`,
  "escapes in a title": `[a](b "${many('\\"')}")`,
  "marks of emphasis": many("*a_ "),
  "marks beside CJK": many("**「a」**"),
  "struck and lowered": many("~a~~b~~~"),
  "runs of backticks": each(250, (index) => `${"`".repeat(index)} `),
  "signs of formulas": many("$a "),
  "double signs of formulas": many("$$a "),
  "lines of double signs": many("$$\n"),
  "beginnings of tags": many("<a "),
  "beginnings of comments": many("<!-- "),
  "beginnings of instructions": many("<? "),
  "entities": many("&amp;"),
  "addresses": many("http://a"),
  "addresses of mail": many("a@"),
  "marks of quotes": many(">"),
  "lines of quotes": many("> a\n"),
  "call-outs": many("> [!NOTE]\n\n"),
  "items in items": each(150, (index) => `${"  ".repeat(index)}- a\n`),
  "loose items": many("- a\n\n"),
  "tables of one row": many("|a|\n|-|\n\n"),
  "headings": many("a\n=\n"),
  "fences": many("```\n"),
  "HTML": many("<div>\n\n"),
};

for (const [name, text] of Object.entries(slow)) {
  test(`${name} are shown in time that grows with the text`, () => {
    const begin = process.cpuUsage();
    const page = pageOf(text);
    const { user, system } = process.cpuUsage(begin);
    assert.ok(page.children.length > 0);
    // A tenth of a second is usual; quadratic time would be several seconds.
    assert.ok(user + system < 1_500_000, `${(user + system) / 1_000} ms for ${text.length} characters`);
  });
}

/** @param {TestElement} element @returns {number} */
const depthOf = (element) => 1 + Math.max(0, ...element.children.map(depthOf));

test("deeply nested texts are shown with limited nesting", () => {
  for (const mark of [">", "- ", "1. ", "*", "[", "~~a ", "> - ", "> [!NOTE]\n> "]) {
    const page = pageOf(`${mark.repeat(3_000)}deep`);
    assert.ok(page.textContent.endsWith("deep"), mark);
    assert.ok(depthOf(page) < 200, `${mark}: ${depthOf(page)}`);
  }
});

test("a table of 1,000 columns has all its cells", () => {
  const row = (/** @type {string} */ cell) => `|${`${cell}|`.repeat(1_000)}\n`;
  const page = pageOf(row("a") + row("-") + row("b").repeat(20));
  assert.deepEqual([page.querySelectorAll("th").length, page.querySelectorAll("td").length], [1_000, 20_000]);
});

test("short rows below 1,000 columns are filled up to a bound", () => {
  const page = pageOf(`|${"a|".repeat(1_000)}\n|${"-|".repeat(1_000)}\n${"|b|\n".repeat(5_000)}`);
  const cells = page.querySelectorAll("td").length;
  assert.ok(cells >= 5_000 && cells <= 105_000, String(cells));
});
