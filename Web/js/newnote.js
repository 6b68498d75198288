// A note that somebody has begun, and the server has yet to make.
//
//   begin ─▶ asking ─(made)─▶ over
//              │ ▲
//     (no answer, refused)  welcome, retry, after a while
//              ▼ │
//            waiting ─(forget)─▶ over
//
// The answer takes a while, and without a line there is none. The title can be written meanwhile, and the
// text too (early.js); both outlive a reload.

import { Emitter } from "./emitter.js";
import { RequestError } from "./http.js";

/**
 * @typedef {import("./connection.js").Connection} Connection
 * @typedef {import("./notes.js").NoteEntry} NoteEntry
 * @typedef {import("./notes.js").NoteList} NoteList
 */

export const untitled = "Untitled note";

const storagePrefix = "parley.new.";

/** While the line is up, but the server cannot make notes: how long until it is asked again; milliseconds. */
const askAgainAfter = 5_000;

/**
 * made: by the server, with a title that may be older than the one written since.
 *
 * @extends {Emitter<{made: {note: NoteEntry, title: string}, changed: void}>}
 */
export class NewNote extends Emitter {
  /** @type {{text: string, isFinal: boolean} | undefined} Why it is not made; final ones wait for the person. */
  problem;

  #list;
  #storage;
  #storageKey;
  /** @type {string | undefined} Undefined while no note is begun. */
  #title;
  #isAsking = false;
  /** @type {any} */
  #timer;

  /**
   * @param {object} options
   * @param {Pick<NoteList, "create">} options.list
   * @param {Pick<Connection, "on">} options.connection
   * @param {Pick<Storage, "getItem" | "setItem" | "removeItem">} options.storage
   * @param {string} options.owner Who began it: nobody else at this tab gets to see it.
   */
  constructor({ list, connection, storage, owner }) {
    super();
    this.#storageKey = storagePrefix + owner;
    this.#list = list;
    this.#storage = storage;
    try {
      this.#title = storage.getItem(this.#storageKey) ?? undefined;
    } catch {
      // Nothing can be kept there; then nothing was.
    }
    connection.on("welcome", () => {
      if (!this.problem?.isFinal) void this.retry();
    });
  }

  get isBegun() {
    return this.#title !== undefined;
  }

  get title() {
    return this.#title ?? "";
  }

  set title(title) {
    if (this.#title === undefined || title === this.#title) return;
    this.#title = title;
    this.#keep();
  }

  /** Asks for a note, unless one is asked for already. */
  begin() {
    this.#title ??= untitled;
    this.#keep();
    void this.retry();
  }

  /** Gives it up. */
  forget() {
    clearTimeout(this.#timer);
    this.#title = undefined;
    this.problem = undefined;
    this.#keep();
  }

  async retry() {
    if (this.#title === undefined || this.#isAsking) return;
    clearTimeout(this.#timer);
    this.#isAsking = true;
    this.problem = undefined;
    this.emit("changed", undefined);
    try {
      const note = await this.#list.create(this.#title || untitled);
      // Given up meanwhile: it is made all the same, and stands in the list.
      if (this.#title === undefined) return;
      const title = this.#title;
      this.forget();
      this.emit("made", { note, title });
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      if (this.#title === undefined) return;
      const { message, status } = error;
      // 429: more came than the server takes in such a time.
      this.problem = { text: message, isFinal: status >= 400 && status < 500 && status !== 429 };
      if (!this.problem.isFinal) this.#timer = setTimeout(() => void this.retry(), askAgainAfter);
      this.emit("changed", undefined);
    } finally {
      this.#isAsking = false;
    }
  }

  #keep() {
    try {
      if (this.#title === undefined) this.#storage.removeItem(this.#storageKey);
      else this.#storage.setItem(this.#storageKey, this.#title);
    } catch {
      // It lasts as long as the page then.
    }
  }
}
