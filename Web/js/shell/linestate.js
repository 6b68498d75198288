// Problems of the connection, or of this user's rights: shown below the list, and as notices above the text.

import { BlockedLine, blockedReason } from "./blockedline.js";
import { byId } from "../ground/dialogs.js";
import { forgetIdentity } from "../client/identity.js";
import { dateFormat, t } from "../ground/language.js";
import { drawNotices, notices } from "../ground/notices.js";
import { page } from "../state/page.js";
import { endText } from "../ground/problems.js";
import { access, connection } from "../state/session.js";
import { accessProblem, askForToken, endsAt, forgetEnd } from "../account/signin.js";

export const blockedLine = new BlockedLine();

/** Draws the line below the list: whether the server can be reached. */
export function drawLine() {
  const { state } = connection.status;
  const trouble = accessProblem();
  // Without an open note, no other element shows the state of the connection.
  byId("line").hidden = trouble === undefined && (state === "online" || state === "connecting");
  byId("line-text").textContent = trouble?.title ?? (state === "stopped"
    ? t("line.ended")
    : blockedLine.isBlocked ? t("line.blocked") : t("line.unreachable"));
  byId("line-sign-in").hidden = trouble === undefined;
  byId("line-sign-in").textContent = trouble?.button.label ?? "";
}

/** Time without a connection after which the page explains it; milliseconds. */
const hintAfter = 3_000;
/** @type {any} */
let hintTimer;
/** Whether the page has explained this outage. */
let isHinted = false;

/** @param {string} state Of the connection. */
function hintAtOffline(state) {
  if (state === "online" || state === "stopped") {
    clearTimeout(hintTimer);
    hintTimer = undefined;
    isHinted = false;
    notices.delete("offline");
  } else if (state === "waiting" && !isHinted) {
    hintTimer ??= setTimeout(() => {
      isHinted = true;
      putOfflineNotice();
      drawNotices();
    }, hintAfter);
  }
  if (isHinted) putOfflineNotice();
}

function putOfflineNotice() {
  const note = page.current;
  if (!note?.hasText || note.phase === "deleted") return;
  const text = note.isWritable ? t("notice.offline") : t("notice.offlineReading");
  notices.set("offline", blockedLine.isBlocked ? { title: t("line.blocked"), text: t(blockedReason(location.protocol)) } : { text });
}

/** Sets the notices about the connection and this user's rights; other parts draw them. */
export function drawConnectionNotice() {
  const { state, code } = connection.status;
  const trouble = accessProblem();
  hintAtOffline(state);
  if (endsAt === undefined || trouble) notices.delete("ending");
  else {
    const time = dateFormat({ timeStyle: "short" }).format(endsAt);
    notices.set("ending", {
      title: access.isLink ? t("line.linkEnds", { time }) : t("line.signInEnds", { time }),
      text: access.isLink ? t("line.linkEndsText") : t("line.signInEndsText"),
      buttons: [
        access.isLink
          ? { label: t("ok"), run: forgetEnd }
          : { label: t("signIn"), run: () => void askForToken() },
      ],
    });
  }
  if (trouble) {
    // Without a text, the trouble is shown where the text would be.
    if (page.current?.hasText) notices.set("connection", { ...trouble, isBad: true, buttons: [trouble.button] });
    else notices.delete("connection");
    return;
  }
  if (state !== "stopped") {
    notices.delete("connection");
    return;
  }
  const isReplaced = code === 4505;
  notices.set("connection", {
    title: isReplaced ? t("line.otherTab") : t("line.ended"),
    text: isReplaced ? t("line.otherTabText") : endText(code),
    isBad: !isReplaced,
    buttons: [
      {
        label: isReplaced ? t("line.continueHere") : t("reload"),
        run: () => {
          if (isReplaced) forgetIdentity();
          location.reload();
        },
      },
    ],
  });
}
