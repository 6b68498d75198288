// The element for the text: the editor, or a field for text that is typed before the editor is ready.

import { followComments } from "../comments/commenting.js";
import { byId } from "../ground/dialogs.js";
import { t } from "../ground/language.js";
import { drawNotices, notices } from "../ground/notices.js";
import { page } from "../state/page.js";
import { loadPart } from "../ground/parts.js";
import { showPast } from "../history/past.js";
import { followAuthors } from "../history/authors.js";
import { followEditor, showHeading } from "../reading/reading.js";
import { early } from "../state/session.js";
import { drawStatus } from "./status.js";
import { drawToolbar } from "../editing/toolbar.js";
import { drawCount } from "../editing/wordcount.js";

/** @type {typeof import("../editing/text.js") | undefined} */
let text;

/** @typedef {import("../editing/foundplace.js").Place} Place */

/** @type {{id: string, place: Place | string} | undefined} A passage or heading to show once its text is available. */
let awaited;

/**
 * Shows a passage of a note's text once the note is open.
 *
 * @param {string} id
 * @param {Place | string} place A search result, or the name of a heading.
 */
export function showPlace(id, place) {
  awaited = { id, place };
  goToAwaited();
}

function goToAwaited() {
  if (!awaited || !page.editor || page.current?.documentId !== awaited.id) return;
  const { place } = awaited;
  awaited = undefined;
  if (typeof place === "string") void showHeading(place);
  else page.editor.show(place);
}

/** Loads the code of the editor, then creates the editor. */
export async function loadText() {
  try {
    text = await loadPart(() => import("../editing/text.js"));
  } catch (error) {
    console.error(error);
    notices.set("text", {
      title: t("editor.failed"),
      text: t("editor.failedText"),
      isBad: true,
      buttons: [{ label: t("reload"), run: () => location.reload() }],
    });
    drawNotices();
    return;
  }
  mountEditor();
}

/** Creates the editor once the note has a text, unless there is one. */
export function mountEditor() {
  // Wait until the word that is being composed is complete.
  if (!text || !page.current?.hasText || page.editor || early.isComposing) return;
  const isAwaited = early.isFocused;
  page.editor = text.editorIn({ host: byId("editor"), note: page.current });
  const words = page.current.isWritable ? early.take(page.current.documentId) : undefined;
  if (words) {
    page.editor.put(words);
    page.current.persistNow();
  }
  // Show the editor first: a hidden element cannot take the focus.
  drawStatus();
  drawToolbar();
  if (isAwaited) page.editor.focus();
  else page.focusIdle();
  goToAwaited();
  drawCount();
  followEditor();
  void followAuthors();
  showPast();
  void followComments();
}

/** Moves the focus to the text, or to the field for early text. */
export function focusText() {
  if (page.editor) page.editor.focus();
  else early.focus();
}
