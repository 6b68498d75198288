// A copy of a room's values: the server's values, with own changes over them. Without a connection and without a clock.

/**
 * @typedef {{set: string, to: any, ttl?: number, while?: "connected"} | {merge: string, with: any, ttl?: number}
 *   | {add: string, by: number, ttl?: number} | {delete: string}} Operation
 * @typedef {{key: string, operations: Operation[], offset?: number, isSettling?: boolean}} Change A change that is
 * settling was stored before the last subscription, which brings it, or shows that the server lost it.
 * @typedef {{[name: string]: {value: any, offset: number}}} Page
 * @typedef {{operation: Operation, existed: boolean, before: any}} Part An operation with the value that it replaced.
 */

const encoder = new TextEncoder();

/**
 * Compares names by their bytes, as the server does.
 *
 * @param {string} one
 * @param {string} other
 */
function precedes(one, other) {
  const [a, b] = [encoder.encode(one), encoder.encode(other)];
  for (let index = 0; index < Math.min(a.length, b.length); index += 1) {
    const difference = /** @type {number} */ (a[index]) - /** @type {number} */ (b[index]);
    if (difference !== 0) return difference < 0;
  }
  return a.length < b.length;
}

/**
 * Returns a value with a patch merged into it (RFC 7396).
 *
 * @param {any} value
 * @param {any} patch
 * @returns {any}
 */
export function merged(value, patch) {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  // A map, because a field may have the name __proto__.
  const fields = new Map(isObject ? Object.entries(value) : []);
  for (const [name, change] of Object.entries(patch)) {
    if (change === null) fields.delete(name);
    else fields.set(name, merged(fields.get(name), change));
  }
  return Object.fromEntries(fields);
}

/** @param {Operation} operation @returns {string} */
export const nameOf = (operation) =>
  "set" in operation ? operation.set
  : "merge" in operation ? operation.merge
  : "add" in operation ? operation.add
  : operation.delete;

/**
 * Applies an operation to values; returns whether it fits.
 *
 * @param {Map<string, any>} values
 * @param {Operation} operation
 */
function apply(values, operation) {
  if ("set" in operation) values.set(operation.set, operation.to);
  else if ("merge" in operation) values.set(operation.merge, merged(values.get(operation.merge), operation.with));
  else if ("add" in operation) {
    const former = values.has(operation.add) ? values.get(operation.add) : 0;
    if (!Number.isInteger(former)) return false;
    values.set(operation.add, former + operation.by);
  } else values.delete(operation.delete);
  return true;
}

export class Replica {
  /**
   * The server's values.
   *
   * @type {Map<string, any>}
   */
  #values = new Map();
  /** @type {Map<string, number>} */
  #offsets = new Map();
  /**
   * For each page, the last name that it covers, and its position.
   *
   * @type {{through?: string, offset: number}[]}
   */
  #ranges = [];
  /**
   * Own changes that the server's values do not contain.
   *
   * @type {Change[]}
   */
  #pending = [];
  epoch = "";
  offset = 0;
  /** The names that had values before the last complete reading began. */
  former = /** @type {Set<string>} */ (new Set());
  /** Whether the last page has arrived. */
  isComplete = false;

  /**
   * The values, with own changes over them.
   *
   * @returns {Map<string, any>}
   */
  get shown() {
    if (this.#pending.length === 0) return this.#values;
    const shown = new Map(this.#values);
    // An operation that does not fit is left out: the server refuses it, or it fits again after other clients' changes.
    for (const { operations } of this.#pending) for (const operation of operations) apply(shown, operation);
    return shown;
  }

  /**
   * The offset of the last change of a value; 0 if there is none.
   *
   * @param {string} name
   */
  offsetOf(name) {
    return this.#offsets.get(name) ?? 0;
  }

  /**
   * The server's value, without own changes over it, and its offset.
   *
   * @param {string} name
   */
  stored(name) {
    return { value: this.#values.get(name), offset: this.offsetOf(name) };
  }

  /**
   * Whether an own change of one of these names is not among the server's values.
   *
   * @param {Iterable<string>} names
   */
  isPending(names) {
    const all = new Set(names);
    return this.#pending.some(({ operations }) => operations.some((operation) => all.has(nameOf(operation))));
  }

  /** @param {string} key Whether a change is not among the server's values. */
  isProposed(key) {
    return this.#pending.some((change) => change.key === key);
  }

  /** The name after which the next page begins. */
  get after() {
    return this.#ranges[this.#ranges.length - 1]?.through;
  }

  /**
   * Discards the values, and begins again at a position.
   *
   * @param {string} epoch
   * @param {number} offset
   */
  begin(epoch, offset) {
    for (const name of this.#values.keys()) this.former.add(name);
    this.#values = new Map();
    this.#offsets = new Map();
    this.#ranges = [];
    this.isComplete = false;
    // Of a former history, the pages contain what was not lost.
    if (epoch !== this.epoch) this.#pending = this.#pending.filter((change) => change.offset === undefined);
    this.epoch = epoch;
    this.offset = offset;
  }

  /**
   * Adds the next page.
   *
   * @param {Page} page
   * @param {number} offset
   * @param {boolean} hasMore
   */
  add(page, offset, hasMore) {
    /** @type {string | undefined} */
    let last;
    for (const [name, item] of Object.entries(page)) {
      this.#values.set(name, item.value);
      this.#offsets.set(name, item.offset);
      if (last === undefined || precedes(last, name)) last = name;
    }
    this.#ranges.push(hasMore && last !== undefined ? { through: last, offset } : { offset });
    this.isComplete = !hasMore;
    this.#settle();
  }

  /**
   * Applies a publication. Returns the changed names.
   *
   * @param {{offset: number, senderId?: string, values?: Operation[]}} publication
   * @param {Part[]} [parts] Receives the operations that were applied.
   */
  publication({ offset, senderId, values = [] }, parts = []) {
    /** @type {Set<string>} */
    const changed = new Set();
    if (offset <= this.offset) return changed;
    this.offset = offset;
    for (const operation of values) {
      const name = nameOf(operation);
      if (!this.#counts(name, offset)) continue;
      parts.push({ operation, existed: this.#values.has(name), before: this.#values.get(name) });
      apply(this.#values, operation);
      changed.add(name);
      if (this.#values.has(name)) this.#offsets.set(name, offset);
      else this.#offsets.delete(name);
    }
    for (const change of this.#pending) if (change.key === senderId) change.offset = offset;
    this.#settle();
    return changed;
  }

  /**
   * Advances to a position up to which all publications have arrived.
   *
   * @param {number} offset
   */
  advance(offset) {
    this.offset = Math.max(this.offset, offset);
    this.#settle();
  }

  /** Notes that the connection has ended. */
  disconnected() {
    for (const change of this.#pending) change.isSettling = change.offset !== undefined;
  }

  /** Handles the reply to a subscription. */
  subscribed() {
    this.#pending = this.#pending.filter((change) => !change.isSettling);
  }

  /** @param {Change[]} changes Shows the changes of an earlier page, before those of this one. */
  restore(changes) {
    this.#pending.unshift(...changes.map(({ key, operations }) => ({ key, operations })));
  }

  /**
   * Shows an own change.
   *
   * @param {Change} change
   */
  propose(change) {
    this.#pending.push(change);
  }

  /**
   * Records that a change was accepted. It is removed once its publication has arrived.
   *
   * @param {string} key
   * @param {number} offset
   */
  accept(key, offset) {
    for (const change of this.#pending) if (change.key === key) change.offset = offset;
    this.#settle();
  }

  /**
   * Withdraws a change that was refused.
   *
   * @param {string} key
   */
  withdraw(key) {
    this.#pending = this.#pending.filter((change) => change.key !== key);
  }

  /**
   * Whether an operation is not in the page that covers its name.
   *
   * @param {string} name
   * @param {number} offset
   */
  #counts(name, offset) {
    if (this.#ranges.length === 0) return this.isComplete;
    const range = this.#ranges.find(({ through }) => through === undefined || !precedes(through, name));
    return range !== undefined && offset > range.offset;
  }

  #settle() {
    if (this.isComplete && this.#ranges.every(({ offset }) => offset <= this.offset)) this.#ranges = [];
    this.#pending = this.#pending.filter(({ offset }) => offset === undefined || offset > this.offset);
  }
}
