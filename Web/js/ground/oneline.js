// Texts of one line: titles of notes, and names of versions. The server rejects others.

/**
 * A text that was written, pasted or read, in one line: line breaks, control characters and runs of blanks are one blank.
 *
 * @param {string} text
 */
export const oneLine = (text) => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, " ").replace(/\s+/g, " ").trim();
