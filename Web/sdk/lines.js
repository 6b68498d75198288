// Ends of lines: a note keeps "\r\n" and "\r" as they were written, and fields of browsers show "\n" for each.

/** @typedef {import("../js/client/door.js").TextChange} TextChange */

/**
 * A note's text as fields show it, which know one end of a line alone, "\n".
 *
 * @param {string} text
 */
export const shownOf = (text) => text.replace(/\r\n?/g, "\n");

/**
 * Where a place of the shown text is in the note's.
 *
 * @param {string} text The note's.
 * @param {number} place
 */
export function placeIn(text, place) {
  if (!text.includes("\r")) return place;
  let at = 0;
  for (let shown = 0; shown < place; shown += 1) at += text.startsWith("\r\n", at) ? 2 : 1;
  return at;
}

/**
 * Edits of the shown text as edits of the note's.
 *
 * @param {string} text The note's.
 * @param {TextChange[]} changes
 */
export const changesIn = (text, changes) =>
  changes.map(({ from, to, insert }) => ({ from: placeIn(text, from), to: placeIn(text, to), insert }));

/**
 * A text after edits.
 *
 * @param {string} text
 * @param {TextChange[]} changes Ascending, all in the text before any of them.
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
