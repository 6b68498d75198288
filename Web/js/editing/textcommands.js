// Commands that change the text: marks, headings, lists, boxes, links, tables.
//
// Each command is a function from the editor's state to a change; undefined if there is nothing to do.

import { EditorSelection, syntaxTree } from "../codemirror.js";
import { alignedTable } from "../markdown/tables.js";

/**
 * @typedef {import("../codemirror.js").EditorState} EditorState
 * @typedef {{name: string, from: number, to: number, parent: Node | null, firstChild: Node | null,
 *   nextSibling: Node | null}} Node
 * @typedef {(state: EditorState) => object | undefined} TextCommand
 */

/** A box at the start of a list item. */
const box = /^(\s*(?:>\s*)*(?:[-*+]|\d{1,9}[.)])\s+)\[([ xX])\]/;

/** @param {EditorState} state @returns {{from: number, to: number, text: string}[]} The selected lines. */
function linesOf({ doc, selection }) {
  const lines = [];
  const { from, to } = selection.main;
  for (let line = doc.lineAt(from); ; line = doc.lineAt(line.to + 1)) {
    // Ignore a last line of which nothing is selected.
    if (line.from < to || line.from === from || lines.length === 0) lines.push(line);
    if (line.to >= to || line.to >= doc.length) return lines;
  }
}

/**
 * Puts a mark around the selection, or removes it.
 *
 * @param {string} mark
 * @returns {TextCommand}
 */
const around = (mark) => (state) => {
  const { from, to } = state.selection.main;
  const size = mark.length;
  const isAround =
    state.doc.sliceString(Math.max(0, from - size), from) === mark &&
    state.doc.sliceString(to, to + size) === mark &&
    // The star of *this* is not a half of the mark of **that**.
    (size > 1 || state.doc.sliceString(Math.max(0, from - 2), from - 1) !== mark);
  if (isAround) {
    return {
      changes: [{ from: from - size, to: from }, { from: to, to: to + size }],
      selection: EditorSelection.range(from - size, to - size),
    };
  }
  return {
    changes: [{ from, insert: mark }, { from: to, insert: mark }],
    selection: EditorSelection.range(from + size, to + size),
  };
};

/** @param {EditorState} state @param {object[]} changes The caret moves after text inserted at it. */
function withCaretBehind(state, changes) {
  const { empty, head } = state.selection.main;
  return empty ? { changes, selection: EditorSelection.cursor(state.changes(changes).mapPos(head, 1)) } : { changes };
}

/**
 * Puts a prefix at the start of the selected lines, or removes it if all of them begin with it.
 *
 * @param {RegExp} known The prefixes that are replaced.
 * @param {(index: number) => string} start
 * @returns {TextCommand}
 */
const togglePrefix = (known, start) => (state) => {
  const lines = linesOf(state).filter(({ text }, _, { length }) => length === 1 || text.trim() !== "");
  const wanted = lines.map((_, index) => start(index));
  const isThere = lines.every(({ text }, index) => text.trimStart().startsWith(wanted[index] ?? ""));
  const changes = lines.map(({ from, text }, index) => {
    const indent = /^\s*/.exec(text)?.[0]?.length ?? 0;
    const had = known.exec(text.slice(indent))?.[0]?.length ?? 0;
    return { from: from + indent, to: from + indent + had, insert: isThere ? "" : (wanted[index] ?? "") };
  });
  return withCaretBehind(state, changes);
};

const anyStart = /^(?:(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?|>\s?)/;

/** @type {TextCommand} Cycles from no heading through the levels 1, 2 and 3. */
function heading(state) {
  const changes = linesOf(state).map(({ from, text }) => {
    const had = /^#{1,6}\s+/.exec(text)?.[0] ?? "";
    const level = (had.trim().length + 1) % 4;
    return { from, to: from + had.length, insert: level === 0 ? "" : `${"#".repeat(level)} ` };
  });
  return withCaretBehind(state, changes);
}

/** @type {TextCommand} Ticks the boxes of the selected lines, or unticks them if all are ticked. */
function tick(state) {
  const found = linesOf(state).flatMap(({ from, text }) => {
    const match = box.exec(text);
    return match ? [{ at: from + (match[1]?.length ?? 0) + 1, isTicked: match[2] !== " " }] : [];
  });
  if (found.length === 0) return undefined;
  const insert = found.every(({ isTicked }) => isTicked) ? " " : "x";
  return { changes: found.map(({ at }) => ({ from: at, to: at + 1, insert })) };
}

/** @type {TextCommand} */
function link(state) {
  const { from, to } = state.selection.main;
  const text = state.doc.sliceString(from, to);
  if (/^https?:\/\/\S+$/.test(text)) {
    return { changes: { from, to, insert: `[](${text})` }, selection: EditorSelection.cursor(from + 1) };
  }
  const insert = `[${text}](https://)`;
  const address = from + text.length + 3;
  return { changes: { from, to, insert }, selection: EditorSelection.range(address, address + "https://".length) };
}

/** @param {{id: string, title: string}} note @param {string} [words] In place of the title. @returns {string} */
export const linkText = ({ id, title }, words) =>
  `[${words || title.replace(/[\\[\]`*_<>&!~^]/g, "\\$&") || id}](/n/${encodeURIComponent(id)})`;

/**
 * Returns a command that links to another note, around the selection or else with the note's title.
 *
 * @param {{id: string, title: string}} note
 * @returns {(state: EditorState) => object}
 */
export const linkToNote = (note) => (state) => {
  const { from, to } = state.selection.main;
  const insert = linkText(note, state.doc.sliceString(from, to));
  return { changes: { from, to, insert }, selection: EditorSelection.cursor(from + insert.length) };
};

/** The text of a new table. */
const emptyTable = "|     |     |     |\n| --- | --- | --- |\n|     |     |     |\n";

/** @type {TextCommand} Inserts a table below the caret's line, and moves the caret into its first cell. */
function table(state) {
  const line = state.doc.lineAt(state.selection.main.to);
  const isBlank = line.text.trim() === "";
  const before = isBlank ? (line.from > 0 && state.doc.lineAt(line.from - 1).text.trim() ? "\n" : "") : "\n\n";
  const at = isBlank ? line.from : line.to;
  return {
    changes: { from: at, insert: before + emptyTable },
    selection: EditorSelection.cursor(at + before.length + 2),
  };
}

/** @type {TextCommand} */
function code(state) {
  const { from, to } = state.selection.main;
  const text = state.doc.sliceString(from, to);
  if (!text.includes("\n")) return around("`")(state);
  const fence = "`".repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([ticks = ""]) => ticks.length + 1)));
  const insert = `${fence}\n${text.replace(/\n$/, "")}\n${fence}\n`;
  return { changes: { from, to, insert }, selection: EditorSelection.cursor(from + fence.length) };
}

/** @param {EditorState} state @param {(name: string) => boolean} isWanted @returns {Node | undefined} */
function nodeAtCaret(state, isWanted) {
  const tree = /** @type {any} */ (syntaxTree(state));
  for (const side of [-1, 1]) {
    for (let node = tree.resolveInner(state.selection.main.head, side); node; node = node.parent) {
      if (isWanted(node.name)) return node;
    }
  }
  return undefined;
}

/** @param {EditorState} state */
const tableAtCaret = (state) => nodeAtCaret(state, (name) => name === "Table");

/** The maximum UTF-16 units of a table that is aligned. */
const alignedMax = 50_000;

/** @type {TextCommand} */
function alignTable(state) {
  const table = tableAtCaret(state);
  if (!table) return undefined;
  const { doc, selection } = state;
  const first = doc.lineAt(table.from);
  const last = doc.lineAt(table.to);
  const [from, to] = [first.from, last.to];
  // Padding may multiply its length.
  if (to - from > alignedMax) return undefined;
  const text = doc.sliceString(from, to);
  const insert = alignedTable(text);
  if (insert === text) return undefined;
  // The caret remains in its cell.
  const { head } = selection.main;
  const line = doc.lineAt(head);
  const row = text.slice(0, Math.max(0, line.from - from)).split("\n").length - 1;
  const bars = line.text.slice(0, head - line.from).split("|").length - 1;
  const lines = insert.split("\n");
  const start = from + lines.slice(0, row).join("\n").length + (row > 0 ? 1 : 0);
  const cells = (lines[row] ?? "").split("|");
  const place = cells.slice(0, Math.max(1, bars)).join("|").length + (bars > 0 ? 2 : 0);
  return {
    changes: { from, to, insert },
    selection: EditorSelection.cursor(Math.min(start + place, from + insert.length)),
  };
}

/**
 * Returns the target of the link that contains a position.
 *
 * @param {EditorState} state
 * @param {number} place
 * @returns {string | undefined}
 */
export function addressAt(state, place) {
  const tree = /** @type {any} */ (syntaxTree(state));
  for (const side of [1, -1]) {
    for (let node = tree.resolveInner(place, side); node; node = node.parent) {
      const { name, from, to } = node;
      if (name === "URL" && node.parent?.name !== "LinkReference") return withScheme(state.doc.sliceString(from, to));
      if (name === "Autolink") return withScheme(state.doc.sliceString(from + 1, to - 1));
      if (name !== "Link" && name !== "Image") continue;
      const url = node.getChild("URL");
      return url && state.doc.sliceString(url.from, url.to).replace(/^<|>$/g, "");
    }
  }
  return undefined;
}

/** @param {string} url */
const withScheme = (url) => (url.includes("@") && !url.includes(":") ? `mailto:${url}` : url);

/** The commands by name. */
export const textCommands = {
  bold: around("**"),
  italic: around("*"),
  code,
  heading,
  bullets: togglePrefix(anyStart, () => "- "),
  numbers: togglePrefix(anyStart, (index) => `${index + 1}. `),
  boxes: togglePrefix(anyStart, () => "- [ ] "),
  quote: togglePrefix(/^>\s?/, () => "> "),
  tick,
  link,
  table,
  alignTable,
};
