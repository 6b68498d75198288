// Tags in the texts of notes: all tags, and the notes with the chosen tag.

import { Emitter } from "../ground/emitter.js";
import { request } from "../client/http.js";
import { Refresher } from "../client/refresher.js";

/** The resource that the gateway reports some time after an edit has changed tags. */
const resource = "tags";

/** Maximum notes of a tag. */
const notesMax = 1_000;

/**
 * failed: the notes of the chosen tag could not be fetched, and the tag is no longer chosen.
 *
 * @extends {Emitter<{changed: void, failed: unknown}>}
 */
export class Tags extends Emitter {
  /** @type {{tag: string, notes: number}[]} Sorted by number of notes, most first. */
  all = [];
  /** @type {string | undefined} */
  #chosen;
  /** @type {Set<string> | undefined} The ids of the notes with the chosen tag; undefined until they are fetched. */
  #ids;
  /** Whether more notes have the chosen tag than the server sends. */
  #isCut = false;
  #ask;
  #refresher = new Refresher(() => this.#fetch());

  /**
   * @param {Pick<import("./notes.js").NoteList, "on">} list
   * @param {Pick<import("../client/connection.js").Connection, "on">} connection
   * @param {(path: string) => Promise<any>} [ask]
   */
  constructor(list, connection, ask = request) {
    super();
    this.#ask = ask;
    list.on("fetched", () => void this.refresh());
    connection.on("resource", (id) => id === resource && void this.refresh());
  }

  get chosen() {
    return this.#chosen;
  }

  /** @param {string | undefined} tag */
  choose(tag) {
    this.#chosen = tag === this.#chosen ? undefined : tag;
    this.#ids = undefined;
    this.emit("changed", undefined);
    void this.#fetchNotes();
  }

  /**
   * Returns the notes that have the chosen tag.
   *
   * @template {{id: string}} Note
   * @param {Note[]} notes
   * @returns {Note[]}
   */
  filtered(notes) {
    if (this.#chosen === undefined) return notes;
    return notes.filter(({ id }) => this.#ids?.has(id));
  }

  /**
   * Whether a list lacks notes with the chosen tag.
   *
   * @param {readonly object[]} filtered The notes of the list with the tag.
   * @param {boolean} isListCut Whether the list is known to be incomplete.
   */
  areMissing(filtered, isListCut) {
    if (this.#chosen === undefined || this.#ids === undefined) return false;
    return this.#isCut || (isListCut && filtered.length < this.#ids.size);
  }

  async #fetchNotes() {
    const tag = this.#chosen;
    if (tag === undefined) return;
    try {
      /** @type {{notes: {id: string}[], more?: boolean}} */
      const { notes, more = false } = await request(`/api/notes?tag=${encodeURIComponent(tag)}&limit=${notesMax}`);
      if (tag !== this.#chosen) return;
      this.#ids = new Set(notes.map(({ id }) => id));
      this.#isCut = more;
      this.emit("changed", undefined);
    } catch (error) {
      // A loaded list stays; a list that was never loaded must not be shown as empty.
      if (tag !== this.#chosen || this.#ids) return;
      this.#chosen = undefined;
      this.emit("changed", undefined);
      this.emit("failed", error);
    }
  }

  /** Fetches the tags. */
  refresh() {
    return this.#refresher.refresh();
  }

  async #fetch() {
    this.all = (await this.#ask("/api/tags")).tags;
    this.emit("changed", undefined);
    await this.#fetchNotes();
  }
}
