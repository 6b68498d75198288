// A note's past: who changed what, the text at any revision, and the names given to some of them.
// No DOM here; historyview.js shows it.

import { Emitter } from "../emitter.js";
import { request } from "../client/http.js";
import { lineEndsOf, shownOf } from "../lineends.js";
import { palette } from "../people/people.js";

/**
 * Changes of one author without a longer pause. Times are milliseconds.
 *
 * @typedef {{firstRevision: number, lastRevision: number, author: string, clientId: string,
 *   firstTime: number, lastTime: number, inserted: number, deleted: number}} Group
 * @typedef {{revision: number, name: string, author: string, time: number}} Version
 */

/**
 * The text at a revision; `from` and `to` of its authors' runs count UTF-16 units.
 *
 * @typedef {{author: string, from: number, to: number}} Run
 * @typedef {{revision: number, time: number, text: string, runs: Run[]}} PastText
 */

/** While a text is on its way, another one is asked for after so long a rest; milliseconds. */
const settleTime = 90;
/** Texts kept for going back and forth, by their length in UTF-16 units together. */
const keptUnitsMax = 4_000_000;

/**
 * The gateway counts a run in Unicode scalars of the note's text, an editor in UTF-16 units of the shown one.
 *
 * @param {string} text The note's.
 * @param {{author: string, count: number}[]} authors
 * @returns {Run[]} Neighbours of one author are one run.
 */
export function runsOf(text, authors) {
  /** @type {Run[]} */
  const runs = [];
  let position = 0;
  for (const { author, count } of authors) {
    const from = position;
    for (let left = count; left > 0 && position < text.length; left -= 1) {
      const unit = text.charCodeAt(position);
      position += unit >= 0xd800 && unit < 0xdc00 ? 2 : 1;
    }
    const last = runs[runs.length - 1];
    if (last && last.author === author) last.to = position;
    else if (position > from) runs.push({ author, from, to: position });
  }
  const ends = lineEndsOf(text);
  if (!ends) return runs;
  const shown = runs.map((run) => ({ ...run, from: ends.toShown(run.from), to: ends.toShown(run.to) }));
  // The "\r" of one author, before the "\n" of another.
  return shown.filter(({ from, to }) => from < to);
}

/**
 * The smallest edit that turns one text into the other, between whole scalars.
 *
 * @param {string} before
 * @param {string} after
 * @returns {{from: number, to: number, insert: string} | undefined} Undefined where they are equal.
 */
export function difference(before, after) {
  if (before === after) return undefined;
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before.charCodeAt(start) === after.charCodeAt(start)) start += 1;
  let end = 0;
  while (
    end < shorter - start &&
    before.charCodeAt(before.length - 1 - end) === after.charCodeAt(after.length - 1 - end)
  ) {
    end += 1;
  }
  // Two emoji may share one half of their pairs.
  if (start > 0 && isHighHalf(before.charCodeAt(start - 1))) start -= 1;
  if (end > 0 && isLowHalf(before.charCodeAt(before.length - end))) end -= 1;
  return { from: start, to: before.length - end, insert: after.slice(start, after.length - end) };
}

const isHighHalf = (/** @type {number} */ unit) => unit >= 0xd800 && unit < 0xdc00;
const isLowHalf = (/** @type {number} */ unit) => unit >= 0xdc00 && unit < 0xe000;

/**
 * A colour for each author's name: of those who are here their own, for the others one that nobody
 * else has, as long as there are any.
 *
 * @param {Iterable<string>} authors
 * @param {Iterable<{name: string, color: string}>} present
 * @returns {Map<string, string>}
 */
export function colorsOf(authors, present) {
  const own = new Map();
  for (const { name, color } of present) if (!own.has(name)) own.set(name, color);
  const colors = new Map();
  const taken = new Set();
  const names = new Set(authors);
  for (const name of names) {
    const color = own.get(name);
    if (color === undefined) continue;
    colors.set(name, color);
    taken.add(color);
  }
  let next = 0;
  for (const name of names) {
    if (colors.has(name)) continue;
    const free = palette.find((color) => !taken.has(color));
    const color = free ?? palette[next++ % palette.length] ?? "";
    taken.add(color);
    colors.set(name, color);
  }
  return colors;
}

/**
 * groups: they, or the versions, have changed. text: the one that was asked for is here, or one on the
 * way there. failed: it cannot be had.
 *
 * @extends {Emitter<{groups: void, versions: void, text: PastText, failed: Error}>}
 */
export class NoteHistory extends Emitter {
  /** @type {Group[]} The oldest first. */
  groups = [];
  /** @type {Version[]} The newest first. */
  versions = [];
  /** The newest revision. */
  head = 0;
  isLoaded = false;

  #path;
  #request;
  #surroundings;
  /** @type {Map<number, PastText>} The one used last stands last. */
  #kept = new Map();
  /** @type {number | undefined} The revision whose text is to be shown. */
  #wanted;
  /** @type {{revision: number, abort: AbortController} | undefined} */
  #underWay;
  /** @type {any} */
  #settleTimer;
  #isRefreshing = false;
  #isStale = false;
  #isClosed = false;

  /**
   * @param {object} options
   * @param {string} options.documentId
   * @param {typeof request} [options.ask] What a test replaces, like the timers.
   * @param {{setTimeout: (callback: () => void, delay: number) => any,
   *   clearTimeout: (timer: any) => void}} [options.surroundings]
   */
  constructor({ documentId, ask, surroundings }) {
    super();
    this.#path = `/api/notes/${encodeURIComponent(documentId)}`;
    this.#request = ask ?? request;
    this.#surroundings = surroundings ?? {
      setTimeout: (callback, delay) => setTimeout(callback, delay),
      clearTimeout: (timer) => clearTimeout(timer),
    };
  }

  /** The first revision whose text can be shown: that before the oldest group. */
  get oldest() {
    return (this.groups[0]?.firstRevision ?? 1) - 1;
  }

  /** @param {number} revision @returns {Group | undefined} The group that made it. */
  groupAt(revision) {
    const group = this.groups[this.#indexAt(revision)];
    return group && group.firstRevision <= revision ? group : undefined;
  }

  /**
   * Where one step by groups leads: to the end of this group or of the next, or the end of the last.
   *
   * @param {number} revision
   * @param {1 | -1} direction
   */
  stop(revision, direction) {
    const index = this.#indexAt(revision);
    const group = this.groups[index];
    if (direction < 0) return this.groups[index - 1]?.lastRevision ?? this.oldest;
    if (group && revision < group.lastRevision) return group.lastRevision;
    return this.groups[index + 1]?.lastRevision ?? this.head;
  }

  /** @param {number} revision @returns {Version | undefined} */
  versionAt(revision) {
    return this.versions.find((version) => version.revision === revision);
  }

  /** @param {number} revision @returns {number | undefined} When it was made; milliseconds. */
  timeOf(revision) {
    const exact = this.#kept.get(revision)?.time;
    if (exact !== undefined) return exact;
    const group = this.groupAt(revision);
    if (!group) return undefined;
    // Inside a group, close enough until the text has come with the exact time.
    const steps = group.lastRevision - group.firstRevision;
    const share = steps > 0 ? (revision - group.firstRevision) / steps : 1;
    return group.firstTime + (group.lastTime - group.firstTime) * share;
  }

  /** All authors, in the order of their first change. */
  get authors() {
    return new Set(this.groups.map(({ author }) => author));
  }

  /**
   * Fetches what has happened since the last time. Calls while that is under way are served by one
   * more fetch after it.
   */
  async refresh() {
    if (this.#isRefreshing) {
      this.#isStale = true;
      return;
    }
    this.#isRefreshing = true;
    try {
      do {
        this.#isStale = false;
        await Promise.all([this.#fetchGroups(), this.#fetchVersions()]);
      } while (this.#isStale && !this.#isClosed);
      this.isLoaded = true;
    } finally {
      this.#isRefreshing = false;
    }
  }

  /**
   * Asks for the text at a revision; `text` tells when it is here. While one is on its way, the next
   * is asked for when the slider rests, and the first is given up then.
   *
   * @param {number} revision
   */
  want(revision) {
    this.#wanted = revision;
    this.#surroundings.clearTimeout(this.#settleTimer);
    const kept = this.#kept.get(revision);
    if (kept) {
      this.#underWay?.abort.abort();
      this.#underWay = undefined;
      this.#keep(kept);
      this.emit("text", kept);
    } else if (!this.#underWay) {
      void this.#fetchText(revision);
    } else if (this.#underWay.revision !== revision) {
      this.#settleTimer = this.#surroundings.setTimeout(() => {
        this.#underWay?.abort.abort();
        void this.#fetchText(revision);
      }, settleTime);
    }
  }

  /** @param {number} revision @param {string} name @param {string} author */
  async name(revision, name, author) {
    const version = await this.#request(`${this.#path}/versions`, "POST", { revision, name, author });
    this.#setVersions([version, ...this.versions.filter((other) => other.revision !== revision)]);
  }

  /** @param {number} revision */
  async removeName(revision) {
    await this.#request(`${this.#path}/versions/${revision}`, "DELETE");
    this.#setVersions(this.versions.filter((version) => version.revision !== revision));
  }

  /**
   * Makes the text of then the newest, by a change like any other.
   *
   * @param {number} revision
   * @param {string} author
   * @returns {Promise<number>} The revision that it made.
   */
  async restore(revision, author) {
    return (await this.#request(`${this.#path}/restore`, "POST", { revision, author })).revision;
  }

  close() {
    this.#isClosed = true;
    this.#surroundings.clearTimeout(this.#settleTimer);
    this.#underWay?.abort.abort();
    this.#underWay = undefined;
  }

  /** @param {number} revision @returns {number} Of the last group that begins at or before it; or 0. */
  #indexAt(revision) {
    let low = 0;
    let high = this.groups.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.groups[middle]?.firstRevision ?? 0) <= revision) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  async #fetchGroups() {
    for (;;) {
      // The last group may have grown since.
      const last = this.groups[this.groups.length - 1];
      const after = last ? last.firstRevision - 1 : 0;
      /** @type {{head: number, groups: Group[]}} */
      const { head, groups } = await this.#request(`${this.#path}/history?after=${after}`);
      if (this.#isClosed) return;
      this.groups = [...this.groups.slice(0, -1), ...groups];
      this.head = Math.max(head, this.groups[this.groups.length - 1]?.lastRevision ?? 0);
      this.emit("groups", undefined);
      // A long history comes in several answers.
      const reached = groups[groups.length - 1]?.lastRevision ?? head;
      if (reached >= head || reached === last?.lastRevision) return;
    }
  }

  async #fetchVersions() {
    /** @type {{versions: Version[]}} */
    const { versions } = await this.#request(`${this.#path}/versions`);
    if (!this.#isClosed) this.#setVersions(versions);
  }

  /** @param {Version[]} versions */
  #setVersions(versions) {
    this.versions = [...versions].sort((a, b) => b.revision - a.revision);
    this.emit("versions", undefined);
  }

  /** @param {number} revision */
  async #fetchText(revision) {
    const abort = new AbortController();
    const mine = { revision, abort };
    this.#underWay = mine;
    /** @type {PastText | undefined} */
    let past;
    /** @type {unknown} */
    let problem;
    try {
      const path = `${this.#path}/text?revision=${revision}`;
      const { text, time, authors } = await this.#request(path, "GET", undefined, abort.signal);
      past = { revision, time, text: shownOf(text), runs: runsOf(text, authors) };
    } catch (error) {
      problem = error;
    }
    // Given up meanwhile.
    if (this.#underWay !== mine || abort.signal.aborted) return;
    this.#underWay = undefined;
    if (past) {
      this.#keep(past);
      this.emit("text", past);
    } else if (this.#wanted === revision) {
      this.emit("failed", problem instanceof Error ? problem : new Error(String(problem)));
    }
    if (this.#wanted !== undefined && this.#wanted !== revision) this.want(this.#wanted);
  }

  /** @param {PastText} past */
  #keep(past) {
    this.#kept.delete(past.revision);
    this.#kept.set(past.revision, past);
    let units = 0;
    for (const { text } of this.#kept.values()) units += text.length;
    for (const [revision, { text }] of this.#kept) {
      if (units <= keptUnitsMax || revision === past.revision) break;
      this.#kept.delete(revision);
      units -= text.length;
    }
  }
}
