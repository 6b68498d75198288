// What is wrong with the line, or with this person's rights: below the list, and above the text.

import { byId } from "./dialogs.js";
import { forgetIdentity } from "./identity.js";
import { dateFormat, t } from "./language.js";
import { notices } from "./notices.js";
import { page } from "./page.js";
import { endText } from "./problems.js";
import { access, connection } from "./session.js";
import { accessTrouble, askForToken, endsAt, forgetEnd } from "./signin.js";

/** Below the list: whether the server can be reached. */
export function drawLine() {
  const { state } = connection.status;
  const trouble = accessTrouble();
  // Without an open note there is no other place that says so.
  byId("line").hidden = state === "online" || state === "connecting";
  byId("line-text").textContent = trouble?.title ?? (state === "stopped"
    ? t("line.ended")
    : t("line.unreachable"));
  byId("line-sign-in").hidden = trouble === undefined;
  byId("line-sign-in").textContent = trouble?.button.label ?? "";
}

/** Puts among the notices what concerns the line or this person's rights; they are drawn by others. */
export function drawConnectionNotice() {
  const { state, code } = connection.status;
  const trouble = accessTrouble();
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
    // Without a text it stands where the text would.
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
        label: isReplaced ? t("line.goOnHere") : t("reload"),
        run: () => {
          if (isReplaced) forgetIdentity();
          location.reload();
        },
      },
    ],
  });
}
