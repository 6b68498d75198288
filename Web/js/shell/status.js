// The state of the note: saved or not, open or gone, and what can be done about it.

import { announce, byId } from "./dialogs.js";
import { t } from "./language.js";
import { drawConnectionNotice } from "./linestate.js";
import { drawNewStatus } from "../notes/newnoteview.js";
import { copyText, discard } from "../notes/noteactions.js";
import { unsavedIn } from "../notes/opennotes.js";
import { drawNotices, notices } from "./notices.js";
import { page } from "../page.js";
import { leavePast } from "../history/past.js";
import { openingText, refusalText } from "./problems.js";
import { mayManage } from "../account/rights.js";
import { connection, early } from "../session.js";
import { accessTrouble } from "../account/signin.js";
import { drawTitle, titleField } from "../notes/titlebar.js";

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
/** Why there is no text to work on, as announced to screen readers; empty if there is a text. */
let toldLoss = "";

/** @param {import("../client/note.js").Note} note A deleted one, or one that the server does not know. */
function deletedText({ hasText, unconfirmedCount }) {
  if (!hasText) return t("gone.never");
  return unconfirmedCount > 0 ? t("gone.unsaved") : t("gone.deleted");
}

/** Draws all that depends on the state of the note and of the connection. */
export function drawStatus() {
  clearTimeout(statusTimer);
  if (page.newNote) drawNewStatus(page.newNote);
  if (!page.current) return;
  const count = unsavedIn(page.current);
  if (count === 0) unsavedSince = undefined;
  else unsavedSince ??= performance.now();
  const { state } = connection.status;
  const changes = t("count.unsaved", { count });
  /** @param {string} now */
  const withChanges = (now) => (count > 0 ? t("status.with", { state: now, changes }) : now);

  /** @type {[string, string]} */
  let [kind, text] = ["saved", page.current.access === "read" ? t("status.upToDate") : t("status.saved")];
  const trouble = accessTrouble();
  if (page.current.refusal) {
    [kind, text] = ["refused", changes];
  } else if (trouble) {
    [kind, text] = ["offline", withChanges(trouble.state)];
  } else if (state === "stopped" || state === "waiting" || !navigator.onLine && state !== "online") {
    [kind, text] = ["offline", withChanges(t("status.offline"))];
  } else if (state === "connecting" || page.current.phase !== "live") {
    [kind, text] = ["connecting", count > 0 ? t("status.connectingWith", { changes }) : t("status.connecting")];
  } else if (unsavedSince !== undefined) {
    const waited = performance.now() - unsavedSince;
    if (waited >= savingShowsAfter) [kind, text] = ["saving", count > 1 ? t("status.savingSeveral", { count }) : t("status.saving")];
    else statusTimer = setTimeout(drawStatus, savingShowsAfter - waited + 10);
  }
  const status = byId("status");
  const before = status.dataset.state;
  status.dataset.state = kind;
  status.dataset.unsaved = String(count);
  byId("status-text").textContent = text;
  byId("retry").hidden = state !== "waiting";
  const isGone = page.current.phase === "deleted" || page.current.phase === "failed";
  if (!isGone && kind !== before && kind !== "saving" && !(kind === "saved" && before === "saving")) {
    announce(kind === "saved" ? t("status.allSaved") : text);
  }

  const isShut = trouble !== undefined && !page.current.hasText && !isGone;
  const { documentId } = page.current;
  const words = early.text(documentId);
  // A note that is gone has no state to show. Neither it nor a note that cannot be opened can be shared.
  status.hidden = isGone;
  byId("people").hidden = isGone || isShut;
  byId("share").hidden = byId("note-menu").hidden = isGone || isShut;
  byId("read").hidden = (isGone || isShut) && !page.current.hasText;
  const isManaged = mayManage(documentId);
  const share = isManaged ? t("share") : t("note.copyLink");
  byId("share").querySelector("span")?.replaceChildren(share);
  byId("share").setAttribute("aria-label", share);
  const isAwaited = page.editor === undefined && !isGone && !isShut;
  // Without the server no text is on its way, also while the page tries to reach it again.
  const isOffline = kind === "offline" || (state === "connecting" && notices.has("absent"));
  const isAbsent = isAwaited && isOffline && !page.current.hasText;
  if (isAbsent) notices.set("absent", { text: t("note.absent") });
  else notices.delete("absent");
  byId("loading").hidden = !isAwaited || isAbsent;
  early.show(isAwaited ? documentId : undefined);
  byId("gone").hidden = !isGone && !isShut;
  byId("gone-retry").hidden = !isShut && page.current.phase !== "failed";
  byId("gone-retry").textContent = isShut ? trouble.button.label : t("tryAgain");
  byId("editor").hidden = page.editor === undefined;
  byId("gone-copy").hidden = !page.current.hasText && !words;
  if (isGone) {
    drawTitle();
    if (page.past) leavePast();
    const isDeleted = page.current.phase === "deleted";
    byId("gone-title").textContent = !isDeleted
      ? t("gone.cannotOpen")
      : page.current.hasText ? t("gone.notAnyMore") : t("gone.unknown");
    byId("gone-text").textContent = isDeleted
      ? deletedText(page.current)
      : openingText(page.current.failure);
  } else if (isShut) {
    byId("gone-title").textContent = trouble.title;
    byId("gone-text").textContent = trouble.text;
  }
  const loss = isGone || isShut ? `${byId("gone-title").textContent} ${byId("gone-text").textContent}` : "";
  if (loss && loss !== toldLoss) announce(loss);
  toldLoss = loss;
  byId("access").hidden = page.current.access !== "read" || isGone || isShut;
  titleField.disabled = isGone || isShut || !isManaged;

  if (words && page.editor) {
    notices.set("early", {
      title: t("notice.early"),
      text: t("notice.earlyText"),
      buttons: [
        { label: t("notice.earlyCopy"), run: () => void copyText(words) },
        { label: t("discard"), run: () => (early.take(documentId), drawStatus()) },
      ],
    });
  } else {
    notices.delete("early");
  }
  if (page.current.refusal) {
    notices.set("refused", {
      title: t("notice.refused"),
      text: t("notice.refusedText", { reason: refusalText(page.current.refusal.code, connection.welcome?.limits) }),
      isBad: true,
      buttons: [
        { label: t("tryAgain"), run: () => page.current?.retryRefused() },
        { label: t("notice.copyMine"), run: () => void copyText() },
        { label: t("notice.discardMine"), run: () => void discard() },
      ],
    });
  } else {
    notices.delete("refused");
  }
  drawConnectionNotice();
  drawNotices();
}
