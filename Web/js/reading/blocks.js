// Creates the elements of blocks: paragraphs, headings, quotes, lists, code.

import { nameOfLanguage } from "../markdown/codelanguages.js";
import { entriesIn } from "../markdown/frontmatter.js";
import { calloutIn, titleOfCallout } from "./callouts.js";
import { unescaped } from "./entities.js";
import { addChildren, addText, formula, marks } from "./inlines.js";
import { addTable } from "./tables.js";
import { childOf, childrenOf, depthMax, make, textIn } from "./tree.js";

/**
 * @typedef {import("./tree.js").Node} Node
 * @typedef {import("./tree.js").Source} Source
 * @typedef {import("./inlines.js").Add} Add
 */

/** @type {Record<string, Add>} */
const blocks = {
  Paragraph: (parent, node, source, depth) => addParagraph(parent, node, source, depth),
  HorizontalRule: (parent) => parent.append(make("hr")),
  Blockquote: (parent, node, source, depth) => addQuote(parent, node, source, depth),
  BulletList: (parent, node, source, depth) => addList(parent, node, source, depth, "ul"),
  OrderedList: (parent, node, source, depth) => addList(parent, node, source, depth, "ol"),
  FencedCode: (parent, node, source) => addCode(parent, node, source),
  CodeBlock: (parent, node, source) => addCode(parent, node, source),
  Table: addTable,
  FormulaBlock: (parent, node, { text }) => addFormula(parent, textIn(node, text)),
  FrontMatter: (parent, node, source) => addFrontMatter(parent, node, source),
  LinkReference: () => {},
  // Footnotes are shown at the end of the page.
  FootnoteDefinition: () => {},
  CommentBlock: (parent, node, { text }) => addComment(parent, textIn(node, text)),
  HTMLBlock: (parent, node, { text }) => addTyped(parent, textIn(node, text)),
  ProcessingInstructionBlock: (parent, node, { text }) => addTyped(parent, textIn(node, text)),
};

for (let level = 1; level <= 6; level += 1) {
  blocks[`ATXHeading${level}`] = blocks[`SetextHeading${level}`] = (parent, node, source, depth) =>
    addHeading(parent, node, source, depth, level);
}

/** @type {Add} */
function addQuote(parent, node, source, depth) {
  const callout = calloutIn(source.text.slice(node.from, node.to));
  const element = make(callout ? "div" : "blockquote", callout && `callout is-${callout.kind}`);
  parent.append(element);
  if (!callout) return addBlocks(element, node, source, depth);
  element.setAttribute("role", "note");
  element.append(titleOfCallout(callout.kind));
  const begin = node.from + callout.length;
  for (const child of childrenOf(node)) {
    if (marks.has(child.name) || child.to <= begin) continue;
    if (child.from >= begin) addBlock(element, child, source, depth + 1);
    else addParagraph(element, child, source, depth + 1, begin);
  }
}

/**
 * @param {HTMLElement} parent @param {Node} node @param {Source} source @param {number} depth @param {number} [from]
 */
function addParagraph(parent, node, source, depth, from = node.from) {
  if (from >= node.to) return;
  const element = make("p");
  element.dir = "auto";
  addChildren(element, [...childrenOf(node)].filter((child) => child.from >= from), source, from, node.to, depth);
  parent.append(element);
}

/**
 * @param {HTMLElement} parent @param {Node} node @param {Source} source @param {number} depth @param {number} level
 */
function addHeading(parent, node, source, depth, level) {
  // Level 1 is for the page itself.
  const element = make(`h${Math.min(level + 1, 6)}`, `level-${level}`);
  element.dir = "auto";
  const { text } = source;
  const children = [...childrenOf(node)];
  const signs = children.filter(({ name }) => name === "HeaderMark");
  const [first, last] = [signs[0], signs[signs.length - 1]];
  const isSetext = node.name.startsWith("Setext");
  let from = isSetext || !first ? node.from : first.to;
  let to = isSetext && first ? first.from : last && last !== first ? last.from : node.to;
  while (from < to && /\s/.test(text[from] ?? "")) from += 1;
  while (to > from && /\s/.test(text[to - 1] ?? "")) to -= 1;
  addChildren(element, children.filter(({ name }) => name !== "HeaderMark"), source, from, to, depth);
  parent.append(element);
}

/** @param {HTMLElement} parent @param {string} text With its `$$` marks; without the last one it is shown as text. */
function addFormula(parent, text) {
  const source = /^\$\$([^]*)\$\$$/.exec(text)?.[1];
  if (source?.trim()) return parent.append(formula("div", source, true));
  const element = make("p");
  addText(element, text);
  parent.append(element);
}

/** @param {HTMLElement} parent @param {string} text Shown as typed. */
function addTyped(parent, text) {
  const element = make("p", "typed");
  element.append(text);
  parent.append(element);
}

/** @param {HTMLElement} parent @param {string} text A comment, and the rest of its last line. */
function addComment(parent, text) {
  const end = text.indexOf("-->");
  const rest = end < 0 ? text : text.slice(end + 3).trim();
  if (rest) addTyped(parent, rest);
}

/** @type {Add} */
export function addBlock(parent, node, source, depth) {
  const add = blocks[node.name];
  if (add && depth <= depthMax) add(parent, node, source, depth);
  else addTyped(parent, textIn(node, source.text));
}

/** @type {Add} */
export function addBlocks(parent, node, source, depth) {
  for (const child of childrenOf(node)) if (!marks.has(child.name)) addBlock(parent, child, source, depth + 1);
}

/** @param {Node} node @returns {number} The number of quotes around it. */
function quotesAround(node) {
  let count = 0;
  for (let { parent } = node; parent; parent = parent.parent) if (parent.name === "Blockquote") count += 1;
  return count;
}

/** @param {string} text @param {number} quotes @returns {boolean} Whether a line has no more than these marks. */
const hasBlankLine = (text, quotes) =>
  text.split("\n").slice(1, -1).some((line) => /^[ \t>]*$/.test(line) && line.split(">").length - 1 <= quotes);

/** @param {Node} node @returns {Node} The innermost last block in it, which ends where its text does. */
function lastIn(node) {
  let last = node;
  while (/^(?:BulletList|OrderedList|ListItem|Blockquote)$/.test(last.name)) {
    let inner;
    for (const child of childrenOf(last)) if (child.name !== "QuoteMark") inner = child;
    if (!inner) break;
    last = inner;
  }
  return last;
}

/** @param {Node} list @param {string} text @returns {boolean} Whether a blank line is between items or blocks. */
function isLoose(list, text) {
  const quotes = quotesAround(list);
  let end = -1;
  for (const item of childrenOf(list)) {
    if (item.name !== "ListItem") continue;
    for (const child of childrenOf(item)) {
      if (child.name === "QuoteMark") continue;
      // A blank line between the mark and the first block does not count.
      const isFirst = child.name !== "ListMark" && item.firstChild?.to === end;
      if (end >= 0 && !isFirst && hasBlankLine(text.slice(end, child.from), quotes)) return true;
      end = lastIn(child).to;
    }
  }
  return false;
}

/**
 * @param {HTMLElement} parent @param {Node} node @param {Source} source @param {number} depth @param {"ul" | "ol"} tag
 */
function addList(parent, node, source, depth, tag) {
  const { text } = source;
  const list = make(tag);
  if (tag === "ol") {
    const first = childOf(node, "ListItem");
    const number = first ? parseInt(text.slice(first.from, first.to), 10) : 1;
    if (number !== 1 && Number.isSafeInteger(number)) /** @type {HTMLOListElement} */ (list).start = number;
  }
  if (!isLoose(node, text)) list.className = "is-tight";
  for (const item of childrenOf(node)) {
    if (item.name !== "ListItem") continue;
    const element = make("li");
    element.dir = "auto";
    for (const child of childrenOf(item)) {
      if (child.name === "Task") addTask(element, child, source, depth);
      else if (!marks.has(child.name)) addBlock(element, child, source, depth + 1);
    }
    list.append(element);
  }
  parent.append(list);
}

/** @type {Add} Adds the first paragraph of an item that begins with a check box. */
function addTask(parent, node, source, depth) {
  const marker = childOf(node, "TaskMarker");
  if (!marker) return;
  const { text, base } = source;
  parent.className = "task";
  const box = /** @type {HTMLInputElement} */ (make("input"));
  box.type = "checkbox";
  box.checked = /x/i.test(text.slice(marker.from, marker.to));
  // Relative to the start of its block, so that edits before the block do not change it.
  box.dataset.at = String(marker.from - base);
  const words = make("span");
  let from = marker.to;
  while (text[from] === " ") from += 1;
  addChildren(words, [...childrenOf(node)], source, Math.min(from, node.to), node.to, depth + 1);
  box.setAttribute("aria-label", words.textContent ?? "");
  parent.append(box, words);
}

/**
 * Returns white space without its first columns. A tab across the limit leaves its other columns as spaces.
 *
 * @param {string} space @param {number} columns
 */
function behind(space, columns) {
  let column = 0;
  for (let place = 0; place < space.length; place += 1) {
    if (column >= columns) return " ".repeat(column - columns) + space.slice(place);
    column += space[place] === "\t" ? 4 - (column % 4) : 1;
  }
  return " ".repeat(Math.max(0, column - columns));
}

/** @param {Node} node A code block. @param {Source} source @returns {string} Its lines, each with a line end. */
function codeIn(node, { text, indents }) {
  const isFenced = node.name === "FencedCode";
  const indent = indents.get(node.from) ?? 0;
  const lineStart = text.lastIndexOf("\n", node.from - 1) + 1;
  let code = "";
  let place = isFenced ? node.from : lineStart;
  let isThere = false;
  let signs = 0;
  for (const { name, from, to } of childrenOf(node)) {
    if (name === "CodeMark") signs += 1;
    if (name !== "CodeText") continue;
    // Before each part the parser omits container marks and indentation: retain the columns beyond `indent`.
    if (!isFenced) code += behind(text.slice(place, from), indent);
    code += text.slice(from, to);
    isThere = true;
    place = to;
  }
  if (!isThere) return "";
  if (isFenced && indent > 0) code = code.replace(/^[ \t]+/gm, (space) => behind(space, indent));
  // If the text ends within a fence, the last line already has its line end.
  const isWhole = signs === 1 && node.to === text.length && code.endsWith("\n");
  return isWhole ? code : `${code}\n`;
}

/**
 * Adds a code block; the language "math" makes it a formula, "mermaid" a diagram.
 *
 * @param {HTMLElement} parent @param {Node} node @param {Source} source
 */
function addCode(parent, node, source) {
  const info = childOf(node, "CodeInfo");
  const word = info ? unescaped(source.text.slice(info.from, info.to)) : "";
  if (/^math$/i.test(word)) return parent.append(formula("div", codeIn(node, source), true));
  const element = make("pre");
  const code = make("code");
  const language = nameOfLanguage(word);
  if (language !== undefined) code.dataset.language = language;
  element.tabIndex = 0;
  code.append(codeIn(node, source));
  element.append(code);
  if (!/^mermaid$/i.test(word)) return parent.append(element);
  // The source is shown until the diagram is drawn (drawing.js).
  const figure = make("figure", "diagram");
  figure.dataset.diagram = codeIn(node, source);
  figure.append(element);
  parent.append(figure);
}

/** @param {HTMLElement} parent @param {Node} node @param {Source} source */
function addFrontMatter(parent, node, { text }) {
  const [open, close] = [...childrenOf(node)];
  // Without a closing line, CommonMark reads a rule and text.
  if (!open || !close) {
    parent.append(make("hr"));
    const rest = make("p");
    addText(rest, text.slice(node.from, node.to).replace(/^---[ \t]*\n/, ""));
    parent.append(rest);
    return;
  }
  const frame = make("div", "table front-matter");
  frame.tabIndex = 0;
  const table = make("table");
  for (const { key, value } of entriesIn(text.slice(open.to, close.from))) {
    const row = make("tr");
    const head = make("th");
    head.setAttribute("scope", "row");
    head.append(key);
    const cell = make("td");
    cell.dir = "auto";
    cell.append(value);
    row.append(head, cell);
    table.append(row);
  }
  frame.append(table);
  parent.append(frame);
}
