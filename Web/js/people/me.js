// This user's name and colour.

import { byId } from "../ground/dialogs.js";
import { t } from "../ground/language.js";
import { page } from "../state/page.js";
import { asGuest, avatar, colorOf, profileKey, saveProfile, shownName, storedProfile, unlike } from "../state/people.js";
import { mayCreate } from "../account/rights.js";
import { access, connection, isNewPerson, list, profile } from "../state/session.js";

/** Whether the server reads the name from the token. */
export const isNamed = () => access.token !== undefined && !access.isLink && connection.welcome?.demo !== true;

/** The name that others see, in the server's form. */
export function myName() {
  const { name, sub } = access.claims ?? {};
  if (isNamed()) return access.pass?.name || name || sub || profile.name;
  return access.isLink && connection.welcome?.demo === false ? asGuest(profile.name) : profile.name;
}

/**
 * Returns the colour of an author who has the note open.
 *
 * @param {string} author The name, in the server's form.
 * @returns {string | undefined}
 */
export function colorHere(author) {
  if (author === myName()) return profile.color;
  const person = page.current?.people.find(({ name }) => name === author);
  return person && colorOf(person);
}

/** Draws the name below the list, and the buttons that this user may use. */
export function drawMe() {
  byId("me-avatar").replaceChildren(avatar({ name: myName(), color: profile.color }, { label: false }));
  byId("me-name").textContent = shownName(myName());
  byId("me-hint").textContent = isNamed() ? t("me.signedIn") : t("me.edit");
  byId("create").hidden = byId("welcome-create").hidden = !mayCreate();
  byId("list-menu").hidden = access.isLink || list.notes === undefined;
}

/**
 * Changes a drawn name or colour of this user if another user who is present has the same.
 *
 * @param {import("../state/people.js").Profile[]} others
 */
export function standApart(others) {
  const better = unlike(profile, others, { isNew: isUnseen });
  isUnseen = false;
  if (!better) return;
  Object.assign(profile, better);
  saveProfile(profile);
  tellProfile();
}

/** Whether no other user has seen this user's name yet. */
let isUnseen = isNewPerson;

/** Sends the profile to the server, and notifies the page. */
export function tellProfile() {
  connection.tellProfile(profile);
  page.emit("me", undefined);
}

/** Listens to changes of the profile in other tabs. */
export function setUpMe() {
  // Another tab has changed name or colour.
  addEventListener("storage", ({ key }) => {
    const stored = key === profileKey ? storedProfile() : undefined;
    if (!stored || (stored.name === profile.name && stored.color === profile.color)) return;
    Object.assign(profile, stored);
    tellProfile();
  });
}
