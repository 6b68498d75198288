// Tables as elements.

import { addInline } from "./inlines.js";
import { childOf, childrenOf, make } from "./tree.js";

/**
 * @typedef {import("./tree.js").Node} Node
 * @typedef {import("./tree.js").Source} Source
 */

/** @param {HTMLElement} parent @param {Node} node @param {Source} source @param {number} depth */
export function addTable(parent, node, source, depth) {
  const { text } = source;
  const rule = childOf(node, "TableDelimiter");
  const aligned = (rule ? text.slice(rule.from, rule.to) : "")
    .trim()
    .replace(/^\||\|$/g, "")
    .split("|")
    .map((cell) => (cell.trim().endsWith(":") ? (cell.trim().startsWith(":") ? "center" : "right") : "left"));
  // A table that is wider than the page is moved within it.
  const frame = make("div", "table");
  frame.tabIndex = 0;
  const table = make("table");
  let columns = 0;
  for (const child of childrenOf(node)) {
    if (child.name !== "TableHeader" && child.name !== "TableRow") continue;
    const isHead = child.name === "TableHeader";
    const row = make("tr");
    let column = 0;
    /** @param {Node} [cell] */
    const add = (cell) => {
      const element = make(isHead ? "th" : "td", `to-${aligned[column] ?? "left"}`);
      element.dir = "auto";
      if (cell) addInline(element, cell, { ...source, isInTable: true }, depth + 1);
      row.append(element);
      column += 1;
    };
    // An empty cell has no node: two marks follow each other.
    let isOpen = false;
    for (const part of childrenOf(child)) {
      if (part.name === "TableCell") {
        add(part);
        isOpen = false;
      } else {
        if (isOpen) add();
        isOpen = true;
      }
    }
    // As many cells as the head has: GFM leaves out what is more, and fills up what is less.
    if (isHead) columns = column;
    while (!isHead && column < columns) add();
    while (!isHead && column > columns) {
      row.lastElementChild?.remove();
      column -= 1;
    }
    const place = isHead ? make("thead") : (table.querySelector("tbody") ?? make("tbody"));
    place.append(row);
    table.append(place);
  }
  frame.append(table);
  parent.append(frame);
}

