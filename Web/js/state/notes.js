// The list of notes. It is fetched over HTTP whenever the gateway reports that it has changed.

import { Emitter } from "../ground/emitter.js";
import { isPassing, request, requestUnless } from "../client/http.js";
import { locale, t } from "../ground/language.js";
import { Refresher } from "../client/refresher.js";
import { withLimit } from "../ground/limit.js";
import { merged, notesOf, pathOfParts } from "./noteparts.js";

/**
 * @typedef {import("../client/connection.js").Connection} Connection
 * @typedef {import("../client/http.js").RequestError} RequestError
 * @typedef {{id: string, title: string, revision: number, createdAt: string, updatedAt: string,
 * may?: string[], folder?: string, kind?: "plain" | "rich"}} NoteEntry `may`: this user's rights, if the server reported them. `folder`:
 * undefined if it is in none.
 * @typedef {{id: string, title: string, error: unknown}} Refused
 * @typedef {import("./noteparts.js").HeldList} HeldList
 */

/** The room whose `resourceUpdate` reports that the list has changed. */
const room = "notes";

/** Maximum time to wait for the room before the list is fetched; milliseconds. */
const roomWithin = 3_000;

/** The prefix of the names of titles in the drawer that are not sent yet. */
const titlePrefix = "title.";

/** Delay before a title is sent again to a busy server; milliseconds. */
const sendAgainAfter = 5_000;

/** Maximum time for which a title waits for the answer to a former title of the same note; milliseconds. */
const formerWithin = 10_000;

/** The prefix of the storage key that records that a user may not create notes. */
const deniedPrefix = "parley.no-new-notes.";

/**
 * fetched: the list from the server. refused: the server has rejected a title that had waited.
 *
 * @extends {Emitter<{changed: void, fetched: {notes: NoteEntry[], held: HeldList}, refused: Refused}>}
 */
export class NoteList extends Emitter {
  /** @type {NoteEntry[] | undefined} The notes with the server's titles. */
  #notes;
  /** @type {HeldList | undefined} The list as the server sent it last. */
  held;
  /** The owner of the held list. */
  #heldBy;
  /** @type {number | undefined} For how long a deleted note can be restored, in milliseconds; 0 if it cannot. */
  deletedAgeMax;
  /** Whether there are more notes than the server sends at once. */
  isCut = false;
  #refresher = new Refresher(() => this.#fetch());
  /**
   * Changes during a fetch of the list, which are applied to its answer, because the answer may be older.
   *
   * @type {((notes: NoteEntry[]) => NoteEntry[])[] | undefined}
   */
  #changes;
  /** @type {Map<string, string>} Titles that the server has not confirmed, by note. */
  #wanted = new Map();
  /** @type {Map<string, Promise<boolean>>} The latest pending renaming of each note. */
  #renamings = new Map();
  /** @type {Map<string, string>} The latest title that this page gave to each note. */
  #titlesFromHere = new Map();
  /** @type {any} */
  #sendAgain;
  /** @type {boolean | undefined} The server's answer. */
  #mayCreate;
  #storage;
  #owner;
  #isLive;
  #refreshSoon = () => void this.refresh();
  /** @type {any} */
  #roomTimer;
  /** @type {Pick<import("./drawer.js").Drawer, "names" | "get" | "set" | "remove"> | undefined} */
  #drawer;

  /**
   * @param {Connection} connection
   * @param {object} [dependencies]
   * @param {Pick<Storage, "getItem" | "setItem" | "removeItem">} [dependencies.storage]
   * @param {() => string} [dependencies.owner] The current user.
   * @param {Pick<import("./drawer.js").Drawer, "names" | "get" | "set" | "remove">} [dependencies.drawer] Stores titles
   * beyond the life of the tab.
   * @param {import("./copies.js").ListCopy} [dependencies.copy] The list shown until the server answers.
   * @param {() => boolean} [dependencies.isLive] Whether this user may subscribe to the list's room.
   */
  constructor(connection, dependencies = {}) {
    super();
    this.#storage = dependencies.storage;
    this.#owner = dependencies.owner ?? (() => "");
    this.#isLive = dependencies.isLive ?? (() => true);
    this.#drawer = dependencies.drawer;
    const { copy } = dependencies;
    if (copy && "parts" in copy) this.held = copy;
    this.#heldBy = this.#owner();
    this.#notes = copy && ("parts" in copy ? notesOf(copy) : copy.notes);
    this.#mayCreate = copy?.mayCreate;
    for (const id of this.#drawer?.names(titlePrefix) ?? []) {
      const title = this.#drawer?.get(titlePrefix + id);
      if (typeof title === "string") this.#wanted.set(id, title);
    }
    connection.on("welcome", () => {
      const renamed = this.#renameAsWanted();
      // Fetch the list once its room is live, because the room reports all later changes.
      this.#refreshSoon = () => void renamed.then(() => this.refresh());
      if (!this.#isLive()) return this.#refreshSoon();
      connection.subscribe(room);
      clearTimeout(this.#roomTimer);
      this.#roomTimer = setTimeout(this.#refreshSoon, roomWithin);
    });
    connection.on("room", (name) => {
      if (name !== room) return;
      clearTimeout(this.#roomTimer);
      this.#refreshSoon();
    });
    connection.on("resource", (id) => id === room && void this.refresh());
    connection.on("document", (change) => this.#documentChanged(change));
  }

  /** The notes with their current titles; undefined until the list was fetched once. */
  get notes() {
    return this.#notes?.map((note) => ({ ...note, title: this.#wanted.get(note.id) ?? note.title }));
  }

  /**
   * Fetches the list.
   *
   * @returns {Promise<void>} Fulfilled when the list is fetched, or the fetch has failed.
   */
  refresh() {
    return this.#refresher.refresh();
  }

  async #fetch() {
    this.#changes = [];
    try {
      const owner = this.#owner();
      // Do not send the tag of another user's list.
      const held = owner === this.#heldBy ? this.held : undefined;
      const { isSame, answer, tag } = await requestUnless(pathOfParts(held?.digests), held?.tag);
      const list = isSame && held ? held : merged(held, answer, tag);
      this.#notes = this.#changes.reduce((/** @type {NoteEntry[]} */ notes, change) => change(notes), notesOf(list));
      this.held = list;
      this.#heldBy = owner;
      this.isCut = list.isCut;
      this.deletedAgeMax = list.deletedAgeMax;
      this.#keepMayCreate(list.mayCreate);
      this.emit("fetched", { notes: this.#notes, held: list });
    } finally {
      this.#changes = undefined;
    }
    this.emit("changed", undefined);
  }

  /** Whether this user may create notes; before the server's answer, the value of the last visit. */
  get mayCreate() {
    if (this.#mayCreate !== undefined) return this.#mayCreate;
    try {
      return !this.#storage?.getItem(deniedPrefix + this.#owner());
    } catch {
      return true;
    }
  }

  /** @param {boolean} mayCreate */
  #keepMayCreate(mayCreate) {
    this.#mayCreate = mayCreate;
    try {
      if (mayCreate) this.#storage?.removeItem(deniedPrefix + this.#owner());
      else this.#storage?.setItem(deniedPrefix + this.#owner(), "true");
    } catch {
      // The storage is full: it is known until the page is reloaded.
    }
  }

  /**
   * Whether this user has a right to a note; undefined if it is not known.
   *
   * @param {string} id
   * @param {"read" | "write" | "presence" | "manage"} verb
   */
  may(id, verb) {
    return this.#notes?.find((note) => note.id === id)?.may?.includes(verb);
  }

  /**
   * Returns the title to show for an open note, whose own title is newer than the list's.
   *
   * @param {{documentId: string, title: string}} note
   * @returns {string} Empty if it is not known.
   */
  titleOfOpen({ documentId: id, title }) {
    return this.wantedTitleOf(id) ?? (title || this.titleOf(id) || "");
  }

  /** @param {string} id */
  titleOf(id) {
    return this.wantedTitleOf(id) ?? this.notes?.find((note) => note.id === id)?.title;
  }

  /**
   * Returns the title of a note that the server has not confirmed.
   *
   * @param {string} id
   */
  wantedTitleOf(id) {
    return this.#wanted.get(id);
  }

  /**
   * Returns the latest title that this page gave to a note; another user may have changed it since.
   *
   * @param {string} id
   */
  titleFromHere(id) {
    return this.#titlesFromHere.get(id);
  }

  /**
   * Returns the folder of a note; undefined if it is in none, or not known.
   *
   * @param {string} id
   */
  folderOf(id) {
    return this.#notes?.find((note) => note.id === id)?.folder;
  }

  /**
   * Moves a note to a folder.
   *
   * @param {string} id
   * @param {string} folder "" for no folder.
   * @returns {Promise<string>} The folder in the server's spelling.
   */
  async move(id, folder) {
    /** @type {NoteEntry} */
    const moved = await request(`/api/notes/${encodeURIComponent(id)}`, "PATCH", { folder });
    this.#edit(id, (note) => ({ ...note, folder: moved.folder }));
    // Only the server knows this user's rights in the other folder.
    void this.refresh();
    return moved.folder ?? "";
  }

  /**
   * @param {string} title
   * @param {string} key Two requests with the same key create one note.
   * @param {string} [folder]
   * @param {"plain" | "rich"} [kind]
   * @returns {Promise<NoteEntry>}
   */
  async create(title, key, folder = "", kind = "plain") {
    const body = { title, ...(folder && { folder }), ...(kind === "rich" && { kind }) };
    const note = await request("/api/notes", "POST", body, undefined, key);
    this.#notes ??= [];
    this.#change((notes) => (notes.some(({ id }) => id === note.id) ? notes : [note, ...notes]));
    return note;
  }

  /**
   * Renames a note, after its former renamings: the server may perform concurrent requests in any order.
   *
   * @param {string} id
   * @param {string} title
   * @returns {Promise<boolean>} False if the server cannot be reached or is busy; the title is sent later.
   */
  async rename(id, title) {
    this.#wanted.set(id, title);
    this.#titlesFromHere.set(id, title);
    this.#drawer?.set(titlePrefix + id, title);
    this.emit("changed", undefined);
    const renaming = this.#sendTitle(id, title, this.#renamings.get(id));
    this.#renamings.set(id, renaming);
    try {
      return await renaming;
    } finally {
      if (this.#renamings.get(id) === renaming) this.#renamings.delete(id);
    }
  }

  /** @param {string} id @param {string} title @param {Promise<boolean>} [former] The renaming before it. */
  async #sendTitle(id, title, former) {
    if (former) {
      await withLimit(former.catch(() => false), formerWithin, false);
      // Another title was set since, or this one was sent already.
      if (this.#wanted.get(id) !== title) return true;
    }
    try {
      await request(`/api/notes/${encodeURIComponent(id)}`, "PATCH", { title });
    } catch (error) {
      if (isPassing(error)) {
        this.#waitForServer(error);
        return false;
      }
      this.#settle(id, title);
      throw error;
    }
    this.#edit(id, (note) => ({ ...note, title }));
    this.#settle(id, title);
    return true;
  }

  async #renameAsWanted() {
    for (const [id, title] of this.#wanted) {
      try {
        await this.rename(id, title);
      } catch (error) {
        // Rejected permanently: the note is gone, or rights have changed.
        this.emit("refused", { id, title, error });
      }
    }
  }

  /** @param {RequestError} error With status 0, the next welcome sends the titles. */
  #waitForServer({ status }) {
    if (status === 0) return;
    clearTimeout(this.#sendAgain);
    this.#sendAgain = setTimeout(() => void this.#renameAsWanted(), sendAgainAfter);
  }

  /** @param {string} id @param {string} title Ignored if another title was set since. */
  #settle(id, title) {
    if (this.#wanted.get(id) === title) {
      this.#wanted.delete(id);
      this.#drawer?.remove(titlePrefix + id);
    }
    this.emit("changed", undefined);
  }

  /**
   * @param {string} id
   * @param {string} author The name of the user who deletes it, for servers that do not know it.
   */
  async remove(id, author) {
    await request(`/api/notes/${encodeURIComponent(id)}?author=${encodeURIComponent(author)}`, "DELETE");
    this.#takeOut(id);
  }

  /** @param {{documentId: string, title?: string, deleted?: boolean}} data */
  #documentChanged({ documentId, title, deleted }) {
    if (deleted) this.#takeOut(documentId);
    else if (title !== undefined) this.#edit(documentId, (note) => ({ ...note, title }));
  }

  /** @param {string} id */
  #takeOut(id) {
    this.#change((notes) => notes.filter((note) => note.id !== id));
  }

  /** @param {string} id @param {(note: NoteEntry) => NoteEntry} change */
  #edit(id, change) {
    this.#change((notes) => notes.map((note) => (note.id === id ? change(note) : note)));
  }

  /** @param {(notes: NoteEntry[]) => NoteEntry[]} change Applied to the list, and to a pending answer. */
  #change(change) {
    this.#changes?.push(change);
    this.#notes = this.#notes && change(this.#notes);
    this.emit("changed", undefined);
  }
}

const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "short" });
/** @type {[Intl.RelativeTimeFormatUnit, number][]} Seconds in each. */
const units = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/**
 * Returns a time relative to now, such as “3 min. ago”.
 *
 * @param {string | number} time ISO 8601, or milliseconds.
 * @param {number} [now] Milliseconds.
 */
export function when(time, now = Date.now()) {
  const seconds = (now - new Date(time).getTime()) / 1000;
  if (!Number.isFinite(seconds)) return "";
  for (const [unit, length] of units) {
    if (seconds >= length) return relative.format(-Math.floor(seconds / length), unit);
  }
  return t("when.now");
}
