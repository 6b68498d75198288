// The notices of this user: which notes have unread ones, and how many. Counted again when the server reports a change in
// the user's own room.

import { Emitter } from "../ground/emitter.js";
import { request, requestUnless } from "../client/http.js";
import { Refresher } from "../client/refresher.js";

/**
 * @typedef {{id: number, kind: string, note: string, title: string, comment?: string, thread?: string, author: string,
 *   createdAt: number, read: boolean}} NoticeEntry
 * @typedef {{id: number} | {note: string} | {through: number}} Choice
 */

/** The prefix of the rooms that report changes of a user's notices. */
const roomPrefix = "/notices/";
/** The resource that such a room reports. */
const resource = "notices";
/** Maximum time to wait for the room before the notices are counted anyway; milliseconds. */
const roomWithin = 5_000;

/**
 * changed: the numbers of unread notices may have changed.
 *
 * @extends {Emitter<{changed: void}>}
 */
export class Inbox extends Emitter {
  unread = 0;

  #owner;
  #ask;
  /** @type {Map<string, number>} The numbers of unread notices, by note. */
  #notes = new Map();
  /** @type {string | undefined} The entity tag of the numbers. */
  #tag;
  /** The user whose numbers these are. */
  #heldBy = "";
  /** @type {any} */
  #timer;
  #refresher = new Refresher(() => this.#fetch());

  /**
   * @param {Pick<import("../client/connection.js").Connection, "on" | "subscribe">} connection
   * @param {() => string} owner The current user; "" for users without notices, who are guests and all in a demo.
   * @param {{request: typeof request, requestUnless: typeof requestUnless}} [ask]
   */
  constructor(connection, owner, ask = { request, requestUnless }) {
    super();
    this.#owner = owner;
    this.#ask = ask;
    connection.on("welcome", () => {
      clearTimeout(this.#timer);
      if (!this.isOffered) return this.#clear();
      // Count once the room is live, because it reports all later changes.
      connection.subscribe(roomPrefix + this.#owner());
      this.#timer = setTimeout(() => void this.refresh(), roomWithin);
    });
    connection.on("room", (name) => {
      if (name !== roomPrefix + this.#owner()) return;
      clearTimeout(this.#timer);
      void this.refresh();
    });
    connection.on("resource", (name) => name === resource && this.isOffered && void this.refresh());
  }

  /** Whether this user has notices. */
  get isOffered() {
    return this.#owner() !== "";
  }

  /** @param {string} note */
  unreadOf(note) {
    return this.#notes.get(note) ?? 0;
  }

  /** @returns {Promise<void>} Fulfilled when the numbers are fetched, or the fetch has failed. */
  refresh() {
    return this.#refresher.refresh();
  }

  async #fetch() {
    const owner = this.#owner();
    const { isSame, answer, tag } = await this.#ask.requestUnless(
      "/api/notices/unread",
      owner === this.#heldBy ? this.#tag : undefined,
    );
    if (isSame || owner !== this.#owner()) return;
    this.unread = answer.unread;
    this.#notes = new Map(answer.notes.map((/** @type {{id: string, unread: number}} */ note) => [note.id, note.unread]));
    this.#tag = tag;
    this.#heldBy = owner;
    this.emit("changed", undefined);
  }

  #clear() {
    this.unread = 0;
    this.#notes = new Map();
    this.#tag = undefined;
    this.emit("changed", undefined);
  }

  /**
   * Returns a page of the notices, the newest first.
   *
   * @param {number} [before] The `next` of the page before.
   * @returns {Promise<{notices: NoticeEntry[], next?: number}>}
   */
  list(before) {
    return this.#ask.request(`/api/notices?limit=50${before === undefined ? "" : `&before=${before}`}`);
  }

  /**
   * Marks notices as read, on all devices of the user.
   *
   * @param {Choice} choice
   */
  async markRead(choice) {
    await this.#ask.request("/api/notices/read", "POST", choice);
    await this.refresh();
  }
}
