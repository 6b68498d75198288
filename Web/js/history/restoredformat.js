// The attributes of text that is restored from a former revision of a formatted note.

import { scalarCount } from "./comparison.js";

/** @typedef {{sets: object[], put: number[]}} InsertedFormat `put` has pairs: scalars, and the number of a set or 0. */

/**
 * Returns the attributes of pieces of a text.
 *
 * @param {{committed: string, format?: import("./history.js").PastFormat}} past
 * @param {{from: number, to: number}[]} ranges In UTF-16 units, in the order in which they are inserted.
 * @returns {InsertedFormat | undefined} Undefined if none of them has attributes.
 */
export function restoredFormat({ committed, format }, ranges) {
  if (!format) return undefined;
  /** @type {InsertedFormat} */
  const result = { sets: [], put: [] };
  /** @type {Map<number, number>} The new numbers of sets. */
  const numbers = new Map([[0, 0]]);
  const { runs, sets } = format;
  const numberOf = (/** @type {number} */ set) => {
    const known = numbers.get(set);
    if (known !== undefined) return known;
    result.sets.push(sets[set - 1] ?? {});
    numbers.set(set, result.sets.length);
    return result.sets.length;
  };
  for (const range of ranges) {
    let start = 0;
    for (let index = 0; start < range.to; index += 2) {
      // Text after the last run has no attributes.
      const end = index < runs.length ? start + (runs[index] ?? 0) : committed.length;
      const [from, to] = [Math.max(start, range.from), Math.min(end, range.to)];
      if (from < to) add(result.put, scalarCount(committed.slice(from, to)), numberOf(index < runs.length ? (runs[index + 1] ?? 0) : 0));
      if (index >= runs.length) break;
      start = end;
    }
  }
  if (result.sets.length === 0) return undefined;
  // The rest has no attributes.
  if (result.put.at(-1) === 0) result.put.length -= 2;
  return result;
}

/** @param {number[]} put @param {number} count @param {number} set */
function add(put, count, set) {
  if (put.length > 0 && put.at(-1) === set) put[put.length - 2] = (put.at(-2) ?? 0) + count;
  else put.push(count, set);
}
