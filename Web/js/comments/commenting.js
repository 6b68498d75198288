// Comments on the shown note, from when its editor is created until another note is shown.

import { Emitter } from "../ground/emitter.js";
import { byId } from "../ground/dialogs.js";
import { myName } from "../people/me.js";
import { page } from "../state/page.js";
import { access, ask, connection, drawer, profile } from "../state/session.js";

/** @type {import("./commentsview.js").CommentsView | undefined} */
let shown;
/** @type {import("../state/shownnote.js").ShownNote | undefined} The note to comment on once its comments load. */
let wanted;
/** @type {{note: string, comment: string} | undefined} The comment to show once the comments of its note load. */
let revealed;

/**
 * changed: the comments of the shown note were loaded, or have changed.
 *
 * @type {Emitter<{changed: void}>}
 */
export const commentNews = new Emitter();

/** @param {object} note @returns All of its comments, if it is shown and they are loaded. */
export const commentsOf = (note) => (shown?.note === note ? shown?.answer : undefined);

/** Closes the view of the comments. */
export function leaveComments() {
  shown?.close();
  shown = undefined;
  byId("comments").hidden = true;
}

/** Shows the comments of the open note, once its editor is created. */
export async function followComments() {
  const { current: note, editor } = page;
  if (shown && shown.note === note && shown.editor === editor) return;
  leaveComments();
  if (!note || !editor) return;
  try {
    // The note works without comments.
    const { CommentsView } = await import("./commentsview.js");
    if (page.current !== note || page.editor !== editor || shown) return;
    const own = () => ({ name: myName(), color: profile.color });
    const changed = () => commentNews.emit("changed", undefined);
    shown = new CommentsView({ note, editor, connection, ask, changed, drawer, isGuest: access.isLink, profile: own });
    if (wanted === note) shown.begin();
    wanted = undefined;
    showRevealed();
  } catch (error) {
    console.error(error);
  }
}

/** Whether this user may comment on the shown note. */
export const mayCommentHere = () => shown?.mayComment ?? false;

/** Begins a comment on the selection, once the comments are loaded. */
export function commentHere() {
  if (shown) shown.begin();
  else wanted = page.current;
}

function showRevealed() {
  if (!shown || shown.note.documentId !== revealed?.note) return;
  shown.reveal(revealed.comment);
  revealed = undefined;
}

/**
 * Shows the thread of a comment, once the comments of its note are loaded.
 *
 * @param {string} note
 * @param {string} comment
 */
export function revealComment(note, comment) {
  revealed = { note, comment };
  showRevealed();
}
