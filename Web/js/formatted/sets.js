// Sets of attributes, as the server stores them beside a note's text: keys with `true`, a whole number or a string; for
// an embed also an object. A change of attributes is a set in which `null` removes a key.

/** @typedef {{readonly [key: string]: any}} AttributeSet Its keys are in order. Never mutated. */

/** @type {AttributeSet} */
export const none = Object.freeze(Object.create(null));

/** @type {WeakMap<object, string>} */
const written = new WeakMap();

/** @param {AttributeSet} set @returns {string} A text that equal sets share. */
function keyOf(set) {
  let key = written.get(set);
  if (key === undefined) written.set(set, (key = JSON.stringify(Object.entries(set))));
  return key;
}

/**
 * Returns a set of some entries.
 *
 * @param {Iterable<[string, any]>} entries
 * @returns {AttributeSet}
 */
export function setOf(entries) {
  const sorted = [...entries].sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
  if (sorted.length === 0) return none;
  const set = Object.create(null);
  for (const [key, value] of sorted) set[key] = value;
  return Object.freeze(set);
}

/** @param {object} object @returns {AttributeSet} */
export const setFrom = (object) => setOf(Object.entries(object));

/** @param {AttributeSet} one @param {AttributeSet} other */
export const areSame = (one, other) => one === other || keyOf(one) === keyOf(other);

/** @param {AttributeSet} set */
export const isEmpty = (set) => set === none || Object.keys(set).length === 0;

/** @param {any} one @param {any} other */
const areEqual = (one, other) => one === other || (typeof one === "object" && JSON.stringify(one) === JSON.stringify(other));

/**
 * Applies a change of attributes.
 *
 * @param {AttributeSet} set
 * @param {AttributeSet} change
 * @returns {AttributeSet}
 */
export function changed(set, change) {
  const entries = new Map(Object.entries(set));
  for (const [key, value] of Object.entries(change)) value === null ? entries.delete(key) : entries.set(key, value);
  const next = setOf(entries);
  return areSame(next, set) ? set : next;
}

/**
 * Returns the change that turns one set into another.
 *
 * @param {AttributeSet} former
 * @param {AttributeSet} next
 * @returns {AttributeSet} Empty if they are equal.
 */
export function changeBetween(former, next) {
  if (areSame(former, next)) return none;
  /** @type {[string, any][]} */
  const entries = Object.entries(next).filter(([key, value]) => !areEqual(value, former[key]));
  for (const key of Object.keys(former)) if (!(key in next)) entries.push([key, null]);
  return setOf(entries);
}

/** Numbers the sets of one change or document, from 1; 0 stands for no attributes. */
export class Numbers {
  /** @type {AttributeSet[]} */
  sets = [];
  /** @type {Map<string, number>} */
  #numbers = new Map();

  /** @param {AttributeSet} set */
  of(set) {
    if (isEmpty(set)) return 0;
    const key = keyOf(set);
    let number = this.#numbers.get(key);
    if (number === undefined) {
      this.sets.push(set);
      this.#numbers.set(key, (number = this.sets.length));
    }
    return number;
  }
}
