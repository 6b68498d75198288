// Where the text stands: the editor, or the field for words that are typed before it is there.

import { byId } from "./dialogs.js";
import { drawNotices, notices } from "./notices.js";
import { page } from "./page.js";
import { loadPart } from "./parts.js";
import { showPast } from "./past.js";
import { early } from "./session.js";
import { drawStatus } from "./status.js";
import { drawCount } from "./wordcount.js";

/** @type {typeof import("./text.js") | undefined} */
let text;

/** Fetches what draws the text, then draws it. */
export async function loadText() {
  try {
    text = await loadPart(() => import("./text.js"));
  } catch (error) {
    console.error(error);
    notices.set("text", {
      title: "The editor could not be fetched.",
      text: "What you write here is kept. Reload the page when you are online.",
      isBad: true,
      buttons: [{ label: "Reload", run: () => location.reload() }],
    });
    drawNotices();
    return;
  }
  mountEditor();
}

/** Once the note has a text, and unless there is an editor already. */
export function mountEditor() {
  // A word that is being composed is waited for.
  if (!text || !page.current?.hasText || page.editor || early.isComposing) return;
  const isAwaited = early.isFocused;
  page.editor = text.editorIn({ host: byId("editor"), note: page.current });
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
