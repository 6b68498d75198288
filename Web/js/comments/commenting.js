// Comments on the note that is shown, from when its text is there until another is.

import { byId } from "../shell/dialogs.js";
import { myName } from "../people/me.js";
import { page } from "../page.js";
import { access, connection, drawer, profile } from "../session.js";

/** @type {ReturnType<typeof import("./commentsview.js").showComments> | undefined} */
let shown;
/** @type {import("../notes/shownnote.js").ShownNote | undefined} The note on which a comment was begun before its comments were there. */
let wanted;

/** Ends what belongs to another note or another editor. */
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
    // The text can be done without them.
    const { showComments } = await import("./commentsview.js");
    if (page.current !== note || page.editor !== editor || shown) return;
    const own = () => ({ name: myName(), color: profile.color });
    shown = showComments({ note, editor, connection, drawer, isGuest: access.isLink, profile: own });
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
