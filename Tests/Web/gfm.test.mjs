// The extensions of GFM, compared with Debian's cmark-gfm.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { pageOf } from "./elements.mjs";
import { htmlOfPage, normalHTML } from "./pagehtml.mjs";

const extensions = ["table", "strikethrough", "autolink", "tasklist", "footnotes"];

/** Texts with the same result in the page view and in cmark-gfm. */
const alike = {
  tables: [
    "| a | b |\n|---|---|\n| 1 | 2 |\n",
    "a | b\n--|--\n1 | 2\n",
    "| a | b | c |\n|:--|:-:|--:|\n| 1 | 2 | 3 |\n",
    "| a |\n|---|\n",
    "| a | b |\n|---|---|\n| 1 |\n",
    "| a | b |\n|---|---|\n| 1 | 2 | 3 |\n",
    "| a | b |\n|---|---|\n|  | 2 |\n| 1 |  |\n",
    "| a | b |\n|---|---|\n||\n",
    "| a |\n|---|\n| `x\\|y` |\n",
    "| a |\n|---|\n| x\\|y |\n",
    "| a |\n|---|\n| **b\\|c** |\n",
    "| a |\n|---|\n| *e* `c` [l](https://example.org/) |\n",
    "| a | b |\n|---|\n| 1 |\n",
    "| a | b |\n|---|---|---|\n| 1 |\n",
    "| a | b |\n|---|---|\n| 1 | 2 |\n\ntext\n",
    "| a | b |\n|---|---|\n| 1 | 2 |\n> quote\n",
    "| a | b |\n|---|---|\n| 1 | 2 |\ntext\n",
    "> | a | b |\n> |---|---|\n> | 1 | 2 |\n",
    "- | a | b |\n  |---|---|\n  | 1 | 2 |\n",
    "text\n| a | b |\n|---|---|\n| 1 | 2 |\n",
    "| a | b |\n| - | - |\n| 1 | 2 |\n",
    "| a |\n| --- |\n| \\` | \n",
    "| f\\|oo  |\n| ------ |\n| b `\\|` az |\n| b **\\|** im |\n",
    "    | a |\n    |---|\n",
    "|a|\n|:-:|\n|b|\n# heading\n",
    "| a | b |\n|---|---|\n| [x]: y | 2 |\n",
  ],
  strikethrough: ["~~a~~\n", "~~a b~~ c\n", "a~~b~~c\n", "~~a\n\nb~~\n", "~~~a~~~ b\n", "*~~a~~*\n", "~~*a*~~\n", "~~ a ~~\n", "`~~a~~`\n"],
  links: [
    "www.commonmark.org\n",
    "Visit www.commonmark.org/help for more.\n",
    "Visit www.commonmark.org.\n",
    "Visit www.commonmark.org/a.b.\n",
    "www.google.com/search?q=Markup+(business)\n",
    "www.google.com/search?q=Markup+(business)))\n",
    "(www.google.com/search?q=Markup+(business))\n",
    "(www.google.com/search?q=Markup+(business)\n",
    "www.google.com/search?q=(business))+ok\n",
    "www.google.com/search?q=commonmark&hl=en\n",
    "www.google.com/search?q=commonmark&hl;\n",
    "www.commonmark.org/he<lp\n",
    "http://commonmark.org\n",
    "(Visit https://encrypted.google.com/search?q=Markup+(business))\n",
    "foo@bar.baz\n",
    "hello@mail+xyz.example isn't valid, but hello+xyz@mail.example is.\n",
    "a.b-c_d@a.b\n",
    "a.b-c_d@a.b.\n",
    "a.b-c_d@a.b-\n",
    "a.b-c_d@a.b_\n",
    "**https://example.org/a**\n",
    "https://example.org/a_b_c\n",
    "[https://example.org/](https://example.org/b)\n",
    "`https://example.org/`\n",
    "xhttps://example.org/\n",
    "https://example.org/a?b=c#d, and more\n",
    "\"https://example.org/\"\n",
    "mailto:foo@bar.baz\n",
  ],
  tasks: [
    "- [ ] foo\n- [x] bar\n",
    "- [x] foo\n  - [ ] bar\n  - [x] baz\n- [ ] bim\n",
    "1. [ ] foo\n2. [X] bar\n",
    "- [ ]foo\n",
    "- [y] foo\n",
    "[ ] foo\n",
    "- [ ] *foo* `bar`\n",
    "- foo [ ] bar\n",
  ],
  footnotes: [
    "a[^1]\n\n[^1]: b\n",
    "a[^b] c[^a]\n\n[^a]: A\n[^b]: B\n",
    "a[^1]\n",
    "[^1]: b\n",
    "a[^1]\n\n[^1]: b\n\n    c\n",
    "a[^1]\n\n[^1]: b\n\nc\n",
    "a[^1] b[^1]\n\n[^1]: c\n",
    "a[^1]\n\n> [^1]: b\n",
    "a[^1]\n\n- c\n\n  [^1]: b\n",
    "a[^Name]\n\n[^name]: b\n",
    "`[^1]`\n\n[^1]: b\n",
    "| a[^1] |\n|---|\n\n[^1]: b\n",
    "a[^1]\n\n[^1]: b[^2]\n[^2]: c\n",
  ],
};

/** @param {string} text */
function ofGFM(text) {
  const { stdout, status, error } = spawnSync("cmark-gfm", ["--unsafe", ...extensions.flatMap((name) => ["-e", name])], { input: text, encoding: "utf8" });
  assert.equal(status, 0, String(error));
  const html = stdout
    .replace(/<sup class="footnote-ref"><a [^>]*>(\d+)<\/a><\/sup>/g, "<sup>$1</sup>")
    .replace(/ ?<a [^>]*class="footnote-backref"[^>]*>[\s\S]*?<\/a>/g, "")
    .replace(/<section[^>]*>/g, "<section>")
    .replace(/<li id="fn-[^"]*">/g, "<li>")
    .replace(/ align="left"/g, "")
    .replace(/(<input[^>]*>)\s+/g, "$1");
  return normalHTML(html);
}

/** @param {string} text */
const shown = (text) => normalHTML(htmlOfPage(pageOf(text), true).html);

/** Texts with another result, on purpose or because of the parser. Documentation/Page.md has the reasons. */
const otherwise = [
  {
    text: "| a | b |\n|---|---|\n| 1 \\\\| 2 |\n",
    page: "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1 \\</td><td>2</td></tr></tbody></table>",
    gfm: "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1 | 2</td><td></td></tr></tbody></table>",
  },
  {
    text: "| a |\n|---|\n    code\n",
    page: "<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>code</td></tr></tbody></table>",
    gfm: "<table><thead><tr><th>a</th></tr></thead></table><pre><code>code\n</code></pre>",
  },
  { text: "H~2~O", page: "<p>H<sub>2</sub>O</p>", gfm: "<p>H<del>2</del>O</p>" },
  { text: "m^2^", page: "<p>m<sup>2</sup></p>", gfm: "<p>m^2^</p>" },
];

for (const [name, texts] of Object.entries(alike)) {
  test(`${name} are read as cmark-gfm reads them`, () => {
    for (const text of texts) assert.equal(shown(text), ofGFM(text), JSON.stringify(text));
  });
}

test("the listed texts are read differently than by cmark-gfm", () => {
  for (const { text, page, gfm } of otherwise) assert.deepEqual([shown(text), ofGFM(text)], [page, gfm], text);
});

test("a link never contains another link", () => {
  const [link, ...others] = pageOf("[https://bank.example/ <https://bank.example/>](https://other.example/)").querySelectorAll("a");
  assert.equal(others.length, 0);
  assert.equal(link?.attributes.href, "https://other.example/");
});
