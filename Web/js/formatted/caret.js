// The caret and the selection of a formatted note's editor, as the browser has them and as others write.

import { TextSelection } from "../prosemirror.js";

/**
 * Reads the caret from the browser, which reports a caret that a key has moved only later. A transaction that comes in
 * between from elsewhere than the keyboard would put it back.
 *
 * Called before `view.state` is read for such a transaction.
 *
 * @param {any} view ProseMirror's, whose observer is not among its declared types.
 */
export function readCaret(view) {
  if (!view.composing) view.domObserver.flush();
}

/**
 * Keeps the selection in a change by others: what they write at the caret comes behind it, so that words which two people
 * type at one place stay whole. What they write at an end of a selection stays outside, so that the next key does not
 * replace it.
 *
 * @param {import("../prosemirror.js").Transaction} tr With others' change.
 * @param {import("../prosemirror.js").EditorState} before
 */
export function keepSelection(tr, { selection }) {
  if (!tr.docChanged || !(selection instanceof TextSelection)) return;
  const { anchor, head, from, to } = selection;
  const end = tr.mapping.map(to, -1);
  const start = from < to ? Math.min(tr.mapping.map(from, 1), end) : end;
  const place = (/** @type {number} */ pos) => tr.doc.resolve(pos === from ? start : end);
  const kept = TextSelection.between(place(anchor), place(head));
  if (!kept.eq(tr.selection)) tr.setSelection(kept);
}
