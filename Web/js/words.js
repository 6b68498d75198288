// Small turns of phrase.

import { RequestError } from "./http.js";

/**
 * What an error says to people. Those that are not refusals by the server say something to developers
 * alone.
 *
 * @param {unknown} error
 */
export const messageOf = (error) => (error instanceof RequestError ? error.message : "Reload the page and try again.");

const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/**
 * Text of somebody's own for the middle of a sentence, whose order it must not change: Hebrew or Arabic
 * would take the punctuation after it along.
 *
 * @param {string} text
 */
export const isolated = (text) => (rightToLeft.test(text) ? `\u2068${text}\u2069` : text);

/** @param {string} text */
export const quoted = (text) => `“${isolated(text)}”`;

/** @param {number} count @param {string} noun @param {string} [plural] */
export const countOf = (count, noun, plural = `${noun}s`) =>
  `${count.toLocaleString()} ${count === 1 ? noun : plural}`;
