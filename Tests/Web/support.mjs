// What the page's unit tests share.

import { readFileSync } from "node:fs";
import { Core } from "../../Web/js/core.js";

export const core = await Core.load(
  readFileSync(new URL("../../Web/generated/otcore.wasm", import.meta.url)),
);

/**
 * Makes time stand still until a test moves it. (Those of Node 18, which Debian has, forget timers
 * when another one is cleared.)
 */
export function stopTime(/** @type {import("node:test").TestContext} */ context) {
  let now = 0;
  let timers = /** @type {{id: number, due: number, run: () => void}[]} */ ([]);
  const started = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout };
  context.after(() => Object.assign(globalThis, started));
  Object.assign(globalThis, {
    setTimeout(/** @type {() => void} */ run, delay = 0) {
      const id = Math.max(0, ...timers.map((timer) => timer.id)) + 1;
      timers.push({ id, due: now + delay, run });
      return id;
    },
    clearTimeout(/** @type {number} */ id) {
      timers = timers.filter((timer) => timer.id !== id);
    },
  });
  return (/** @type {number} */ milliseconds) => {
    now += milliseconds;
    const due = timers.filter((timer) => timer.due <= now).sort((a, b) => a.due - b.due);
    timers = timers.filter((timer) => timer.due > now);
    for (const { run } of due) run();
  };
}

/** Numbers from a seed: a failure can be run again. */
export class Random {
  #state;

  /** @param {number} seed */
  constructor(seed) {
    this.#state = (seed * 0x9e3779b9) >>> 0 || 1;
  }

  /** 0 ..< 1. */
  next() {
    let state = this.#state;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    this.#state = state >>> 0;
    return this.#state / 2 ** 32;
  }

  /** 0 ..< bound. @param {number} bound */
  below(bound) {
    return Math.floor(this.next() * bound);
  }

  /** @template Value @param {Value[]} values @returns {Value} */
  pick(values) {
    return /** @type {Value} */ (values[this.below(values.length)]);
  }
}

const words = [
  "a", "b", " ", "\n", "\r\n", "é", "e\u0301", "字", "漢字かな", "😀", "😁", "👨‍👩‍👧‍👦", "🏳️‍🌈", "ß", "עברית", "\u0000",
  "𝒳", "\"", "\\", "\u2028", "lorem ipsum ",
];

/** @param {Random} random */
export const randomText = (random, pieces = 4) =>
  Array.from({ length: random.below(pieces + 1) }, () => random.pick(words)).join("");

/** Whether a UTF-16 offset stands between whole scalars. @param {string} text @param {number} at */
export const isBoundary = (text, at) =>
  !(at > 0 && at < text.length && text.codePointAt(at - 1) !== text.charCodeAt(at - 1));

/** @param {Random} random @param {string} text */
export function randomPosition(random, text) {
  let at = random.below(text.length + 1);
  while (!isBoundary(text, at)) at -= 1;
  return at;
}

/**
 * One to three edits as CodeMirror reports them: ascending, not touching each other.
 *
 * @param {Random} random
 * @param {string} text
 */
export function randomChanges(random, text) {
  const positions = Array.from({ length: 2 * (1 + random.below(3)) }, () => randomPosition(random, text));
  positions.sort((a, b) => a - b);
  const changes = [];
  let last = -1;
  for (let index = 0; index + 1 < positions.length; index += 2) {
    const from = positions[index] ?? 0;
    let to = random.below(3) === 0 ? (positions[index + 1] ?? from) : from;
    // Long deletions would leave nothing to play with.
    if (to - from > 6) to = from;
    const insert = random.below(3) === 0 && to > from ? "" : randomText(random, 2);
    if (from <= last || (from === to && insert === "")) continue;
    changes.push({ from, to, insert });
    last = to;
  }
  return changes;
}

/** @param {string} text @param {{from: number, to: number, insert: string}[]} changes */
export function applied(text, changes) {
  let result = "";
  let position = 0;
  for (const { from, to, insert } of changes) {
    result += text.slice(position, from) + insert;
    position = to;
  }
  return result + text.slice(position);
}

/** A server's log of one document, kept with the same algebra: what is committed stays left. */
export class Sequencer {
  epoch = "epoch";
  /** @type {{clientId: string, sequence: number, operation: string, original: string, base: number}[]} */
  log = [];
  text;

  constructor(text = "") {
    this.text = text;
    this.first = text;
  }

  get revision() {
    return this.log.length;
  }

  /** @param {string} clientId */
  lastSequence(clientId) {
    return this.log.reduce((last, entry) => (entry.clientId === clientId ? entry.sequence : last), 0);
  }

  /**
   * @param {string} clientId
   * @param {{sequence: number, revision: number, operation: string}} change
   * @returns {number} The revision it made, or had made before.
   */
  submit(clientId, change) {
    const known = this.log.findIndex(
      (entry) => entry.clientId === clientId && entry.sequence === change.sequence,
    );
    if (known >= 0) {
      const entry = this.log[known];
      if (entry?.original !== change.operation || entry.base !== change.revision) {
        throw new Error("the same number came with another content");
      }
      return known + 1;
    }
    if (change.sequence !== this.lastSequence(clientId) + 1) throw new Error("a gap in the numbers");
    let operation = change.operation;
    for (const { operation: committed } of this.log.slice(change.revision)) {
      operation = core.transform(committed, operation).rightAfterLeft;
    }
    this.text = core.apply(operation, this.text);
    const { sequence, operation: original, revision: base } = change;
    this.log.push({ clientId, sequence, operation, original, base });
    return this.revision;
  }
}

/** What `localStorage` is for the page. */
export class FakeStorage {
  /** @type {Map<string, string>} */
  items = new Map();
  /** For so many characters. */
  room = Infinity;

  get length() {
    return this.items.size;
  }

  /** @param {number} index */
  key = (index) => [...this.items.keys()][index] ?? null;
  /** @param {string} key */
  getItem = (key) => this.items.get(key) ?? null;
  /** @param {string} key */
  removeItem = (key) => void this.items.delete(key);
  /** @param {string} key @param {string} value */
  setItem = (key, value) => {
    let size = key.length + value.length;
    for (const [other, text] of this.items) if (other !== key) size += other.length + text.length;
    if (size > this.room) throw new Error("QuotaExceededError");
    this.items.set(key, value);
  };
}
