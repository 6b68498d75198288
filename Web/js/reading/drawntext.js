// The text that a page was drawn from, and how its places have moved since.

import { movedPlace, movedRange } from "../client/places.js";
import { differenceBetween } from "../ground/difference.js";
import { applied } from "../ground/lineends.js";

/** @typedef {import("../client/door.js").TextChange} TextChange */

export class DrawnText {
  /** The text as it was drawn. */
  text;
  /** @type {TextChange[][]} The edits since, in their order. */
  #since = [];

  /** @param {string} text */
  constructor(text) {
    this.text = text;
  }

  /** Whether the note's text is still the drawn one. */
  get isCurrent() {
    return this.#since.length === 0;
  }

  /** @param {TextChange[]} changes */
  follow(changes) {
    if (changes.length > 0) this.#since.push(changes);
  }

  /** @param {string} text The note's text, which is replaced as a whole. */
  become(text) {
    const change = differenceBetween(this.#since.reduce(applied, this.text), text);
    if (change) this.#since.push([change]);
  }

  /**
   * Returns where a place of the drawn text is in the note's text.
   *
   * @param {number} place
   * @param {-1 | 1} side
   */
  moved(place, side = 1) {
    return this.#since.reduce((/** @type {number} */ at, changes) => movedPlace(at, changes, side), place);
  }

  /**
   * Returns where a range of the drawn text is in the note's text; undefined when its text is deleted.
   *
   * @param {{from: number, to: number}} range
   */
  movedRange(range) {
    return this.#since.reduce(
      (/** @type {{from: number, to: number} | undefined} */ at, changes) => at && movedRange(at, changes),
      range,
    );
  }
}
