// Answers for a slider that moves faster than they arrive: one request at a time, for the latest key.

/** Time for which a new key must remain wanted before it replaces a pending request; milliseconds. */
const settleTime = 90;

/**
 * @typedef {{setTimeout: (callback: () => void, delay: number) => any, clearTimeout: (timer: any) => void}} Timers
 */

/**
 * Fetches the answer for the latest key, and caches answers.
 *
 * @template {number | string} Key
 * @template Value
 */
export class LatestAnswer {
  #options;
  /** @type {Map<Key, Value>} Least recently used first. */
  #kept = new Map();
  /** @type {Key | undefined} */
  #wanted;
  /** @type {{key: Key, abort: AbortController} | undefined} */
  #underWay;
  /** @type {any} */
  #timer;

  /**
   * @param {object} options
   * @param {(key: Key, signal: AbortSignal) => Promise<Value>} options.fetch
   * @param {(value: Value) => number} options.sizeOf
   * @param {number} options.sizeMax Maximum size of all cached answers together.
   * @param {(key: Key, value: Value) => void} options.done
   * @param {(error: Error) => void} options.failed
   * @param {Timers} options.timers
   */
  constructor(options) {
    this.#options = options;
  }

  /** @param {Key} key */
  kept(key) {
    return this.#kept.get(key);
  }

  get all() {
    return this.#kept.values();
  }

  /**
   * Requests an answer; `done` is called when it is available. During another request, waits until no further key is
   * wanted for `settleTime`, then cancels that request.
   *
   * @param {Key} key
   */
  want(key) {
    const { done, timers } = this.#options;
    this.#wanted = key;
    timers.clearTimeout(this.#timer);
    const kept = this.#kept.get(key);
    if (kept !== undefined) {
      this.#giveUp();
      this.#keep(key, kept);
      done(key, kept);
    } else if (!this.#underWay) {
      void this.#fetch(key);
    } else if (this.#underWay.key !== key) {
      this.#timer = timers.setTimeout(() => {
        this.#giveUp();
        void this.#fetch(key);
      }, settleTime);
    }
  }

  /** Cancels all requests. */
  close() {
    this.#options.timers.clearTimeout(this.#timer);
    this.#wanted = undefined;
    this.#giveUp();
  }

  #giveUp() {
    this.#underWay?.abort.abort();
    this.#underWay = undefined;
  }

  /** @param {Key} key */
  async #fetch(key) {
    const abort = new AbortController();
    const mine = { key, abort };
    this.#underWay = mine;
    /** @type {Value | undefined} */
    let value;
    /** @type {unknown} */
    let problem;
    try {
      value = await this.#options.fetch(key, abort.signal);
    } catch (error) {
      problem = error;
    }
    // Cancelled since.
    if (this.#underWay !== mine || abort.signal.aborted) return;
    this.#underWay = undefined;
    if (value !== undefined) {
      this.#keep(key, value);
      this.#options.done(key, value);
    } else if (this.#wanted === key) {
      this.#options.failed(problem instanceof Error ? problem : new Error(String(problem)));
    }
    if (this.#wanted !== undefined && this.#wanted !== key) this.want(this.#wanted);
  }

  /** @param {Key} key @param {Value} value */
  #keep(key, value) {
    const { sizeOf, sizeMax } = this.#options;
    this.#kept.delete(key);
    this.#kept.set(key, value);
    let size = 0;
    for (const one of this.#kept.values()) size += sizeOf(one);
    for (const [other, one] of this.#kept) {
      if (size <= sizeMax || other === key) break;
      this.#kept.delete(other);
      size -= sizeOf(one);
    }
  }
}
