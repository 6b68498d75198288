// Short texts for several parts.

import { RequestError } from "./http.js";
import { t } from "../ground/language.js";

/**
 * Returns the message of an error for people. Only a rejection by the server has one; other errors' messages are for
 * developers.
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
