// Fetches a resource again whenever the server reports that it has changed.

import { isPassing } from "./http.js";

/** The delays before each retry of a failed fetch, in milliseconds. After the last, only `refresh` fetches again. */
const pauses = [1_000, 4_000, 16_000];

/** Runs one fetch at a time. All calls during a fetch cause one more after it, even if it fails. */
export class Refresher {
  #fetch;
  /** @type {Promise<void> | undefined} */
  #running;
  #isStale = false;
  #failures = 0;
  /** @type {any} */
  #timer;

  /** @param {() => Promise<void>} fetch If it fails, the former result stays. */
  constructor(fetch) {
    this.#fetch = fetch;
  }

  /** @returns {Promise<void>} Fulfilled when the fetch for this call has finished, even if it failed. */
  refresh() {
    this.#failures = 0;
    if (this.#running) this.#isStale = true;
    else this.#running = this.#run();
    return this.#running;
  }

  async #run() {
    clearTimeout(this.#timer);
    try {
      do {
        this.#isStale = false;
        try {
          await this.#fetch();
          this.#failures = 0;
        } catch (error) {
          if (!this.#isStale) this.#tryAgain(error);
        }
      } while (this.#isStale);
    } finally {
      this.#running = undefined;
    }
  }

  // Retry here, because the next `refresh` may come much later: the connection that reports changes has not failed.
  /** @param {unknown} error */
  #tryAgain(error) {
    const pause = isPassing(error) ? pauses[this.#failures] : undefined;
    if (pause === undefined) return;
    this.#failures += 1;
    this.#timer = setTimeout(() => {
      this.#running ??= this.#run();
    }, pause);
  }
}
