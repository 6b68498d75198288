// Becoming a user by an invitation, and changing or resetting a password. Loaded on demand.

import { byId, toast } from "../ground/dialogs.js";
import { ask } from "./asking.js";
import { changePassword as change, giveBack, joinBy, resetPassword } from "./login.js";
import { t } from "../ground/language.js";
import { access } from "../state/session.js";
import { signIn } from "./signin.js";

/** @param {string} invitation The token in the link. */
export function join(invitation) {
  // The sign-in dialog may have opened by itself.
  /** @type {HTMLDialogElement} */ (byId("sign-in")).close();
  ask({
    title: t("join.title"),
    text: t("join.text"),
    fields: [
      { name: "email", label: t("join.email"), autocomplete: "username" },
      { name: "name", label: t("join.name"), autocomplete: "name", isOptional: true },
      { name: "password", label: t("join.password"), type: "password", autocomplete: "new-password" },
    ],
    yes: t("join.yes"),
    submit: async ({ email = "", name = "", password = "" }, isGivenUp) => {
      const shown = name.trim();
      const own = await joinBy({ invitation, email: email.trim(), password, ...(shown && { name: shown }) });
      if (!isGivenUp()) return signIn(own);
      // The invitation is used up nevertheless.
      giveBack(own);
      toast(t("join.givenUp"));
      return undefined;
    },
  });
}

/** @param {string} token The token in the link for a new password. */
export function reset(token) {
  // The sign-in dialog may have opened by itself.
  /** @type {HTMLDialogElement} */ (byId("sign-in")).close();
  ask({
    title: t("reset.title"),
    text: t("password.text"),
    fields: [{ name: "newPassword", label: t("password.new"), type: "password", autocomplete: "new-password" }],
    yes: t("password.yes"),
    submit: async ({ newPassword = "" }, isGivenUp) => {
      const own = await resetPassword({ reset: token, newPassword });
      if (!isGivenUp()) {
        const problem = await signIn(own);
        if (!problem) toast(t("password.changed"));
        return problem;
      }
      // The password was changed nevertheless.
      giveBack(own);
      toast(t("password.changed"));
      return undefined;
    },
  });
}

/** Asks for the current password and a new one. */
export function changePassword() {
  const email = access.claims?.sub ?? "";
  ask({
    title: t("password.title"),
    text: t("password.text"),
    fields: [
      { name: "email", label: "", autocomplete: "username", value: email },
      { name: "password", label: t("password.old"), type: "password", autocomplete: "current-password" },
      { name: "newPassword", label: t("password.new"), type: "password", autocomplete: "new-password" },
    ],
    yes: t("password.yes"),
    submit: async ({ password = "", newPassword = "" }) => {
      const own = await change({ email, password, newPassword, keep: access.pass?.isKept });
      // Immediately: the server closes the connection of the former token, and the next connection uses this one.
      access.take(own);
      const problem = await signIn(own);
      if (!problem) toast(t("password.changed"));
      return problem;
    },
  });
}
