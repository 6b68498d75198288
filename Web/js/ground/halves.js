// Surrogates that arrive one by one: some keyboards, and Firefox for keys pressed by a program, send two events for an
// emoji. The first half alone is not text: it waits for the second one, or for the next input.

const isHigh = (/** @type {number} */ unit) => unit >= 0xd800 && unit < 0xdc00;
const isLow = (/** @type {number} */ unit) => unit >= 0xdc00 && unit < 0xe000;

/**
 * Whether the text before a position ends in the first half of a pair, and the second half does not follow.
 *
 * @param {string} text
 * @param {number} [place] Default: the end of the text.
 */
export const endsInHalf = (text, place = text.length) =>
  isHigh(text.charCodeAt(place - 1)) && !isLow(text.charCodeAt(place));

/** @param {string} text Whether it begins with the second half of a pair. */
export const beginsInHalf = (text) => isLow(text.charCodeAt(0));
