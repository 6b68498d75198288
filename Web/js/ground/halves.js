// Characters of two units whose halves come one by one: some keyboards, and Firefox for keys that a program presses,
// send two events for an emoji. The first half by itself is no text: it waits for the other, or for the next input.

const isHigh = (/** @type {number} */ unit) => unit >= 0xd800 && unit < 0xdc00;
const isLow = (/** @type {number} */ unit) => unit >= 0xdc00 && unit < 0xe000;

/**
 * Whether the first half of a pair is before a place, without the other behind it.
 *
 * @param {string} text
 * @param {number} [place] The end of the text unless it is given.
 */
export const endsInHalf = (text, place = text.length) =>
  isHigh(text.charCodeAt(place - 1)) && !isLow(text.charCodeAt(place));

/** @param {string} text Whether it begins with the second half of a pair. */
export const beginsInHalf = (text) => isLow(text.charCodeAt(0));
