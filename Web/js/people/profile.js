// The dialog in which users change their name and colour.

import { rename } from "../account/login.js";
import { signIn } from "../account/signin.js";
import { byId, openDialog, toast } from "../ground/dialogs.js";
import { t } from "../ground/language.js";
import { isNamed, myName, tellProfile } from "./me.js";
import { page } from "../state/page.js";
import { loadPart } from "../ground/parts.js";
import { palette, saveProfile } from "../state/people.js";
import { access, profile } from "../state/session.js";
import { messageOf } from "../client/words.js";

/** Asks this user for a name and a colour, and offers the other actions on the account. */
async function editProfile() {
  const name = /** @type {HTMLInputElement} */ (byId("profile-name"));
  name.value = isNamed() ? myName() : profile.name;
  name.disabled = isNamed() && !access.hasPassword;
  byId("profile-hint").hidden = !name.disabled;
  byId("profile-hint").textContent = t("me.nameIsGiven");
  byId("change-password").hidden = !access.hasPassword;
  byId("show-devices").hidden = !access.pass?.refreshToken && !access.pass?.isKept;
  byId("sign-out").hidden = !access.pass;
  byId("sign-out").textContent = access.isLink ? t("me.leaveLink") : t("me.signOut");
  byId("profile-colors").replaceChildren(
    ...palette.map((color, index) => {
      const label = document.createElement("label");
      label.className = "swatch";
      label.style.setProperty("--person", color);
      const input = document.createElement("input");
      input.type = "radio";
      input.name = "color";
      input.value = color;
      input.checked = color === profile.color;
      input.setAttribute("aria-label", t("me.colorNumber", { number: index + 1 }));
      const dot = document.createElement("span");
      label.append(input, dot);
      return label;
    }),
  );
  const dialog = /** @type {HTMLDialogElement} */ (byId("profile"));
  const confirmed = openDialog(dialog);
  if (!name.disabled) name.select();
  if (!(await confirmed)) return;
  const chosen = /** @type {HTMLInputElement | null} */ (dialog.querySelector("input[name=color]:checked"));
  const isRenamed = isNamed() && !name.disabled && name.value.trim() !== "" && name.value.trim() !== myName();
  if (!isNamed()) profile.name = name.value.trim() || profile.name;
  profile.color = chosen?.value ?? profile.color;
  profile.isDrawn = false;
  saveProfile(profile);
  tellProfile();
  if (isRenamed) await renameMyself(name.value.trim());
}

/** @param {string} name The new display name, on all devices. */
async function renameMyself(name) {
  try {
    const problem = await signIn(await rename({ refreshToken: access.pass?.refreshToken, name }));
    if (problem) toast(problem);
  } catch (error) {
    toast(messageOf(error));
  }
  page.emit("me", undefined);
}

/** @param {() => Promise<void>} show Rejects if the part cannot be loaded. */
async function openPart(show) {
  try {
    await show();
  } catch (error) {
    console.error(error);
    toast(t("page.failed"));
  }
}

/** Connects the buttons of the profile. */
export function setUpProfile() {
  byId("me").addEventListener("click", () => void editProfile());
  byId("change-password").addEventListener("click", () => {
    /** @type {HTMLDialogElement} */ (byId("profile")).close();
    void openPart(async () => (await loadPart(() => import("../account/passwords.js"))).changePassword());
  });
  byId("show-devices").addEventListener("click", () => {
    /** @type {HTMLDialogElement} */ (byId("profile")).close();
    void openPart(async () => (await loadPart(() => import("../account/devices.js"))).showDevices());
  });
}
