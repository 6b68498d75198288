// Check boxes of a page: each tick is an edit of the text, which all users see.

import { toast } from "../ground/dialogs.js";
import { t } from "../ground/language.js";
import { page } from "../state/page.js";

/** @typedef {import("./drawntext.js").DrawnText} DrawnText */

const marker = /^\[[ xX]\]$/;
const isTicked = (/** @type {string} */ text) => /x/i.test(text);

/** @type {Set<HTMLInputElement>} Boxes ticked or cleared since the page was drawn. */
const touched = new Set();

/** @param {HTMLInputElement} box @returns {{from: number, to: number}} The range of its "[ ]" in the drawn text. */
function markerOf(box) {
  const block = /** @type {HTMLElement | null} */ (box.closest(".block"));
  const from = Number(block?.dataset.from) + Number(box.dataset.at);
  return { from, to: from + 3 };
}

/**
 * Makes the edit for a box that the user has ticked or cleared. If the edit fails, resets the box and shows a message.
 *
 * @param {HTMLInputElement} box
 * @param {DrawnText | undefined} drawn The text that the page shows.
 */
export function tick(box, drawn) {
  touched.add(box);
  if (put(box, drawn)) return;
  box.checked = !box.checked;
  toast(t("note.tickFailed"));
}

/** @param {HTMLInputElement} box @param {DrawnText | undefined} drawn @returns {boolean} Whether it succeeded. */
function put(box, drawn) {
  const note = page.current;
  const range = drawn?.movedRange(markerOf(box));
  const text = range && note?.text?.slice(range.from, range.to);
  if (!note || !range || text === undefined || !marker.test(text)) return false;
  // Another user has made the same edit.
  if (isTicked(text) === box.checked) return true;
  if (!note.isWritable) return false;
  const edit = { from: range.from + 1, to: range.from + 2, insert: box.checked ? "x" : " " };
  if (page.editor) return page.editor.make(edit);
  note.edit([edit]);
  return true;
}

/**
 * Sets the ticked boxes to their state in the text, because another tick may have followed.
 *
 * @param {string} text The text that the page shows.
 */
export function settleBoxes(text) {
  for (const box of touched) {
    const { from, to } = markerOf(box);
    const found = text.slice(from, to);
    if (box.isConnected && marker.test(found)) box.checked = isTicked(found);
  }
  touched.clear();
}
