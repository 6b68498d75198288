// The difference of two texts as one edit.

import { beginsInHalf, endsInHalf } from "./halves.js";

/**
 * Returns one change that turns a text into another, without their common start and end.
 *
 * @param {string} before
 * @param {string} after
 * @returns {import("../client/door.js").TextChange | undefined} Undefined if they are the same.
 */
export function differenceBetween(before, after) {
  if (before === after) return undefined;
  const shorter = Math.min(before.length, after.length);
  let from = 0;
  while (from < shorter && before.charCodeAt(from) === after.charCodeAt(from)) from += 1;
  // Different emoji may share their first surrogate.
  if (endsInHalf(before.slice(0, from))) from -= 1;
  let kept = 0;
  while (kept < shorter - from && before.charCodeAt(before.length - kept - 1) === after.charCodeAt(after.length - kept - 1)) {
    kept += 1;
  }
  if (beginsInHalf(before.slice(before.length - kept))) kept -= 1;
  return { from, to: before.length - kept, insert: after.slice(from, after.length - kept) };
}
