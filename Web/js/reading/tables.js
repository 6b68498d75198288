// Creates the elements of tables.

import { addInline } from "./inlines.js";
import { childOf, childrenOf, make } from "./tree.js";

/**
 * @typedef {import("./tree.js").Node} Node
 * @typedef {import("./tree.js").Source} Source
 */

/** @param {string} rule The line below the head. @returns {string[]} The alignment of each column. */
const alignmentsIn = (rule) =>
  rule
    .trim()
    .replace(/^\||\|$/g, "")
    .split("|")
    .map((cell) => cell.trim())
    .map((cell) => (cell.endsWith(":") ? (cell.startsWith(":") ? "center" : "right") : "left"));

/** @param {Node} row @returns {(Node | undefined)[]} Its cells; undefined for an empty one, which has no node. */
function cellsOf(row) {
  const cells = [];
  let isOpen = false;
  for (const part of childrenOf(row)) {
    const isCell = part.name === "TableCell";
    if (isCell) cells.push(part);
    else if (isOpen) cells.push(undefined);
    isOpen = !isCell;
  }
  return cells;
}

/** @param {HTMLElement} parent @param {Node} node @param {Source} source @param {number} depth */
export function addTable(parent, node, source, depth) {
  const { text, budget } = source;
  const rule = childOf(node, "TableDelimiter");
  const alignments = alignmentsIn(rule ? text.slice(rule.from, rule.to) : "");
  const inTable = { ...source, isInTable: true };
  // A table wider than the page scrolls within its frame.
  const frame = make("div", "table");
  frame.tabIndex = 0;
  const table = make("table");
  frame.append(table);
  parent.append(frame);
  let columns = 0;
  let body;
  for (const child of childrenOf(node)) {
    const isHead = child.name === "TableHeader";
    if (!isHead && child.name !== "TableRow") continue;
    const cells = cellsOf(child);
    // GFM gives each row as many cells as the head: it drops further cells and adds missing ones.
    if (isHead) columns = cells.length;
    budget.cells -= Math.max(0, columns - cells.length);
    if (budget.cells >= 0 || cells.length > columns) cells.length = columns;
    const row = make("tr");
    for (let column = 0; column < cells.length; column += 1) {
      const element = make(isHead ? "th" : "td", `to-${alignments[column] ?? "left"}`);
      element.dir = "auto";
      const cell = cells[column];
      if (cell) addInline(element, cell, inTable, depth + 1);
      row.append(element);
    }
    if (isHead || !body) {
      const place = make(isHead ? "thead" : "tbody");
      if (!isHead) body = place;
      table.append(place);
      place.append(row);
    } else body.append(row);
  }
}
