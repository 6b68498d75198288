// Updates a page from one text to the next. Elements that show the same part of the text are reused, which preserves
// the focus, the selection and the scroll position.

import { differenceBetween } from "../ground/difference.js";

/** Elements added to the page after it was drawn. */
const added = ".heading-link";

/** @param {Node} node */
const isAdded = (node) => node instanceof Element && node.matches(added);

/** @param {Node} node */
const fileOf = (node) => (node instanceof HTMLElement ? node.dataset.file : undefined);

/** @param {Node} one @param {Node} other Whether one can be changed into the other. */
const isOfKind = (one, other) => one.nodeName === other.nodeName && fileOf(one) === fileOf(other);

/** @param {Node} one @param {Node} other */
const isAlike = (one, other) => isOfKind(one, other) && one.textContent === other.textContent;

/**
 * Changes a node to equal another.
 *
 * @param {Node} node
 * @param {Node} next A node of the same kind.
 */
function change(node, next) {
  if (node instanceof CharacterData && next instanceof CharacterData) {
    // Replace as little as possible: a selection in the rest of the text is preserved.
    const difference = differenceBetween(node.data, next.data);
    if (difference) node.replaceData(difference.from, difference.to - difference.from, difference.insert);
  }
  // Fetched files and coloured code are retained.
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
  /** @param {number} index Counted from the end. */
  const isAlikeFromEnd = (index) => {
    const [one, other] = [former[former.length - 1 - index], wanted[wanted.length - 1 - index]];
    return one !== undefined && other !== undefined && isAlike(one, other);
  };
  const shorter = Math.min(former.length, wanted.length);
  while (start < shorter && isAlike(/** @type {Node} */ (former[start]), /** @type {Node} */ (wanted[start]))) start += 1;
  let end = 0;
  while (end < shorter - start && isAlikeFromEnd(end)) end += 1;
  const pairs = pairsOf(former.slice(start, former.length - end), wanted.slice(start, wanted.length - end));
  /** @type {(Node | undefined)[]} For each wanted node, the former one to reuse. */
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
 * Pairs nodes with the same text first, then the nodes between them in order.
 *
 * @param {Node[]} former
 * @param {Node[]} wanted
 * @returns {(Node | undefined)[]} For each wanted node, the former one to reuse.
 */
function pairsOf(former, wanted) {
  /** @type {Map<string, number>} The index of each former node by its text; -1 if several have the same. */
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

/** @param {Element} block @returns {{from: number, to: number} | undefined} The range of the text that it shows. */
export function sourceOf(block) {
  const { from, to } = /** @type {HTMLElement} */ (block).dataset;
  return from === undefined || to === undefined ? undefined : { from: Number(from), to: Number(to) };
}

/**
 * Makes blocks the children of a page. A new block reuses the child that showed the same part of the text: this child
 * is changed to equal the block.
 *
 * @param {HTMLElement} page
 * @param {HTMLElement[]} wanted
 * @param {(range: {from: number, to: number}) => {from: number, to: number} | undefined} moved Maps a range of the
 * drawn text to the current text.
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
  /**
   * Returns the child to reuse, and drops those before it.
   *
   * @param {HTMLElement} block
   */
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

/** Maximum distance below the upper edge in which the first line is searched; pixels. */
const lookedAtMax = 200;

/**
 * @param {HTMLElement} host
 * @returns {Range | undefined} The start of the first visible line; edits of the page move it.
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
 * Safari's equivalent of `caretPositionFromPoint`.
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
 * Changes a page without moving its first visible line.
 *
 * @param {HTMLElement} host The scroll container.
 * @param {() => void} make
 */
export function keepingTop(host, make) {
  // At the very top no line is held in position, so that text added there is visible.
  const top = host.scrollTop > 0 ? topOf(host) : undefined;
  const before = top && heightOf(top);
  make();
  if (!top || before === undefined || !host.contains(top.startContainer)) return;
  const moved = heightOf(top) - before;
  if (Math.abs(moved) >= 1) host.scrollTop += moved;
}
