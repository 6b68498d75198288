// What is wrong with the line, or with this person's rights: below the list, and above the text.

import { byId } from "./dialogs.js";
import { forgetIdentity } from "./identity.js";
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
    ? "The server ended the connection."
    : "The server cannot be reached. Trying again…");
  byId("line-sign-in").hidden = trouble === undefined;
  byId("line-sign-in").textContent = trouble?.button.label ?? "";
}

/** Puts among the notices what concerns the line or this person's rights; they are drawn by others. */
export function drawConnectionNotice() {
  const { state, code } = connection.status;
  const trouble = accessTrouble();
  if (endsAt === undefined || trouble) notices.delete("ending");
  else {
    const time = new Intl.DateTimeFormat(undefined, { timeStyle: "short" }).format(endsAt);
    notices.set("ending", {
      title: access.isLink ? `The link you came by ends at ${time}.` : `Your sign-in ends at ${time}.`,
      text: access.isLink ? "Ask for a new one where you got it." : "Sign in again to go on without a break.",
      buttons: [
        access.isLink
          ? { label: "All right", run: forgetEnd }
          : { label: "Sign in", run: () => void askForToken() },
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
    title: isReplaced ? "This note went on in another tab." : "The server ended the connection.",
    text: isReplaced ? "This one has stopped, to keep the two apart." : endText(code),
    isBad: !isReplaced,
    buttons: [
      {
        label: isReplaced ? "Go on here" : "Reload",
        run: () => {
          if (isReplaced) forgetIdentity();
          location.reload();
        },
      },
    ],
  });
}
