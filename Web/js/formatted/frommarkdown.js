// A Markdown text as the change that makes it a formatted note: marks are removed, and what they marked gets attributes.
// Text stays where it is, so that comments, carets and authors keep their places.

import { markdownLanguage } from "../codemirror.js";
import { bounded } from "../markdown/boundedmarkdown.js";
import { formulas } from "../markdown/formulas.js";
import { frontMatter } from "../markdown/frontmatter.js";

/**
 * @typedef {{name: string, from: number, to: number, firstChild: Node | null, nextSibling: Node | null, parent: Node | null,
 *   getChild(name: string): Node | null, getChildren(name: string): Node[]}} Node
 * @typedef {{[key: string]: any}} Attributes
 * @typedef {import("../client/door.js").ChangeFormat} ChangeFormat
 * @typedef {import("../client/door.js").TextChange} TextChange
 * @typedef {{quote: boolean, list: string, level: number, isFirst: boolean}} Around What a line is in.
 */

/** The deepest indent of a line. */
const indentMax = 8;
const embedSign = "\ufffc";
/** @type {Record<string, Attributes>} The attributes of inline nodes. */
const inline = {
  StrongEmphasis: { bold: true }, Emphasis: { italic: true }, Strikethrough: { strike: true }, InlineCode: { code: true },
  Subscript: { script: "sub" }, Superscript: { script: "super" },
};
/** Marks that are removed. */
const marks = new Set(["EmphasisMark", "StrikethroughMark", "CodeMark", "SubscriptMark", "SuperscriptMark"]);

/** Collects what is removed, put in its place, and formatted. */
class Conversion {
  /** @type {{from: number, to: number, insert: string, set?: Attributes}[]} */
  edits = [];
  /** @type {{from: number, to: number, set: Attributes}[]} */
  spans = [];
  /** @type {Map<number, Attributes>} The attributes of lines, by their starts. */
  lines = new Map();

  /** @param {string} text */
  constructor(text) {
    this.text = text;
  }

  /** @param {number} from @param {number} to @param {string} [insert] @param {Attributes} [set] Of what is inserted. */
  replace(from, to, insert = "", set) {
    if (from < to || insert) this.edits.push({ from, to, insert, ...(set && { set }) });
  }

  /** @param {number} place @returns {{from: number, to: number}} The line at a place. */
  lineAt(place) {
    const from = this.text.lastIndexOf("\n", place - 1) + 1;
    const to = this.text.indexOf("\n", place);
    return { from, to: to < 0 ? this.text.length : to };
  }

  /** @param {number} from @param {number} to @param {Attributes} set Sets the kind of the lines of a range. */
  kind(from, to, set) {
    for (let line = this.lineAt(from); ; line = this.lineAt(line.to + 1)) {
      this.lines.set(line.from, { ...this.lines.get(line.from), ...set });
      if (line.to >= to || line.to >= this.text.length) return;
    }
  }

  /** @param {number} place Removes the line at a place, and one newline. */
  removeLine(place) {
    const { from, to } = this.lineAt(place);
    if (to < this.text.length) this.replace(from, to + 1);
    else this.replace(Math.max(0, from - 1), to);
  }

  /** @param {number} place @returns {number} The place behind the spaces at it. */
  afterSpace(place) {
    while (this.text[place] === " " || this.text[place] === "\t") place += 1;
    return place;
  }

  /** @param {number} place @returns {number} The place before the spaces that end at it. */
  beforeSpace(place) {
    while (this.text[place - 1] === " " || this.text[place - 1] === "\t") place -= 1;
    return place;
  }
}

/** @param {Node | null} node @returns {Node[]} */
function childrenOf(node) {
  const children = [];
  for (let child = node?.firstChild ?? null; child; child = child.nextSibling) children.push(child);
  return children;
}

/** @param {Conversion} to @param {Node} node @param {Around} around A block. */
function block(to, node, around) {
  const { name } = node;
  if (/^(?:ATX|Setext)Heading[1-6]$/.test(name)) heading(to, node);
  else if (name === "BulletList" || name === "OrderedList") {
    const list = name === "OrderedList" ? "ordered" : "bullet";
    const level = around.list ? around.level + 1 : 0;
    for (const item of node.getChildren("ListItem")) listItem(to, item, { ...around, list, level });
  } else if (name === "Blockquote") {
    for (const child of childrenOf(node)) if (child.name !== "QuoteMark") block(to, child, { ...around, quote: true });
  } else if (name === "FencedCode") fenced(to, node);
  else if (name === "CodeBlock") indented(to, node);
  else if (name === "FrontMatter") to.kind(node.from, node.to, { block: "code", language: "yaml" });
  else if (name === "HorizontalRule") {
    to.replace(node.from, node.to, embedSign, { embed: { rule: true } });
  } else if (name === "Table") table(to, node);
  else {
    if (name === "Paragraph" || name === "Task") inlines(to, node);
    if (around.list && !around.isFirst) withoutIndent(to, node);
    if (around.quote) to.kind(node.from, node.to, { block: "quote" });
    else if (around.list && !around.isFirst) to.kind(node.from, node.to, { indent: Math.min(indentMax, around.level + 1) });
  }
}

/** @param {Conversion} to @param {Node} node A block below the first one of an item. */
function withoutIndent(to, node) {
  for (let line = to.lineAt(node.from); ; line = to.lineAt(line.to + 1)) {
    to.replace(line.from, Math.max(line.from, to.afterSpace(line.from)));
    if (line.to >= node.to || line.to >= to.text.length) return;
  }
}

/** @param {Conversion} to @param {Node} node */
function heading(to, node) {
  const level = Number(node.name.slice(-1));
  const [first, last] = [node.firstChild, node.getChildren("HeaderMark").pop()];
  if (node.name.startsWith("ATX")) {
    if (first) to.replace(first.from, to.afterSpace(first.to));
    if (last && last.from !== first?.from) to.replace(to.beforeSpace(last.from), last.to);
  } else if (last) to.removeLine(last.from);
  inlines(to, node);
  to.kind(node.from, node.name.startsWith("ATX") ? node.from : to.lineAt(last?.from ?? node.to).from - 1, { block: `h${level}` });
}

/** @param {Conversion} to @param {Node} item @param {Around} around */
function listItem(to, item, around) {
  const mark = item.getChild("ListMark");
  const line = to.lineAt(item.from);
  const indent = Math.min(indentMax, around.level);
  let kind = around.list;
  let begin = to.afterSpace(mark?.to ?? item.from);
  const task = item.getChild("Task");
  const box = task?.getChild("TaskMarker");
  if (box) {
    kind = /x/i.test(to.text.slice(box.from, box.to)) ? "done" : "task";
    begin = to.afterSpace(box.to);
  }
  const quoted = /^(?:\s*>)*/.exec(to.text.slice(line.from, item.from))?.[0]?.length ?? 0;
  to.replace(line.from + quoted, Math.min(begin, line.to));
  let isFirst = true;
  for (const child of childrenOf(item)) {
    if (child.name === "ListMark" || child.name === "QuoteMark") continue;
    block(to, child, { ...around, isFirst });
    isFirst = false;
  }
  to.lines.set(line.from, { block: kind, ...(indent > 0 && { indent }) });
}

/** @param {Conversion} to @param {Node} node */
function fenced(to, node) {
  const info = node.getChild("CodeInfo");
  const words = info ? to.text.slice(info.from, info.to).split(/\s/)[0] ?? "" : "";
  const set = { block: "code", ...(/^[\w+#-]{1,40}$/.test(words) && { language: words }) };
  const fences = node.getChildren("CodeMark");
  const open = to.lineAt(node.from);
  const close = fences.length > 1 ? to.lineAt(fences[fences.length - 1]?.from ?? node.to) : undefined;
  const begin = Math.min(open.to + 1, to.text.length);
  const end = close ? close.from - 1 : node.to;
  to.replace(open.from, begin);
  if (end >= begin) to.kind(begin, end, set);
  if (close && close.from >= begin) to.removeLine(close.from);
}

/** @param {Conversion} to @param {Node} node */
function indented(to, node) {
  to.kind(node.from, node.to, { block: "code" });
  for (let line = to.lineAt(node.from); ; line = to.lineAt(line.to + 1)) {
    const spaces = /^(?: {1,4}|\t)/.exec(to.text.slice(line.from, line.to))?.[0]?.length ?? 0;
    to.replace(line.from, line.from + spaces);
    if (line.to >= node.to || line.to >= to.text.length) return;
  }
}

/** @param {Conversion} to @param {Node} node A row becomes a line, with a tab between its cells. */
function table(to, node) {
  for (const row of childrenOf(node)) {
    const line = to.lineAt(row.from);
    if (row.name === "TableDelimiter") {
      to.removeLine(line.from);
      continue;
    }
    let at = line.from;
    for (const [index, cell] of row.getChildren("TableCell").entries()) {
      to.replace(at, cell.from, index > 0 ? "\t" : "");
      inlines(to, cell);
      if (row.name === "TableHeader") to.spans.push({ from: cell.from, to: cell.to, set: { bold: true } });
      at = cell.to;
    }
    to.replace(at, line.to);
  }
}

/** @param {Conversion} to @param {Node} node Formats the text below. @param {Node[]} [children] */
function inlines(to, node, children = childrenOf(node)) {
  for (const child of children) {
    const { name, from, to: end } = child;
    const set = inline[name];
    if (set) to.spans.push({ from, to: end, set });
    if (marks.has(name)) to.replace(from, end);
    else if (name === "Escape") to.replace(from, from + 1);
    else if (name === "HardBreak") to.replace(from, to.text[end - 1] === "\n" ? end - 1 : end);
    else if (name === "QuoteMark") continue;
    else if (name === "Link") link(to, child);
    else if (name === "Image") image(to, child);
    else if (name === "Autolink") {
      to.replace(from, from + 1);
      to.replace(end - 1, end);
      to.spans.push({ from: from + 1, to: end - 1, set: { link: withScheme(to.text.slice(from + 1, end - 1)) } });
    } else if (name === "URL") to.spans.push({ from, to: end, set: { link: withScheme(to.text.slice(from, end)) } });
    else inlines(to, child);
  }
}

/** @param {string} url */
const withScheme = (url) => (url.includes("@") && !url.includes(":") ? `mailto:${url}` : /^www\./i.test(url) ? `https://${url}` : url);

/** @param {Conversion} to @param {Node} node @returns {string | undefined} The target, without escapes. */
function targetOf(to, node) {
  const url = node.getChild("URL");
  return url ? to.text.slice(url.from, url.to).replace(/^<|>$/g, "").replace(/\\([!-/:-@[-`{-~])/g, "$1") : undefined;
}

/** @param {Conversion} to @param {Node} node */
function link(to, node) {
  const [open, close] = node.getChildren("LinkMark");
  const url = targetOf(to, node);
  // A reference without a target in place stays as it was typed.
  if (!open || !close || url === undefined || close.from <= open.to) return inlines(to, node);
  to.replace(open.from, open.to);
  to.replace(close.from, node.to);
  to.spans.push({ from: open.to, to: close.from, set: { link: url } });
  inlines(to, node, childrenOf(node).filter((child) => child.from >= open.to && child.to <= close.from && child.name !== "LinkMark"));
}

/** @param {Conversion} to @param {Node} node */
function image(to, node) {
  const [open, close] = node.getChildren("LinkMark");
  const url = targetOf(to, node);
  if (!open || !close || url === undefined) return;
  const alt = to.text.slice(open.to, close.from);
  const file = /^files\/([0-9a-f]{64}\/[^/\\?#\s]+)$/.exec(url)?.[1];
  if (file) return to.replace(node.from, node.to, embedSign, { embed: { image: file }, ...(alt && { alt }) });
  // A note shows only its own files.
  if (!alt) return to.replace(node.from, node.to, url, { link: url });
  to.replace(open.from, open.to);
  to.replace(close.from, node.to);
  to.spans.push({ from: open.to, to: close.from, set: { link: url } });
}

/** @param {Conversion} to @param {Node[]} blocks Removes one blank line between these. */
function joinBlocks(to, blocks) {
  for (const [index, node] of blocks.entries()) {
    const next = blocks[index + 1];
    if (!next) continue;
    const between = to.text.slice(node.to, to.lineAt(next.from).from);
    const blank = /\n[ \t>]*\n/.exec(between);
    if (blank) to.replace(node.to + blank.index + 1, node.to + blank.index + (blank[0]?.length ?? 0));
  }
}

/** @param {Node} node @returns {Node[]} All blocks at the ends of which a blank line may be. */
function blocksIn(node) {
  return childrenOf(node).flatMap((child) => (/List$|^ListItem$|^Blockquote$/.test(child.name) ? blocksIn(child) : /Mark$/.test(child.name) ? [] : [child]));
}

/**
 * Returns the change that makes a Markdown text formatted.
 *
 * @param {string} text With "\n" at the ends of lines.
 * @returns {{changes: TextChange[], format: ChangeFormat}}
 */
export function fromMarkdown(text) {
  const parser = /** @type {any} */ (markdownLanguage).parser.configure([bounded, frontMatter, formulas]);
  const { topNode } = parser.parse(text);
  const to = new Conversion(text);
  for (const node of childrenOf(topNode)) block(to, node, { quote: false, list: "", level: 0, isFirst: true });
  removeQuoteMarks(to, topNode);
  joinBlocks(to, blocksIn(topNode));
  return changeOf(to);
}

/** @param {Conversion} to @param {Node} node */
function removeQuoteMarks(to, node) {
  for (const child of childrenOf(node)) {
    if (child.name === "QuoteMark") to.replace(child.from, to.text[child.to] === " " ? child.to + 1 : child.to);
    else if (child.firstChild && child.name !== "FencedCode") removeQuoteMarks(to, child);
    else if (child.firstChild) for (const mark of child.getChildren("QuoteMark")) to.replace(mark.from, to.text[mark.to] === " " ? mark.to + 1 : mark.to);
  }
}

/** @param {Conversion} to @returns {{changes: TextChange[], format: ChangeFormat}} */
function changeOf(to) {
  const edits = merged(to);
  /** @type {Attributes[]} */
  const sets = [];
  /** @type {Map<string, number>} */
  const numbers = new Map();
  const numberOf = (/** @type {Attributes | undefined} */ set) => {
    if (!set || Object.keys(set).length === 0) return 0;
    const key = JSON.stringify(Object.entries(set).sort(([one], [other]) => (one < other ? -1 : 1)));
    if (!numbers.has(key)) numbers.set(key, sets.push(set));
    return numbers.get(key) ?? 0;
  };
  /** @type {number[]} */
  const put = [];
  for (const { insert, sets: own } of edits) {
    if (insert) put.push(...own.flatMap(({ length, set }) => [length, numberOf(set)]));
  }
  const kept = keptOf(to, edits, numberOf);
  const changes = edits.map(({ from, to: end, insert }) => ({ from, to: end, insert }));
  return { changes, format: { sets, kept, put, kind: "rich" } };
}

/** @typedef {{from: number, to: number, insert: string, sets: {length: number, set?: Attributes}[]}} Edit */

/** @param {Conversion} to @returns {Edit[]} Sorted, without overlaps; a last line with a kind gets a newline. */
function merged({ text, lines, edits }) {
  const all = [...edits].sort((one, other) => one.from - other.from || one.to - other.to);
  /** @type {Edit[]} */
  const result = [];
  for (const edit of all) {
    const former = result[result.length - 1];
    const own = edit.insert ? [{ length: edit.insert.length, ...(edit.set && { set: edit.set }) }] : [];
    if (!former || edit.from > former.to) result.push({ from: edit.from, to: edit.to, insert: edit.insert, sets: own });
    else {
      former.to = Math.max(former.to, edit.to);
      former.insert += edit.insert;
      former.sets.push(...own);
    }
  }
  const start = Math.max(-1, ...lines.keys());
  const set = lines.get(start);
  const end = start < 0 ? 0 : text.indexOf("\n", start);
  const last = result[result.length - 1];
  const isCovered = last !== undefined && last.to === text.length;
  if (set && (end < 0 || (isCovered && last.from <= end))) {
    const newline = { length: 1, set };
    if (isCovered) {
      last.insert += "\n";
      last.sets.push(newline);
    } else result.push({ from: text.length, to: text.length, insert: "\n", sets: [newline] });
  }
  return result;
}

/** @param {Conversion} to @param {Edit[]} edits @param {(set: Attributes) => number} numberOf @returns {number[]} */
function keptOf({ text, spans, lines }, edits, numberOf) {
  const newlines = [...lines].flatMap(([start, set]) => {
    const end = text.indexOf("\n", start);
    return end < 0 ? [] : [{ from: end, to: end + 1, set }];
  });
  const all = [...spans, ...newlines].filter(({ from, to, set }) => from < to && Object.keys(set).length > 0);
  const places = [...new Set([...all, ...edits].flatMap(({ from, to }) => [from, to]))].sort((one, other) => one - other);
  all.sort((one, other) => one.from - other.from);
  /** @type {number[]} */
  const kept = [];
  /** @type {typeof all} */
  let open = [];
  let [next, edit, passed] = [0, 0, 0];
  for (const [index, from] of places.entries()) {
    const to = places[index + 1];
    if (to === undefined) break;
    while (all[next] && (all[next]?.from ?? 0) <= from) open.push(/** @type {any} */ (all[next++]));
    open = open.filter((one) => one.to > from);
    while (edits[edit] && (edits[edit]?.to ?? 0) <= from) edit += 1;
    const isGone = (edits[edit]?.from ?? Infinity) <= from && (edits[edit]?.to ?? 0) > from;
    const number = isGone || open.length === 0 ? 0 : numberOf(Object.assign({}, ...open.map(({ set }) => withoutBlock(set, text[from] === "\n"))));
    if (number === 0) continue;
    kept.push(from - passed, to - from, number);
    passed = to;
  }
  return kept;
}

/** @param {Attributes} set @param {boolean} isNewline Inline attributes have no meaning on a newline. @returns {Attributes} */
const withoutBlock = (set, isNewline) => (!isNewline || set.block !== undefined || set.indent !== undefined ? set : {});
