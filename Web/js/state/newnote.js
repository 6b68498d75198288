// New notes that the server has not created yet.
//
//   begin ─▶ asking ─(made)─▶ over
//              │ ▲
//     (no answer, refused)  welcome, retry, after a while
//              ▼ │
//            waiting ─(forget)─▶ over
//
// The answer takes some time, and does not arrive without a connection. Meanwhile the user can enter a title and text
// (early.js); both outlive the tab, in its drawer. The server creates one note for each key, with the title of the
// first request. So a request is stored before it is sent, and sent again unchanged, even by a tab that opens after
// this one is closed.

import { Emitter } from "../ground/emitter.js";
import { RequestError } from "../client/http.js";
import { randomId } from "../client/identity.js";
import { t } from "../ground/language.js";

/**
 * @typedef {import("../client/connection.js").Connection} Connection
 * @typedef {import("./notes.js").NoteEntry} NoteEntry
 * @typedef {import("./notes.js").NoteList} NoteList
 * @typedef {Pick<import("./drawer.js").Drawer, "names" | "get" | "set" | "remove">} DrawerOfNotes
 */

export const untitled = t("untitled");

/** The prefix of the names of new notes in the drawer. */
const prefix = "new.";

/** Maximum number of notes that wait to be created. */
const waitingMax = 100;

/** Delay before a request is repeated that a reachable server could not serve; milliseconds. */
const askAgainAfter = 5_000;

/** A note that the server has not created yet. */
export class NewNote {
  /** @type {{text: string, isFinal: boolean} | undefined} Why it is not created. Final problems wait for the user. */
  problem;
  key;
  /** Whether it is stored in the drawer. */
  isKept = true;
  isAsking = false;
  /** @type {any} */
  timer;

  /** The folder in which it is created. */
  folder = "";
  /** @type {"plain" | "rich"} */
  kind = "plain";
  #title;
  /** @type {string | undefined} The title in the request. */
  #asked;
  #drawer;

  /**
   * @param {string} key The server creates one note for it.
   * @param {DrawerOfNotes} drawer
   * @param {string} [folder]
   * @param {"plain" | "rich"} [kind]
   */
  constructor(key, drawer, folder = "", kind = "plain") {
    this.key = key;
    this.#drawer = drawer;
    const kept = drawer.get(prefix + key);
    this.#title = typeof kept?.title === "string" ? kept.title : untitled;
    if (typeof kept?.asked === "string") this.#asked = kept.asked;
    this.folder = typeof kept?.folder === "string" ? kept.folder : folder;
    this.kind = kept?.kind === "rich" ? "rich" : kind;
  }

  /** The id under which its text is stored. No note on the server has this id. */
  get place() {
    return `new/${this.key}`;
  }

  get title() {
    return this.#title;
  }

  set title(title) {
    if (title === this.#title) return;
    this.#title = title;
    this.keep();
  }

  /** Returns the title of the request, which never changes. */
  ask() {
    const title = this.#asked ?? (this.#title || untitled);
    if (this.#asked === undefined) {
      this.#asked = title;
      this.keep();
    }
    return title;
  }

  keep() {
    this.isKept = this.#drawer.set(prefix + this.key, {
      title: this.#title, asked: this.#asked, folder: this.folder || undefined,
      ...(this.kind === "rich" && { kind: this.kind }),
    });
  }

  remove() {
    clearTimeout(this.timer);
    this.#drawer.remove(prefix + this.key);
  }
}

/**
 * made: the server has created the note, with a title that may be older than the current one.
 *
 * @extends {Emitter<{made: {newNote: NewNote, note: NoteEntry}, changed: NewNote}>}
 */
export class NewNotes extends Emitter {
  /** @type {Map<string, NewNote>} By key, latest last. */
  #notes = new Map();
  #list;
  #drawer;

  /**
   * @param {object} options
   * @param {Pick<NoteList, "create">} options.list
   * @param {Pick<Connection, "on">} options.connection
   * @param {DrawerOfNotes} options.drawer
   */
  constructor({ list, connection, drawer }) {
    super();
    this.#list = list;
    this.#drawer = drawer;
    for (const key of drawer.names(prefix)) this.#notes.set(key, new NewNote(key, drawer));
    connection.on("welcome", () => {
      for (const note of this.all) if (!note.problem?.isFinal) void this.retry(note);
    });
  }

  /** All notes, latest first. */
  get all() {
    return [...this.#notes.values()].reverse();
  }

  get isFull() {
    return this.#notes.size >= waitingMax;
  }

  /** @param {string | undefined} key Undefined for the latest note. */
  find(key) {
    return key === undefined ? this.all[0] : this.#notes.get(key);
  }

  /** Begins a new note, and requests it from the server. */
  begin(folder = "", kind = /** @type {"plain" | "rich"} */ ("plain")) {
    const note = new NewNote(randomId(), this.#drawer, folder, kind);
    note.keep();
    this.#notes.set(note.key, note);
    void this.retry(note);
    return note;
  }

  /** @param {NewNote} note The note to discard. */
  forget(note) {
    this.#notes.delete(note.key);
    note.remove();
  }

  /** @param {NewNote} note */
  async retry(note) {
    if (note.isAsking || !this.#notes.has(note.key)) return;
    clearTimeout(note.timer);
    note.isAsking = true;
    note.problem = undefined;
    this.emit("changed", note);
    try {
      const made = await this.#list.create(note.ask(), note.key, note.folder, note.kind);
      // Discarded since: the server has created the note nevertheless, and it is in the list.
      if (!this.#notes.has(note.key)) return;
      this.emit("made", { newNote: note, note: made });
      // Only after its text was moved to the created note.
      this.forget(note);
      this.emit("changed", note);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      if (!this.#notes.has(note.key)) return;
      const { message, status } = error;
      // 429: the rate limit was exceeded.
      note.problem = { text: message, isFinal: status >= 400 && status < 500 && status !== 429 };
      if (!note.problem.isFinal) note.timer = setTimeout(() => void this.retry(note), askAgainAfter);
      this.emit("changed", note);
    } finally {
      note.isAsking = false;
    }
  }
}
