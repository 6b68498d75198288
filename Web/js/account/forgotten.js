// The dialog of a forgotten password, which the sign-in opens. Loaded on demand.

import { ask } from "./asking.js";
import { byId, toast } from "../ground/dialogs.js";
import { forgotPassword } from "./login.js";
import { t } from "../ground/language.js";

/**
 * Asks for the account, to which a link for a new password is sent.
 *
 * @param {string} email What the user has already typed.
 */
export function forgot(email) {
  // One dialog at a time: the sign-in opens again after a new password was chosen.
  /** @type {HTMLDialogElement} */ (byId("sign-in")).close();
  ask({
    title: t("forgot.title"),
    text: t("forgot.text"),
    fields: [{ name: "email", label: t("forgot.email"), autocomplete: "username", typed: email }],
    yes: t("forgot.yes"),
    submit: async (values) => {
      await forgotPassword((values.email ?? "").trim());
      toast(t("forgot.sent"));
      return undefined;
    },
  });
}
