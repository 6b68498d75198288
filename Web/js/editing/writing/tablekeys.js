// Keys within a table: Tab moves to the next cell, Enter at the end of a row adds a row.

import { EditorSelection, syntaxTree } from "../../codemirror.js";

/** @typedef {import("../../codemirror.js").EditorState} EditorState */
/** @typedef {{from: number, to: number, text: string, cells: {from: number, to: number}[]}} Row */

/** The maximum lines of a table in which the keys work. */
const rowsMax = 2_000;

/**
 * Returns the cells of a row, with everything between its bars.
 *
 * @param {string} text
 */
export function segmentsOf(text) {
  const segments = [];
  let from = /^[\s>]*\|?/.exec(text)?.[0]?.length ?? 0;
  for (let at = from; at <= text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (at === text.length || text[at] === "|") {
      // There is no cell after the last bar.
      if (at < text.length || text.slice(from).trim()) segments.push({ from, to: at });
      from = at + 1;
    }
  }
  return segments;
}

/**
 * Returns the cells of a row, without the spaces around their text.
 *
 * @param {string} text
 * @param {number} start The start of the line.
 */
export const cellRanges = (text, start) =>
  segmentsOf(text).map(({ from, to }) => {
    const cell = text.slice(from, to);
    const before = cell.trim() ? cell.length - cell.trimStart().length : Math.min(1, cell.length);
    return { from: start + from + before, to: start + from + before + cell.trim().length };
  });

/** @param {EditorState} state @returns {{rows: Row[], at: number, end: number} | undefined} The rows, without the rule below the head; and the one of the caret. */
function tableAt(state) {
  const { doc, selection } = state;
  const tree = /** @type {any} */ (syntaxTree(state));
  let table;
  for (const side of [-1, 1]) {
    for (let node = tree.resolveInner(selection.main.head, side); node && !table; node = node.parent) if (node.name === "Table") table = node;
  }
  if (!table) return undefined;
  /** @type {Row[]} */
  const rows = [];
  let at = -1;
  let end = 0;
  for (let line = doc.lineAt(table.from), index = 0; index < rowsMax; line = doc.lineAt(line.to + 1), index += 1) {
    if (index !== 1) {
      if (line.from <= selection.main.head && selection.main.head <= line.to) at = rows.length;
      rows.push({ from: line.from, to: line.to, text: line.text, cells: cellRanges(line.text, line.from) });
    }
    end = line.to;
    if (line.to >= table.to || line.to >= doc.length) break;
  }
  return at < 0 ? undefined : { rows, at, end };
}

/** @param {Row} row @param {number} count @returns {{text: string, caret: number}} An empty row below another. */
function emptyRow({ text }, count) {
  const prefix = /^[\s>]*/.exec(text)?.[0] ?? "";
  return { text: `\n${prefix}|${"     |".repeat(count)}`, caret: 1 + prefix.length + 2 };
}

/** @param {{from: number, to: number}} cell */
const selecting = ({ from, to }) => ({ selection: EditorSelection.range(from, to), scrollIntoView: true });

/** @param {1 | -1} step @returns {(state: EditorState) => object | undefined} */
export const toCell = (step) => (state) => {
  const table = tableAt(state);
  const row = table?.rows[table.at];
  if (!table || !row) return undefined;
  const { head } = state.selection.main;
  const here = row.cells.filter(({ from }) => from <= head).length - 1;
  const beside = row.cells[Math.max(here, 0) + step];
  if (beside) return selecting(beside);
  const next = table.rows[table.at + step];
  const cell = next?.cells[step > 0 ? 0 : next.cells.length - 1];
  if (cell) return selecting(cell);
  if (step < 0) return undefined;
  const added = emptyRow(row, table.rows[0]?.cells.length ?? 1);
  return { changes: { from: table.end, insert: added.text }, selection: EditorSelection.cursor(table.end + added.caret), scrollIntoView: true };
};

/** @param {EditorState} state @returns {object | undefined} A row below that of the caret; of an empty last one, the end of the table. */
export function newRow(state) {
  const table = tableAt(state);
  const row = table?.rows[table.at];
  const { main } = state.selection;
  if (!table || !row || !main.empty || table.at === 0 || main.head <= row.from) return undefined;
  const isLast = table.at === table.rows.length - 1;
  const isEmpty = row.cells.every(({ from, to }) => from === to);
  if (isLast && isEmpty) {
    const prefix = /^[\s>]*/.exec(row.text)?.[0] ?? "";
    return { changes: { from: row.from, to: row.to, insert: prefix }, selection: EditorSelection.cursor(row.from + prefix.length), scrollIntoView: true };
  }
  const lastCell = row.cells[row.cells.length - 1];
  const isAtEnd = main.head === row.to || (isLast && lastCell !== undefined && main.head >= lastCell.to);
  if (!isAtEnd) return undefined;
  const added = emptyRow(row, table.rows[0]?.cells.length ?? 1);
  return { changes: { from: row.to, insert: added.text }, selection: EditorSelection.cursor(row.to + added.caret), scrollIntoView: true };
}
