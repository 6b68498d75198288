// Lists of changes of a text: one after the other, and side by side.
//
// A list is ascending, its changes do not overlap, and all are in the text before any of them. Neighbours may touch.

/** @typedef {import("./door.js").TextChange} TextChange */

/**
 * Adds a change to a list. One that touches the last is joined with it, unless it inserts text behind deleted text: then it
 * is known on which side of an insertion within that the text belongs.
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
 * Returns where a place is after changes.
 *
 * @param {number} place
 * @param {TextChange[]} changes
 * @param {boolean} isFirst Whether it stays before text that is inserted there.
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
 * Returns changes as they are after others, which were made in the same text.
 *
 * Both orders make one text: `a` and then `transformed(b, a, !isFirst)`, or `b` and then `transformed(a, b, isFirst)`.
 * Inserted text stays, and is in the order of its places.
 *
 * @param {TextChange[]} changes
 * @param {TextChange[]} others
 * @param {boolean} isFirst Whether they come first where both insert text at one place.
 */
export function transformed(changes, others, isFirst) {
  /** @type {TextChange[]} */
  const result = [];
  for (const { from, to, insert } of changes) {
    const place = placeAfter(from, others, isFirst);
    add(result, place, place, insert);
    // What the others leave of the deleted text, without the text that they insert there.
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
 * Returns where a place of the text after changes was before them. A place in inserted text was where that begins.
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
 * Returns one list with the effect of two.
 *
 * @param {TextChange[]} first
 * @param {TextChange[]} second Of the text after `first`.
 */
export function composed(first, second) {
  /** @type {TextChange[]} */
  const result = [];
  /** In the text before both. */
  let place = 0;
  /** The next change of `first`, and how much of its text was passed. */
  let [next, passed] = [0, 0];
  const finish = (/** @type {TextChange} */ { to }) => {
    add(result, place, to, "");
    [place, next, passed] = [to, next + 1, 0];
  };
  // Passes units of the text between both.
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
