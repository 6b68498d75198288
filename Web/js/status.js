// How the note stands: saved or not, open or gone, and what can be done about it.

import { announce, byId } from "./dialogs.js";
import { drawConnectionNotice } from "./linestate.js";
import { drawNewStatus } from "./newnoteview.js";
import { copyText, discard } from "./noteactions.js";
import { drawNotices, notices } from "./notices.js";
import { page } from "./page.js";
import { leavePast } from "./past.js";
import { openingText, refusalText } from "./problems.js";
import { mayManage } from "./rights.js";
import { connection, early } from "./session.js";
import { accessTrouble } from "./signin.js";
import { drawTitle, titleField } from "./titlebar.js";
import { countOf } from "./words.js";

/** "Saving…" shows only when saving takes longer than this; milliseconds. */
const savingShowsAfter = 400;

/**
 * When edits were first seen unsaved; milliseconds.
 *
 * @type {number | undefined}
 */
let unsavedSince;
/** @type {any} */
let statusTimer;

/** @param {import("./note.js").Note} note A deleted one, or one that the server does not know. */
function deletedText({ hasText, unconfirmedCount }) {
  if (!hasText) return "It may have been deleted, or its address is not complete.";
  return unconfirmedCount > 0
    ? "It was deleted before your latest changes were saved. You can copy the text as you had it."
    : "It was deleted.";
}

/** All that depends on how the note, and the line to the server, stand. */
export function drawStatus() {
  clearTimeout(statusTimer);
  if (page.newNote) drawNewStatus(page.newNote);
  if (!page.current) return;
  const count = page.current.unconfirmedCount;
  if (count === 0) unsavedSince = undefined;
  else unsavedSince ??= performance.now();
  const { state } = connection.status;
  const changes = `${countOf(count, "change")} not yet saved`;

  /** @type {[string, string]} */
  let [kind, text] = ["saved", page.current.access === "read" ? "Up to date" : "Saved"];
  const trouble = accessTrouble();
  if (page.current.refusal) {
    [kind, text] = ["refused", changes];
  } else if (trouble) {
    [kind, text] = ["offline", count > 0 ? `${trouble.state} · ${changes}` : trouble.state];
  } else if (state === "stopped" || state === "waiting" || !navigator.onLine && state !== "online") {
    [kind, text] = ["offline", count > 0 ? `Offline · ${changes}` : "Offline"];
  } else if (state === "connecting" || page.current.phase !== "live") {
    [kind, text] = ["connecting", count > 0 ? `Connecting · ${changes}` : "Connecting…"];
  } else if (unsavedSince !== undefined) {
    const waited = performance.now() - unsavedSince;
    if (waited >= savingShowsAfter) [kind, text] = ["saving", count > 1 ? `Saving ${count} changes…` : "Saving…"];
    else statusTimer = setTimeout(drawStatus, savingShowsAfter - waited + 10);
  }
  const status = byId("status");
  const before = status.dataset.state;
  status.dataset.state = kind;
  status.dataset.unsaved = String(count);
  byId("status-text").textContent = text;
  byId("retry").hidden = state !== "waiting";
  if (kind !== before && kind !== "saving" && !(kind === "saved" && before === "saving")) {
    announce(kind === "saved" ? "Connected. All changes are saved." : text);
  }

  const isGone = page.current.phase === "deleted" || page.current.phase === "failed";
  const isShut = trouble !== undefined && !page.current.hasText && !isGone;
  const { documentId } = page.current;
  const words = early.text(documentId);
  // Of a note that is not here there is nothing to say, and nothing to share.
  status.hidden = isGone;
  byId("people").hidden = isGone || isShut;
  byId("share").hidden = byId("note-menu").hidden = isGone || isShut;
  const isManaged = mayManage(documentId);
  const share = isManaged ? "Share" : "Copy link";
  byId("share").querySelector("span")?.replaceChildren(share);
  byId("share").setAttribute("aria-label", share);
  byId("loading").hidden = page.editor !== undefined || isGone || isShut;
  early.show(byId("loading").hidden ? undefined : documentId);
  byId("gone").hidden = !isGone && !isShut;
  byId("gone-retry").hidden = !isShut && page.current.phase !== "failed";
  byId("gone-retry").textContent = isShut ? trouble.button.label : "Try again";
  byId("editor").hidden = page.editor === undefined;
  byId("gone-copy").hidden = !page.current.hasText && !words;
  if (isGone) {
    drawTitle();
    if (page.past) leavePast();
    const isDeleted = page.current.phase === "deleted";
    byId("gone-title").textContent = !isDeleted
      ? "This note cannot be opened."
      : page.current.hasText ? "This note is not here any more." : "This note does not exist.";
    byId("gone-text").textContent = isDeleted
      ? deletedText(page.current)
      : openingText(page.current.failure);
  } else if (isShut) {
    byId("gone-title").textContent = trouble.title;
    byId("gone-text").textContent = trouble.text;
  }
  byId("access").hidden = page.current.access !== "read" || isGone || isShut;
  titleField.disabled = isGone || isShut || !isManaged;

  if (words && page.editor) {
    notices.set("early", {
      title: "What you typed before the note opened is not in it.",
      text: "It opened for reading only.",
      buttons: [
        { label: "Copy what I typed", run: () => void copyText(words) },
        { label: "Discard it", run: () => (early.take(documentId), drawStatus()) },
      ],
    });
  } else {
    notices.delete("early");
  }
  if (page.current.refusal) {
    notices.set("refused", {
      title: "Your latest changes were not accepted.",
      text: `${refusalText(page.current.refusal.code, connection.welcome?.limits)} They are still here, and only here.`,
      isBad: true,
      buttons: [
        { label: "Try again", run: () => page.current?.retryRefused() },
        { label: "Copy my text", run: () => void copyText() },
        { label: "Discard my changes", run: () => void discard() },
      ],
    });
  } else {
    notices.delete("refused");
  }
  drawConnectionNotice();
  drawNotices();
}
