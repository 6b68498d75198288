// Finds the edit of a text area from its text before and after, because the browser does not report it.

import { wellFormed } from "../js/ground/wellformed.js";

/** @typedef {import("../js/client/door.js").TextChange} TextChange */

const startsPair = (/** @type {number} */ unit) => unit >= 0xd800 && unit < 0xdc00;
const endsPair = (/** @type {number} */ unit) => unit >= 0xdc00 && unit < 0xe000;

/**
 * Returns the one replacement that turns `before` into `after`; undefined if both are equal. It never splits a
 * surrogate pair. Linear in the longer text.
 *
 * @param {string} before
 * @param {string} after
 * @param {number} [caret] The caret in `after`, which decides where an "a" was typed in "aaa".
 * @returns {TextChange | undefined}
 */
export function difference(before, after, caret = after.length) {
  if (before === after) return undefined;
  const shorter = Math.min(before.length, after.length);
  const lastUnit = (/** @type {string} */ text, /** @type {number} */ end) => text.charCodeAt(text.length - 1 - end);
  const isSameAt = (/** @type {number} */ end) => lastUnit(before, end) === lastUnit(after, end);
  // The text after the caret is not changed by typing.
  const behind = Math.min(shorter, after.length - Math.min(caret, after.length));
  let end = 0;
  while (end < behind && isSameAt(end)) end += 1;
  let start = 0;
  while (start < shorter - end && before.charCodeAt(start) === after.charCodeAt(start)) start += 1;
  while (end < shorter - start && isSameAt(end)) end += 1;
  // Do not split surrogate pairs.
  if (start > 0 && startsPair(before.charCodeAt(start - 1))) start -= 1;
  if (end > 0 && endsPair(before.charCodeAt(before.length - end))) end -= 1;
  return { from: start, to: before.length - end, insert: wellFormed(after.slice(start, after.length - end)) };
}

/**
 * Maps a position through edits.
 *
 * @param {number} place
 * @param {TextChange[]} changes Sorted, all in the text before any of them.
 * @param {boolean} [isBehind] Whether a position at an insertion moves after it; otherwise it stays before.
 */
export function moved(place, changes, isBehind = false) {
  let shift = 0;
  for (const { from, to, insert } of changes) {
    if (from > place || (from === place && !(isBehind && to === place))) break;
    shift += to <= place ? insert.length - (to - from) : from - place + Math.min(insert.length, place - from);
  }
  return place + shift;
}

/**
 * Maps a selection through edits of others. Their insertions at its ends stay outside, because the next key would
 * replace them. A caret stays before an insertion.
 *
 * @param {{anchor: number, head: number}} selection
 * @param {TextChange[]} changes Sorted, all in the text before any of them.
 */
export function movedSelection({ anchor, head }, changes) {
  return { anchor: moved(anchor, changes, anchor < head), head: moved(head, changes, head < anchor) };
}
