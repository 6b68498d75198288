// The parser's tree, for the modules that turn it into elements.

/**
 * @typedef {{name: string, from: number, to: number, parent: Node | null, firstChild: Node | null,
 *   nextSibling: Node | null}} Node
 * @typedef {object} Source A text to render.
 * @property {string} text
 * @property {import("./dialect.js").References} references
 * @property {Map<number, number>} indents Columns of indentation to remove from each code block, by its position.
 * @property {{cells: number}} budget Maximum cells still to be added to short rows: a head of 1,000 columns above
 * thousands of short rows would need millions.
 * @property {number} base Where the current block begins.
 * @property {boolean} [isInTable]
 * @property {boolean} [isInLink]
 */

/** Maximum nesting of blocks and marks; deeper ones are shown as text. */
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
 * Returns the text between two positions in a node, without the quote marks at the start of its lines.
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
