// Texts with placeholders for values, in the format of the files in languages/.
//
//   "list.moreFor": "More for “{title}”"
//   "count.words": { one: "{count} word", other: "{count} words" }
//
// `count` selects one of several forms, by the plural rules of the language. Numbers are formatted for the locale. A
// user's text in the middle of a sentence does not change the direction of the rest.

/**
 * @typedef {string | Partial<Record<Intl.LDMLPluralRule, string>>} Text
 * @typedef {Readonly<Record<string, Text>>} Texts
 * @typedef {Record<string, string | number>} Values
 */

/** Languages that are written from right to left. */
const fromTheRight = new Set(["ar"]);

/** @param {string} language @returns {boolean} Whether it is written from right to left. */
export const isFromTheRight = (language) => fromTheRight.has(language);

const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const leftToRight = /(?![\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}])[\p{L}\p{N}]/u;

/**
 * Isolates a user's text in a sentence, so that it does not change the order of the rest: Hebrew or Arabic text would
 * move the punctuation after it, as would Latin text in an Arabic sentence.
 *
 * @param {string} text
 * @param {boolean} isRight Whether the sentence is written from right to left.
 */
export const isolatedIn = (text, isRight) => ((isRight ? leftToRight : rightToLeft).test(text) ? `\u2068${text}\u2069` : text);

/**
 * Returns the direction of a text's first letter; undefined if it has no letters.
 *
 * @param {string} text
 */
export function directionIn(text) {
  const letter = /\p{L}/u.exec(text)?.[0];
  return letter === undefined ? undefined : rightToLeft.test(letter) ? "rtl" : "ltr";
}

/**
 * Returns a function that looks up texts of a language.
 *
 * @param {object} options
 * @param {string} options.language
 * @param {string} [options.locale] The language with a country, for the format of numbers.
 * @param {Texts} options.own The language's texts.
 * @param {Texts} options.english Replaces texts that the language does not have.
 * @returns {(key: string, values?: Values) => string}
 */
export function speaker({ language, locale = language, own, english }) {
  const isRight = isFromTheRight(language);
  const rules = new Intl.PluralRules(language);
  const englishRules = new Intl.PluralRules("en");
  const numbers = new Intl.NumberFormat(locale);
  return (key, values = {}) => {
    const isOwn = Object.hasOwn(own, key);
    const text = isOwn ? own[key] : english[key];
    if (text === undefined) throw new Error(`no language has the text “${key}”`);
    const { count } = values;
    const form =
      typeof text === "string" ? text : (text[(isOwn ? rules : englishRules).select(Number(count))] ?? text.other ?? "");
    return form.replace(/\{(\w+)\}/g, (place, name) => {
      const value = Object.hasOwn(values, name) ? values[name] : place;
      return typeof value === "number" ? numbers.format(value) : isolatedIn(String(value), isRight);
    });
  };
}
