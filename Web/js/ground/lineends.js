// Line ends: a note contains "\r\n" and "\r" where a program has sent them, and the page shows "\n" for each.

import { differenceBetween } from "./difference.js";

/** @typedef {import("../client/door.js").TextChange} TextChange */

/**
 * A note's text as the page shows it.
 *
 * @param {string} text
 */
export const shownOf = (text) => (text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text);

/**
 * A text from outside, as a note takes it: without a byte order mark, with "\n" at each line end.
 *
 * @param {string} text
 */
export const wholeText = (text) => shownOf(text.startsWith("\ufeff") ? text.slice(1) : text);

/**
 * @param {string} text
 * @returns {LineEnds | undefined} Undefined for a text that is shown as it is.
 */
export const lineEndsOf = (text) => (text.includes("\r") ? new LineEnds(text) : undefined);

/** A note's text that contains "\r", with the places and edits of it and of the text that is shown. */
export class LineEnds {
  /** The note's text. */
  text;
  /** @type {number[]} Where each "\r\n" begins, ascending. */
  #pairs = [];

  /** @param {string} text */
  constructor(text) {
    this.text = text;
    for (let at = text.indexOf("\r\n"); at >= 0; at = text.indexOf("\r\n", at + 2)) this.#pairs.push(at);
  }

  /**
   * The number of pairs before a place.
   *
   * @param {(pair: number, index: number) => boolean} isBefore True for those, false for all that follow.
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
   * The place in the note's text of one in the shown text.
   *
   * @param {number} place
   */
  toNote(place) {
    return place + this.#count((pair, index) => pair - index < place);
  }

  /**
   * The place in the shown text of one in the note's; between "\r" and "\n" it is before both.
   *
   * @param {number} place
   */
  toShown(place) {
    return place - this.#count((pair) => pair < place);
  }

  /**
   * Edits of the note's text, as edits of the shown text. One beside a "\r" or a "\n" may join or part the two.
   *
   * @param {TextChange[]} changes Ascending, all in the text before any of them.
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
   * Edits of the shown text, as edits of the note's. A "\r" that an edit would put in front of a "\n" becomes a "\n"
   * itself: both are a line end of the shown text.
   *
   * @param {TextChange[]} changes Ascending, all in the text before any of them.
   * @returns {TextChange[]}
   */
  note(changes) {
    /** @type {TextChange[]} */
    const own = [];
    // From the last to the first: a "\r" that becomes a "\n" may follow another.
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
 * Edits with two units between them or more: the others are made one.
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
 * A text after edits.
 *
 * @param {string} text
 * @param {TextChange[]} changes Ascending, all in the text before any of them.
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
