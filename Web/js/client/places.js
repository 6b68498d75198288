// Positions in a text while the text is edited.

/** @typedef {import("./door.js").TextChange} TextChange */

/**
 * Returns where a position moves when edits are applied.
 *
 * @param {number} place In UTF-16 units.
 * @param {TextChange[]} changes Sorted, all in the text before any of them.
 * @param {-1 | 1} side 1 if the position moves after text inserted at it; -1 if it stays before.
 */
export function movedPlace(place, changes, side) {
  let shift = 0;
  for (const { from, to, insert } of changes) {
    if (from > place) break;
    const isWithin = to > place || (to === place && from === to && side < 0);
    if (isWithin) return from + shift + (place === from || side < 0 ? 0 : insert.length);
    shift += insert.length - (to - from);
  }
  return place + shift;
}

/**
 * Returns where a range moves when edits are applied. Text inserted at an edge stays outside.
 *
 * @param {{from: number, to: number}} range
 * @param {TextChange[]} changes
 * @returns {{from: number, to: number} | undefined} Undefined if its text is deleted.
 */
export function movedRange({ from, to }, changes) {
  const moved = { from: movedPlace(from, changes, 1), to: movedPlace(to, changes, -1) };
  return moved.from < moved.to ? moved : undefined;
}
