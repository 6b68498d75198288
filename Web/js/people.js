// Names, colours and initials.

/** @typedef {{name: string, color: string}} Profile */

/**
 * Colours that white text can be read on (contrast of at least 4.5 to 1).
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
];

const moods = [
  "Calm", "Bright", "Quiet", "Brisk", "Gentle", "Keen", "Merry", "Patient", "Sunny", "Nimble",
  "Candid", "Steady",
];
const creatures = [
  "Heron", "Otter", "Wren", "Fox", "Badger", "Finch", "Hare", "Lynx", "Magpie", "Marten", "Robin",
  "Swift", "Plover", "Beaver",
];

const profileKey = "parley.profile";
export const nameLengthMax = 40;

/** @param {readonly string[]} list */
const pick = (list) => list[Math.floor(Math.random() * list.length)] ?? "";

/**
 * This person's name and colour, made up at the first visit.
 *
 * @returns {Profile}
 */
export function loadProfile() {
  try {
    const { name, color } = JSON.parse(localStorage.getItem(profileKey) ?? "");
    if (typeof name === "string" && name && isColor(color)) return { name, color };
  } catch {
    // Nothing kept yet, or not by this version.
  }
  const profile = { name: `${pick(moods)} ${pick(creatures)}`, color: pick(palette) };
  saveProfile(profile);
  return profile;
}

/** @param {Profile} profile */
export function saveProfile(profile) {
  try {
    localStorage.setItem(profileKey, JSON.stringify(profile));
  } catch {
    // The name lasts as long as the page then.
  }
}

/** @param {unknown} color */
const isColor = (color) => typeof color === "string" && /^#[0-9a-f]{6}$/i.test(color);

/**
 * The person's colour, or one that follows from the client id: a peer may send anything.
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
 * Black or white, whichever reads better on the colour.
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

/**
 * At most two letters, whole graphemes.
 *
 * @param {string} name
 */
export function initials(name) {
  const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
  // What stands in brackets at the end says something about the person, and is not the name.
  const words = (name.replace(/\s*\([^()]*\)\s*$/u, "") || name).trim().split(/\s+/).filter(Boolean);
  const chosen = words.length > 1 ? [words[0], words[words.length - 1]] : words;
  const letters = chosen.map((word) => [...segmenter.segment(word ?? "")][0]?.segment ?? "");
  return letters.join("").toLocaleUpperCase() || "?";
}

/**
 * @param {{name: string, color?: string, clientId?: string}} person
 * @param {{label?: boolean}} [options] Whether the picture stands alone and needs a name.
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
