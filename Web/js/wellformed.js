// Texts that UTF-8 can hold.

const loneSurrogate = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

/**
 * Halves of surrogate pairs that belong to nothing become U+FFFD, as they would in UTF-8.
 *
 * @param {string} text
 */
export const wellFormed = (text) => text.replace(loneSurrogate, "\uFFFD");
