// The difference of two texts as one edit.

/**
 * Returns the smallest edit that turns one text into the other, between whole scalars.
 *
 * @param {string} before
 * @param {string} after
 * @returns {{from: number, to: number, insert: string} | undefined} Undefined if they are equal.
 */
export function smallestEdit(before, after) {
  if (before === after) return undefined;
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before.charCodeAt(start) === after.charCodeAt(start)) start += 1;
  let end = 0;
  while (
    end < shorter - start &&
    before.charCodeAt(before.length - 1 - end) === after.charCodeAt(after.length - 1 - end)
  ) {
    end += 1;
  }
  // Different emoji may share one half of their surrogate pairs.
  if (start > 0 && isHighHalf(before.charCodeAt(start - 1))) start -= 1;
  if (end > 0 && isLowHalf(before.charCodeAt(before.length - end))) end -= 1;
  return { from: start, to: before.length - end, insert: after.slice(start, after.length - end) };
}

const isHighHalf = (/** @type {number} */ unit) => unit >= 0xd800 && unit < 0xdc00;
const isLowHalf = (/** @type {number} */ unit) => unit >= 0xdc00 && unit < 0xe000;
