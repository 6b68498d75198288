// Markdown as a page: the tree that the editor's parser reads, as elements.
//
// Nothing of a note's text is ever read as HTML. Elements are made one by one, from the names in blocks.js, inlines.js
// and tables.js, and no others; what the text says goes into text nodes and into the few attributes that are checked
// there. HTML in a note is shown as it was typed.

import { t } from "../ground/language.js";
import { settle } from "./redrawing.js";
import { directionIn } from "../ground/texts.js";
import { addBlock, addBlocks } from "./blocks.js";
import { definitionsIn, footnoteOf, parsing } from "./dialect.js";
import { numberFootnotes } from "./footnotes.js";
import { nameHeadings } from "./headings.js";
import { pageStyles } from "./pagesheet.js";
import { childrenOf, make } from "./tree.js";
import { finished } from "../ground/steps.js";

export { colourCode } from "../markdown/codecolours.js";
export { draw } from "./drawing.js";
export { numberFootnotes } from "./footnotes.js";

/** @typedef {import("./tree.js").Node} Node */

/** Gives the document the styles of what notes contain. */
export async function adoptStyles() {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(await pageStyles());
  document.adoptedStyleSheets.push(sheet);
}

/** UTF-16 units that are shown as a page, at most. */
export const renderedMax = 1_000_000;
/** Cells that are put into the rows of tables that are too short, at most. */
const filledMax = 100_000;

/** @param {HTMLElement} block Gets the direction of its text: a list has its marks, a table its first column there. */
function directed(block) {
  const direction = directionIn(block.textContent ?? "");
  if (direction) block.dir = direction;
  return block;
}

/** @typedef {{key: string, from: number, to: number, draw: () => HTMLElement}} Drawn */

/** @typedef {{blocks: Drawn[], notes: Map<string, {key: string, draw: () => HTMLElement}>, meaning: string}} Blocks */

/**
 * Reads a text in steps: its blocks, each with its source as a key, so that unchanged ones need not be made again; and
 * what references mean in all of them. Footnotes are apart, by name.
 *
 * @param {string} text
 * @returns {Generator<void, Blocks>}
 */
export function* readingBlocks(text) {
  const shown = text.slice(0, renderedMax);
  const { top, references, footnotes, indents } = yield* parsing(shown);
  const shared = { text: shown, references, indents, budget: { cells: filledMax } };
  const found = [...childrenOf(top)].filter(({ name }) => name !== "FootnoteDefinition" && name !== "LinkReference");
  /** @type {Map<string, Node>} */
  const notes = new Map();
  for (const node of footnotes.size > 0 ? definitionsIn(top) : []) {
    const name = node.name === "FootnoteDefinition" ? footnoteOf(node, shown) : undefined;
    if (name !== undefined && !notes.has(name)) notes.set(name, node);
  }
  // The definition of a reference may be anywhere.
  const meaning = JSON.stringify([...references, ...footnotes]);
  const drawn = found.map((node) => ({
    key: `${node.name} ${shown.slice(node.from, node.to)}`,
    from: node.from,
    to: node.to,
    draw() {
      const block = make("div", "block");
      addBlock(block, node, { ...shared, base: node.from }, 0);
      return directed(block);
    },
  }));
  const drawnNotes = [...notes].map(([name, node]) => {
    const draw = () => {
      const item = make("li", "block");
      item.dataset.from = String(node.from);
      addBlocks(item, node, { ...shared, base: node.from }, 0);
      return directed(item);
    };
    return /** @type {const} */ ([name, { key: `${node.from} ${shown.slice(node.from, node.to)}`, draw }]);
  });
  return { blocks: drawn, notes: new Map(drawnNotes), meaning };
}

/** @param {string} text */
const blocksOf = (text) => finished(readingBlocks(text));

/**
 * The footnotes that a page names, at its end.
 *
 * @param {string[]} named Their names.
 * @param {Blocks["notes"]} notes
 */
export function drawFootnotes(named, notes) {
  const section = make("section", "footnotes");
  section.setAttribute("aria-label", t("note.footnotes"));
  const items = make("ol");
  // A footnote may name others: they follow, and each is shown once. Iteration of a set includes items added meanwhile.
  const order = new Set(named);
  let number = 0;
  for (const name of order) {
    const item = notes.get(name)?.draw() ?? make("li");
    for (const { dataset } of /** @type {NodeListOf<HTMLElement>} */ (item.querySelectorAll("a.footnote"))) {
      if (notes.has(dataset.footnote ?? "")) order.add(dataset.footnote ?? "");
    }
    number += 1;
    item.id = `footnote-${number}`;
    const back = /** @type {HTMLAnchorElement} */ (make("a", "footnote-back"));
    back.href = `#footnote-of-${number}`;
    back.setAttribute("aria-label", t("note.footnoteBack"));
    back.append("↩\ufe0e");
    const last = item.lastElementChild;
    (last?.tagName === "P" ? last : item).append(" ", back);
    items.append(item);
  }
  section.append(items);
  return section;
}

/**
 * Shows a text in an element, and leaves there what has not changed.
 *
 * @param {HTMLElement} page
 * @param {string} text
 * @param {(headings: ReturnType<typeof nameHeadings>) => HTMLElement | undefined} [leadBy] Makes an element before all blocks.
 * @param {(range: {from: number, to: number}) => {from: number, to: number} | undefined} [moved] Where a part of the text
 *   that the element shows is in the new text.
 * @returns {ReturnType<typeof nameHeadings>} Its headings.
 */
export function renderInto(page, text, leadBy, moved = (range) => range) {
  /** @type {Map<string, HTMLElement[]>} */
  const known = new Map();
  const { blocks: drawn, notes, meaning } = blocksOf(text);
  if (meanings.get(page) === meaning) {
    // From the last, so that the first of several alike is taken first.
    for (const child of /** @type {HTMLElement[]} */ ([...page.children].reverse())) {
      const key = keys.get(child);
      if (key === undefined) continue;
      const alike = known.get(key);
      if (alike) alike.push(child);
      else known.set(key, [child]);
    }
  }
  meanings.set(page, meaning);
  /** @type {(string | undefined)[]} */
  const names = drawn.map(({ key }) => key);
  const wanted = drawn.map(({ key, from, to, draw }) => {
    const block = known.get(key)?.pop() ?? draw();
    block.dataset.from = String(from);
    block.dataset.to = String(to);
    return block;
  });
  const order = numberFootnotes(wanted);
  if (order.length > 0) {
    const key = `FootnoteDefinition ${JSON.stringify([order, [...notes.values()].map((note) => note.key)])}`;
    wanted.push(known.get(key)?.pop() ?? drawFootnotes(order, notes));
    names.push(key);
    numberFootnotes(wanted);
  }
  if (text.length > renderedMax) {
    const end = make("p", "block hint");
    end.append(t("note.restTooLong"));
    wanted.push(end);
  }
  const lead = leadBy?.(nameHeadings(wanted));
  const settled = settle(page, lead ? [lead, ...wanted] : wanted, moved);
  const blocks = lead ? settled.slice(1) : settled;
  blocks.forEach((block, index) => {
    const key = names[index];
    if (key === undefined) keys.delete(block);
    else keys.set(block, key);
  });
  return nameHeadings(blocks);
}

/**
 * Returns where in a text a heading is.
 *
 * @param {string} text
 * @param {string} slug
 * @returns {number | undefined} In UTF-16 units.
 */
export function placeOfSlug(text, slug) {
  const drawn = blocksOf(text).blocks.filter(({ key }) => /^(?:ATX|Setext)Heading/.test(key));
  const blocks = drawn.map((block) => block.draw());
  const heading = nameHeadings(blocks).find((one) => one.slug === slug)?.heading.parentElement;
  return heading ? drawn[blocks.indexOf(heading)]?.from : undefined;
}

/** @type {WeakMap<HTMLElement, string>} What each block was made of. */
const keys = new WeakMap();
/** @type {WeakMap<HTMLElement, string>} What references meant on a page. */
const meanings = new WeakMap();
