// The tree that the parser reads, for the modules that make elements of it.

/**
 * @typedef {{name: string, from: number, to: number, parent: Node | null, firstChild: Node | null,
 *   nextSibling: Node | null}} Node
 * @typedef {object} Source What is shown as a page.
 * @property {string} text
 * @property {import("./dialect.js").References} references
 * @property {Map<number, number>} indents Columns of white space that are not part of a code block, by its position.
 * @property {{cells: number}} budget Cells that are put into rows that are too short, at most: a head of 1,000 columns above
 *   thousands of short rows would be millions.
 * @property {number} base Where the block begins that is being shown.
 * @property {boolean} [isInTable]
 * @property {boolean} [isInLink]
 */

/** Quotes, lists and marks within each other that are shown as such, at most. */
export const depthMax = 60;

/** @param {Node} node */
export function* childrenOf(node) {
  for (let child = node.firstChild; child; child = child.nextSibling) yield child;
}

/** @param {Node} node @param {string} name */
export function childOf(node, name) {
  for (const child of childrenOf(node)) if (child.name === name) return child;
  return undefined;
}

/**
 * The text between two positions in a node, without the marks of quotes at the beginnings of its lines.
 *
 * @param {Node} node @param {string} text @param {number} from @param {number} to
 */
export function textIn(node, text, from = node.from, to = node.to) {
  let result = "";
  let place = from;
  for (const child of childrenOf(node)) {
    if (child.name !== "QuoteMark" || child.from < place || child.to > to) continue;
    result += text.slice(place, child.from);
    place = text[child.to] === " " ? child.to + 1 : child.to;
  }
  return result + text.slice(place, to);
}

/** @param {string} tag @param {string} [className] */
export function make(tag, className) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  return element;
}
