// Inserts pasted content into a text: within a line, on separate lines, or as a link.

import { syntaxTree } from "../../codemirror.js";

/**
 * @typedef {import("../../codemirror.js").EditorState} EditorState
 * @typedef {{from: number, to: number}} Range
 * @typedef {{changes: {from: number, to: number, insert: string}, selection: {anchor: number}}} Insertion
 */

/** Nodes of Markdown in which text is not read as Markdown. */
const codes = new Set(["FencedCode", "CodeBlock", "InlineCode", "HTMLBlock", "FrontMatter"]);
/** The prefix of a line in a list or a quote. */
const starts = /^(?:\s*>\s?)*\s*(?:(?:[-*+]|\d{1,9}[.)])(?: +\[[ xX]\])?(?: +|$))?/;

/** @param {EditorState} state @param {number} place @param {Set<string>} names */
function isWithin(state, place, names) {
  const tree = /** @type {any} */ (syntaxTree(state));
  for (const side of [-1, 1]) {
    for (let node = tree.resolveInner(place, side); node; node = node.parent) {
      // At the end of inline code, the position is outside.
      if (names.has(node.name) && node.from <= place && (place < node.to || node.name !== "InlineCode")) return true;
    }
  }
  return false;
}

/** @param {EditorState} state @param {Range} range */
export const isInCode = (state, { from, to }) => isWithin(state, from, codes) || isWithin(state, to, codes);
/** @param {EditorState} state @param {Range} range */
export const isInTable = (state, { from }) => isWithin(state, from, new Set(["Table"]));

/** @param {Range} range @param {string} insert @returns {Insertion} The insertion, with the caret after it. */
export const put = ({ from, to }, insert) => ({ changes: { from, to, insert }, selection: { anchor: from + insert.length } });

/** @param {string} line @returns {string} The prefix of further lines of the same item or quote. */
const continuation = (line) => {
  const start = starts.exec(line)?.[0] ?? "";
  const box = / \[[ xX]\] *$/.exec(start)?.[0]?.length ?? 0;
  return start.slice(0, start.length - box + (box ? 1 : 0)).replace(/[^\s>]/g, " ");
};

/**
 * Inserts blocks of Markdown on separate lines, with blank lines around them, in the list or quote of the line.
 *
 * @param {EditorState} state
 * @param {Range} range The replaced range.
 * @param {string} markdown
 * @returns {Insertion}
 */
export function blockInsertion({ doc }, { from, to }, markdown) {
  const first = doc.lineAt(from);
  const last = doc.lineAt(to);
  const before = first.text.slice(0, from - first.from);
  const after = last.text.slice(to - last.from);
  const start = starts.exec(before)?.[0] ?? "";
  const indent = continuation(first.text.slice(0, Math.max(start.length, 0)));
  const isEmptyItem = before === start && after.trim() === "" && /[-*+\d]/.test(start);
  const isList = /^(?:[-*+]|\d{1,9}[.)]) /.test(markdown);
  // A list replaces an empty item.
  const marker = isEmptyItem && isList ? /(?:[-*+]|\d{1,9}[.)]).*$/.exec(start)?.[0]?.length ?? 0 : 0;
  const outer = marker ? start.slice(0, start.length - marker) : indent;
  const hasWords = before.length > start.length;
  const isBelowText = before === "" && first.from > 0 && doc.lineAt(first.from - 1).text.trim() !== "";
  const blank = outer.trimEnd();
  const head = hasWords ? `\n${blank}\n${outer}` : isBelowText ? "\n" : "";
  const body = markdown.split("\n").map((line, index) => (index === 0 ? line : line ? outer + line : blank)).join("\n");
  const isAboveWords = after.trim() === "" && last.to < doc.length && doc.lineAt(last.to + 1).text.trim() !== "";
  const tail = after.trim() !== "" ? `\n${blank}\n${outer}` : isAboveWords && !isEmptyItem ? "\n" : "";
  // Remove spaces at the new line ends.
  const begin = from - marker - (hasWords ? before.length - before.trimEnd().length : 0);
  const end = to + (after.trim() ? after.length - after.trimStart().length : 0);
  return {
    changes: { from: begin, to: end, insert: head + body + tail },
    selection: { anchor: begin + head.length + body.length },
  };
}

/**
 * Inserts a picture on a separate line: before the line if the position is at its start, otherwise after it. In a table
 * it is inserted into the cell.
 *
 * @param {EditorState} state
 * @param {number} place
 * @param {string} reference
 * @returns {Insertion}
 */
export function putPicture(state, place, reference) {
  const { doc } = state;
  if (isInTable(state, { from: place, to: place })) return put({ from: place, to: place }, reference);
  const line = doc.lineAt(place);
  const start = starts.exec(line.text)?.[0] ?? "";
  if (line.text.length === start.length) return blockInsertion(state, { from: line.to, to: line.to }, reference);
  const isFirst = place <= line.from + start.length;
  if (isFirst && !start) return blockInsertion(state, { from: line.from, to: line.from }, reference);
  if (!isFirst) return blockInsertion(state, { from: line.to, to: line.to }, reference);
  const behindStart = line.from + start.length;
  return put({ from: behindStart, to: behindStart }, `${reference} `);
}

/** @param {string} text @returns {string | undefined} The text as an address, if it is nothing else. */
export function addressIn(text) {
  const address = text.trim();
  if (!/^(?:https?:\/\/|mailto:)[^\s<>]+$/i.test(address) || address.length > 4_000) return undefined;
  return address.replace(/[()\\]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Nodes of Markdown that cannot be within a link. */
const linked = new Set(["Link", "Image", "URL", "Autolink"]);

/**
 * Returns a link around the selected words; undefined if a link is not possible there.
 *
 * @param {EditorState} state
 * @param {Range} range
 * @param {string} text The pasted text.
 * @returns {Insertion | undefined}
 */
export function putLink(state, { from, to }, text) {
  const address = addressIn(text);
  const words = state.doc.sliceString(from, to);
  if (address === undefined || !words.trim() || words.includes("\n") || isInCode(state, { from, to })) return undefined;
  let isLinked = false;
  /** @type {any} */ (syntaxTree(state)).iterate({ from, to, enter: (/** @type {{name: string, from: number, to: number}} */ node) => {
    if (linked.has(node.name) && node.from < to && node.to > from) isLinked = true;
  } });
  if (isLinked || addressIn(words) !== undefined) return undefined;
  const [, lead = "", core = "", trail = ""] = /^(\s*)([\s\S]*?)(\s*)$/.exec(words) ?? [];
  const isBalanced = core.replace(/\\./g, "").replace(/[^[\]]/g, "") === "";
  return put({ from, to }, `${lead}[${isBalanced ? core : core.replace(/(?<!\\)[[\]]/g, "\\$&")}](${address})${trail}`);
}
