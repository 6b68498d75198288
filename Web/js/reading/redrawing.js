// Turns a page that shows a text into the page of the next text. Elements that show the same part of the text stay, and
// with them the focus, the selection, and the scrolling.

import { differenceBetween } from "../ground/difference.js";

/** Elements that the page has added to the drawn ones. */
const added = ".heading-link";

/** @param {Node} node */
const isAdded = (node) => node instanceof Element && node.matches(added);

/** @param {Node} node */
const fileOf = (node) => (node instanceof HTMLElement ? node.dataset.file : undefined);

/** @param {Node} one @param {Node} other Whether the one can become the other. */
const isOfKind = (one, other) => one.nodeName === other.nodeName && fileOf(one) === fileOf(other);

/** @param {Node} one @param {Node} other */
const isAlike = (one, other) => isOfKind(one, other) && one.textContent === other.textContent;

/**
 * Turns a node into a copy of another.
 *
 * @param {Node} node
 * @param {Node} next Of the same kind.
 */
function change(node, next) {
  if (node instanceof CharacterData && next instanceof CharacterData) {
    // The smallest change: a selection in the rest of the text stays.
    const difference = differenceBetween(node.data, next.data);
    if (difference) node.replaceData(difference.from, difference.to - difference.from, difference.insert);
  }
  // A file stays fetched, and code keeps its colours.
  if (!(node instanceof HTMLElement) || !(next instanceof HTMLElement) || fileOf(node) !== undefined) return;
  if (node.dataset.isColoured && node.dataset.language === next.dataset.language && isAlike(node, next)) return;
  for (const name of node.getAttributeNames()) if (!next.hasAttribute(name)) node.removeAttribute(name);
  for (const { name, value } of next.attributes) if (node.getAttribute(name) !== value) node.setAttribute(name, value);
  if (node instanceof HTMLInputElement && next instanceof HTMLInputElement) node.checked = next.checked;
  changeChildren(node, [...next.childNodes]);
}

/**
 * @param {HTMLElement} parent
 * @param {Node[]} wanted
 */
function changeChildren(parent, wanted) {
  const former = [...parent.childNodes].filter((node) => !isAdded(node));
  let start = 0;
  /** @param {number} index From the end. */
  const isAlikeFromEnd = (index) => {
    const [one, other] = [former[former.length - 1 - index], wanted[wanted.length - 1 - index]];
    return one !== undefined && other !== undefined && isAlike(one, other);
  };
  const shorter = Math.min(former.length, wanted.length);
  while (start < shorter && isAlike(/** @type {Node} */ (former[start]), /** @type {Node} */ (wanted[start]))) start += 1;
  let end = 0;
  while (end < shorter - start && isAlikeFromEnd(end)) end += 1;
  const pairs = pairsOf(former.slice(start, former.length - end), wanted.slice(start, wanted.length - end));
  /** @type {(Node | undefined)[]} For each wanted node, the one that becomes it. */
  const kept = [...former.slice(0, start), ...pairs, ...former.slice(former.length - end)];
  const staying = new Set(kept);
  for (const node of former) if (!staying.has(node)) /** @type {ChildNode} */ (node).remove();
  /** @type {Node | null} */
  let next = parent.firstChild;
  wanted.forEach((node, index) => {
    const own = kept[index];
    if (own) {
      change(own, node);
      next = own.nextSibling;
    } else parent.insertBefore(node, next);
  });
}

/**
 * Nodes with the same words are paired first, then those between them in their order.
 *
 * @param {Node[]} former
 * @param {Node[]} wanted
 * @returns {(Node | undefined)[]} For each wanted node, the former one that becomes it.
 */
function pairsOf(former, wanted) {
  /** @type {Map<string, number>} Of the former nodes, by their words; -1 where several have the same. */
  const places = new Map();
  former.forEach((node, index) => {
    const key = `${node.nodeName} ${node.textContent}`;
    places.set(key, places.has(key) ? -1 : index);
  });
  /** @type {(Node | undefined)[]} */
  const pairs = [];
  let [first, firstWanted] = [0, 0];
  /** @param {number} last @param {number} lastWanted */
  const pairUpTo = (last, lastWanted) => {
    for (let index = firstWanted; index < lastWanted; index += 1) {
      const [one, other] = [former[first], /** @type {Node} */ (wanted[index])];
      const isPair = first < last && one !== undefined && isOfKind(one, other);
      pairs.push(isPair ? one : undefined);
      if (isPair) first += 1;
    }
  };
  wanted.forEach((node, index) => {
    const place = node.textContent === "" ? undefined : places.get(`${node.nodeName} ${node.textContent}`);
    if (place === undefined || place < first || !isOfKind(/** @type {Node} */ (former[place]), node)) return;
    pairUpTo(place, index);
    pairs.push(former[place]);
    [first, firstWanted] = [place + 1, index + 1];
  });
  pairUpTo(former.length, wanted.length);
  return pairs;
}

/** @param {Element} block @returns {{from: number, to: number} | undefined} The part of the text that it shows. */
export function sourceOf(block) {
  const { from, to } = /** @type {HTMLElement} */ (block).dataset;
  return from === undefined || to === undefined ? undefined : { from: Number(from), to: Number(to) };
}

/**
 * Makes blocks the children of a page. A block that is no child yet takes the place of the child that shows the same part
 * of the text: that child becomes like it, and stays.
 *
 * @param {HTMLElement} page
 * @param {HTMLElement[]} wanted
 * @param {(range: {from: number, to: number}) => {from: number, to: number} | undefined} moved Where a part of the text that
 *   was drawn is now.
 * @returns {HTMLElement[]} The children.
 */
export function settle(page, wanted, moved) {
  const staying = new Set(wanted.filter((block) => block.parentElement === page));
  let next = /** @type {HTMLElement | null} */ (page.firstElementChild);
  const drop = () => {
    const gone = next;
    next = /** @type {HTMLElement | null} */ (next?.nextElementSibling ?? null);
    gone?.remove();
  };
  /** @param {HTMLElement} block The child that shows the same; those before it are dropped. */
  const formerOf = (block) => {
    const wantedSource = sourceOf(block);
    while (next && !staying.has(next)) {
      const source = sourceOf(next);
      if (!wantedSource) return !source && next.nodeName === block.nodeName ? next : undefined;
      if (source) {
        const now = moved(source);
        if (now && now.from < wantedSource.to && now.to > wantedSource.from) return next;
        if (now && now.from >= wantedSource.to) return undefined;
      } else if (!next.nextElementSibling || !sourceOf(next.nextElementSibling)) return undefined;
      drop();
    }
    return undefined;
  };
  const settled = wanted.map((block) => {
    if (staying.has(block)) {
      while (next && next !== block && !staying.has(next)) drop();
      if (next !== block) page.insertBefore(block, next);
    } else {
      const former = formerOf(block);
      if (former) {
        change(former, block);
        next = /** @type {HTMLElement | null} */ (former.nextElementSibling);
        return former;
      }
      page.insertBefore(block, next);
      return block;
    }
    if (next === block) next = /** @type {HTMLElement | null} */ (next.nextElementSibling);
    return block;
  });
  while (next) drop();
  return settled;
}

/** How far below its upper edge text is looked for; pixels. */
const lookedAtMax = 200;

/**
 * @param {HTMLElement} host
 * @returns {Range | undefined} Where the first visible line begins. Edits of the page move it along.
 */
function topOf(host) {
  const { left, top, width, height } = host.getBoundingClientRect();
  const document = /** @type {any} */ (host.ownerDocument);
  for (let y = 1; y < Math.min(height, lookedAtMax); y += 12) {
    const x = left + width / 2;
    const place = document.caretPositionFromPoint?.(x, top + y);
    const found = place ? [place.offsetNode, place.offset] : rangeAt(document, x, top + y);
    if (!found || found[0] === host || !host.contains(found[0])) continue;
    const range = host.ownerDocument.createRange();
    range.setStart(found[0], found[1]);
    return range;
  }
  return undefined;
}

/**
 * Safari's name for the same.
 *
 * @param {any} document
 * @param {number} x
 * @param {number} y
 */
function rangeAt(document, x, y) {
  const range = document.caretRangeFromPoint?.(x, y);
  return range && [range.startContainer, range.startOffset];
}

/** @param {Range} range @returns {number} */
function heightOf({ startContainer: node, startOffset: offset }) {
  if (!(node instanceof CharacterData)) {
    const child = node.childNodes[offset];
    const element = child instanceof Element ? child : child ? undefined : /** @type {Element} */ (node);
    if (element) return element.getBoundingClientRect().top;
  }
  const whole = document.createRange();
  const place = node instanceof CharacterData ? Math.min(offset, node.length - 1) : offset;
  whole.setStart(node, Math.max(0, place));
  whole.setEnd(node, Math.max(0, place) + 1);
  return whole.getBoundingClientRect().top;
}

/**
 * Changes what a page shows, and keeps its first visible line where it is.
 *
 * @param {HTMLElement} host What is scrolled.
 * @param {() => void} make
 */
export function keepingTop(host, make) {
  // A reader at the very top sees text that is added there, so that no line is held.
  const top = host.scrollTop > 0 ? topOf(host) : undefined;
  const before = top && heightOf(top);
  make();
  if (!top || before === undefined || !host.contains(top.startContainer)) return;
  const moved = heightOf(top) - before;
  if (Math.abs(moved) >= 1) host.scrollTop += moved;
}
