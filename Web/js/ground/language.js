// The page's texts in the language of the reader.
//
// chooselanguage.js chooses the language before the first paint. English is loaded with the page, and replaces missing
// texts; of the other languages, only the one in use is loaded. Documentation/Page.md explains how to add a text or a
// language.

import english from "../languages/en.js";
import { loadPart } from "./parts.js";
import { isFromTheRight, isolatedIn, speaker } from "./texts.js";

/** @typedef {keyof typeof english} Key */

/**
 * Languages by their own names.
 *
 * @type {Record<string, string>}
 */
export const languages = {
  en: "English",
  de: "Deutsch",
  es: "Español",
  fr: "Français",
  ja: "日本語",
  ar: "العربية",
};

/** @type {Record<string, () => Promise<{default: import("./texts.js").Texts}>>} */
const files = {
  de: () => import("../languages/de.js"),
  es: () => import("../languages/es.js"),
  fr: () => import("../languages/fr.js"),
  ja: () => import("../languages/ja.js"),
  ar: () => import("../languages/ar.js"),
};

/** @param {string} language @returns {Promise<import("./texts.js").Texts>} Rejects if they cannot be loaded. */
export const textsOf = async (language) => (await files[language]?.())?.default ?? english;

const root = globalThis.document?.documentElement;

/** @returns {Promise<{language: string, own: import("./texts.js").Texts}>} */
async function open() {
  const language = root?.lang || "en";
  try {
    return { language, own: await loadPart(() => textsOf(language)) };
  } catch (error) {
    // Continue in English.
    console.warn(error);
    if (root) [root.lang, root.dir] = ["en", "ltr"];
    return { language: "en", own: english };
  }
}

const { language, own } = await open();
export { language };

/** Whether the page is laid out from right to left. */
export const isRight = isFromTheRight(language);

/** The browser's tag of the language, with a country, for the format of numbers, dates and times. */
export const locale = (globalThis.navigator?.languages ?? []).find((tag) => tag.split("-")[0]?.toLowerCase() === language) ?? language;

const say = speaker({ language, locale, own, english });

/**
 * Returns a text in the language in use.
 *
 * @param {Key} key
 * @param {import("./texts.js").Values} [values] Values of the placeholders.
 */
export const t = (key, values) => say(key, values);

/** @param {string} key @returns {key is Key} Whether there is a text with this key. */
export const isKey = (key) => Object.hasOwn(english, key);

/** @param {string} text A user's text, for the middle of a sentence. */
export const isolated = (text) => isolatedIn(text, isRight);

const numbers = new Intl.NumberFormat(locale);

/** @param {number} number */
export const inNumbers = (number) => numbers.format(number);

/** @param {Intl.DateTimeFormatOptions} options */
export const dateFormat = (options) => new Intl.DateTimeFormat(locale, options);

/**
 * Returns a duration such as “30 days”.
 *
 * @param {number} milliseconds
 */
export function lengthOf(milliseconds) {
  const minutes = Math.max(1, Math.round(milliseconds / 60_000));
  /** @type {[number, string]} */
  const [number, unit] =
    minutes < 120 ? [minutes, "minute"]
    : minutes < 2_880 ? [Math.round(minutes / 60), "hour"]
    : [Math.round(minutes / 1_440), "day"];
  return new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: "long" }).format(number);
}

/** Attributes with texts, by the data attributes that contain their keys. */
const attributes = { label: "aria-label", title: "title", placeholder: "placeholder", content: "content" };

/** Sets the texts whose keys are in the document: data-text="key", data-label="key", … */
function fillDocument() {
  for (const element of document.querySelectorAll("[data-text]")) {
    element.textContent = t(/** @type {Key} */ (element.getAttribute("data-text")));
  }
  for (const [name, attribute] of Object.entries(attributes)) {
    for (const element of document.querySelectorAll(`[data-${name}]`)) {
      element.setAttribute(attribute, t(/** @type {Key} */ (element.getAttribute(`data-${name}`))));
    }
  }
  delete document.documentElement.dataset.waits;
}

if (root) fillDocument();
