// The list of notes: fetched over HTTP, fetched again whenever the gateway says that it changed.

import { Emitter } from "./emitter.js";
import { request } from "./http.js";

/**
 * @typedef {import("./connection.js").Connection} Connection
 * @typedef {{id: string, title: string, revision: number, createdAt: string, updatedAt: string}} NoteEntry
 */

/** The room whose `resourceUpdate` says that the list changed. */
const room = "notes";

/** @extends {Emitter<{changed: void}>} */
export class NoteList extends Emitter {
  /** @type {NoteEntry[] | undefined} Undefined until fetched once. */
  notes;

  #isFetching = false;
  #isStale = false;

  /** @param {Connection} connection */
  constructor(connection) {
    super();
    connection.on("welcome", () => {
      connection.send("subscribe", { room });
      void this.refresh();
    });
    connection.on("message", ({ type, data }) => {
      if (type === "subscribed" && data.room === room) void this.refresh();
      if (type === "resourceUpdate" && data.resourceId === room) void this.refresh();
      if (type === "documentChanged") this.#documentChanged(data);
    });
  }

  /** Fetches the list. Calls while it is under way are served by one more fetch after it. */
  async refresh() {
    if (this.#isFetching) {
      this.#isStale = true;
      return;
    }
    this.#isFetching = true;
    try {
      do {
        this.#isStale = false;
        const { notes } = await request("/api/notes");
        this.notes = notes;
        this.emit("changed", undefined);
      } while (this.#isStale);
    } catch {
      // The connection will be back, and then this is called again.
    } finally {
      this.#isFetching = false;
    }
  }

  /** @param {string} id */
  titleOf(id) {
    return this.notes?.find((note) => note.id === id)?.title;
  }

  /** @param {string} title @returns {Promise<NoteEntry>} */
  async create(title) {
    const note = await request("/api/notes", "POST", { title });
    if (!this.notes?.some(({ id }) => id === note.id)) this.notes = [note, ...(this.notes ?? [])];
    this.emit("changed", undefined);
    return note;
  }

  /** @param {string} id @param {string} title */
  async rename(id, title) {
    const before = this.titleOf(id);
    this.#put(id, title);
    try {
      await request(`/api/notes/${encodeURIComponent(id)}`, "PATCH", { title });
    } catch (error) {
      if (before !== undefined) this.#put(id, before);
      throw error;
    }
  }

  /** @param {string} id */
  async remove(id) {
    await request(`/api/notes/${encodeURIComponent(id)}`, "DELETE");
    this.notes = this.notes?.filter((note) => note.id !== id);
    this.emit("changed", undefined);
  }

  /** @param {{documentId: string, title?: string, deleted?: boolean}} data */
  #documentChanged({ documentId, title, deleted }) {
    if (deleted) {
      this.notes = this.notes?.filter((note) => note.id !== documentId);
      this.emit("changed", undefined);
    } else if (title !== undefined) {
      this.#put(documentId, title);
    }
  }

  /** @param {string} id @param {string} title */
  #put(id, title) {
    this.notes = this.notes?.map((note) => (note.id === id ? { ...note, title } : note));
    this.emit("changed", undefined);
  }
}

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "short" });
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
 * “3 min. ago”.
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
  return "just now";
}
