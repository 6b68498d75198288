// Two revisions as one page, which is the newer page without its deletions, and the older page without its insertions.

import assert from "node:assert/strict";
import { test } from "node:test";
import { TestElement, pageOf, reading } from "./elements.mjs";
import { Random } from "./support.mjs";
import { finished } from "../../Web/js/ground/steps.js";
import { ComparedPage } from "../../Web/js/history/comparedpage.js";

/** @param {string} older @param {string} newer @returns {TestElement} */
function compared(older, newer) {
  const page = new TestElement("article");
  const both = new ComparedPage(reading);
  finished(both.read(older, newer));
  const blocks = both.parts.map((part) => /** @type {any} */ (finished(part.drawing())));
  const notes = both.footnotes(blocks);
  page.append(...blocks, .../** @type {any[]} */ (notes ? [notes] : []));
  return page;
}

/**
 * Returns a node without one side. Elements that contain only that side are omitted.
 *
 * @param {TestElement | string} node @param {"INS" | "DEL"} side
 * @returns {(TestElement | string)[]}
 */
function without(node, side) {
  if (!(node instanceof TestElement)) return [node];
  if (node.tagName === side) return [];
  const children = node.childNodes.flatMap((child) => without(child, side));
  if (node.tagName === "INS" || node.tagName === "DEL") return children;
  // The link back from a footnote belongs to neither side.
  const isLeft = children.some((one) => (one instanceof TestElement ? one.className !== "footnote-back" : one !== " "));
  if (!isLeft && node.childNodes.length > 0) return [];
  const copy = node.cloneNode(false);
  copy.className = copy.className.replace(/ ?is-deleted/, "");
  copy.append(...children);
  return [copy];
}

/** @param {TestElement | string} node @returns {string} Its form, without positions and numbers of footnotes. */
function shape(node) {
  if (!(node instanceof TestElement)) return node;
  const { tagName, className, dataset } = node;
  const { at: _at, from: _from, to: _to, ...data } = dataset;
  const inner = className.includes("footnote-back") || className === "footnote" ? "" : node.childNodes.map(shape).join("");
  // Two copies of an element beside each other say the same as one.
  return `<${tagName} ${className.replace(/ ?is-tight/, "")} ${node.checked} ${JSON.stringify(data)}>${inner}</>`;
}

/** @param {TestElement} page */
const shapeOf = (page) => page.childNodes.map(shape).join("\n");

/** @param {string} older @param {string} newer @param {string} [hint] */
function check(older, newer, hint = `${JSON.stringify(older)}, ${JSON.stringify(newer)}`) {
  const page = compared(older, newer);
  for (const [side, text] of /** @type {const} */ ([["DEL", newer], ["INS", older]])) {
    const [left] = without(page, side);
    const expected = pageOf(text);
    const words = (/** @type {any} */ one) => (one ? textWithoutNumbers(one) : "");
    assert.equal(words(left), words(expected), `without ${side}: ${hint}`);
  }
  return page;
}

/** @param {TestElement | string} node @returns {string} */
function textWithoutNumbers(node) {
  if (!(node instanceof TestElement)) return node;
  if (/^footnote/.test(node.className) && node.tagName === "A") return node.className === "footnote" ? `(${node.dataset.footnote})` : "";
  const box = node.tagName === "INPUT" ? (node.checked ? "☑" : "☐") : "";
  return box + node.childNodes.map(textWithoutNumbers).join("");
}

/** @param {TestElement} page @returns {string[]} */
const changes = (page) =>
  [...page.querySelectorAll("del"), ...page.querySelectorAll("ins")].map((one) => `${one.tagName === "DEL" ? "-" : "+"}${textWithoutNumbers(one)}`);

test("comparing a text with itself gives its page", () => {
  const text = "# A\n\nb **c** [d](https://e.example)[^1]\n\n- [ ] f\n\n| g |\n| - |\n| h |\n\n[^1]: i\n";
  assert.equal(shapeOf(compared(text, text)), shapeOf(pageOf(text)));
});

/** @type {[string, string, string, string[]][]} */
const examples = [
  ["a paragraph", "We meet at nine.", "We meet at ten sharp.", ["-nine", "+ten sharp"]],
  ["a heading", "# Our old plan", "# Our plan", ["-old "]],
  ["a heading of another level", "# Plan A", "## Plan A", ["-Plan A", "+Plan A"]],
  ["emphasis", "a word here", "a **word** here", ["-word", "+word"]],
  ["a list", "- milk\n- bread\n- tea", "- milk\n- tea\n- jam", ["-bread", "+jam"]],
  ["a nested list", "- a b c\n  - d e f\n", "- a b c\n  - d e f\n  - new\n", ["+new"]],
  ["a box", "- [ ] buy milk", "- [x] buy milk", ["-☐", "+☑"]],
  ["a quote", "> who said this", "> she said this", ["-who", "+she"]],
  ["a table", "| a | b |\n| - | - |\n| 1 | 2 |", "| a | b |\n| - | - |\n| 1 | 3 |\n| 4 | 5 |", ["-2", "+3", "+4", "+5"]],
  ["a table's row", "| a |\n| - |\n| one x |\n| two y |", "| a |\n| - |\n| two y |", ["-one x"]],
  ["code", "```js\nlet a = 1;\nlet b;\n```", "```js\nlet a = 2;\nlet b;\n```", ["-1", "+2"]],
  ["a formula", "so $a^2$ is", "so $a^3$ is", ["-a^2", "+a^3"]],
  ["a formula of its own", "$$\na\n$$", "$$\nb\n$$", ["-a", "+b"]],
  ["a call-out", "> [!NOTE]\n> Read this part.", "> [!NOTE]\n> Read that part.", ["-this", "+that"]],
  ["a footnote", "a[^1]\n\n[^1]: the old one", "a[^1]\n\n[^1]: the new one", ["-old", "+new"]],
  ["a footnote that is new", "a word", "a word[^1]\n\n[^1]: note", ["+(1)", "+note"]],
  ["front matter", "---\ntitle: the old\n---\n\nx", "---\ntitle: the new\n---\n\nx", ["-old", "+new"]],
  ["an address", "see [it](https://a.example)", "see [it](https://b.example)", ["-it", "+it"]],
  ["a block", "one two\n\nthree four\n", "one two\n\nnew text\n\nthree four\n", ["+new text"]],
  ["a block of another kind", "one two three", "- one two three", ["-one two three", "+one two three"]],
  ["Chinese", "我们九点见面", "我们十点见面", ["-九", "+十"]],
  ["emoji", "so 👩‍👩‍👧", "so 👩‍👩‍👦", ["-👩‍👩‍👧", "+👩‍👩‍👦"]],
];

for (const [name, older, newer, expected] of examples) {
  test(`words of ${name} are marked`, () => assert.deepEqual(changes(check(older, newer)), expected));
}

test("a changed picture is shown twice: the old and the new one", () => {
  const picture = (/** @type {string} */ digit) => `![it](files/${digit.repeat(64)}/it.png)`;
  const page = compared(picture("1"), picture("2"));
  assert.equal(page.querySelector("del")?.querySelectorAll("img").length, 1);
  assert.equal(page.querySelector("ins")?.querySelectorAll("img").length, 1);
});

const pieces = [
  (/** @type {string} */ words) => `# ${words}`, (/** @type {string} */ words) => words, (/** @type {string} */ words) => `> ${words}`,
  (/** @type {string} */ words) => `- ${words}\n- *b* ${words}`, (/** @type {string} */ words) => `1. [x] no ${words}`,
  (/** @type {string} */ words) => `- [ ] ${words}\n- [x] c d`, (/** @type {string} */ words) => `| a | ${words} |\n| - | - |\n| ${words} | b |`,
  (/** @type {string} */ words) => `\`\`\`js\n${words}\n\`\`\``, (/** @type {string} */ words) => `> [!TIP]\n> ${words}`,
  (/** @type {string} */ words) => `${words}[^n]\n\n[^n]: ${words}`, (/** @type {string} */ words) => `**${words}** [${words}](https://a.example/${words.length}) $x$ \`c\``,
  (/** @type {string} */ words) => `$$\n${words}\n$$`, (/** @type {string} */ words) => `- a\n  - ${words}\n\n    > ${words}`, () => "---", () => "<b>typed</b>",
  (/** @type {string} */ words) => `![${words}](files/${"0".repeat(64)}/a.png)`,
];

test("without the text of one side, the compared page has the text of the other side", () => {
  for (let seed = 1; seed <= 800; seed += 1) {
    const random = new Random(seed);
    const words = () => Array.from({ length: 1 + random.below(5) }, () => ["one", "two", "three", "四", "a🦆b"][random.below(5)]).join(" ");
    const block = () => (pieces[random.below(pieces.length)] ?? String)(words());
    const older = Array.from({ length: random.below(7) }, block);
    // Some blocks remain, some change, some are deleted, and some are added.
    const newer = older.flatMap((one) => {
      const chance = random.below(5);
      if (chance === 0) return [];
      if (chance === 1) return [one, block()];
      return [chance === 2 ? one.replace(/one|three/g, words()) : one];
    });
    check(older.join("\n\n"), newer.join("\n\n"), `seed ${seed}`);
  }
});

test("a text of one megabyte with changes everywhere is compared in short steps", () => {
  const paragraph = (/** @type {number} */ index, /** @type {string} */ word) => `Line ${index}: ${`${word} and some more words. `.repeat(8)}`;
  const text = (/** @type {string} */ word) => Array.from({ length: 4_500 }, (_, index) => paragraph(index, word)).join("\n\n");
  const both = new ComparedPage(reading);
  let [longest, steps] = [0, 0];
  /** @template Result @param {Generator<void, Result>} generator */
  const timed = (generator) => {
    for (;;) {
      const begin = process.cpuUsage();
      const { done, value } = generator.next();
      const { user } = process.cpuUsage(begin);
      [longest, steps] = [Math.max(longest, user), steps + 1];
      if (done) return value;
    }
  };
  const [older, newer] = [text("old"), text("new")];
  assert.ok(newer.length > 900_000);
  timed(both.read(older, newer));
  const blocks = both.parts.map((part) => timed(part.drawing()));
  assert.equal(blocks.length, 4_500);
  assert.ok(/** @type {any} */ (blocks[4_000]).querySelectorAll("del").length === 8);
  assert.ok(steps > 10_000);
  // Pairing the blocks is the longest step: a few hundredths of a second.
  assert.ok(longest < 500_000, `${longest / 1_000} ms`);
});
