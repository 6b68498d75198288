// The text that a page was drawn from, and the edits since, which map its positions to the current text.

import { movedPlace, movedRange } from "../client/places.js";
import { differenceBetween } from "../ground/difference.js";
import { applied } from "../ground/lineends.js";

/** @typedef {import("../client/door.js").TextChange} TextChange */

export class DrawnText {
  /** The text when it was drawn. */
  text;
  /** @type {TextChange[][]} The edits since, in order. */
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

  /** @param {string} text The note's text after it was replaced as a whole. */
  become(text) {
    const change = differenceBetween(this.#since.reduce(applied, this.text), text);
    if (change) this.#since.push([change]);
  }

  /**
   * Maps a position in the drawn text to the note's text.
   *
   * @param {number} place
   * @param {-1 | 1} side
   */
  moved(place, side = 1) {
    return this.#since.reduce((/** @type {number} */ at, changes) => movedPlace(at, changes, side), place);
  }

  /**
   * Maps a range of the drawn text to the note's text; undefined if its text was deleted.
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
