// Markdown becomes a formatted note, and a formatted note Markdown; HTML of clipboards becomes lines with attributes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { inert } from "../../Web/js/editing/pasting/markup.js";
import { apply } from "../../Web/js/formatted/applying.js";
import { documentOf, textOfDocument } from "../../Web/js/formatted/document.js";
import { fromMarkdown } from "../../Web/js/formatted/frommarkdown.js";
import { runsOf } from "../../Web/js/formatted/pasted.js";
import { toMarkdown } from "../../Web/js/formatted/tomarkdown.js";
import { Transform } from "../../Web/js/prosemirror.js";
import { parsed } from "./smalldom.mjs";
import { Random, applied } from "./support.mjs";

/** @param {import("../../Web/js/prosemirror.js").Node} doc @returns {string[]} */
function written(doc) {
  /** @type {string[]} */
  const lines = [];
  doc.forEach((line) => {
    let text = "";
    line.forEach((node) => {
      const marks = node.marks.map(({ type, attrs }) => type.name + (attrs.value === true ? "" : `=${attrs.value}`)).join(",");
      const own = node.isText ? node.text : JSON.stringify({ ...node.attrs.embed, ...node.attrs.set });
      text += marks ? `{${marks}:${own}}` : own;
    });
    const { block = "", indent = "", language } = line.attrs.set;
    lines.push(`${block}${indent}${language ? `(${language})` : ""}|${text}`);
  });
  return lines;
}

/** @param {string} markdown */
function formatted(markdown) {
  const transform = new Transform(documentOf(markdown, undefined));
  const change = fromMarkdown(markdown);
  assert.equal(change.format.kind, "rich");
  apply(transform, change);
  transform.doc.check();
  assert.equal(textOfDocument(transform.doc), applied(markdown, change.changes));
  return transform.doc;
}

const file = `${"a".repeat(64)}/plan.png`;

/** @type {[string, string, string[]][]} Name, Markdown, lines. */
const cases = [
  ["headings", "# One *two*\n\nThree\n=====\n\n## Four ##", ["h1|One {italic:two}", "h1|Three", "h2|Four", "|"]],
  ["marks", "**a *b* c** ~~d~~ `e*f` H~2~O", ["|{bold:a }{bold,italic:b}{bold: c} {strike:d} {code:e*f} H{script=sub:2}O"]],
  ["links", "[a **b**](https://x.example/) <https://y.example> https://z.example mail@x.example",
    ["|{link=https://x.example/:a }{link=https://x.example/,bold:b} {link=https://y.example:https://y.example} {link=https://z.example:https://z.example} {link=mailto:mail@x.example:mail@x.example}"]],
  ["escapes and breaks", "a\\*b  \nc\\\nd", ["|a*b", "|c", "|d"]],
  ["paragraphs and blank lines", "a\n\nb\nc\n\n\nd", ["|a", "|b", "|c", "|", "|d"]],
  ["lists", "- a\n- b\n  1. c\n  2. d\n     - e\n- f", ["bullet|a", "bullet|b", "ordered1|c", "ordered1|d", "bullet2|e", "bullet|f", "|"]],
  ["loose lists and paragraphs in items", "- a\n\n- b\n\n  more\n\nend", ["bullet|a", "bullet|b", "1|more", "|end"]],
  ["boxes", "- [ ] a\n- [x] **b**\n", ["task|a", "done|{bold:b}", "|"]],
  ["quotes", "> a\n> b\n>\n> - c\n\nd", ["quote|a", "quote|b", "bullet|c", "|d"]],
  ["code", "```js\na *b*\n\n# c\n```\nd", ["code(js)|a *b*", "code(js)|", "code(js)|# c", "|d"]],
  ["code at the end", "a\n\n```\nb\n```", ["|a", "code|b", "|"]],
  ["empty code", "a\n\n```\n```\n\nb", ["|a", "|b"]],
  ["indented code", "a\n\n    b\n      c\n\nd", ["|a", "code|b", "code|  c", "|d"]],
  ["a rule", "a\n\n---\n\nb", ["|a", '|{"rule":true}', "|b"]],
  ["pictures", `![the plan](files/${file}) ![x](https://a.example/p.png)`, [`|{"image":"${file}","alt":"the plan"} {link=https://a.example/p.png:x}`]],
  ["tables", "| a | b |\n| - | - |\n| c | **d** |\n\ne", ["|{bold:a}\t{bold:b}", "|c\t{bold:d}", "|e"]],
  ["front matter", "---\ntitle: x\n---\n\na", ["code(yaml)|---", "code(yaml)|title: x", "code(yaml)|---", "|a"]],
  ["nothing", "", ["|"]],
  ["letters", "a_b_c 2 * 3 * 4 <b>", ["|a_b_c 2 * 3 * 4 <b>"]],
];

for (const [name, markdown, lines] of cases) test(`from Markdown: ${name}`, () => assert.deepEqual(written(formatted(markdown)), lines));

const pieces = [
  "# Head\n\n", "## Head *two*\n\n", "words **bold** and *italic*\n\n", "a\nb\n\n", "- one\n- two\n  - three\n\n", "1. one\n2. two\n\n",
  "- [ ] open\n- [x] done\n\n", "> quote\n> more\n\n", "```swift\nlet a = 1\n\n```\n\n", "---\n\n", "[link](https://a.example/) end\n\n",
  "`code` ~~gone~~ \\* 1\\. 😀\n\n", "    indented\n\n", "| a | b |\n|-|-|\n| c | d |\n\n", "***both***, **a *b* c**\n\n", "\n", "x",
];

test("two trips give the same text, and the same lines", () => {
  for (let seed = 1; seed <= 400; seed += 1) {
    const random = new Random(seed);
    const markdown = Array.from({ length: random.below(8) }, () => random.pick(pieces)).join("");
    const once = toMarkdown(formatted(markdown));
    const again = formatted(once);
    assert.equal(toMarkdown(again), once, `seed ${seed}: ${JSON.stringify(markdown)}`);
  }
});

test("what no text in Markdown would show is escaped", () => {
  for (const text of ["# a", "- a", "1. a", "> a", "*a*", "`a`", "[a](b)", "---", "a_b_", "~~a~~", "```", "+ a", "==="]) {
    const markdown = toMarkdown(documentOf(text, undefined));
    assert.deepEqual(written(formatted(markdown)), [`|${text}`], markdown);
  }
});

test("colours, underlines and unknown attributes are left out of Markdown", () => {
  const sets = [{ bold: true, color: "#ff0000", underline: true, "x-mine": 3 }];
  assert.equal(toMarkdown(documentOf("a red word", { sets, runs: [2, 0, 3, 1] })), "a **red** word");
});

test("mentions are names in Markdown", () => {
  assert.equal(toMarkdown(documentOf("ask @Ann", { sets: [{ mention: "p1" }], runs: [4, 0, 4, 1] })), "ask @Ann");
});

/** @param {string} html */
function pasted(html) {
  const steps = runsOf(parsed(inert(html)));
  for (let count = 1; ; count += 1) {
    const step = steps.next();
    if (!step.done) continue;
    const { runs, isInline } = step.value;
    const text = runs.map((run) => run.text + (Object.keys(run.attributes).length > 0 && run.text !== "\n" ? JSON.stringify(run.attributes) : run.text === "\n" ? `${JSON.stringify(run.attributes)};` : "")).join("");
    return { text, isInline, count };
  }
}

/** @type {[string, string, string][]} Name, HTML, runs. */
const pastes = [
  ["marks", "<p><b>a</b> <u>b</u><sub>2</sub></p>", 'a{"bold":true} b{"underline":true}2{"script":"sub"}\n{};'],
  ["headings and paragraphs", "<h2>A</h2><p>b<br>c</p>", 'A\n{"block":"h2"};b\n{};c\n{};'],
  ["lists within each other", "<ul><li>a<ol><li>b</li></ol></li></ul>", 'a\n{"block":"bullet"};b\n{"block":"ordered","indent":1};'],
  ["boxes", '<ul><li><input type="checkbox" checked> a</li></ul>', 'a\n{"block":"done"};'],
  ["a table's rows are lines", "<table><tr><td>a</td><td><b>b</b></td></tr><tr><td>c</td><td>d</td></tr></table>", 'a\tb{"bold":true}\n{};c\td\n{};'],
  ["code", '<pre><code class="language-js">a\nb</code></pre>', 'a\n{"block":"code","language":"js"};b\n{"block":"code","language":"js"};'],
  ["quotes", "<blockquote><p>a</p></blockquote>", 'a\n{"block":"quote"};'],
  ["Word's lists", '<p style="mso-list:l0 level2 lfo1"><span style="mso-list:Ignore">o&nbsp;</span>a</p>', 'a\n{"block":"bullet","indent":1};'],
  ["Google's bold that is none", '<b style="font-weight:normal"><p><span style="font-weight:700">a</span>b</p></b>', 'a{"bold":true}b\n{};'],
  ["a mention as the page and the server write it", '<p>ask <span class="mention" data-mention="p1">@An<b>n</b></span></p>', 'ask @An{"mention":"p1"}n{"bold":true,"mention":"p1"}\n{};'],
  ["a class alone is no mention", '<p><span class="mention">@Ann</span></p>', "@Ann\n{};"],
  ["a picture of another site is a link", '<img src="https://a.example/p.png" alt="x">', 'x{"link":"https://a.example/p.png"}\n{};'],
];

for (const [name, html, text] of pastes) test(`pasted HTML: ${name}`, () => assert.equal(pasted(html).text, text));

test("scripts and their addresses are never taken over", () => {
  const addresses = [
    "javascript:alert(1)", " JaVaScRiPt:alert(1)", "java\tscript:alert(1)", "java&#10;script:alert(1)", "&#106;avascript:alert(1)",
    "\u0001javascript:alert(1)", "data:text/html,<script>alert(1)</script>", "vbscript:x", "javascript&colon;alert(1)", "blob:https://a/x",
  ];
  for (const address of addresses) {
    const { text } = pasted(`<p><a href="${address.replace(/"/g, "&quot;")}">words</a><script>alert(1)</script><style>x</style></p>`);
    assert.equal(text, "words\n{};", address);
  }
  assert.equal(pasted('<p onclick="alert(1)" style="background:url(javascript:alert(1))">a<iframe src="x"></iframe></p>').text, "a\n{};");
});

test("a large paste is read in steps", () => {
  const { count } = pasted("<p>word <b>bold</b></p>".repeat(2_000));
  assert.ok(count > 15, `${count}`);
});
