// Texts that can be encoded in UTF-8.

const loneSurrogate = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

/**
 * Replaces lone halves of surrogate pairs by U+FFFD, as an encoder of UTF-8 does.
 *
 * @param {string} text
 */
export const wellFormed = (text) => text.replace(loneSurrogate, "\uFFFD");
