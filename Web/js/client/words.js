// Short texts for several parts.

import { RequestError } from "./http.js";
import { t } from "../ground/language.js";

/**
 * Returns an error's message for users. Only a RequestError has one; the messages of other errors are for developers.
 *
 * @param {unknown} error
 */
export const messageOf = (error) => (error instanceof RequestError ? error.message : t("page.failed"));

/**
 * Returns a count with its noun, for the operators' page, which is in English.
 *
 * @param {number} count @param {string} noun @param {string} [plural]
 */
export const countOf = (count, noun, plural = `${noun}s`) =>
  `${count.toLocaleString()} ${count === 1 ? noun : plural}`;
