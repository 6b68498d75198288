// Line ends: a note may contain "\r\n" and "\r" from other programs; the page shows each as "\n".

import { differenceBetween } from "./difference.js";

/** @typedef {import("../client/door.js").TextChange} TextChange */

/**
 * Returns a note's text as the page shows it.
 *
 * @param {string} text
 */
export const shownOf = (text) => (text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text);

/**
 * Returns an imported text as a note stores it: without a byte order mark, with "\n" at each line end.
 *
 * @param {string} text
 */
export const wholeText = (text) => shownOf(text.startsWith("\ufeff") ? text.slice(1) : text);

/**
 * @param {string} text
 * @returns {LineEnds | undefined} Undefined for a text without "\r".
 */
export const lineEndsOf = (text) => (text.includes("\r") ? new LineEnds(text) : undefined);

/** A note's text that contains "\r". Maps positions and edits between it and the text that is shown. */
export class LineEnds {
  /** The note's text. */
  text;
  /** @type {number[]} The position of each "\r\n", ascending. */
  #pairs = [];

  /** @param {string} text */
  constructor(text) {
    this.text = text;
    for (let at = text.indexOf("\r\n"); at >= 0; at = text.indexOf("\r\n", at + 2)) this.#pairs.push(at);
  }

  /**
   * Returns the number of pairs before a position.
   *
   * @param {(pair: number, index: number) => boolean} isBefore True for the first pairs, false for all that follow.
   */
  #count(isBefore) {
    let [low, high] = [0, this.#pairs.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBefore(/** @type {number} */ (this.#pairs[middle]), middle)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * Maps a position in the shown text to the note's text.
   *
   * @param {number} place
   */
  toNote(place) {
    return place + this.#count((pair, index) => pair - index < place);
  }

  /**
   * Maps a position in the note's text to the shown text; between "\r" and "\n" to the position before both.
   *
   * @param {number} place
   */
  toShown(place) {
    return place - this.#count((pair) => pair < place);
  }

  /**
   * Maps edits of the note's text to the shown text. An edit next to a "\r" or a "\n" may join or split a pair.
   *
   * @param {TextChange[]} changes Sorted, all in the text before any of them.
   * @returns {TextChange[]}
   */
  shown(changes) {
    return groupsOf(changes, this.text).flatMap(({ from, to, insert }) => {
      if (this.text[from - 1] === "\r") [from, insert] = [from - 1, "\r" + insert];
      if (this.text[to] === "\n") [to, insert] = [to + 1, insert + "\n"];
      const change = differenceBetween(shownOf(this.text.slice(from, to)), shownOf(insert));
      const start = this.toShown(from);
      return change ? [{ from: start + change.from, to: start + change.to, insert: change.insert }] : [];
    });
  }

  /**
   * Maps edits of the shown text to the note's text. A "\r" that an edit would put before a "\n" is replaced by "\n",
   * so that both remain line ends of the shown text.
   *
   * @param {TextChange[]} changes Sorted, all in the text before any of them.
   * @returns {TextChange[]}
   */
  note(changes) {
    /** @type {TextChange[]} */
    const own = [];
    // In reverse order, because a "\r" that becomes a "\n" may follow another.
    for (let index = changes.length - 1; index >= 0; index -= 1) {
      const change = /** @type {TextChange} */ (changes[index]);
      const before = changes[index - 1];
      const least = before ? this.toNote(before.to) : 0;
      let [from, to, insert] = [this.toNote(change.from), this.toNote(change.to), change.insert];
      const next = own[0];
      if (next?.from === to) {
        [to, insert] = [next.to, insert + next.insert];
        own.shift();
      }
      while (from > least && this.text[from - 1] === "\r" && (insert[0] ?? this.text[to]) === "\n") {
        [from, insert] = [from - 1, "\n" + insert];
      }
      own.unshift({ from, to, insert });
    }
    return own;
  }
}

/**
 * Joins edits with fewer than two units between them.
 *
 * @param {TextChange[]} changes
 * @param {string} text
 */
function groupsOf(changes, text) {
  /** @type {TextChange[]} */
  const groups = [];
  for (const change of changes) {
    const last = groups.at(-1);
    if (!last || change.from - last.to >= 2) groups.push({ ...change });
    else [last.insert, last.to] = [last.insert + text.slice(last.to, change.from) + change.insert, change.to];
  }
  return groups;
}

/**
 * Returns a text with edits applied.
 *
 * @param {string} text
 * @param {TextChange[]} changes Sorted, all in the text before any of them.
 */
export function applied(text, changes) {
  let result = "";
  let position = 0;
  for (const { from, to, insert } of changes) {
    result += text.slice(position, from) + insert;
    position = to;
  }
  return result + text.slice(position);
}
