// The state of the note: saved or not, open or gone, and the actions that help.

import { announce, byId } from "../ground/dialogs.js";
import { t } from "../ground/language.js";
import { drawConnectionNotice } from "./linestate.js";
import { drawNewStatus } from "../notes/newnoteview.js";
import { copyText, discard } from "../notes/noteactions.js";
import { unsavedIn } from "../state/opennotes.js";
import { drawNotices, notices } from "../ground/notices.js";
import { page } from "../state/page.js";
import { leavePast } from "../history/past.js";
import { openingText, refusalText } from "../ground/problems.js";
import { mayManage } from "../account/rights.js";
import { connection, early } from "../state/session.js";
import { accessProblem } from "../account/signin.js";
import { drawKindChoice, settleKind } from "../notes/kindchoice.js";
import { drawTitle, titleField } from "../notes/titlebar.js";

/** Time after which "Saving…" is shown; milliseconds. */
const savingShowsAfter = 400;

/**
 * When edits were first seen unsaved; milliseconds.
 *
 * @type {number | undefined}
 */
let unsavedSince;
/** @type {any} */
let statusTimer;
/** The last announced reason why there is no text; empty if there is a text. */
let toldLoss = "";

/**
 * @typedef {import("../state/shownnote.js").ShownNote} ShownNote
 * @typedef {ReturnType<typeof accessProblem>} Trouble
 * @typedef {{isGone: boolean, isShut: boolean}} Loss
 *   isGone: the note was deleted, or could not be opened. isShut: this user has no access, and the page has no text.
 */

/** @param {ShownNote} note */
const isNoteGone = ({ phase }) => phase === "deleted" || phase === "failed";

/** @param {ShownNote} note A note that was deleted or that the server does not know. */
function deletedText({ hasText, unconfirmedCount }) {
  if (!hasText) return t("gone.never");
  return unconfirmedCount > 0 ? t("gone.unsaved") : t("gone.deleted");
}

/** Returns whether edits have been unsaved for `savingShowsAfter`; if not yet, schedules `drawStatus`. */
function isSavingLong() {
  if (unsavedSince === undefined) return false;
  const waited = performance.now() - unsavedSince;
  if (waited >= savingShowsAfter) return true;
  statusTimer = setTimeout(drawStatus, savingShowsAfter - waited + 10);
  return false;
}

/**
 * @param {ShownNote} note
 * @param {number} count The number of unsaved edits.
 * @param {Trouble} trouble
 * @returns {[kind: string, text: string]}
 */
function statusOf(note, count, trouble) {
  const { state } = connection.status;
  const changes = t("count.unsaved", { count });
  /** @param {string} now */
  const withChanges = (now) => (count > 0 ? t("status.with", { state: now, changes }) : now);
  if (note.refusal) return ["refused", changes];
  if (trouble) return ["offline", withChanges(trouble.state)];
  if (state === "stopped" || state === "waiting" || (!navigator.onLine && state !== "online")) {
    return ["offline", withChanges(t("status.offline"))];
  }
  if (state === "connecting" || note.phase !== "live") {
    return ["connecting", count > 0 ? t("status.connectingWith", { changes }) : t("status.connecting")];
  }
  if (isSavingLong()) return ["saving", count > 1 ? t("status.savingSeveral", { count }) : t("status.saving")];
  return ["saved", note.access === "read" ? t("status.upToDate") : t("status.saved")];
}

/**
 * Shows whether the note is saved, and announces when that changes.
 *
 * @param {ShownNote} note
 * @param {Trouble} trouble
 * @param {Loss} loss
 * @returns {string} The kind of status.
 */
function drawSaving(note, trouble, { isGone }) {
  const count = unsavedIn(note);
  if (count === 0) unsavedSince = undefined;
  else unsavedSince ??= performance.now();
  const [kind, text] = statusOf(note, count, trouble);
  const status = byId("status");
  const before = status.dataset.state;
  status.dataset.state = kind;
  status.dataset.unsaved = String(count);
  byId("status-text").textContent = text;
  byId("retry").hidden = connection.status.state !== "waiting";
  if (!isGone && kind !== before && kind !== "saving" && !(kind === "saved" && before === "saving")) {
    announce(kind === "saved" ? t("status.allSaved") : text);
  }
  // A note that is gone has no state to show.
  status.hidden = isGone;
  return kind;
}

/**
 * Shows the buttons of the note. A note that is gone or cannot be opened cannot be shared.
 *
 * @param {ShownNote} note
 * @param {Loss} loss
 */
function drawButtons({ documentId, hasText, access }, { isGone, isShut }) {
  const isUnusable = isGone || isShut;
  byId("people").hidden = isUnusable;
  byId("share").hidden = byId("note-menu").hidden = isUnusable;
  byId("read").hidden = isUnusable && !hasText;
  const isManaged = mayManage(documentId);
  const share = isManaged ? t("share") : t("note.copyLink");
  byId("share").querySelector("span")?.replaceChildren(share);
  byId("share").setAttribute("aria-label", share);
  byId("access").hidden = access !== "read" || isUnusable;
  titleField.disabled = isUnusable || !isManaged;
}

/**
 * Shows the text. Until it arrives, shows the field for early text, and whether the text is loading or not available.
 *
 * @param {ShownNote} note
 * @param {string} kind Of status.
 * @param {Loss} loss
 */
function drawWaiting({ documentId, hasText }, kind, { isGone, isShut }) {
  const isAwaited = page.editor === undefined && !isGone && !isShut;
  // Without a connection no text arrives, nor while the page tries to connect again.
  const isOffline = kind === "offline" || (connection.status.state === "connecting" && notices.has("absent"));
  const isAbsent = isAwaited && isOffline && !hasText;
  if (isAbsent) notices.set("absent", { text: t("note.absent") });
  else notices.delete("absent");
  byId("loading").hidden = !isAwaited || isAbsent;
  early.show(isAwaited ? documentId : undefined);
  byId("editor").hidden = page.editor === undefined;
}

/**
 * Shows why the page has no note to edit, and announces the reason once.
 *
 * @param {ShownNote} note
 * @param {Trouble} trouble
 * @param {Loss} loss
 */
function drawLoss(note, trouble, { isGone, isShut }) {
  const [title, text] = [byId("gone-title"), byId("gone-text")];
  byId("gone").hidden = !isGone && !isShut;
  byId("gone-retry").hidden = !isShut && note.phase !== "failed";
  byId("gone-retry").textContent = (isShut && trouble?.button.label) || t("tryAgain");
  // Without access, the button is the only way to the notes.
  byId("gone-back").hidden = isShut;
  byId("gone-copy").hidden = !note.hasText && !early.text(note.documentId);
  if (isGone || isShut) drawTitle();
  if (isGone) {
    if (note.phase === "deleted") {
      title.textContent = note.hasText ? t("gone.notAnyMore") : t("gone.unknown");
      text.textContent = deletedText(note);
    } else {
      title.textContent = t("gone.cannotOpen");
      text.textContent = openingText(note.failure);
    }
  } else if (isShut && trouble) {
    title.textContent = trouble.title;
    text.textContent = trouble.text;
  }
  const loss = isGone || isShut ? `${title.textContent} ${text.textContent}` : "";
  if (loss && loss !== toldLoss) announce(loss);
  toldLoss = loss;
}

/**
 * Offers text that was typed before the note's own text arrived, if the editor could not insert it.
 *
 * @param {ShownNote} note
 */
function putEarlyNotice({ documentId }) {
  const words = early.text(documentId);
  if (!words || !page.editor) {
    notices.delete("early");
    return;
  }
  notices.set("early", {
    title: t("notice.early"),
    text: t("notice.earlyText"),
    buttons: [
      { label: t("notice.earlyCopy"), run: () => void copyText(words) },
      { label: t("discard"), run: () => (early.take(documentId), drawStatus()) },
    ],
  });
}

/**
 * Shows why the server has rejected the note's edits, if it has.
 *
 * @param {ShownNote} note
 */
function putRefusalNotice({ refusal }) {
  if (!refusal) {
    notices.delete("refused");
    return;
  }
  notices.set("refused", {
    title: t("notice.refused"),
    text: t("notice.refusedText", { reason: refusalText(refusal.code, connection.welcome?.limits) }),
    isBad: true,
    buttons: [
      { label: t("tryAgain"), run: () => page.current?.retryRefused() },
      { label: t("notice.copyMine"), run: () => void copyText() },
      { label: t("notice.discardMine"), run: () => void discard() },
    ],
  });
}

/** Draws everything that depends on the state of the note and of the connection. */
export function drawStatus() {
  clearTimeout(statusTimer);
  if (page.newNote) drawNewStatus(page.newNote);
  // A note that is gone has no history. Closing the history may open the note again.
  if (page.past && page.current && isNoteGone(page.current)) leavePast();
  const note = page.current;
  if (!note) return;
  const trouble = accessProblem();
  const isGone = isNoteGone(note);
  const loss = { isGone, isShut: trouble !== undefined && !note.hasText && !isGone };
  const kind = drawSaving(note, trouble, loss);
  drawWaiting(note, kind, loss);
  drawLoss(note, trouble, loss);
  drawButtons(note, loss);
  settleKind();
  drawKindChoice();
  putEarlyNotice(note);
  putRefusalNotice(note);
  drawConnectionNotice();
  drawNotices();
}
