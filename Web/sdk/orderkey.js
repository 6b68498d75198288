// Keys for the order of a list: a key between any two others, so that moving an item changes that item alone.

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const base = digits.length;
const headLength = 6;
const all = base ** headLength;
const step = 4_096;

/** @param {number} bound A random integer below it. */
const below = (bound) => Math.floor(Math.random() * bound);

/** @param {number} number */
function text(number) {
  let key = "";
  for (let rest = number, count = 0; count < headLength; count += 1, rest = Math.floor(rest / base)) {
    key = digits.charAt(rest % base) + key;
  }
  return key.endsWith("0") ? key + digits.charAt(1 + below(base - 1)) : key;
}

/** @param {string} key */
function number(key) {
  let value = 0;
  for (const digit of key.slice(0, headLength).padEnd(headLength, "0")) value = value * base + digits.indexOf(digit);
  return value;
}

/** @param {string} before @param {string | undefined} after */
function middle(before, after) {
  let key = "";
  let end = after;
  for (let index = 0; ; index += 1) {
    const low = index < before.length ? digits.indexOf(before.charAt(index)) : 0;
    const high = end !== undefined && index < end.length ? digits.indexOf(end.charAt(index)) : base;
    if (high - low > 1) {
      // The middle third, so that two people seldom choose the same digit, and two more digits.
      const third = Math.max(Math.floor((high - low) / 3), 1);
      const digit = low + third + below(Math.max(high - low - 2 * third, 1));
      return key + digits.charAt(digit) + digits.charAt(below(base)) + digits.charAt(1 + below(base - 1));
    }
    key += digits.charAt(low);
    if (high !== low) end = undefined;
  }
}

export const OrderKey = {
  /** The length from which a list is worth new keys, by `spread`. */
  lengthMax: 64,

  /**
   * Returns a key between two others; undefined for the beginning or the end of the list. Two people who insert at one
   * place get different keys. Keys are compared with `<`.
   *
   * @param {string | undefined} before
   * @param {string | undefined} after
   */
  between(before, after) {
    if (before !== undefined && after !== undefined && before >= after) {
      throw new RangeError("expected the keys of two items in their order");
    }
    if (before === undefined && after === undefined) return text(Math.floor(all / 2) + below(step));
    if (after === undefined && number(before ?? "") + step < all) return text(number(before ?? "") + 1 + below(step));
    if (before === undefined && number(after ?? "") > step) return text(number(after ?? "") - 1 - below(step - 1));
    return middle(before ?? "", after);
  },

  /**
   * Returns keys for a whole list, equally far from each other.
   *
   * @param {number} count
   */
  spread(count) {
    return Array.from({ length: count }, (_, index) => text(Math.floor(all / (count + 1)) * (index + 1)));
  },
};
