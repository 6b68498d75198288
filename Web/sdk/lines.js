// Line ends: a note preserves "\r\n" and "\r"; fields of browsers show each as "\n".

/** @typedef {import("../js/client/door.js").TextChange} TextChange */

/**
 * Returns a note's text as fields show it: with "\n" for each line end.
 *
 * @param {string} text
 */
export const shownOf = (text) => text.replace(/\r\n?/g, "\n");

/**
 * Maps a position in the shown text to the note's text.
 *
 * @param {string} text The note's text.
 * @param {number} place
 */
export function placeIn(text, place) {
  if (!text.includes("\r")) return place;
  let at = 0;
  for (let shown = 0; shown < place; shown += 1) at += text.startsWith("\r\n", at) ? 2 : 1;
  return at;
}

/**
 * Maps edits of the shown text to the note's text.
 *
 * @param {string} text The note's text.
 * @param {TextChange[]} changes
 */
export const changesIn = (text, changes) =>
  changes.map(({ from, to, insert }) => ({ from: placeIn(text, from), to: placeIn(text, to), insert }));

/**
 * Returns a text with edits applied.
 *
 * @param {string} text
 * @param {TextChange[]} changes Sorted, all in the text before any of them.
 */
export function applied(text, changes) {
  let result = "";
  let position = 0;
  for (const { from, to, insert } of changes) {
    result += text.slice(position, from) + insert;
    position = to;
  }
  return result + text.slice(position);
}
