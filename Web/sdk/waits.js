// Callers that wait for the gateway: each wait ends when the connection has stopped, was missing for the timeout, or has
// brought no answer for four times the timeout.

/** Ends the waits of one connection. */
export class Waits {
  /** @type {Map<object, {since: number, reject: (error: Error) => void}>} */
  #waits = new Map();
  #offlineSince = Date.now();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** The connection's state. */
  state = "connecting";
  #timeout;
  #error;

  /**
   * @param {number} timeout Milliseconds.
   * @param {() => Error} error Returns the error for the connection's current state.
   */
  constructor(timeout, error) {
    this.#timeout = timeout;
    this.#error = error;
  }

  /**
   * Returns the answer, or rejects at the end of the time limit.
   *
   * @template Value
   * @param {PromiseLike<Value>} answer
   * @returns {Promise<Value>}
   */
  limited(answer) {
    return new Promise((resolve, reject) => {
      const end = () => {
        this.#waits.delete(end);
        if (this.#waits.size === 0) this.review();
      };
      this.#waits.set(end, { since: Date.now(), reject });
      answer.then(resolve, reject);
      answer.then(end, end);
      // An answer that is there already comes first.
      void Promise.resolve().then(() => {
        // A later wait ends no earlier than those before it, for which the timer is set.
        if (this.state === "stopped" || this.#timer === undefined) this.review();
      });
    });
  }

  /** @param {string} state The connection's new state. */
  changed(state) {
    if (this.state === "online") this.#offlineSince = Date.now();
    this.state = state;
    this.review();
  }

  /** Ends the waits whose time has passed. */
  review() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const now = Date.now();
    let next = Infinity;
    for (const [key, { since, reject }] of this.#waits) {
      const late = since + 4 * this.#timeout;
      const missing = Math.min(late, Math.max(since, this.#offlineSince) + this.#timeout);
      const end = this.state === "stopped" ? now : this.state === "online" ? late : missing;
      if (end > now) {
        next = Math.min(next, end);
        continue;
      }
      this.#waits.delete(key);
      reject(this.#error());
    }
    if (next < Infinity) this.#timer = setTimeout(() => this.review(), next - now);
  }
}
