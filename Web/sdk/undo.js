// Undo of own changes of a room's values: what each change replaced, and whether other clients have changed it since.

import { merged, nameOf } from "./replica.js";

/**
 * @typedef {import("./replica.js").Operation} Operation
 * @typedef {import("./replica.js").Part} Part
 */

/**
 * An own change. `parts` is missing until its publication has arrived; `lost` has the names that others have changed
 * since.
 *
 * @typedef {{key: string, parts?: Part[], lost: Set<string>}} Step
 */

/** Maximum steps of each kind; beyond it, the oldest is dropped. */
const stepsMax = 100;

/** @param {any} value @returns {value is {[name: string]: any}} */
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** @param {any} one @param {any} other @returns {boolean} Whether two JSON values are equal. */
function equals(one, other) {
  if (Array.isArray(one)) {
    return Array.isArray(other) && one.length === other.length && one.every((item, index) => equals(item, other[index]));
  }
  if (!isObject(one) || !isObject(other)) return one === other;
  const names = Object.keys(one);
  return names.length === Object.keys(other).length
    && names.every((name) => Object.hasOwn(other, name) && equals(one[name], other[name]));
}

/** @param {any} one @param {any} other @returns {boolean} Whether two patches change one field. */
function overlap(one, other) {
  if (!isObject(one) || !isObject(other)) return true;
  return Object.keys(one).some((name) => Object.hasOwn(other, name) && overlap(one[name], other[name]));
}

/** @param {Operation} own @param {Operation} other Whether another's later operation changes what an own one left. */
function isOverwritten(own, other) {
  if (nameOf(own) !== nameOf(other)) return false;
  if ("merge" in own && "merge" in other) return overlap(own.with, other.with);
  return !("add" in own && "add" in other);
}

/**
 * Returns an object without a patch that was merged into it; undefined if what the patch left is not there.
 *
 * @param {{[name: string]: any}} value
 * @param {{[name: string]: any}} patch
 * @param {{[name: string]: any}} before The object into which it was merged.
 * @returns {{[name: string]: any} | undefined}
 */
function unmerged(value, patch, before) {
  const fields = new Map(Object.entries(value));
  for (const [name, change] of Object.entries(patch)) {
    const former = Object.hasOwn(before, name) ? before[name] : undefined;
    const present = fields.get(name);
    if (isObject(change) && isObject(former)) {
      const inner = isObject(present) ? unmerged(present, change, former) : undefined;
      if (inner === undefined) return undefined;
      fields.set(name, inner);
    } else {
      const left = change === null ? undefined : merged(undefined, change);
      if (!equals(present, left)) return undefined;
      if (former === undefined) fields.delete(name);
      else fields.set(name, former);
    }
  }
  return Object.fromEntries(fields);
}

/** @param {any} value @returns {boolean} Whether merging the value would lose fields that are null. */
const hasNull = (value) => value === null || (isObject(value) && Object.values(value).some(hasNull));

/**
 * Returns a patch that makes one object the other; undefined if there is none.
 *
 * @param {{[name: string]: any}} from
 * @param {{[name: string]: any}} to
 * @returns {{[name: string]: any} | undefined}
 */
function patchBetween(from, to) {
  /** @type {Map<string, any>} */
  const patch = new Map();
  for (const name of Object.keys(from)) if (!Object.hasOwn(to, name)) patch.set(name, null);
  for (const [name, value] of Object.entries(to)) {
    const former = Object.hasOwn(from, name) ? from[name] : undefined;
    if (equals(former, value)) continue;
    const inner = isObject(former) && isObject(value) ? patchBetween(former, value) : hasNull(value) ? undefined : value;
    if (inner === undefined) return undefined;
    patch.set(name, inner);
  }
  return Object.fromEntries(patch);
}

/**
 * Returns the value before an operation, from the value that it left; `isKept` is false if it left another one.
 *
 * @param {any} value Undefined for none.
 * @param {Part} part
 * @returns {{isKept: boolean, value?: any}}
 */
function reverted(value, { operation, existed, before }) {
  const former = { isKept: true, value: existed ? before : undefined };
  if ("add" in operation) {
    if (!Number.isInteger(value)) return { isKept: false };
    return existed || value !== operation.by ? { isKept: true, value: value - operation.by } : former;
  }
  if ("merge" in operation && isObject(before) && isObject(value)) {
    const rest = unmerged(value, operation.with, before);
    return { isKept: rest !== undefined, value: rest };
  }
  const left = "set" in operation ? operation.to : "merge" in operation ? merged(before, operation.with) : undefined;
  return equals(value, left) ? former : { isKept: false };
}

/**
 * Returns the operation that makes one value another; undefined if they are equal.
 *
 * @param {string} name
 * @param {any} from
 * @param {any} to
 * @param {Operation} undone
 * @returns {Operation | undefined}
 */
function operationBetween(name, from, to, undone) {
  if (equals(from, to)) return undefined;
  if (to === undefined) return { delete: name };
  // An addition does not disturb those of others.
  if ("add" in undone) return { add: name, by: -undone.by };
  const patch = isObject(from) && isObject(to) ? patchBetween(from, to) : undefined;
  return patch ? { merge: name, with: patch } : { set: name, to };
}

/** The own changes that can be undone, and those that were undone. */
export class Undo {
  /** @type {{undo: Step[], redo: Step[]}} */
  steps = { undo: [], redo: [] };

  /**
   * Adds an own change, the newest.
   *
   * @param {string} key
   * @param {"change" | "undo" | "redo"} cause
   */
  propose(key, cause) {
    const steps = this.steps[cause === "undo" ? "redo" : "undo"];
    steps.push({ key, lost: new Set() });
    if (steps.length > stepsMax) steps.shift();
    if (cause === "change") this.steps.redo = [];
  }

  /** @param {string} key Removes a change that was refused, or undone. */
  remove(key) {
    const isOther = (/** @type {Step} */ step) => step.key !== key;
    this.steps = { undo: this.steps.undo.filter(isOther), redo: this.steps.redo.filter(isOther) };
  }

  /**
   * Handles a publication: an own one says what it replaced, and another's may change what own ones have left.
   *
   * @param {string | undefined} key
   * @param {number} count The number of its operations.
   * @param {Part[]} parts Those that were applied.
   */
  published(key, count, parts) {
    const all = [...this.steps.undo, ...this.steps.redo];
    const own = all.find((step) => step.key === key);
    // If a part was contained in a page, what it replaced is not known.
    if (own && count === parts.length) own.parts = parts;
    if (own) return;
    for (const step of all) {
      for (const { operation } of step.parts ?? []) {
        if (parts.some((other) => isOverwritten(operation, other.operation))) step.lost.add(nameOf(operation));
      }
    }
  }

  /**
   * Handles values that were read again, without the publications in between.
   *
   * @param {(name: string) => boolean} hasChanged
   */
  reread(hasChanged) {
    for (const step of [...this.steps.undo, ...this.steps.redo]) {
      for (const { operation } of step.parts ?? []) {
        if (hasChanged(nameOf(operation))) step.lost.add(nameOf(operation));
      }
    }
  }
}

/**
 * Returns the operations that undo a change, with the offsets at which its names must be; or the names that others have
 * changed since.
 *
 * @param {Step} step
 * @param {(name: string) => {value: any, offset: number}} stored
 * @returns {{operations: Operation[], ifOffsets: {[name: string]: number}, changed: string[]}}
 */
export function inverse({ parts = [], lost }, stored) {
  /** @type {Map<string, any>} */
  const values = new Map();
  /** @type {Map<string, number>} */
  const offsets = new Map();
  /** @type {Operation[]} */
  const operations = [];
  const changed = new Set(lost);
  for (const part of [...parts].reverse()) {
    const name = nameOf(part.operation);
    if (!offsets.has(name)) {
      const { value, offset } = stored(name);
      offsets.set(name, offset);
      values.set(name, value);
    }
    const { isKept, value } = reverted(values.get(name), part);
    if (!isKept) changed.add(name);
    const operation = operationBetween(name, values.get(name), value, part.operation);
    if (operation) operations.push(operation);
    values.set(name, value);
  }
  return { operations, ifOffsets: Object.fromEntries(offsets), changed: [...changed] };
}
