// Names, colours and initials.

import { isolated, t } from "../ground/language.js";

/**
 * isDrawn: whether name and colour were drawn at random, and not chosen.
 *
 * @typedef {{name: string, color: string, isDrawn?: boolean}} Profile
 */

/**
 * Colours with a contrast of at least 4.5 to 1 to white text.
 */
export const palette = [
  "#b0452a",
  "#8f5a0a",
  "#55731a",
  "#1d7a53",
  "#16737f",
  "#2f68ad",
  "#5c59c4",
  "#8a4bab",
  "#b03a74",
  "#a8323f",
  "#706a10",
  "#2f7d2c",
  "#35608c",
  "#7b5a45",
  "#56646f",
  "#7d4f6d",
];

const moods = [
  "Agile", "Amber", "Astute", "Bold", "Breezy", "Bright", "Brisk", "Calm", "Candid", "Careful", "Cheery",
  "Clever", "Cosy", "Curious", "Daring", "Deft", "Eager", "Early", "Fair", "Gentle", "Glad", "Golden",
  "Hardy", "Honest", "Humble", "Jolly", "Keen", "Kind", "Lively", "Lucid", "Mellow", "Merry", "Mild",
  "Nimble", "Noble", "Patient", "Placid", "Plucky", "Polite", "Quiet", "Ready", "Silver", "Spry", "Steady",
  "Sunny", "Swift", "Tidy", "Upbeat", "Vivid", "Warm", "Wise", "Witty", "Zesty",
];
const creatures = [
  "Avocet", "Badger", "Beaver", "Bison", "Bittern", "Bunting", "Chamois", "Cicada", "Crane", "Cricket",
  "Curlew", "Deer", "Dolphin", "Dormouse", "Dove", "Egret", "Eider", "Ermine", "Falcon", "Finch", "Fox",
  "Gannet", "Gecko", "Goshawk", "Grebe", "Hare", "Heron", "Hoopoe", "Ibex", "Ibis", "Jackdaw", "Jay",
  "Kestrel", "Kite", "Lapwing", "Lark", "Linnet", "Lynx", "Magpie", "Marmot", "Marten", "Merlin", "Mole",
  "Newt", "Nuthatch", "Oriole", "Osprey", "Otter", "Owl", "Petrel", "Pipit", "Plover", "Puffin", "Raven",
  "Robin", "Salmon", "Seal", "Shrew", "Siskin", "Snipe", "Stork", "Swan", "Teal", "Tern", "Thrush",
  "Trout", "Turtle", "Viper", "Vole", "Wagtail", "Weasel", "Whale", "Wren",
];

/** The mark that the server appends to the name of a guest, who has a link. */
const guestMark = " (guest)";

/** @param {string} name A guest's. @returns {string} The name in the server's form. */
export const asGuest = (name) => name + guestMark;

/**
 * Translates a guest's mark to the page's language.
 *
 * @param {string} name In the server's form.
 * @returns {string}
 */
export const shownName = (name) =>
  name.endsWith(guestMark) ? t("me.guest", { name: name.slice(0, -guestMark.length) }) : name;

/** The number of names that can be drawn. */
export const nameCount = moods.length * creatures.length;

/** @param {number} index Below `nameCount`. */
const nameAt = (index) =>
  `${moods[Math.floor(index / creatures.length)]} ${creatures[index % creatures.length]}`;

export const profileKey = "parley.profile";
export const nameLengthMax = 40;

/**
 * Draws a name and a colour that no other person has, if there are enough.
 *
 * @param {{name: string, color: string}[]} [others]
 * @param {() => number} [random] 0 ..< 1.
 * @returns {{name: string, color: string}}
 */
export function drawProfile(others = [], random = Math.random) {
  const names = new Set(others.map(({ name }) => name));
  let index = Math.floor(random() * nameCount);
  for (let tried = 0; tried < nameCount && names.has(nameAt(index)); tried += 1) index = (index + 1) % nameCount;
  return { name: nameAt(index), color: drawColor(others, random) };
}

/**
 * @param {{color: string}[]} others
 * @param {() => number} random
 */
function drawColor(others, random) {
  const taken = new Set(others.map(({ color }) => color.toLowerCase()));
  const free = palette.filter((color) => !taken.has(color));
  const choice = free.length > 0 ? free : palette;
  return choice[Math.floor(random() * choice.length)] ?? "";
}

/**
 * Returns another name or colour for a drawn profile that is not unique among the people who are present.
 *
 * @param {Profile} profile
 * @param {{name: string, color: string}[]} others
 * @param {{isNew?: boolean, random?: () => number}} [options] `isNew`: no other user has seen the name yet.
 * @returns {{name: string, color: string} | undefined} Undefined to leave the profile unchanged.
 */
export function unlike(profile, others, options) {
  const { isNew = false, random = Math.random } = options ?? {};
  const { name, color, isDrawn } = profile;
  if (!isDrawn) return undefined;
  // The same name and colour are the same user in another tab, unless both were just drawn by chance.
  if (!isNew && others.some((other) => other.name === name && other.color === color)) return undefined;
  const isNamesake = isNew && others.some((other) => other.name === name);
  const isTaken = others.some((other) => other.color.toLowerCase() === color);
  if (!isNamesake && !isTaken) return undefined;
  const drawn = drawProfile(others, random);
  const better = { name: isNamesake ? drawn.name : name, color: isTaken ? drawn.color : color };
  return better.name === name && others.length >= palette.length ? undefined : better;
}

/**
 * Returns this user's name and colour; draws them at the first visit.
 *
 * @returns {{profile: Profile, isNew: boolean}}
 */
export function loadProfile() {
  const known = storedProfile();
  if (known) return { profile: known, isNew: false };
  const profile = { ...drawProfile(), isDrawn: true };
  saveProfile(profile);
  return { profile, isNew: true };
}

/** @returns {Profile | undefined} */
export function storedProfile() {
  try {
    const { name, color, isDrawn } = JSON.parse(localStorage.getItem(profileKey) ?? "");
    if (typeof name === "string" && name && isColor(color)) return { name, color, isDrawn: isDrawn === true };
  } catch {
    // Nothing is stored yet, or another version has stored it.
  }
  return undefined;
}

/** @param {Profile} profile */
export function saveProfile(profile) {
  try {
    localStorage.setItem(profileKey, JSON.stringify(profile));
  } catch {
    // The storage is full: the name lasts as long as the page.
  }
}

/** @param {unknown} color */
const isColor = (color) => typeof color === "string" && /^#[0-9a-f]{6}$/i.test(color);

/**
 * Returns the person's colour, or one derived from the client id if it is invalid: a peer may send anything.
 *
 * @param {{color?: string, clientId?: string}} person
 */
export function colorOf({ color, clientId = "" }) {
  if (isColor(color)) return /** @type {string} */ (color);
  let hash = 0;
  for (const unit of clientId) hash = (hash * 31 + (unit.codePointAt(0) ?? 0)) >>> 0;
  return palette[hash % palette.length] ?? "#16737f";
}

/**
 * Returns the people with a different colour for each name, as long as the palette suffices. Of people with the same
 * colour, the first by client id retains it, so that all pages agree.
 *
 * @template {{name: string, color?: string, clientId?: string}} Person
 * @param {Person[]} people
 * @returns {Person[]}
 */
export function inOwnColors(people) {
  const wanted = people.map((person) => colorOf(person).toLowerCase());
  /** @type {Map<string, string>} Names by colour. */
  const owners = new Map();
  /** @type {Map<string, string>} The replacement of a colour, by name and colour. */
  const replaced = new Map();
  const free = palette.filter((color) => !wanted.includes(color));
  const order = people.map((_, index) => index).sort((a, b) => ((people[a]?.clientId ?? "") < (people[b]?.clientId ?? "") ? -1 : 1));
  for (const index of order) {
    const [name = "", color = ""] = [people[index]?.name, wanted[index]];
    const owner = owners.get(color);
    if (owner === undefined) owners.set(color, name);
    const key = JSON.stringify([name, color]);
    if (owner === undefined || owner === name || replaced.has(key)) continue;
    const other = free.shift();
    if (other === undefined) break;
    replaced.set(key, other);
  }
  if (replaced.size === 0) return people;
  return people.map((person, index) => {
    const color = replaced.get(JSON.stringify([person.name, wanted[index]]));
    return color === undefined ? person : { ...person, color };
  });
}

/**
 * Returns a text with the names of the people present, or for a crowd with their number and some names.
 *
 * @param {string[]} names The names of others.
 * @param {number} othersCount The number of others.
 */
export function whoIsHere(names, othersCount) {
  if (othersCount === 0) return t("people.onlyYou");
  const named = names.map(isolated).join(t("separator"));
  if (othersCount <= names.length) return t("people.withYou", { names: named });
  const count = othersCount + 1;
  return named ? t("people.crowdWith", { count, names: named }) : t("people.crowd", { count });
}

/**
 * Returns each person once, with the number of windows. The same name and colour are one person, as in `unlike`.
 *
 * @template {{name: string, color?: string, clientId?: string, isWriting: boolean}} Shown
 * @param {Shown[]} shown
 * @returns {(Shown & {windows: number})[]}
 */
export function withoutDoubles(shown) {
  /** @type {Map<string, Shown & {windows: number}>} */
  const found = new Map();
  for (const person of shown) {
    const key = JSON.stringify([person.name, colorOf(person)]);
    const known = found.get(key);
    if (known) {
      known.windows += 1;
      known.isWriting ||= person.isWriting;
    } else found.set(key, { ...person, windows: 1 });
  }
  return [...found.values()];
}

/**
 * Returns black or white, the one with more contrast to the colour.
 *
 * @param {string} color
 */
export function inkOn(color) {
  const channel = (/** @type {number} */ start) => {
    const value = parseInt(color.slice(start, start + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  const luminance = 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
  return 1.05 / (luminance + 0.05) >= (luminance + 0.05) / 0.05 ? "#ffffff" : "#000000";
}

/** @type {Intl.Segmenter | undefined} Created on demand, because that takes long. */
let segmenter;

/**
 * Returns at most two letters of a name, as whole graphemes.
 *
 * @param {string} name
 */
export function initials(name) {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  // Text in brackets at the end describes the person, and is not part of the name.
  const plain = name.replace(/[\u2066-\u2069]/g, "");
  const words = (plain.replace(/\s*[(（][^()（）]*[)）]\s*$/u, "") || plain).trim().split(/\s+/).filter(Boolean);
  const chosen = words.length > 1 ? [words[0], words[words.length - 1]] : words;
  const letters = chosen.map((word) => segmenter?.segment(word ?? "").containing(0)?.segment ?? "");
  return letters.join("").toLocaleUpperCase() || "?";
}

/**
 * @param {{name: string, color?: string, clientId?: string}} person
 * @param {{label?: boolean}} [options] Whether the picture is shown without the name and needs a label.
 */
export function avatar(person, options) {
  const label = options?.label ?? true;
  const element = document.createElement("span");
  const color = colorOf(person);
  element.className = "avatar";
  element.style.setProperty("--person", color);
  element.style.setProperty("--person-ink", inkOn(color));
  element.textContent = initials(person.name);
  if (label) {
    element.title = person.name;
    element.setAttribute("role", "img");
    element.setAttribute("aria-label", person.name);
  } else {
    element.setAttribute("aria-hidden", "true");
  }
  return element;
}
