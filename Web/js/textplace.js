// Where the text stands: the editor, or the field for words that are typed before it is there.

import { byId } from "./dialogs.js";
import { createEditor } from "./editor.js";
import { page } from "./page.js";
import { showPast } from "./past.js";
import { early, editorSheet, markdown } from "./session.js";
import { drawStatus } from "./status.js";
import { drawCount } from "./wordcount.js";

/** Once the note has a text, and unless there is an editor already. */
export function mountEditor() {
  // A word that is being composed is waited for.
  if (!page.current?.hasText || page.editor || early.isComposing) return;
  const isAwaited = early.isFocused;
  page.editor = createEditor({ host: byId("editor"), note: page.current, sheets: [editorSheet], markdown });
  const words = page.current.isWritable ? early.take(page.current.documentId) : undefined;
  if (words) {
    page.editor.put(words);
    page.current.persistNow();
  }
  // What is hidden takes no focus.
  drawStatus();
  const isIdle = matchMedia("(hover: hover)").matches && document.activeElement === document.body;
  if (isAwaited || isIdle) page.editor.focus();
  drawCount();
  showPast();
}

/** Into the text, or to where it will be. */
export function focusText() {
  if (page.editor) page.editor.focus();
  else early.focus();
}
