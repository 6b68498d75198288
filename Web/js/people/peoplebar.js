// The people with the note open, and who of them is writing.

import { byId } from "../ground/dialogs.js";
import { inNumbers, isolated, t } from "../ground/language.js";
import { myName } from "./me.js";
import { page } from "../state/page.js";
import { avatar, shownName, whoIsHere, withoutDoubles } from "../state/people.js";
import { profile } from "../state/session.js";

/** Maximum faces in the bar, besides one's own, before "+3": on a phone, as many as fit beside the buttons. */
const facesMax = () => Math.max(0, Math.min(4, Math.floor((innerWidth - 345) / 33)));

/** Whether the bar has room for one's own face beside "+3". */
const hasRoomForMe = () => innerWidth >= 345;

addEventListener("resize", drawPeople);

/** Time for which events about people are collected before they are drawn; milliseconds. */
const drawnAfter = 100;
/** @type {any} */
let timer;

/** Draws the people soon, once for many events. */
export function drawPeopleSoon() {
  timer ??= setTimeout(drawPeople, drawnAfter);
}

/** Draws faces, names, and the people who are writing. */
export function drawPeople() {
  clearTimeout(timer);
  timer = undefined;
  const named = (page.current?.people ?? []).map((person) => ({ ...person, name: shownName(person.name) }));
  const [me, ...others] = withoutDoubles([
    { name: shownName(myName()), color: profile.color, isWriting: false, clientId: "", key: 0 },
    ...named,
  ]);
  if (!me) return;
  const othersCount = (page.current?.othersCount ?? 0) - (named.length - others.length);
  // People who are writing are always among the faces.
  const shown = [...others].sort((a, b) => Number(b.isWriting) - Number(a.isWriting)).slice(0, facesMax());
  const isCrowded = othersCount > shown.length;
  const mine = isCrowded && !hasRoomForMe() ? [] : [me];
  const faces = [...others.filter((person) => shown.includes(person)), ...mine].map((person) => made(faceOf, person));
  if (isCrowded) faces.unshift(made(moreFace, othersCount - shown.length));
  arrange(byId("people-avatars"), faces);
  const names = others.map(({ name, isWriting }) => (isWriting ? t("people.nameWriting", { name }) : name));
  const label = whoIsHere(names, othersCount);
  const button = byId("people");
  if (button.getAttribute("aria-label") !== label) button.setAttribute("aria-label", label);
  const title = othersCount > others.length || names.length === 0 ? label : names.map(isolated).join(t("separator"));
  if (button.title !== title) button.title = title;
  const writing = whoWrites(others.filter(({ isWriting }) => isWriting).map(({ name }) => name));
  if (byId("writing").textContent !== writing) byId("writing").textContent = writing;
  const items = [made(personItem, { ...me, isMe: true }), ...others.map((person) => made(personItem, { ...person, isMe: false }))];
  if (othersCount > others.length) items.push(made(crowdItem, othersCount + 1));
  arrange(byId("people-list"), items);
}

/** @typedef {{key: string, make: () => HTMLElement}} Wanted */

/**
 * @template Value
 * @param {(value: Value) => HTMLElement} make
 * @param {Value} value All data that the element depends on.
 * @returns {Wanted}
 */
const made = (make, value) => ({ key: `${make.name} ${JSON.stringify(value)}`, make: () => make(value) });

/** @type {WeakMap<Element, string>} The key of each element. */
const keys = new WeakMap();

/** @param {HTMLElement} parent @param {Wanted[]} wanted Its new children; equal ones are reused. */
function arrange(parent, wanted) {
  const former = new Map([...parent.children].map((child) => [keys.get(child), child]));
  /** @type {Element | null} */
  let next = parent.firstElementChild;
  const staying = new Set(wanted.map(({ key }) => former.get(key)));
  for (const { key, make } of wanted) {
    while (next && !staying.has(next)) {
      const gone = next;
      next = next.nextElementSibling;
      gone.remove();
    }
    const element = former.get(key) ?? make();
    keys.set(element, key);
    if (element === next) next = next.nextElementSibling;
    else parent.insertBefore(element, next);
  }
  while (next) {
    const gone = next;
    next = next.nextElementSibling;
    gone.remove();
  }
}

/** @param {number} count The number of people without a face. */
function moreFace(count) {
  const more = document.createElement("span");
  more.className = "avatar more";
  more.textContent = `+${inNumbers(count)}`;
  return more;
}

/** @param {{name: string, color: string, windows: number, isWriting: boolean, isMe: boolean}} person */
function personItem(person) {
  const item = document.createElement("li");
  const name = document.createElement("span");
  name.dir = "auto";
  name.textContent = person.name;
  item.append(faceOf(person), name);
  /** @param {string} kind @param {string} text */
  const add = (kind, text) => {
    const words = document.createElement("span");
    words.className = kind;
    words.textContent = text;
    item.append(words);
  };
  if (person.windows > 1) add("you", t("people.windows", { count: person.windows }));
  if (person.isWriting) add("writing", t("people.writing"));
  if (person.isMe) add("you", t("people.you"));
  return item;
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
