// The place of the text: the editor, or the field for words that are typed before it is there.

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

/** @type {{id: string, place: Place | string} | undefined} A place, or a heading, that is shown when its text is there. */
let awaited;

/**
 * Shows a place in a note's text, once the note is open.
 *
 * @param {string} id
 * @param {Place | string} place One that was found, or the name of a heading.
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

/** Fetches what draws the text, then draws it. */
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

/** Into the text, or to where it will be. */
export function focusText() {
  if (page.editor) page.editor.focus();
  else early.focus();
}
