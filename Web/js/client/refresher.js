// Fetches a resource of the server again, whenever the server says that it has changed.

import { isPassing } from "./http.js";

/** The pauses before a failed fetch is repeated; after the last, only the next call repeats it; milliseconds. */
const pauses = [1_000, 4_000, 16_000];

/** Runs one fetch at a time: calls during a fetch are served by one more after it, also if it fails. */
export class Refresher {
  #fetch;
  /** @type {Promise<void> | undefined} */
  #running;
  #isStale = false;
  #failures = 0;
  /** @type {any} */
  #timer;

  /** @param {() => Promise<void>} fetch What was fetched before stays if it fails. */
  constructor(fetch) {
    this.#fetch = fetch;
  }

  /** @returns {Promise<void>} Fulfilled when all is fetched that was asked for until then, or has failed. */
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

  // The next call may be far away, since the connection that brings the hints has not failed.
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
