// Delays other people's changes that follow in quick succession, so that a page draws several of them at once.
//
// The first change is handled immediately, and those that follow together, at most once in an interval. With two people
// nothing is delayed; with fifty, the page draws half as often. Messages are delayed before they reach the client core,
// as by a slow network. So the note's text, the editor and the carets agree at all times, and the core transforms edits
// made meanwhile as usual.

/** The minimum interval between two changes by others that are handled, in milliseconds. */
export const changesEvery = 40;

const isChange = (/** @type {string} */ message) => message.startsWith('{"type":"c",');
/** Whether a short message has a single change, which is another person's: own changes are acknowledged instead. */
const isSingle = (/** @type {string} */ message) =>
  /^\{"type":"c","data":\{"c":\[(?:\d+,){5}\[[^[\]]*\]\]/.test(message);
/** Carets refer to the text after the changes before them, so they are delayed, too. */
const isCarets = (/** @type {string} */ message) => message.slice(0, 100).includes('"type":"selections"');

export class Pacing {
  #handle;
  #awaitsReply;
  #dependencies;
  /** @type {string[]} */
  #delayed = [];
  /** The time from which the next change is not delayed. */
  #from = -Infinity;
  /** @type {any} */
  #timer;

  /**
   * @param {object} options
   * @param {(messages: string[]) => void} options.handle
   * @param {() => boolean} options.awaitsReply Whether own edits are unconfirmed: a message with several changes may
   *   confirm them, and is not delayed.
   * @param {import("./connection.js").Dependencies} options.dependencies
   */
  constructor({ handle, awaitsReply, dependencies }) {
    this.#handle = handle;
    this.#awaitsReply = awaitsReply;
    this.#dependencies = dependencies;
  }

  /** @param {string} message Handled now or, if it only has changes or carets of others, within `changesEvery`. */
  receive(message) {
    const left = this.#from - this.#dependencies.now();
    const isDelayed = left > 0 && this.#mayDelay(message);
    this.#delayed.push(message);
    if (isDelayed) this.#timer ??= this.#dependencies.setTimeout(() => this.flush(), left);
    else this.flush();
  }

  /** @param {string} message */
  #mayDelay(message) {
    // Browsers slow down the timers of hidden pages, and do not draw them.
    if (!this.#dependencies.isSeen()) return false;
    return isChange(message)
      ? isSingle(message) || !this.#awaitsReply()
      : this.#delayed.length > 0 && isCarets(message);
  }

  /** Handles the delayed messages now. */
  flush() {
    const messages = this.take();
    if (messages.some(isChange)) this.#from = this.#dependencies.now() + changesEvery;
    if (messages.length > 0) this.#handle(messages);
  }

  /** Removes the delayed messages, and returns them. */
  take() {
    this.#dependencies.clearTimeout(this.#timer);
    this.#timer = undefined;
    const messages = this.#delayed;
    this.#delayed = [];
    return messages;
  }
}
