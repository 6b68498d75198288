// The sign-in dialog: by an identity provider or a password, if the server supports them, or by a token.

import { claimsOf, tokenIn } from "../state/access.js";
import { giveBack, logIn } from "./login.js";
import { leaveForProvider } from "../state/provider.js";
import { byId, openDialog } from "../ground/dialogs.js";
import { t } from "../ground/language.js";
import { loadPart } from "../ground/parts.js";
import { messageOf } from "../client/words.js";

/** @typedef {{password: boolean, forgot: boolean, provider?: {name: string, address: string}}} Ways */

export class SignInForm {
  #ways;
  #signIn;
  #isByToken = false;
  #dialog = /** @type {HTMLDialogElement} */ (byId("sign-in"));
  #form = /** @type {HTMLFormElement} */ (this.#dialog.querySelector("form"));
  #token = /** @type {HTMLTextAreaElement} */ (byId("sign-in-token"));
  #email = /** @type {HTMLInputElement} */ (byId("sign-in-email"));
  #password = /** @type {HTMLInputElement} */ (byId("sign-in-password"));
  #keep = /** @type {HTMLInputElement} */ (byId("sign-in-keep"));
  #provider = /** @type {HTMLAnchorElement} */ (byId("sign-in-provider"));
  #otherwise = byId("sign-in-otherwise");
  #yes = /** @type {HTMLButtonElement} */ (byId("sign-in-yes"));
  #problem = byId("sign-in-problem");

  /**
   * @param {Ways} ways The ways to sign in on this server, besides a token.
   * @param {(own: import("../state/access.js").OwnToken) => Promise<string | undefined>} signIn Returns why it failed.
   */
  constructor(ways, signIn) {
    this.#ways = ways;
    this.#signIn = signIn;
  }

  /** @param {string} problem The problem shown at first. */
  open(problem) {
    const { password, provider } = this.#ways;
    if (provider) {
      this.#provider.textContent = t("signIn.with", { name: provider.name });
      this.#provider.href = provider.address;
      this.#provider.onclick = () => leaveForProvider(this.#keep.checked);
    }
    const isTokenAlone = !password && !provider;
    this.#otherwise.onclick = () => this.#choose(!this.#isByToken);
    this.#otherwise.hidden = isTokenAlone;
    byId("sign-in-forgotten").hidden = !this.#ways.forgot;
    byId("sign-in-forgot").onclick = () => void this.#forgot();
    this.#token.value = this.#password.value = "";
    this.#form.onsubmit = this.#submit;
    this.#yes.disabled = false;
    void openDialog(this.#dialog);
    this.#choose(isTokenAlone);
    this.#problem.textContent = problem;
  }

  /** @param {boolean} isByToken */
  #choose(isByToken) {
    const { password, provider } = this.#ways;
    const isByPassword = !isByToken && password;
    this.#isByToken = isByToken;
    byId("sign-in-by-provider").hidden = isByToken || !provider;
    byId("sign-in-by-token").hidden = !isByToken;
    byId("sign-in-by-password").hidden = !isByPassword;
    byId("sign-in-kept").hidden = isByToken || (!password && !provider);
    this.#yes.hidden = !isByToken && !isByPassword;
    this.#token.required = isByToken;
    this.#email.required = this.#password.required = isByPassword;
    const another = t(provider ? "signIn.otherwise" : "signIn.withPassword");
    this.#otherwise.textContent = isByToken ? another : t("signIn.withToken");
    this.#problem.textContent = "";
    (isByToken ? this.#token : provider ? this.#provider : this.#email.value ? this.#password : this.#email).focus();
  }

  /** Whether the user has closed the dialog. After a sign-in, the page closes it with "confirm". */
  get #isGivenUp() {
    return this.#form.onsubmit !== this.#submit || (!this.#dialog.open && this.#dialog.returnValue !== "confirm");
  }

  /** @param {Event} event */
  #submit = async (event) => {
    event.preventDefault();
    const token = tokenIn(this.#token.value);
    const isByToken = this.#isByToken;
    if (isByToken && !claimsOf(token)) {
      this.#problem.textContent = t("signIn.noToken");
      this.#token.focus();
      return;
    }
    this.#yes.disabled = true;
    this.#problem.textContent = "";
    /** @type {string | undefined} */
    let wrong;
    try {
      const own = isByToken ? { token } : await this.#logIn();
      if (this.#isGivenUp) {
        giveBack(own);
        return;
      }
      wrong = await this.#signIn(own);
    } catch (error) {
      wrong = messageOf(error);
    }
    if (this.#isGivenUp) return;
    this.#yes.disabled = false;
    this.#problem.textContent = wrong ?? "";
    if (wrong) (this.#isByToken ? this.#token : this.#password).select();
    else this.#dialog.close("confirm");
  };

  async #forgot() {
    try {
      const { forgot } = await loadPart(() => import("./forgotten.js"));
      if (this.#dialog.open) forgot(this.#email.value.trim());
    } catch (error) {
      console.error(error);
      this.#problem.textContent = t("page.failed");
    }
  }

  #logIn() {
    return logIn({ email: this.#email.value.trim(), password: this.#password.value, keep: this.#keep.checked });
  }
}
