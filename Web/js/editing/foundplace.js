// Finds a place from a search in a text that may have changed since.

/** @typedef {{text: string, start: number, marks: {from: number, to: number}[]}} Place Counted in scalars. */

/**
 * Returns where a found place is in a text, which may have changed since.
 *
 * @param {Place} place Of the note's own text.
 * @param {string} text As it is shown.
 * @param {import("../ground/lineends.js").LineEnds} [ends] Of a note that is shown with other line ends than it has.
 */
export function rangeOf(place, text, ends) {
  const { from, to } = rangeIn(place, ends?.text ?? text);
  return ends ? { from: ends.toShown(from), to: ends.toShown(to) } : { from, to };
}

/** @param {Place} place @param {string} text */
function rangeIn({ text: piece, start, marks: [mark] }, text) {
  const { from, to } = mark ?? { from: 0, to: 0 };
  const words = [...piece].slice(from, to).join("");
  // Places count scalars; a text here counts halves of pairs.
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
