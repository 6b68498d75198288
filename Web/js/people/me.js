// This person, as others see them.

import { byId, openDialog, toast } from "../shell/dialogs.js";
import { t } from "../shell/language.js";
import { page } from "../page.js";
import { loadPart } from "../parts.js";
import { asGuest, avatar, colorOf, palette, profileKey, saveProfile, shownName, storedProfile, unlike } from "./people.js";
import { rename } from "../account/login.js";
import { mayCreate } from "../account/rights.js";
import { signIn } from "../account/signin.js";
import { access, connection, isNewPerson, list, profile } from "../session.js";
import { messageOf } from "../words.js";

/** Whether the server takes the name from the token. */
const isNamed = () => access.token !== undefined && !access.isLink && connection.welcome?.demo !== true;

/** The name that others see, as the server has it. */
export function myName() {
  const { name, sub } = access.claims ?? {};
  if (isNamed()) return access.pass?.name || name || sub || profile.name;
  return access.isLink && connection.welcome?.demo === false ? asGuest(profile.name) : profile.name;
}

/**
 * The colour of an author who has the note open now.
 *
 * @param {string} author The name, as the server has it.
 * @returns {string | undefined}
 */
export function colorHere(author) {
  if (author === myName()) return profile.color;
  const person = page.current?.people.find(({ name }) => name === author);
  return person && colorOf(person);
}

/** The name below the list, and whether notes may be made. */
export function drawMe() {
  byId("me-avatar").replaceChildren(avatar({ name: myName(), color: profile.color }, { label: false }));
  byId("me-name").textContent = shownName(myName());
  byId("me-hint").textContent = isNamed() ? t("me.signedIn") : t("me.edit");
  byId("create").hidden = byId("welcome-create").hidden = !mayCreate();
  byId("list-menu").hidden = access.isLink || list.notes === undefined;
}

/**
 * Who comes with a name and a colour that were made up does not come with those of somebody who is here.
 *
 * @param {import("./people.js").Profile[]} others
 */
export function standApart(others) {
  const better = unlike(profile, others, { isNew: isUnseen });
  isUnseen = false;
  if (!better) return;
  Object.assign(profile, better);
  saveProfile(profile);
  tellProfile();
}

/** Whether nobody has seen this person's name yet. */
let isUnseen = isNewPerson;

function tellProfile() {
  connection.tellProfile(profile);
  page.emit("me", undefined);
}

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

/** @param {string} name What others see from now on, on all devices. */
async function renameMyself(name) {
  try {
    const problem = await signIn(await rename({ refreshToken: access.pass?.refreshToken, name }));
    if (problem) toast(problem);
  } catch (error) {
    toast(messageOf(error));
  }
  page.emit("me", undefined);
}

/** @param {() => Promise<void>} show Fails where the part cannot be fetched. */
async function openPart(show) {
  try {
    await show();
  } catch (error) {
    console.error(error);
    toast(t("page.failed"));
  }
}

/** Makes the button with this person's name work. */
export function setUpMe() {
  byId("me").addEventListener("click", () => void editProfile());
  byId("change-password").addEventListener("click", () => {
    /** @type {HTMLDialogElement} */ (byId("profile")).close();
    void openPart(async () => (await loadPart(() => import("../account/passwords.js"))).changePassword());
  });
  byId("show-devices").addEventListener("click", () => {
    /** @type {HTMLDialogElement} */ (byId("profile")).close();
    void openPart(async () => (await loadPart(() => import("../account/devices.js"))).showDevices());
  });
  // Another tab has changed them.
  addEventListener("storage", ({ key }) => {
    const stored = key === profileKey ? storedProfile() : undefined;
    if (!stored || (stored.name === profile.name && stored.color === profile.color)) return;
    Object.assign(profile, stored);
    tellProfile();
  });
}
