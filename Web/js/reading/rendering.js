// Renders Markdown as a page: turns the parser's tree into elements.
//
// A note's text is never parsed as HTML. Only the elements named in blocks.js, inlines.js and tables.js are created,
// one by one. Text goes into text nodes, and into the few attributes that are checked there. HTML in a note is shown as
// typed.

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

/** Adds the styles of rendered notes to the document. */
export async function adoptStyles() {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(await pageStyles());
  document.adoptedStyleSheets.push(sheet);
}

/** Maximum UTF-16 units shown as a page. */
export const renderedMax = 1_000_000;
/** Maximum cells added to table rows that are too short. */
const filledMax = 100_000;

/**
 * Gives a block its text's direction, which decides the side of list marks.
 *
 * @param {HTMLElement} block
 */
function directed(block) {
  const direction = directionIn(block.textContent ?? "");
  if (direction) block.dir = direction;
  return block;
}

/** @typedef {{key: string, from: number, to: number, draw: () => HTMLElement}} Drawn */

/** @typedef {{blocks: Drawn[], notes: Map<string, {key: string, draw: () => HTMLElement}>, meaning: string}} Blocks */

/**
 * Reads a text in steps: its blocks, each with its source as a key, so that unchanged ones are reused; its footnotes by
 * name; and `meaning`, which changes with the definitions that any block may refer to.
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
  // A reference may be defined anywhere, so a changed definition redraws all blocks.
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
 * Draws the footnotes that a page refers to, for its end.
 *
 * @param {string[]} named Their names, in order.
 * @param {Blocks["notes"]} notes
 */
export function drawFootnotes(named, notes) {
  const section = make("section", "footnotes");
  section.setAttribute("aria-label", t("note.footnotes"));
  const items = make("ol");
  // A footnote may refer to others: they follow, once each. Iteration of a set includes items that are added meanwhile.
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
 * Renders a text into an element, reusing the children of unchanged blocks.
 *
 * @param {HTMLElement} page
 * @param {string} text
 * @param {(headings: ReturnType<typeof nameHeadings>) => HTMLElement | undefined} [leadBy] Creates the first child.
 * @param {(range: {from: number, to: number}) => {from: number, to: number} | undefined} [moved] Maps a range of the
 * former text to the new text.
 * @returns {ReturnType<typeof nameHeadings>} Its headings.
 */
export function renderInto(page, text, leadBy, moved = (range) => range) {
  /** @type {Map<string, HTMLElement[]>} */
  const known = new Map();
  const { blocks: drawn, notes, meaning } = blocksOf(text);
  if (meanings.get(page) === meaning) {
    // Reversed, so that `pop` takes the first of several equal blocks first.
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
 * Returns the position of a heading in a text.
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

/** @type {WeakMap<HTMLElement, string>} The key of each block. */
const keys = new WeakMap();
/** @type {WeakMap<HTMLElement, string>} The `meaning` with which each page was rendered. */
const meanings = new WeakMap();
