// Merges two drawn blocks: words of the older one alone are in `del`, words of the newer one alone in `ins`.
//
// Only elements that the page view has created are moved or copied; nothing is parsed as HTML. Without the deletions
// the result is the newer block, without the insertions the older one.

import { alongRuns, keptRuns } from "./alignment.js";
import { finished } from "../ground/steps.js";
import { pairing } from "./pairing.js";

/** @typedef {import("./alignment.js").Run} Run */

/** Attributes that depend on an element's position or text, and are not compared. */
const following = new Set(["dir", "tabindex", "id", "data-at", "data-from", "data-to", "disabled", "aria-label"]);
/** Elements that contain text rather than blocks. */
const lines = new Set(["P", "H2", "H3", "H4", "H5", "H6", "TD", "TH", "PRE", "SPAN"]);
/** Elements that are compared as a whole. */
const wholes = new Set(["INPUT", "IMG", "HR", "BR", "SVG", "FIGURE"]);
const wholeClasses = /(?:^| )(?:formula|callout-title|footnote)(?: |$)/;
/** Parts of a table: only the content of their cells can be marked. */
const rows = new Set(["THEAD", "TBODY", "TR"]);

/** A word, white space, or another character. Each letter is a word in scripts without spaces, as on the server. */
const words =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]\p{M}*|[\p{L}\p{N}][\p{L}\p{N}\p{M}]*|\s+|\p{RI}{2}|[^][\p{M}\p{EMod}]*(?:\u200d[^][\p{M}\p{EMod}]*)*/gu;

/** @param {string} text */
export const wordsIn = (text) => text.match(words) ?? [];

/** @param {any} node @returns {node is HTMLElement} */
const isElement = (node) => node.tagName !== undefined;
/** @param {any} node @returns {string} */
const textOf = (node) => node.textContent ?? String(node);
/** @param {HTMLElement} element */
const tagOf = ({ tagName }) => tagName.toUpperCase();
/** @param {HTMLElement} element */
const classOf = (element) => element.getAttribute("class") ?? "";

/** @param {HTMLElement} element @returns {boolean} */
const isWhole = (element) =>
  wholes.has(tagOf(element)) ||
  wholeClasses.test(classOf(element)) ||
  // The raised number of a footnote.
  (tagOf(element) === "SUP" && [...element.childNodes].some((child) => isElement(child) && isWhole(child)));

/** @param {HTMLElement} element */
const isLine = (element) =>
  lines.has(tagOf(element)) || [...element.childNodes].some((child) => !isElement(child) && textOf(child).trim() !== "");

/**
 * Marks an element and its content.
 *
 * @param {HTMLElement} element
 * @param {"ins" | "del"} tag
 * @returns {HTMLElement} The element to insert instead.
 */
export function marked(element, tag) {
  const name = tagOf(element);
  if (rows.has(name)) {
    for (const child of [...element.childNodes]) if (isElement(child)) marked(child, tag);
    return element;
  }
  const mark = document.createElement(tag);
  if (name === "LI" || name === "TD" || name === "TH" || /(?:^| )block(?: |$)/.test(classOf(element))) {
    const children = [...element.childNodes];
    element.replaceChildren(mark);
    mark.append(...children);
    if (name === "LI" && tag === "del") element.className = `${element.className} is-deleted`.trim();
    return element;
  }
  mark.append(element);
  return mark;
}

/**
 * A word or a whole element within a line, with the elements around it.
 *
 * @typedef {{key: number, text: string | undefined, node: HTMLElement | undefined, around: {id: number, shell: HTMLElement}[]}} Token
 */

/** @param {Token | undefined} token */
const isBlank = (token) => token?.text !== undefined && token.text.trim() === "";

/**
 * Adds words to a line, within copies of the elements that were around them.
 */
class LineBuilder {
  /** @type {{id: number, element: HTMLElement}[]} */
  #open = [];
  #line;

  /** @param {HTMLElement} line */
  constructor(line) {
    this.#line = line;
  }

  get #inmost() {
    return this.#open[this.#open.length - 1]?.element ?? this.#line;
  }

  /** @param {Token["around"]} around @returns {number} The number of these elements that are open. */
  #shared(around) {
    let count = 0;
    while (count < this.#open.length && this.#open[count]?.id === around[count]?.id) count += 1;
    return count;
  }

  /** @param {Token[]} tokens @param {number} [depth] The number of elements around them that exist already. */
  put(tokens, depth = 0) {
    for (let index = 0; index < tokens.length; ) {
      const { around, text, node } = /** @type {Token} */ (tokens[index]);
      const inner = around.slice(depth);
      this.#open.length = this.#shared(inner);
      for (const { id, shell } of inner.slice(this.#open.length)) {
        const element = /** @type {HTMLElement} */ (shell.cloneNode(false));
        this.#inmost.append(element);
        this.#open.push({ id, element });
      }
      let run = text ?? "";
      for (index += 1; text !== undefined && tokens[index]?.text !== undefined && tokens[index]?.around === around; index += 1) {
        run += tokens[index]?.text;
      }
      this.#inmost.append(node ?? run);
    }
  }

  /** @param {Token[]} tokens @param {"ins" | "del"} tag */
  putMarked(tokens, tag) {
    const depth = Math.min(...tokens.map(({ around }) => this.#shared(around)));
    this.#open.length = depth;
    const mark = document.createElement(tag);
    this.#inmost.append(mark);
    new LineBuilder(mark).put(tokens, depth);
  }
}

/** Merges blocks. Within one merger, equal elements have equal numbers. */
export class Merger {
  /** @type {Map<string, number>} */
  #ids = new Map();
  /** @type {WeakMap<HTMLElement, number>} */
  #known = new WeakMap();
  /** @type {WeakMap<HTMLElement, string[]>} */
  #words = new WeakMap();

  /** @param {string} key */
  #numberOf(key) {
    let id = this.#ids.get(key);
    if (id === undefined) this.#ids.set(key, (id = this.#ids.size));
    return id;
  }

  /** @param {HTMLElement} element @returns {string} Its tag and its identifying attributes. */
  #shellOf(element) {
    const named = element
      .getAttributeNames()
      .filter((name) => !following.has(name))
      .map((name) => `${name}=${element.getAttribute(name)}`);
    const { checked } = /** @type {HTMLInputElement} */ (element);
    return JSON.stringify([tagOf(element), checked === true, ...named.sort()]);
  }

  /** @param {HTMLElement} element @returns {number} The same number for equal elements. */
  #idOf(element) {
    let id = this.#known.get(element);
    if (id !== undefined) return id;
    const parts = [...element.childNodes].map((node) => (isElement(node) ? this.#idOf(node) : textOf(node)));
    id = this.#numberOf(JSON.stringify([this.#shellOf(element), parts]));
    this.#known.set(element, id);
    return id;
  }

  /** @param {HTMLElement} element @returns {string[]} */
  #wordsOf(element) {
    let found = this.#words.get(element);
    if (found) return found;
    found = [...element.childNodes].flatMap((node) =>
      isElement(node) ? this.#wordsOf(node) : wordsIn(textOf(node)).filter((word) => word.trim() !== ""),
    );
    this.#words.set(element, found);
    return found;
  }

  /**
   * Merges two elements of one kind. Neither can be used afterwards.
   *
   * @param {HTMLElement} former
   * @param {HTMLElement} next
   * @returns {Generator<void, HTMLElement>}
   */
  *merging(former, next) {
    if (this.#idOf(former) === this.#idOf(next)) return next;
    const merged = /** @type {HTMLElement} */ (next.cloneNode(false));
    if (isLine(former) || isLine(next)) this.#mergeLine(merged, former, next);
    else yield* this.#mergingChildren(merged, former, next);
    return merged;
  }

  /**
   * Merges two elements in one step.
   *
   * @param {HTMLElement} former
   * @param {HTMLElement} next
   */
  merged(former, next) {
    return finished(this.merging(former, next));
  }

  /** @param {HTMLElement} merged @param {HTMLElement} former @param {HTMLElement} next @returns {Generator<void, void>} */
  *#mergingChildren(merged, former, next) {
    const [before, after] = [former, next].map((one) => /** @type {HTMLElement[]} */ ([...one.childNodes].filter(isElement)));
    if (!before || !after) return;
    const isRow = tagOf(next) === "TR" && before.length === after.length;
    if (isRow) {
      for (const [index, cell] of after.entries()) merged.append(...(yield* this.#mergingPair(before[index], cell)));
      return;
    }
    /** @type {{one: HTMLElement | undefined, other: HTMLElement | undefined}[]} */
    const pairs = [];
    alongRuns(
      keptRuns(before.map((one) => this.#idOf(one)), after.map((one) => this.#idOf(one))),
      { former: before.length, next: after.length },
      ({ next: from, count }) => {
        for (const other of after.slice(from, from + count)) pairs.push({ one: other, other });
      },
      (one, other) => {
        const alike = (/** @type {HTMLElement} */ a, /** @type {HTMLElement} */ b) => this.similarity(a, b);
        pairs.push(...finished(pairing(before.slice(one.from, one.to), after.slice(other.from, other.to), alike)));
      },
    );
    for (const { one, other } of pairs) {
      merged.append(...(yield* this.#mergingPair(one, other)));
      yield;
    }
  }

  /**
   * @param {HTMLElement | undefined} one
   * @param {HTMLElement | undefined} other
   * @returns {Generator<void, HTMLElement[]>}
   */
  *#mergingPair(one, other) {
    if (one && one === other) return [one];
    if (one && other && this.#canMerge(one, other)) return [yield* this.merging(one, other)];
    return [...(one ? [marked(one, "del")] : []), ...(other ? [marked(other, "ins")] : [])];
  }

  /** @param {HTMLElement} one @param {HTMLElement} other */
  #canMerge(one, other) {
    const classes = [one, other].map((element) => classOf(element).replace(/ ?is-tight/, ""));
    const isOfKind = tagOf(one) === tagOf(other) && classes[0] === classes[1];
    return isOfKind && ((!isWhole(one) && !isWhole(other)) || this.#idOf(one) === this.#idOf(other));
  }

  /**
   * Returns the similarity of two elements.
   *
   * @param {HTMLElement} one
   * @param {HTMLElement} other
   * @returns {number} 0 ... 1.
   */
  similarity(one, other) {
    return this.#canMerge(one, other) ? likenessOf(this.#wordsOf(one), this.#wordsOf(other)) : 0;
  }

  /** @param {HTMLElement} merged @param {HTMLElement} former @param {HTMLElement} next */
  #mergeLine(merged, former, next) {
    const [before, after] = [this.#tokensIn(former), this.#tokensIn(next)];
    /** @type {{former: Token[], next: Token[], isKept: boolean}[]} */
    const parts = [];
    alongRuns(
      keptRuns(before.map(({ key }) => key), after.map(({ key }) => key)),
      { former: before.length, next: after.length },
      ({ former: from, next: to, count }) =>
        parts.push({ former: before.slice(from, from + count), next: after.slice(to, to + count), isKept: true }),
      (one, other) => parts.push({ former: before.slice(one.from, one.to), next: after.slice(other.from, other.to), isKept: false }),
    );
    const builder = new LineBuilder(merged);
    for (const part of withoutBlanks(parts)) {
      if (part.isKept) builder.put(part.next);
      else {
        if (part.former.length > 0) builder.putMarked(part.former, "del");
        if (part.next.length > 0) builder.putMarked(part.next, "ins");
      }
    }
  }

  /**
   * @param {HTMLElement} element
   * @param {Token["around"]} [around]
   * @param {Token[]} [tokens] The list to append to.
   */
  #tokensIn(element, around = [], tokens = []) {
    const path = around.map(({ id }) => id).join(" ");
    for (const node of [...element.childNodes]) {
      if (!isElement(node)) {
        for (const text of wordsIn(textOf(node))) {
          tokens.push({ key: this.#numberOf(`word ${path} ${text}`), text, node: undefined, around });
        }
      } else if (isWhole(node) || node.childNodes.length === 0) {
        const key = this.#numberOf(`whole ${path} ${this.#idOf(node)}`);
        tokens.push({ key, text: undefined, node, around });
      } else this.#tokensIn(node, [...around, { id: this.#numberOf(this.#shellOf(node)), shell: node }], tokens);
    }
    return tokens;
  }
}

/**
 * Joins replaced words that only blanks separate, because a reader sees them as one change.
 *
 * @param {{former: Token[], next: Token[], isKept: boolean}[]} parts
 */
function withoutBlanks(parts) {
  /** @type {typeof parts} */
  const joined = [];
  parts.forEach((part, index) => {
    const last = joined[joined.length - 1];
    const following = parts[index + 1];
    const isReplaced = (/** @type {typeof part | undefined} */ one) =>
      one !== undefined && !one.isKept && one.former.length > 0 && one.next.length > 0;
    const isBetween = part.isKept && part.next.every(isBlank) && isReplaced(last) && isReplaced(following);
    const isContinued = !part.isKept && last && !last.isKept;
    if (last && (isBetween || isContinued)) {
      last.former.push(...part.former);
      last.next.push(...part.next);
    } else joined.push({ ...part, former: [...part.former], next: [...part.next] });
  });
  return joined;
}

/** Maximum words that are compared. */
const comparedMax = 300;

/**
 * Returns the share of words that two lists have in common, from 0 to 1.
 *
 * @param {string[]} one
 * @param {string[]} other
 */
export function likenessOf(one, other) {
  if (one.length === 0 && other.length === 0) return 1;
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const word of one.slice(0, comparedMax)) counts.set(word, (counts.get(word) ?? 0) + 1);
  let common = 0;
  for (const word of other.slice(0, comparedMax)) {
    const left = counts.get(word) ?? 0;
    if (left > 0) common += 1;
    counts.set(word, left - 1);
  }
  return (2 * common) / (Math.min(one.length, comparedMax) + Math.min(other.length, comparedMax));
}
