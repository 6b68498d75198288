// Comments on the shown note, from when its text is there until another note's is.

import { Emitter } from "../ground/emitter.js";
import { byId } from "../ground/dialogs.js";
import { myName } from "../people/me.js";
import { page } from "../state/page.js";
import { access, ask, connection, drawer, profile } from "../state/session.js";

/** @type {import("./commentsview.js").CommentsView | undefined} */
let shown;
/** @type {import("../state/shownnote.js").ShownNote | undefined} The note on which a comment was begun before its comments were there. */
let wanted;

/**
 * changed: the comments of the shown note have arrived or changed.
 *
 * @type {Emitter<{changed: void}>}
 */
export const commentNews = new Emitter();

/** @param {object} note @returns All of its comments, if it is shown and they are here. */
export const commentsOf = (note) => (shown?.note === note ? shown?.answer : undefined);

/** Ends the comments of another note or another editor. */
export function leaveComments() {
  shown?.close();
  shown = undefined;
  byId("comments").hidden = true;
}

/** Shows the comments of the note that is open, once its text is there. */
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
  } catch (error) {
    console.error(error);
  }
}

/** Whether this person may comment on the note that is shown. */
export const mayCommentHere = () => shown?.mayComment ?? false;

/** Begins a comment on what is selected, as soon as the comments are there. */
export function commentHere() {
  if (shown) shown.begin();
  else wanted = page.current;
}
