// Converting HTML of clipboards to Markdown: rules, HTML of known programs, hostile HTML, and limits.

import assert from "node:assert/strict";
import { test } from "node:test";
import { syntaxTree } from "../../Web/js/codemirror.js";
import { blockInsertion, putLink, putPicture } from "../../Web/js/editing/pasting/insertion.js";
import { markdownOf } from "../../Web/js/editing/pasting/markdownof.js";
import { inert } from "../../Web/js/editing/pasting/markup.js";
import { parsedText } from "./parsedtext.mjs";
import { parsed } from "./smalldom.mjs";

/** @param {string} html */
function converted(html) {
  const steps = markdownOf(parsed(html));
  for (let count = 1; ; count += 1) {
    const step = steps.next();
    if (step.done) return { ...step.value, steps: count };
  }
}

/** @type {[string, string, string][]} The name of each rule, HTML, and Markdown. */
const rules = [
  ["headings", "<h1>One</h1><h2><b>Two</b> <i>three</i></h2>", "# One\n\n## Two *three*"],
  ["marks", "<p><b>bold</b>, <em>italic</em>, <s>gone</s>, <code>a*b</code></p>", "**bold**, *italic*, ~~gone~~, `a*b`"],
  ["nested marks", "<p><b>one <i>two</i></b><i> three</i></p>", "**one *two*** *three*"],
  ["marks by style", '<p><span style="font-weight: 700">a</span> <span style="font-style:italic">b</span> <span style="text-decoration:line-through">c</span></p>', "**a** *b* ~~c~~"],
  ["spaces stand outside of marks", "<p>a<b> b </b>c</p>", "a **b** c"],
  ["punctuation beside letters stands outside of marks", "<p><b>Note:</b>this, <b>「重要」</b>です</p>", "**Note**:this, 「**重要**」です"],
  ["links", '<p>See <a href="https://a.example/b (c)">the <b>site</b></a>.</p>', "See [the **site**](https://a.example/b%20%28c%29)."],
  ["a link with a bracket", '<p><a href="https://a.example/">a] b</a> x</p>', "[a\\] b](https://a.example/) x"],
  ["a heading that is a link", '<a href="https://a.example/"><h3>Card</h3><p>words</p></a>', "### Card\n\n[words](https://a.example/)"],
  ["line breaks", "<p>one<br>two<br></p>", "one\\\ntwo"],
  ["two line breaks end a paragraph", "<div>one<br><br>two</div>", "one\n\ntwo"],
  ["line breaks of preserved space", '<div style="white-space: pre-wrap"><b>a</b>\nb</div>', "**a**\\\nb"],
  ["lists", "<ul><li>one<ol start='4'><li>two</li><li>three</li></ol></li><li>four</li></ul>", "- one\n  4. two\n  5. three\n- four"],
  ["a list with paragraphs", "<ul><li><p>one</p><p>more</p></li><li><p>two</p></li></ul>", "- one\n\n  more\n\n- two"],
  ["two lists", "<ul><li>a</li></ul><ul><li>b</li></ul>", "- a\n\n* b"],
  ["boxes", '<ul><li><input type="checkbox" checked> done</li><li><input type="checkbox"/> open</li></ul>', "- [x] done\n- [ ] open"],
  ["quotes", "<blockquote><p>one</p><p>two</p></blockquote>", "> one\n>\n> two"],
  ["code", '<pre><code class="language-js">let a = 1;\n  b();\n</code></pre>', "```js\nlet a = 1;\n  b();\n```"],
  ["code with fences", "<pre>```\nx\n```</pre>", "````\n```\nx\n```\n````"],
  ["code with backticks", "<p>a <code>`b`</code></p>", "a `` `b` ``"],
  ["a rule", "<p>a</p><hr><p>b</p>", "a\n\n---\n\nb"],
  ["pictures", '<p><img src="https://a.example/p.png" alt="a [b]"></p>', "![a \\[b\\]](https://a.example/p.png)"],
  ["pictures without an address are their words", '<p>x <b>y</b> <img src="data:image/png;base64,AA" alt="a chart"></p>', "x **y** a chart"],
  ["tables", "<table><tr><th>a</th><th align='right'>n</th></tr><tr><td>x|y</td><td>1<br>2</td></tr></table>", "| a    |   n |\n| ---- | --: |\n| x\\|y | 1 2 |"],
  ["cells that span", "<table><tr><td colspan='2'>a</td><td>b</td></tr><tr><td rowspan='2'>c</td><td>d</td></tr><tr><td>e</td><td>f</td></tr></table>", "| a   |     | b   |\n| --- | --- | --- |\n| c   | d   |     |\n|     | e   | f   |"],
  ["tables for layout", "<table><tr><td><h1>Title</h1></td></tr><tr><td><table><tr><td>x</td></tr></table></td></tr></table>", "# Title\n\nx"],
  ["code in cells", "<table><tr><td><code>a|b</code></td><td>c</td></tr></table>", "| `a\\|b` | c   |\n| ------ | --- |"],
  ["formulas", '<p>x <math><semantics><mi>a</mi><annotation encoding="application/x-tex">{\\displaystyle a^{2}}</annotation></semantics></math></p>', "x $a^{2}$"],
  ["raised digits", "<p><b>m</b><sup>2</sup></p>", "**m**²"],
  ["descriptions", "<dl><dt>term</dt><dd>meaning</dd></dl>", "**term**\n\nmeaning"],
  ["hidden text is left out", '<p><b>a</b><span style="display: none">b</span><span hidden>c</span></p>', "**a**"],
];

for (const [name, html, markdown] of rules) test(`pasting: ${name}`, () => assert.equal(converted(html).text, markdown));

test("characters with a meaning in Markdown are escaped, and others are not", () => {
  for (const text of ["1. one", "- a", "+ a", "# a", "> a", "---", "===", "a *b* c", "_a_", "`a`", "[a](b)", "<b>", "&amp;", "\\*", "~~a~~", "* * *", "| - |", "10) x"]) {
    const html = `<p><b>x</b></p><p>${text.replace(/&/g, "&amp;").replace(/</g, "&lt;")}</p>`;
    const line = converted(html).text.split("\n").at(-1) ?? "";
    assert.notEqual(line, text);
    assert.equal(line.replace(/\\([!-/:-@[-`{-~])/g, "$1"), text);
  }
  for (const text of ["snake_case", "2 * 3", "a < b", "R&D", "#tag", "5 - 3", "C:\\dir", "1.5"]) {
    assert.equal(converted(`<p><b>x</b></p><p>${text.replace(/&/g, "&amp;").replace(/</g, "&lt;")}</p>`).text, `**x**\n\n${text}`);
  }
});

test("HTML without formatting is plain", () => {
  for (const html of [
    "<span>words</span>",
    '<meta charset="utf-8"><div style="font-family: Menlo, monospace; white-space: pre"><div><span style="color:#00f">let</span> a;</div><div>b;</div></div>',
    '<a href="https://a.example/">https://a.example</a>',
    "<pre>npm test</pre>",
    "<table><tr><td>one cell</td></tr></table>",
  ]) assert.ok(converted(html).isPlain, html);
  for (const html of ["<p>a</p><p>b</p>", "<b>a</b>", '<a href="https://a.example/">a</a>', "<ul><li>a</li></ul>"]) assert.ok(!converted(html).isPlain, html);
  assert.ok(converted("a <b>b</b>").isInline);
  assert.ok(!converted("<p>a</p><p><b>b</b></p>").isInline);
});

// Shortened HTML of known programs.
const word = `<html xmlns:o="urn:schemas-microsoft-com:office:office" xmlns:w="urn:schemas-microsoft-com:office:word">
<head><meta name="Generator" content="Microsoft Word 15"/><!--[if gte mso 9]><xml><w:WordDocument></w:WordDocument></xml><![endif]-->
<style>p.MsoNormal {mso-style-name:"x"; background:url(javascript:alert(1))}</style></head>
<body lang="EN-GB"><!--StartFragment-->
<h1>Plan<o:p></o:p></h1>
<p class="MsoNormal">We <b style='mso-bidi-font-weight:normal'>ship</b>
on&nbsp;Monday.<o:p></o:p></p>
<p class="MsoNormal"><o:p>&nbsp;</o:p></p>
<p class="MsoListParagraphCxSpFirst" style='text-indent:-18.0pt;mso-list:l0 level1 lfo1'><!--[if !supportLists]--><span style='font-family:Symbol;mso-list:Ignore'>·<span style='font:7.0pt "Times New Roman"'>&nbsp;&nbsp;&nbsp;</span></span><!--[endif]-->One<o:p></o:p></p>
<p class="MsoListParagraphCxSpMiddle" style='margin-left:72.0pt;mso-list:l0 level2 lfo1'><span style='font-family:"Courier New"'><span style='mso-list:Ignore'>o<span>&nbsp;&nbsp;</span></span></span>Inner</p>
<p class="MsoListParagraphCxSpLast" style='mso-list:l0 level1 lfo1'><span><span style='mso-list:Ignore'>·</span></span>Two</p>
<p class="MsoListParagraph" style='mso-list:l1 level1 lfo2'><span style='mso-list:Ignore'>1.<span>&nbsp;</span></span>First</p>
<p class="MsoListParagraph" style='mso-list:l1 level1 lfo2'><span style='mso-list:Ignore'>2.<span>&nbsp;</span></span>Second</p>
<table class="MsoTableGrid" border="1"><tr><td><p class="MsoNormal"><b>Who</b></p></td><td><p class="MsoNormal">What</p></td></tr>
<tr><td><p class="MsoNormal">Ann</p></td><td><p class="MsoNormal">Text</p></td></tr></table>
<!--EndFragment--></body></html>`;

test("Word: headings, lists by level and tables are converted, and comments are dropped", () => {
  assert.equal(converted(word).text, [
    "# Plan", "", "We **ship** on Monday.", "", "- One", "  - Inner", "- Two", "", "1. First", "2. Second", "",
    "| **Who** | What |", "| ------- | ---- |", "| Ann     | Text |",
  ].join("\n"));
});

test("Word on the web: a list for each item", () => {
  const item = (/** @type {string} */ kind, /** @type {number} */ level, /** @type {string} */ text) =>
    `<div class="ListContainerWrapper"><${kind} class="BulletListStyle1"><li data-aria-level="${level}" data-listid="1"><p class="Paragraph"><span class="TextRun"><span class="NormalTextRun">${text}</span></span><span class="EOP">&nbsp;</span></p></li></${kind}></div>`;
  assert.equal(converted(item("ul", 1, "One") + item("ul", 2, "Inner") + item("ul", 1, "Two")).text, "- One\n  - Inner\n- Two");
});

test("Google Docs: the wrapper is not bold, and lists and boxes are converted", () => {
  const span = (/** @type {string} */ text, weight = 400, more = "") => `<span style="font-size:11pt;font-family:Arial;font-weight:${weight};font-style:normal;text-decoration:none;white-space:pre-wrap;${more}">${text}</span>`;
  const html = `<meta charset="utf-8"><b style="font-weight:normal;" id="docs-internal-guid-1"><h2 dir="ltr" style="line-height:1.38">${span("Agenda")}</h2>
<p dir="ltr">${span("Some ")}${span("bold", 700)}${span(" and ")}<a href="https://a.example/" style="text-decoration:none;">${span("a link", 400, "text-decoration:underline;")}</a>${span(".")}</p><br/>
<ul style="margin-top:0"><li dir="ltr" aria-level="1"><p dir="ltr" role="presentation">${span("One")}</p></li><ul><li dir="ltr" aria-level="2"><p>${span("Inner")}</p></li></ul><li dir="ltr" aria-level="1"><p>${span("Two")}</p></li></ul>
<ul><li dir="ltr" role="checkbox" aria-checked="true"><img src="data:image/png;base64,AA" alt="checked" aria-roledescription="checkbox"/><p>${span("Done")}</p></li><li role="checkbox" aria-checked="false"><img src="data:image/png;base64,AA" alt="unchecked" aria-roledescription="checkbox"/><p>${span("Open")}</p></li></ul>
<div dir="ltr" align="left"><table><colgroup><col width="10"/></colgroup><tbody><tr><td><p>${span("A")}</p></td><td><p>${span("B")}</p></td></tr><tr><td><p>${span("1")}</p></td><td><p>${span("2")}</p></td></tr></tbody></table></div></b><br class="Apple-interchange-newline">`;
  assert.equal(converted(html).text, [
    "## Agenda", "", "Some **bold** and [a link](https://a.example/).", "", "- One", "  - Inner", "- Two", "",
    "* [x] Done", "* [ ] Open", "", "| A   | B   |", "| --- | --- |", "| 1   | 2   |",
  ].join("\n"));
});

test("GitHub: anchors are dropped, and boxes, code and call-outs are converted", () => {
  const html = `<div class="markdown-heading"><h2 class="heading-element">Use</h2><a class="anchor" aria-label="Permalink" href="https://github.example/x#use"><svg class="octicon"><path d="M1"></svg></a></div>
<p>Run <code class="notranslate">make</code> <g-emoji class="g-emoji" alias="tada">🎉</g-emoji></p>
<div class="highlight highlight-source-shell"><pre class="notranslate"><span class="pl-c1">cd</span> parley
make</pre><div class="zeroclipboard-container"><clipboard-copy aria-label="Copy"><svg></svg></clipboard-copy></div></div>
<ul class="contains-task-list"><li class="task-list-item"><input type="checkbox" class="task-list-item-checkbox" checked="" disabled/> done</li></ul>
<div class="markdown-alert markdown-alert-note" dir="auto"><p class="markdown-alert-title"><svg></svg>Note</p><p>Careful.</p></div>
<markdown-accessiblity-table><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table></markdown-accessiblity-table>`;
  assert.equal(converted(html).text, [
    "## Use", "", "Run `make` 🎉", "", "```shell", "cd parley", "make", "```", "", "- [x] done", "", "> [!NOTE]", "> Careful.", "",
    "| a   | b   |", "| --- | --- |", "| 1   | 2   |",
  ].join("\n"));
});

test("Wikipedia: edit links and footnote marks are dropped, and formulas and tables are converted", () => {
  const html = `<div class="mw-heading mw-heading2"><h2 id="History">History</h2><span class="mw-editsection"><span>[</span><a href="https://en.example/edit">edit</a><span>]</span></span></div>
<p><b>Parley</b> is a <a href="https://en.example/wiki/Word_(x)" title="Word">word</a>.<sup id="cite_ref-1" class="reference"><a href="https://en.example/#cite_note-1">[1]</a></sup>
<span class="mwe-math-element"><span class="mwe-math-mathml-inline mwe-math-mathml-a11y" style="display: none;"><math><semantics><mrow></mrow><annotation encoding="application/x-tex">{\\displaystyle x_{1}}</annotation></semantics></math></span><img src="https://en.example/x.svg" class="mwe-math-fallback-image-inline" alt="{\\displaystyle x_{1}}"></span></p>
<table class="wikitable"><caption>Years</caption><tbody><tr><th scope="col">Year</th><th>Text</th></tr><tr><td>1999</td><td><ul><li>a</li><li>b</li></ul></td></tr></tbody></table>`;
  assert.equal(converted(html).text, [
    "## History", "", "**Parley** is a [word](https://en.example/wiki/Word_%28x%29). $x_{1}$", "", "Years", "",
    "| Year | Text |", "| ---- | ---- |", "| 1999 | a; b |",
  ].join("\n"));
});

test("spreadsheets: empty rows and columns at the ends are dropped", () => {
  const sheets = '<google-sheets-html-origin><style type="text/css">td {border: 1px solid #cccccc;}</style><table xmlns="http://www.w3.org/1999/xhtml" data-sheets-root="1"><colgroup><col width="100"/></colgroup><tbody><tr style="height:21px;"><td style="overflow:hidden" data-sheets-value="{}">Name</td><td style="text-align:right;">Sum</td><td></td></tr><tr><td>a&#124;b</td><td>3</td><td></td></tr><tr><td></td><td></td><td></td></tr></tbody></table></google-sheets-html-origin>';
  const excel = '<html xmlns:x="urn:schemas-microsoft-com:office:excel"><head><style>.xl65 {mso-number-format:"0.00"}</style></head><body><table border="0" style="border-collapse:collapse"><!--StartFragment--><col width="87"><tr height="20"><td height="20" width="87">Name</td><td style="text-align:right">Sum</td></tr><tr><td>a&#124;b</td><td align="right">3</td></tr><!--EndFragment--></table></body></html>';
  for (const html of [sheets, excel]) assert.equal(converted(html).text, "| Name | Sum |\n| ---- | --: |\n| a\\|b |   3 |");
});

test("hostile HTML becomes harmless text", () => {
  /** @type {[string, string][]} */
  const hostile = [
    ["<p>a<script>alert(1)</script><b>b</b></p>", "a**b**"],
    ['<p><b>a</b><img src="x" onerror="alert(1)"></p>', "**a**"],
    ['<p><b>a</b><img src="https://a.example/x.png" alt="](javascript:alert(1)) ![" onerror="alert(1)"></p>', "**a**![\\](javascript:alert(1)) !\\[](https://a.example/x.png)"],
    ['<p><b>a</b> <a href="javascript:alert(1)">b</a> <a href=" JaVaScRiPt:alert(1)">c</a></p>', "**a** b c"],
    ['<p><b>a</b> <a href="data:text/html,x">b</a> <a href="file:///etc/passwd">c</a> <a href="vbscript:x">d</a></p>', "**a** b c d"],
    ['<p><b>a</b> <a href="https://a.example/)[x](javascript:alert(1)">b</a></p>', "**a** [b](https://a.example/%29[x]%28javascript:alert%281%29)"],
    ["<p><b>a</b> <a href='https://a.example/\n\n# x'>b</a></p>", "**a** [b](https://a.example/#%20x)"],
    ["<p><b>a</b> &lt;img src=x onerror=alert(1)&gt;</p>", "**a** \\<img src=x onerror=alert(1)>"],
    ["<p><b>a</b> `&lt;script&gt;`</p>", "**a** \\`\\<script>\\`"],
    ["<svg><style>x</style><path d='m'></svg><p><b>a</b></p><iframe src='https://a.example/'></iframe><object>x</object>", "**a**"],
    ["<pre class='language-x\"onload=alert(1)'>a\n```\n&lt;script&gt;\n</pre>", "````x\na\n```\n<script>\n````"],
    ["<table><tr><td>a</td><td>`|`</td></tr></table>", "| a   | \\`\\|\\` |\n| --- | ------ |"],
    ["<!--[if gte mso 9]><xml><script>alert(1)</script></xml><![endif]--><b>a</b>", "**a**"],
  ];
  for (const [html, markdown] of hostile) assert.equal(converted(html).text, markdown, html);
});

test("large and deeply nested HTML is converted in linear time, in steps", () => {
  const { text, steps } = converted("<p>Some <b>bold</b> words</p>".repeat(20_000));
  assert.equal(text.length, 20_000 * "Some **bold** words\n\n".length - 2);
  assert.ok(steps > 300, `${steps} steps`);
  assert.match(converted(`${"<div>".repeat(5_000)}<b>deep</b>${"</div>".repeat(5_000)}`).text, /deep/);
  assert.match(converted(`${"<ul><li>".repeat(2_000)}x${"</li></ul>".repeat(2_000)}`).text, /x/);
  // Large spans do not make the table much larger than the HTML.
  const wide = `<table>${`<tr>${"<td colspan='1000' rowspan='1000'>a</td>".repeat(50)}</tr>`.repeat(50)}</table>`;
  assert.ok(converted(wide).text.length < 2_000_000, `${converted(wide).text.length}`);
  const columns = converted(`<table><tr>${"<td>a</td>".repeat(1_000)}</tr><tr><td>b</td></tr></table>`).text.split("\n");
  assert.equal(columns.length, 3);
});

/**
 * Returns the text after an insertion; "¦" is the caret, "‹" and "›" are the ends of a selection.
 *
 * @param {string} marked
 * @param {(state: any, range: {from: number, to: number}) => import("../../Web/js/editing/pasting/insertion.js").Insertion | undefined} insert
 */
function after(marked, insert) {
  const from = marked.search(/[¦‹]/);
  const to = marked.includes("›") ? marked.indexOf("›") - 1 : from;
  const state = parsedText(marked.replace(/[¦‹›]/g, ""));
  const insertion = insert(state, { from, to });
  if (!insertion) return undefined;
  const text = insertion.changes && state.changes(insertion.changes).apply(state.doc).toString();
  return `${text.slice(0, insertion.selection.anchor)}¦${text.slice(insertion.selection.anchor)}`;
}

/** @type {[string, string, string][]} */
const blocks = [
  ["¦", "# a\n\nb", "# a\n\nb¦"],
  ["word¦", "# a\n\nb", "word\n\n# a\n\nb¦"],
  ["one ¦two", "# a", "one\n\n# a¦\n\ntwo"],
  ["one\n¦\ntwo", "# a", "one\n\n# a¦\n\ntwo"],
  ["- ¦", "- a\n  - b", "- a\n  - b¦"],
  ["- one\n  - ¦\n- two", "- a\n- b", "- one\n  - a\n  - b¦\n- two"],
  ["1. [ ] ¦", "- [x] a", "- [x] a¦"],
  ["- one¦", "a\n\nb", "- one\n\n  a\n\n  b¦"],
  ["> one¦", "a\n\nb", "> one\n>\n> a\n>\n> b¦"],
  ["a ‹b› c", "# x", "a\n\n# x¦\n\nc"],
];
for (const [before, markdown, expected] of blocks) {
  test(`blocks at ${JSON.stringify(before)}`, () => assert.equal(after(before, (state, range) => blockInsertion(state, range, markdown)), expected));
}

/** @type {[string, string][]} */
const pictures = [
  ["¦## Tasks", "P¦\n\n## Tasks"],
  ["## Ta¦sks", "## Tasks\n\nP¦"],
  ["¦", "P¦"],
  ["one¦\ntwo", "one\n\nP¦\n\ntwo"],
  ["- one¦\n- two", "- one\n\n  P¦\n\n- two"],
  ["- ¦", "- P¦"],
  ["- [ ] ¦one", "- [ ] P ¦one"],
  ["| a | b |\n| - | - |\n| c¦ | d |", "| a | b |\n| - | - |\n| cP¦ | d |"],
];
for (const [before, expected] of pictures) {
  test(`a picture at ${JSON.stringify(before)}`, () => assert.equal(after(before, (state, { from }) => putPicture(state, from, "P")), expected));
}

/** @type {[string, string, string | undefined][]} */
const links = [
  ["see ‹this›", "https://a.example/b (c)", undefined],
  ["see ‹this›", " https://a.example/b(c)\n", "see [this](https://a.example/b%28c%29)¦"],
  ["see ‹this › now", "https://a.example/", "see [this](https://a.example/) ¦ now"],
  ["‹a] b›", "https://a.example/", "[a\\] b](https://a.example/)¦"],
  ["‹word›", "javascript:alert(1)", undefined],
  ["‹word›", "words", undefined],
  ["‹https://b.example/›", "https://a.example/", undefined],
  ["[‹word›](https://b.example/)", "https://a.example/", undefined],
  ["`‹word›`", "https://a.example/", undefined],
  ["‹one\ntwo›", "https://a.example/", undefined],
];
for (const [before, text, expected] of links) {
  test(`${JSON.stringify(text)} over ${JSON.stringify(before)}`, () => assert.equal(after(before, (state, range) => putLink(state, range, text)), expected));
}

test("inert removes style sheets, and disables styles and event handlers", () => {
  assert.equal(
    inert('<STYLE>a</STYLE><p style="x" class=a>b style= &lt;i style=""&gt;</p><br/style=x><i\nonload = x>'),
    '<p data-style="x" class=a>b style= &lt;i style=""&gt;</p><br/data-style=x><i\ndata-onload = x>',
  );
  assert.equal(inert("a<style>b"), "a");
});

test("dollar signs are escaped only where they would begin a formula", () => {
  for (const [html, markdown] of [
    ["costs $5 and $6", "costs $5 and $6"], ["US$ 5", "US$ 5"], ["$x$", "\\$x$"], ["$5$", "\\$5$"], ["a $ b $ c", "a $ b $ c"],
  ]) assert.equal(converted(`<p><b>x</b></p><p>${html}</p>`).text, `**x**\n\n${markdown}`);
});

/** @param {number} seed @returns {() => number} Between 0 and 1. */
const randomBy = (seed) => () => {
  seed = (seed * 1_664_525 + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
};

test("the parser reads random characters as plain text after conversion", () => {
  const random = randomBy(39);
  const signs = "**__``[](){}<>&~~^|##--++==..11!!  aab\\\\:;/$".split("");
  const asHTML = (/** @type {string} */ text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");
  for (let count = 0; count < 500; count += 1) {
    const text = Array.from({ length: 1 + Math.floor(random() * 12) }, () => signs[Math.floor(random() * signs.length)]).join("");
    const letters = text.trim().replace(/ +/g, " ");
    if (!letters) continue;
    const { text: markdown } = converted(`<p><b>x</b></p><p>${asHTML(text)}</p>`);
    const tree = /** @type {any} */ (syntaxTree(parsedText(markdown)));
    const block = tree.topNode.lastChild;
    let read = "";
    let at = block.from;
    for (let node = block.firstChild; node; node = node.nextSibling) {
      assert.ok(["Escape", "URL", "Emoji"].includes(node.name), `${JSON.stringify(text)} is ${node.name} in ${JSON.stringify(markdown)}`);
      if (node.name !== "Escape") continue;
      read += markdown.slice(at, node.from) + markdown.slice(node.from + 1, node.to);
      at = node.to;
    }
    assert.equal(block.name, "Paragraph", `${JSON.stringify(text)} in ${JSON.stringify(markdown)}`);
    assert.equal(read + markdown.slice(at, block.to), letters, JSON.stringify(markdown));
  }
});

test("the parser reads emphasis that begins and ends anywhere as emphasis", () => {
  const random = randomBy(12);
  const pick = (/** @type {string[]} */ from) => from[Math.floor(random() * from.length)] ?? "";
  for (let count = 0; count < 500; count += 1) {
    const pieces = Array.from({ length: 1 + Math.floor(random() * 4) }, () => ({
      tags: ["b", "i", "s"].filter(() => random() < 0.4),
      text: Array.from({ length: 1 + Math.floor(random() * 4) }, () => pick(["a", "b", " ", ".", "「", "」", "é"])).join(""),
    }));
    const html = pieces.map(({ tags, text }) => tags.map((tag) => `<${tag}>`).join("") + text + [...tags].reverse().map((tag) => `</${tag}>`).join("")).join("");
    const { text: markdown } = converted(`<p>${html}</p>`);
    const tree = /** @type {any} */ (syntaxTree(parsedText(markdown)));
    let read = "";
    let at = 0;
    tree.iterate({ enter: (/** @type {any} */ { name, from, to }) => {
      if (!/^(Emphasis|Strikethrough)Mark$/.test(name)) return;
      read += markdown.slice(at, from);
      at = to;
    } });
    const letters = pieces.map(({ text }) => text).join("").replace(/ +/g, " ").trim();
    assert.equal(read + markdown.slice(at), letters, `${html} is ${JSON.stringify(markdown)}`);
  }
});
