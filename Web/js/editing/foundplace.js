// Finds the position of a search result in a text that may have changed since the search.

/** @typedef {{text: string, start: number, marks: {from: number, to: number}[]}} Place Positions are in scalars. */

/**
 * Returns the range of a search result in a text that may have changed since the search.
 *
 * @param {Place} place A place in the note's stored text.
 * @param {string} text The shown text.
 * @param {import("../ground/lineends.js").LineEnds} [ends] The line ends of a note that is shown with different ones.
 */
export function rangeOf(place, text, ends) {
  const { from, to } = rangeIn(place, ends?.text ?? text);
  return ends ? { from: ends.toShown(from), to: ends.toShown(to) } : { from, to };
}

/** @param {Place} place @param {string} text */
function rangeIn({ text: piece, start, marks: [mark] }, text) {
  const { from, to } = mark ?? { from: 0, to: 0 };
  const words = [...piece].slice(from, to).join("");
  // Search results count scalars; JavaScript strings count UTF-16 units.
  let near = 0;
  for (let count = start + from; count > 0 && near < text.length; count -= 1) {
    near += (text.codePointAt(near) ?? 0) > 0xffff ? 2 : 1;
  }
  if (text.startsWith(words, near)) return { from: near, to: near + words.length };
  const before = text.lastIndexOf(words, near);
  const after = text.indexOf(words, near);
  const found = before >= 0 && (after < 0 || near - before < after - near) ? before : after;
  if (found >= 0) return { from: found, to: found + words.length };
  near = Math.min(near, text.length);
  return { from: near, to: near };
}
