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
 * Keeps text that others insert at an end of the selection outside of it, so that the next key does not replace it.
 *
 * @param {import("../prosemirror.js").Transaction} tr With others' change.
 * @param {import("../prosemirror.js").EditorState} before
 */
export function keepApart(tr, { selection }) {
  if (selection.empty || !(selection instanceof TextSelection)) return;
  const [from, to] = [tr.mapping.map(selection.from, 1), tr.mapping.map(selection.to, -1)];
  if (from >= to) return;
  const [anchor, head] = selection.anchor < selection.head ? [from, to] : [to, from];
  tr.setSelection(TextSelection.between(tr.doc.resolve(anchor), tr.doc.resolve(head)));
}
