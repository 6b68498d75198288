// Lists of text changes: composing them (one after the other) and transforming them (side by side).
//
// The changes of a list are sorted by position and do not overlap, but may touch. All positions refer to the text
// before the first change.

/** @typedef {import("./door.js").TextChange} TextChange */

/**
 * Adds a change to a list. A change that starts at the end of the last one is merged into it. Text inserted after
 * deleted text stays a change of its own: a concurrent insertion within the deleted text must come before it.
 *
 * @param {TextChange[]} list
 * @param {number} from
 * @param {number} to
 * @param {string} insert
 */
function add(list, from, to, insert) {
  const last = list[list.length - 1];
  if (from === to && !insert) return;
  if (last?.to !== from || (insert && last.from < from)) list.push({ from, to, insert });
  else {
    last.to = to;
    last.insert += insert;
  }
}

/**
 * Returns where a position moves when changes are applied.
 *
 * @param {number} place
 * @param {TextChange[]} changes
 * @param {boolean} isFirst Whether the position stays before text inserted at it.
 */
export function placeAfter(place, changes, isFirst) {
  let result = place;
  for (const { from, to, insert } of changes) {
    if (from > place || (from === place && isFirst)) break;
    result += insert.length - (Math.min(to, place) - from);
  }
  return result;
}

/**
 * Transforms changes so that they apply after `others`. Both lists apply to the same text.
 *
 * Both orders result in one text: `a`, then `transformed(b, a, !isFirst)`; or `b`, then `transformed(a, b, isFirst)`.
 * Inserted text is preserved, in the order of the positions at which it was inserted.
 *
 * @param {TextChange[]} changes
 * @param {TextChange[]} others
 * @param {boolean} isFirst Whether `changes` come first where both lists insert at the same position.
 */
export function transformed(changes, others, isFirst) {
  /** @type {TextChange[]} */
  const result = [];
  for (const { from, to, insert } of changes) {
    const place = placeAfter(from, others, isFirst);
    add(result, place, place, insert);
    // Delete the part of the range that `others` have not deleted, but not the text that they inserted in it.
    let start = from;
    for (const other of [...others, { from: to, to }]) {
      const end = Math.min(other.from, to);
      if (end > start) add(result, placeAfter(start, others, false), placeAfter(end, others, true), "");
      start = Math.max(start, other.to);
    }
  }
  return result;
}

/**
 * Maps a position in the changed text back to the text before the changes. Within inserted text: the start of its
 * change.
 *
 * @param {number} place
 * @param {TextChange[]} changes
 */
export function placeBefore(place, changes) {
  let shift = 0;
  for (const { from, to, insert } of changes) {
    const start = from + shift;
    if (start >= place) break;
    if (place < start + insert.length) return from;
    shift += insert.length - (to - from);
  }
  return place - shift;
}

/**
 * Composes two lists: returns one list with the effect of `first`, then `second`.
 *
 * @param {TextChange[]} first
 * @param {TextChange[]} second Changes of the text that results from `first`.
 */
export function composed(first, second) {
  /** @type {TextChange[]} */
  const result = [];
  /** The position in the text before both lists. */
  let place = 0;
  /** The index of the next change of `first`, and the UTF-16 units of its text consumed so far. */
  let [next, passed] = [0, 0];
  const finish = (/** @type {TextChange} */ { to }) => {
    add(result, place, to, "");
    [place, next, passed] = [to, next + 1, 0];
  };
  // Consumes UTF-16 units of the text after `first` and before `second`, and retains or deletes them.
  /** @param {number} count @param {boolean} isKept */
  const pass = (count, isKept) => {
    while (count > 0) {
      const change = first[next];
      if (change?.from === place) {
        const piece = change.insert.slice(passed, passed + count);
        if (isKept) add(result, place, place, piece);
        count -= piece.length;
        passed += piece.length;
        if (passed === change.insert.length) finish(change);
      } else {
        const end = Math.min(place + count, change?.from ?? Infinity);
        if (!isKept) add(result, place, end, "");
        count -= end - place;
        place = end;
      }
    }
  };
  let at = 0;
  for (const { from, to, insert } of second) {
    pass(from - at, true);
    add(result, place, place, insert);
    pass(to - from, false);
    at = to;
  }
  for (const change of first.slice(next)) {
    place = change.from;
    add(result, place, place, change.insert.slice(passed));
    finish(change);
  }
  return result;
}
