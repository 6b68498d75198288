// This person, as others see them.

import { byId } from "../ground/dialogs.js";
import { t } from "../ground/language.js";
import { page } from "../state/page.js";
import { asGuest, avatar, colorOf, profileKey, saveProfile, shownName, storedProfile, unlike } from "../state/people.js";
import { mayCreate } from "../account/rights.js";
import { access, connection, isNewPerson, list, profile } from "../state/session.js";

/** Whether the server takes the name from the token. */
export const isNamed = () => access.token !== undefined && !access.isLink && connection.welcome?.demo !== true;

/** The name that others see, in the form of the server. */
export function myName() {
  const { name, sub } = access.claims ?? {};
  if (isNamed()) return access.pass?.name || name || sub || profile.name;
  return access.isLink && connection.welcome?.demo === false ? asGuest(profile.name) : profile.name;
}

/**
 * The colour of an author who has the note open now.
 *
 * @param {string} author The name, in the form of the server.
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
 * Changes a made-up name and colour of this person if another person who is here has the same.
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

/** Whether no other person has seen this person's name yet. */
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
