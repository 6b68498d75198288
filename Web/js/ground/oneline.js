// Texts of one line: titles of notes, and names of versions. The server rejects line breaks in them.

/**
 * Returns a text in one line: each run of line breaks, control characters and blanks becomes one blank.
 *
 * @param {string} text
 */
export const oneLine = (text) => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, " ").replace(/\s+/g, " ").trim();
