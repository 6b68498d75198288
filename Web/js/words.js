// Small turns of phrase.

/** @param {unknown} error */
export const messageOf = (error) => (error instanceof Error ? error.message : "");

/** @param {number} count @param {string} noun @param {string} [plural] */
export const countOf = (count, noun, plural = `${noun}s`) =>
  `${count.toLocaleString()} ${count === 1 ? noun : plural}`;
