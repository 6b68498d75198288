// Who has the note open, and who is writing.

import { byId } from "../shell/dialogs.js";
import { inNumbers, isolated, t } from "../shell/language.js";
import { myName } from "./me.js";
import { page } from "../page.js";
import { avatar, shownName, whoIsHere, withoutDoubles } from "./people.js";
import { profile } from "../session.js";

/** The number of faces in the bar, besides one's own, before "+3": on a phone, as many as fit beside the buttons. */
const facesMax = () => Math.max(0, Math.min(4, Math.floor((innerWidth - 345) / 33)));

/** Whether the bar has room for one's own face beside "+3". */
const hasRoomForMe = () => innerWidth >= 345;

addEventListener("resize", drawPeople);

/** Faces, names, and who is writing. */
export function drawPeople() {
  const named = (page.current?.people ?? []).map((person) => ({ ...person, name: shownName(person.name) }));
  const [me, ...others] = withoutDoubles([
    { name: shownName(myName()), color: profile.color, isWriting: false, clientId: "", key: 0 },
    ...named,
  ]);
  if (!me) return;
  const othersCount = (page.current?.othersCount ?? 0) - (named.length - others.length);
  // Who writes has a place among the faces.
  const shown = [...others].sort((a, b) => Number(b.isWriting) - Number(a.isWriting)).slice(0, facesMax());
  const isCrowded = othersCount > shown.length;
  const mine = isCrowded && !hasRoomForMe() ? [] : [me];
  const faces = [...others.filter((person) => shown.includes(person)), ...mine].map(faceOf);
  if (isCrowded) {
    const more = document.createElement("span");
    more.className = "avatar more";
    more.textContent = `+${inNumbers(othersCount - shown.length)}`;
    faces.unshift(more);
  }
  byId("people-avatars").replaceChildren(...faces);
  const names = others.map(({ name, isWriting }) => (isWriting ? t("people.nameWriting", { name }) : name));
  byId("people").setAttribute("aria-label", whoIsHere(names, othersCount));
  byId("people").title =
    othersCount > others.length || names.length === 0
      ? whoIsHere(names, othersCount)
      : names.map(isolated).join(t("separator"));
  byId("writing").textContent = whoWrites(others.filter(({ isWriting }) => isWriting).map(({ name }) => name));
  byId("people-list").replaceChildren(
    ...[{ ...me, isMe: true }, ...others.map((person) => ({ ...person, isMe: false }))].map((person) => {
      const item = document.createElement("li");
      const name = document.createElement("span");
      name.dir = "auto";
      name.textContent = person.name;
      item.append(faceOf(person), name);
      if (person.windows > 1) {
        const windows = document.createElement("span");
        windows.className = "you";
        windows.textContent = t("people.windows", { count: person.windows });
        item.append(windows);
      }
      if (person.isWriting) {
        const now = document.createElement("span");
        now.className = "writing";
        now.textContent = t("people.writing");
        item.append(now);
      }
      if (person.isMe) {
        const you = document.createElement("span");
        you.className = "you";
        you.textContent = t("people.you");
        item.append(you);
      }
      return item;
    }),
    ...(othersCount > others.length ? [crowdItem(othersCount + 1)] : []),
  );
}

/** @param {string[]} names */
function whoWrites(names) {
  const [first = "", second = ""] = names;
  if (names.length === 0) return "";
  if (names.length === 1) return t("people.oneWrites", { name: first });
  return names.length === 2 ? t("people.twoWrite", { first, second }) : t("people.manyWrite", { count: names.length });
}

/** @param {number} count */
function crowdItem(count) {
  const item = document.createElement("li");
  item.className = "crowd";
  item.textContent = t("people.crowdInList", { count });
  return item;
}

/** @param {{name: string, color: string, isWriting: boolean}} person */
function faceOf(person) {
  const face = avatar(person, { label: false });
  if (person.isWriting) face.classList.add("is-writing");
  return face;
}

/** Closes the list of names. */
export function closePeople() {
  byId("people-panel").hidden = true;
  byId("people").setAttribute("aria-expanded", "false");
}

/** Makes the faces open a list of names. */
export function setUpPeople() {
  byId("people").addEventListener("click", () => {
    const panel = byId("people-panel");
    panel.hidden = !panel.hidden;
    byId("people").setAttribute("aria-expanded", String(!panel.hidden));
  });
  document.addEventListener("pointerdown", (event) => {
    const target = /** @type {Node} */ (event.target);
    if (!byId("people-panel").contains(target) && !byId("people").contains(target)) closePeople();
  });
}
