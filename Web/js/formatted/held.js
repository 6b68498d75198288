// Changes by others while the user composes a word: those of the composed line wait, as in the editor of Markdown notes
// (editing/composedline.js). When the composition ends, the editor takes what it does not show from the client core.

import { placeAfter, placeBefore } from "../client/changes.js";

/**
 * @typedef {import("../client/door.js").TextChange} TextChange
 * @typedef {import("./difference.js").Format} Format
 */

/**
 * Returns the formatting of a change of the shown text for the note's text, which has further changes.
 *
 * @param {Format | undefined} format
 * @param {TextChange[]} waiting The changes from the shown text to the note's.
 * @returns {Format | undefined}
 */
export function formatAfter(format, waiting) {
  if (!format?.kept || waiting.length === 0) return format;
  /** @type {number[]} */
  const kept = [];
  let [place, passed] = [0, 0];
  for (let index = 0; index + 2 < format.kept.length; index += 3) {
    const from = place + (format.kept[index] ?? 0);
    place = from + (format.kept[index + 1] ?? 0);
    for (const [start, end] of partsWithout(from, place, waiting)) {
      kept.push(start - passed, end - start, format.kept[index + 2] ?? 0);
      passed = end;
    }
  }
  return { ...format, kept };
}

/**
 * Returns the formatting of a change of the note's text for the shown text, which lacks some changes. The formatting and
 * these changes do not touch each other.
 *
 * @param {Format | undefined} format
 * @param {TextChange[]} waiting The changes from the shown text to the note's.
 * @returns {Format | undefined}
 */
export function formatBefore(format, waiting) {
  if (!format?.kept || waiting.length === 0) return format;
  /** @type {number[]} */
  const kept = [];
  let [place, passed] = [0, 0];
  for (let index = 0; index + 2 < format.kept.length; index += 3) {
    const from = place + (format.kept[index] ?? 0);
    place = from + (format.kept[index + 1] ?? 0);
    const start = placeBefore(from, waiting);
    kept.push(start - passed, place - from, format.kept[index + 2] ?? 0);
    passed = start + (place - from);
  }
  return { ...format, kept };
}

/** @param {number} from @param {number} to @param {TextChange[]} waiting @returns {[number, number][]} In the note's text. */
function partsWithout(from, to, waiting) {
  /** @type {[number, number][]} */
  const parts = [];
  let start = from;
  for (const change of [...waiting, { from: to, to: Infinity, insert: "" }]) {
    const end = Math.min(to, change.from);
    if (end > start) parts.push([placeAfter(start, waiting, false), placeAfter(end, waiting, true)]);
    start = Math.max(start, change.to);
    if (start >= to) break;
  }
  return parts;
}

/**
 * Whether a change touches a range of the text before it.
 *
 * @param {{changes: TextChange[], format?: Format}} change
 * @param {{from: number, to: number}} range
 */
export function touches({ changes, format }, range) {
  if (changes.some(({ from, to }) => from <= range.to && to >= range.from)) return true;
  const kept = format?.kept ?? [];
  for (let index = 0, place = 0; index + 2 < kept.length; index += 3) {
    const from = place + (kept[index] ?? 0);
    place = from + (kept[index + 1] ?? 0);
    // The newline at the end is of the range, too; a span that ends where the range begins is not.
    if (from <= range.to && place > range.from) return true;
  }
  return false;
}
