// Finds an edit of a text area from its text before and after, since the browser does not say what changed.

import { wellFormed } from "../js/ground/wellformed.js";

/** @typedef {import("../js/client/door.js").TextChange} TextChange */

const startsPair = (/** @type {number} */ unit) => unit >= 0xd800 && unit < 0xdc00;
const endsPair = (/** @type {number} */ unit) => unit >= 0xdc00 && unit < 0xe000;

/**
 * Returns the one replacement that turns `before` into `after`; undefined if both are the same. Never within a
 * surrogate pair. Takes time in proportion to the longer text.
 *
 * @param {string} before
 * @param {string} after
 * @param {number} [caret] The caret's place in `after`, which decides where "aa" was typed into "aaa".
 * @returns {TextChange | undefined}
 */
export function difference(before, after, caret = after.length) {
  if (before === after) return undefined;
  const shorter = Math.min(before.length, after.length);
  const lastUnit = (/** @type {string} */ text, /** @type {number} */ end) => text.charCodeAt(text.length - 1 - end);
  const isSameAt = (/** @type {number} */ end) => lastUnit(before, end) === lastUnit(after, end);
  // The text behind the caret was there before.
  const behind = Math.min(shorter, after.length - Math.min(caret, after.length));
  let end = 0;
  while (end < behind && isSameAt(end)) end += 1;
  let start = 0;
  while (start < shorter - end && before.charCodeAt(start) === after.charCodeAt(start)) start += 1;
  while (end < shorter - start && isSameAt(end)) end += 1;
  // Both halves of a pair go together.
  if (start > 0 && startsPair(before.charCodeAt(start - 1))) start -= 1;
  if (end > 0 && endsPair(before.charCodeAt(before.length - end))) end -= 1;
  return { from: start, to: before.length - end, insert: wellFormed(after.slice(start, after.length - end)) };
}

/**
 * Returns where a place of a text is after edits.
 *
 * @param {number} place
 * @param {TextChange[]} changes Ascending, all in the text before any of them.
 * @param {boolean} [isBehind] Whether a place at an insertion moves behind it; else it stays before.
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
 * Returns where a selection is after edits by others. What they insert at one of its ends stays outside, for the next
 * key would replace it; a caret stays before.
 *
 * @param {{anchor: number, head: number}} selection
 * @param {TextChange[]} changes Ascending, all in the text before any of them.
 */
export function movedSelection({ anchor, head }, changes) {
  return { anchor: moved(anchor, changes, anchor < head), head: moved(head, changes, head < anchor) };
}
