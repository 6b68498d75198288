// The page view against the examples of the CommonMark specification, and examples of its own.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { pageOf } from "./elements.mjs";
import { htmlOfPage, normalHTML } from "./pagehtml.mjs";

/** Fetched by Scripts/python-environment.sh. */
const file = new URL("../../.venv/specification/commonmark.json", import.meta.url);

/** Examples that the parser reads otherwise. Documentation/Page.md has the reasons. */
const otherwise = [171, 278, 280, 493, 621];
/** How many examples have each of the differences that Documentation/Page.md lists. */
const differing = {
  "HTML as typed": 65,
  "picture as link": 22,
  comment: 6,
  "address refused": 4,
  "GFM link": 4,
  "link without text": 2,
};

test("the page view passes the examples of the CommonMark specification", () => {
  /** @type {{markdown: string, html: string, example: number}[]} */
  const examples = JSON.parse(readFileSync(file, "utf8"));
  assert.equal(examples.length, 652);
  /** @type {number[]} */
  const failed = [];
  /** @type {Record<string, number>} */
  const counts = Object.fromEntries(Object.keys(differing).map((name) => [name, 0]));
  let exact = 0;
  for (const { markdown, html, example } of examples) {
    const { html: shown, differences } = htmlOfPage(pageOf(markdown));
    if (html.includes("<!--") && !html.includes("<code>&lt;!--")) differences.push("comment");
    if (normalHTML(shown) !== normalHTML(html)) failed.push(example);
    else if (differences.length === 0) exact += 1;
    else for (const name of differences) counts[name] = (counts[name] ?? 0) + 1;
  }
  console.log(`CommonMark: ${examples.length - failed.length} of ${examples.length} examples pass, ${exact} of them without a deliberate difference`);
  assert.deepEqual(failed, otherwise);
  assert.deepEqual(counts, differing);
});

/** @param {string} text @returns {string} Its page in the specification's HTML. */
const shown = (text) => normalHTML(htmlOfPage(pageOf(text)).html);

test("underlined headings may have several lines", () => {
  assert.equal(shown("Two\nlines\n===\n"), "<h1>Two lines</h1>");
  assert.equal(pageOf("Two\nlines\n---\n").querySelectorAll("h3").length, 1);
});

test("a link may be defined in a list, a quote or a footnote", () => {
  for (const place of ["> ", "- ", "1. > - ", "[^n]: "]) {
    assert.equal(pageOf(`[a]\n\n${place}[a]: https://example.org/\n`).querySelector("a")?.attributes.href, "https://example.org/", place);
  }
});

test("only entities of HTML are decoded, before addresses are checked", () => {
  assert.equal(shown("&notanentity; &copy; &amp;"), "<p>&amp;notanentity; © &amp;</p>");
  assert.equal(shown("[a](javascript&colon;alert(1))"), '<p><a href="refused:">a</a></p>');
});

test("emphasis is recognised beside Chinese, Japanese and Korean", () => {
  const examples = {
    "これは**「強調」**です": "これは<strong>「強調」</strong>です",
    "これは**強調（注）**です。": "これは<strong>強調（注）</strong>です。",
    "**強調(note)**の": "<strong>強調(note)</strong>の",
    "中文*“重点”*文字": "中文<em>“重点”</em>文字",
    "한국어**(강조)**를": "한국어<strong>(강조)</strong>를",
    "取消~~「済」~~した": "取消<del>「済」</del>した",
  };
  for (const [text, html] of Object.entries(examples)) assert.equal(shown(text), `<p>${html}</p>`);
});

test("emphasis beside other letters follows CommonMark", () => {
  assert.equal(shown('a**"b"**c'), "<p>a**&quot;b&quot;**c</p>");
  assert.equal(shown("snake_case_name"), "<p>snake_case_name</p>");
});
