// Two revisions of a note as one text: the deleted and the inserted parts, and operations that revert them.

import { lineEndsOf, shownOf } from "../ground/lineends.js";
import { editsBetween } from "./edits.js";

/**
 * A part of the server's difference. `kept` counts Unicode scalars that are in both texts.
 *
 * @typedef {{kept?: number, deleted?: string, inserted?: string, author?: string}} Part
 * @typedef {{from: number, to: number, fromTime: number, toTime: number, parts: Part[]}} Difference
 */

/**
 * A changed piece of the merged text, in UTF-16 units; `author` is undefined for deleted text.
 *
 * @typedef {{author: string | undefined, from: number, to: number}} Mark
 */

/**
 * The changes of a paragraph, or of several that were changed together. `operation` reverts them; it applies to the
 * newer text. `restored` has the places of its inserted text in the older text as committed, in order and in UTF-16
 * units.
 *
 * @typedef {{from: number, to: number, operation: (number | string)[], restored: {from: number, to: number}[]}} Hunk
 */

/**
 * Both texts merged, as they are shown.
 *
 * @typedef {{older: string, newer: string, text: string, marks: Mark[], hunks: Hunk[]}} Comparison
 */

/** @param {string} text */
export function scalarCount(text) {
  let count = 0;
  for (let place = 0; place < text.length; place += 1) {
    const unit = text.charCodeAt(place);
    if (unit < 0xdc00 || unit >= 0xe000) count += 1;
  }
  return count;
}

/**
 * Returns the position `count` scalars later.
 *
 * @param {string} text
 * @param {number} place
 * @param {number} count
 */
function advanced(text, place, count) {
  for (let left = count; left > 0 && place < text.length; left -= 1) {
    const unit = text.charCodeAt(place);
    place += unit >= 0xd800 && unit < 0xdc00 ? 2 : 1;
  }
  return place;
}

/** Groups the changes by paragraph. */
class HunkBuilder {
  /** @type {Hunk[]} */
  hunks = [];
  /** @type {Hunk | undefined} */
  #open;
  /** Scalars of the newer text processed so far. */
  #passed = 0;
  /** Scalars of the newer text that the open operation covers. */
  #covered = 0;

  /** @param {string} text */
  keep(text) {
    const count = scalarCount(text);
    this.#passed += count;
    if (!this.#open) return;
    if (/[\r\n]/.test(text)) this.#open = undefined;
    else this.#add(count, count);
  }

  /**
   * @param {number} from In the merged text.
   * @param {number} to
   * @param {number | string} inverse The component that reverts the change.
   * @param {number} older The end of the change in the older text.
   */
  change(from, to, inverse, older) {
    if (!this.#open) {
      this.#open = { from, to, operation: this.#passed > 0 ? [this.#passed] : [], restored: [] };
      this.#covered = this.#passed;
      this.hunks.push(this.#open);
    }
    this.#open.to = to;
    if (typeof inverse === "string") this.#open.restored.push({ from: older - inverse.length, to: older });
    const removed = typeof inverse === "number" ? -inverse : 0;
    this.#passed += removed;
    this.#add(inverse, removed);
  }

  /** @param {number | string} component @param {number} covered */
  #add(component, covered) {
    this.#covered += covered;
    const operation = this.#open?.operation ?? [];
    const last = operation.length - 1;
    const former = operation[last];
    // Neighbours of one kind become one component, for example the insertions of two users.
    const isSame =
      typeof component === "string"
        ? typeof former === "string"
        : typeof former === "number" && former > 0 === component > 0;
    if (isSame) operation[last] = /** @type {any} */ (former) + component;
    else operation.push(component);
    this.#ends.set(/** @type {Hunk} */ (this.#open), this.#covered);
  }

  /** @type {Map<Hunk, number>} */
  #ends = new Map();

  /** The hunks, each with an operation for the whole newer text. */
  finish() {
    for (const hunk of this.hunks) {
      // A final retain is extended to the end of the text.
      const rest = this.#passed - (this.#ends.get(hunk) ?? 0);
      const last = hunk.operation.length - 1;
      const former = hunk.operation[last];
      if (typeof former === "number" && former > 0) hunk.operation[last] = former + rest;
      else if (rest > 0) hunk.operation.push(rest);
    }
    return this.hunks;
  }
}

/**
 * Merges both texts: the newer one, with deleted text at its former position.
 *
 * @param {string} text The newer text, as committed.
 * @param {Part[]} parts
 * @returns {Comparison}
 */
export function comparisonOf(text, parts) {
  let merged = "";
  let former = "";
  let place = 0;
  /** @type {Mark[]} */
  const marks = [];
  const builder = new HunkBuilder();
  for (const { kept, deleted, inserted, author } of parts) {
    const from = merged.length;
    if (kept !== undefined) {
      const end = advanced(text, place, kept);
      merged += text.slice(place, end);
      former += text.slice(place, end);
      builder.keep(text.slice(place, end));
      place = end;
      continue;
    }
    const changed = deleted ?? inserted ?? "";
    merged += changed;
    former += deleted ?? "";
    if (inserted !== undefined) place += inserted.length;
    marks.push({ author: deleted === undefined ? (author ?? "") : undefined, from, to: merged.length });
    builder.change(from, merged.length, deleted ?? -scalarCount(changed), former.length);
  }
  const hunks = builder.finish();
  const ends = lineEndsOf(merged);
  const [older, newer] = [shownOf(former), shownOf(text)];
  if (!ends) return { older, newer, text: merged, marks, hunks };
  const move = (/** @type {any} */ one) => ({ ...one, from: ends.toShown(one.from), to: ends.toShown(one.to) });
  return {
    older,
    newer,
    text: merged.replace(/\r\n?/g, "\n"),
    marks: marks.map(move).filter(({ from, to }) => from < to),
    hunks: hunks.map(move),
  };
}

/**
 * Returns the difference of two texts by lines, in the server's form.
 *
 * @param {import("./history.js").PastText} older
 * @param {import("./history.js").PastText} newer
 * @returns {Part[]}
 */
export function differenceOf(older, newer) {
  /** @type {Part[]} */
  const parts = [];
  const keep = (/** @type {string} */ text) => {
    if (text) parts.push({ kept: scalarCount(text) });
  };
  let [place, placeAfter] = [0, 0];
  for (const { from, to, insert } of editsBetween(older.committed, newer.committed)) {
    keep(older.committed.slice(place, from));
    placeAfter += from - place;
    if (to > from) parts.push({ deleted: older.committed.slice(from, to) });
    parts.push(...writtenParts(newer, placeAfter, placeAfter + insert.length));
    placeAfter += insert.length;
    place = to;
  }
  keep(older.committed.slice(place));
  return parts;
}

/** @param {import("./history.js").PastText} past @param {number} from @param {number} to @returns {Part[]} By author. */
function writtenParts({ committed, runs }, from, to) {
  const ends = lineEndsOf(committed);
  /** @type {Part[]} */
  const parts = [];
  let place = from;
  for (const run of runs) {
    const end = Math.min(to, ends?.toNote(run.to) ?? run.to);
    if (end <= place) continue;
    parts.push({ inserted: committed.slice(place, end), author: run.author });
    place = end;
  }
  if (place < to) parts.push({ inserted: committed.slice(place, to), author: "" });
  return parts;
}
