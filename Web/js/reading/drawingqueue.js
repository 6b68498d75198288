// Draws in a worker or a frame, which is terminated when a drawing takes too long.

/**
 * @typedef {{drawn: string} | {problem: string} | "late" | "stopped" | "failed"} Answer drawn: the result. problem: an
 * error in the source. late: it took too long. stopped: too many others did. failed: the worker is not available.
 * @typedef {{send: (request: object) => void, end: () => void}} Place
 */

/** Maximum number of remembered drawings. */
const knownMax = 1_000;
/** Maximum number of workers terminated for slow drawings; then nothing more is drawn until the page is reloaded. */
const endedMax = 20;
/** Maximum time for a worker to be ready; milliseconds. */
const readyWithin = 30_000;

export class DrawingQueue {
  /** @type {Map<string, Promise<Answer>>} */
  #known = new Map();
  /** @type {{request: object, answer: (answer: Answer) => void}[]} */
  #waiting = [];
  /** @type {Place | undefined} */
  #place;
  #isReady = false;
  #isBusy = false;
  #ended = 0;
  #open;
  #timeMax;
  /** @type {any} */
  #timer;

  /**
   * @param {object} options
   * @param {(receive: (message: any) => void, fail: () => void) => Place} options.open Creates a worker. It sends
   * "ready", then an answer to each request.
   * @param {number} options.timeMax Maximum time of one drawing; milliseconds.
   */
  constructor({ open, timeMax }) {
    this.#open = open;
    this.#timeMax = timeMax;
  }

  /**
   * @param {object} request
   * @returns {Promise<Answer>}
   */
  draw(request) {
    const key = JSON.stringify(request);
    const known = this.#known.get(key);
    if (known) return known;
    /** @type {Promise<Answer>} */
    const answer = new Promise((resolve) => this.#waiting.push({ request, answer: resolve }));
    this.#known.set(key, answer);
    const [oldest] = this.#known.keys();
    if (this.#known.size > knownMax && oldest !== undefined) this.#known.delete(oldest);
    // A failure is not remembered: the next request tries again.
    void answer.then((given) => given === "failed" && this.#known.delete(key));
    this.#next();
    return answer;
  }

  #next() {
    const [first] = this.#waiting;
    if (!first || this.#isBusy) return;
    if (this.#ended >= endedMax) return this.#answer("stopped");
    if (!this.#place) {
      this.#isReady = false;
      this.#place = this.#open((message) => this.#receive(message), () => this.#fail());
      this.#timer = setTimeout(() => this.#fail(), readyWithin);
      return;
    }
    if (!this.#isReady) return;
    this.#isBusy = true;
    this.#timer = setTimeout(() => {
      this.#end();
      this.#ended += 1;
      this.#answer("late");
    }, this.#timeMax);
    this.#place.send(first.request);
  }

  /** @param {any} message */
  #receive(message) {
    if (message === "ready") {
      clearTimeout(this.#timer);
      this.#isReady = true;
      this.#next();
    } else if (this.#isBusy) this.#answer(message);
  }

  /** @param {Answer} answer */
  #answer(answer) {
    clearTimeout(this.#timer);
    this.#isBusy = false;
    this.#waiting.shift()?.answer(answer);
    this.#next();
  }

  #fail() {
    this.#end();
    for (const { answer } of this.#waiting.splice(0)) answer("failed");
  }

  #end() {
    clearTimeout(this.#timer);
    this.#place?.end();
    this.#place = undefined;
    this.#isBusy = false;
  }
}
