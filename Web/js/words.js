// Small turns of phrase.

import { RequestError } from "./client/http.js";
import { t } from "./shell/language.js";

/**
 * What an error says to people. Those that are not refusals by the server say something to developers
 * alone.
 *
 * @param {unknown} error
 */
export const messageOf = (error) => (error instanceof RequestError ? error.message : t("page.failed"));

/**
 * For the page of operators, which is in English.
 *
 * @param {number} count @param {string} noun @param {string} [plural]
 */
export const countOf = (count, noun, plural = `${noun}s`) =>
  `${count.toLocaleString()} ${count === 1 ? noun : plural}`;
