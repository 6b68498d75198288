// The caret of a formatted note's editor, as the browser has it.

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
