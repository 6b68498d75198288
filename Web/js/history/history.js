// A note's history: sessions and their authors, the text at any revision, and named versions.
// No DOM here; historyview.js shows it.

import { Emitter } from "../ground/emitter.js";
import { RequestError, request } from "../client/http.js";
import { lineEndsOf, shownOf } from "../ground/lineends.js";
import { palette } from "../state/people.js";
import { differenceOf } from "./comparison.js";
import { LatestAnswer } from "./latestanswer.js";
import { restoredFormat } from "./restoredformat.js";
import { Sessions } from "./sessions.js";

/**
 * Consecutive changes of one author without a long pause. Times are in milliseconds.
 *
 * @typedef {{firstRevision: number, lastRevision: number, author: string, clientId: string,
 *   firstTime: number, lastTime: number, inserted: number, deleted: number}} Group
 * @typedef {{revision: number, name: string, author: string, time: number}} Version
 */

/**
 * @typedef {import("./sessions.js").Session} Session
 * @typedef {import("./comparison.js").Difference} Difference
 */

/**
 * The text at a revision, as it is shown and as it was committed. `from` and `to` of the authors' runs count UTF-16
 * units of the shown text.
 *
 * @typedef {{author: string, from: number, to: number}} Run
 * `format`: the attributes of the committed text, in pairs of UTF-16 units and numbers of sets, if it has some.
 *
 * @typedef {{sets: object[], runs: number[]}} PastFormat
 * @typedef {{revision: number, time: number, text: string, committed: string, runs: Run[], format?: PastFormat}} PastText
 */

/** @param {Difference} difference */
const sizeOfDifference = ({ parts }) =>
  parts.reduce((sum, { deleted, inserted }) => sum + (deleted ?? inserted ?? "").length + 9, 0);

/** Maximum sessions in one answer. */
const sessionsOfAnswer = 50;
/** The number of a session's revisions whose changes are fetched at first, and by each further request. */
const revisionsListed = 500;
/** Maximum groups in one answer. */
const groupsOfAnswer = 200;
/** Maximum UTF-16 units of all cached texts together. */
const keptUnitsMax = 4_000_000;

/**
 * Converts runs in Unicode scalars of the note's text, as the gateway counts, to UTF-16 units of the shown text.
 *
 * @param {string} text The note's text.
 * @param {{author: string, count: number}[]} authors
 * @returns {Run[]} Neighbours of one author are joined.
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
  // A run is empty if one author wrote the "\r" and another the "\n".
  return shown.filter(({ from, to }) => from < to);
}

/**
 * Converts pairs whose lengths count Unicode scalars to pairs in UTF-16 units.
 *
 * @param {string} text
 * @param {number[]} pairs
 * @returns {number[]}
 */
export function inUnits(text, pairs) {
  let position = 0;
  return pairs.map((value, index) => {
    if (index % 2 === 1) return value;
    const start = position;
    for (let left = value; left > 0 && position < text.length; left -= 1) position += (text.codePointAt(position) ?? 0) > 0xffff ? 2 : 1;
    return position - start;
  });
}

/**
 * Returns a colour for each author: for users who are present their own, for the others the former one or, as long as
 * the palette has one, one that is not taken.
 *
 * @param {Iterable<string>} authors
 * @param {Iterable<{name: string, color: string}>} present
 * @param {Map<string, string>} [former] The colours before some of the authors were known.
 * @returns {Map<string, string>}
 */
export function colorsOf(authors, present, former = new Map()) {
  const own = new Map();
  for (const { name, color } of present) if (!own.has(name)) own.set(name, color);
  const colors = new Map();
  const names = new Set(authors);
  for (const name of names) {
    const color = own.get(name);
    if (color !== undefined) colors.set(name, color);
  }
  const ofPresent = new Set(colors.values());
  for (const name of names) {
    const color = former.get(name);
    if (color !== undefined && !colors.has(name) && !ofPresent.has(color)) colors.set(name, color);
  }
  const taken = new Set(colors.values());
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
 * The loaded changes of a session: those after a revision, oldest first.
 *
 * @typedef {{after: number, groups: Group[]}} SessionChanges
 */

/**
 * sessions: the sessions, or the changes of one, have changed. versions: the named versions have changed. text: a text
 * that was requested is loaded. difference: the requested difference is loaded. failed: one of the two could not be
 * loaded.
 *
 * @extends {Emitter<{sessions: void, versions: void, text: PastText, difference: Difference, failed: Error}>}
 */
export class NoteHistory extends Emitter {
  /** @type {Version[]} Newest first. */
  versions = [];
  isLoaded = false;

  #path;
  #request;
  #sessions = new Sessions();
  /** @type {Map<number, SessionChanges>} By the first revision of the session. */
  #changes = new Map();
  /** @type {Session[]} Sessions, or their first parts, that were looked up before the list reached them. */
  #islands = [];
  #texts;
  #differences;
  #isRefreshing = false;
  #isStale = false;
  #isClosed = false;

  /**
   * @param {object} options
   * @param {string} options.documentId
   * @param {typeof request} [options.ask] Replaced by tests, as are the timers.
   * @param {import("./latestanswer.js").Timers} [options.dependencies]
   */
  constructor({ documentId, ask, dependencies }) {
    super();
    this.#path = `/api/notes/${encodeURIComponent(documentId)}`;
    this.#request = ask ?? request;
    const timers = dependencies ?? {
      setTimeout: (callback, delay) => setTimeout(callback, delay),
      clearTimeout: (timer) => clearTimeout(timer),
    };
    const failed = (/** @type {Error} */ error) => this.emit("failed", error);
    /** @type {LatestAnswer<number, PastText>} */
    this.#texts = new LatestAnswer({
      fetch: (revision, signal) => this.#fetchText(Number(revision), signal),
      sizeOf: ({ text }) => text.length,
      sizeMax: keptUnitsMax,
      done: (_, past) => this.emit("text", past),
      failed,
      timers,
    });
    /** @type {LatestAnswer<string, Difference>} */
    this.#differences = new LatestAnswer({
      fetch: (ends, signal) => this.#fetchDifference(String(ends), signal),
      sizeOf: sizeOfDifference,
      sizeMax: keptUnitsMax,
      done: (_, difference) => this.emit("difference", difference),
      failed,
      timers,
    });
  }

  /** The loaded sessions, newest first. */
  get sessions() {
    return this.#sessions.all;
  }

  /** The newest revision. */
  get head() {
    return this.#sessions.head;
  }

  /** The first revision whose text can be shown. */
  get oldest() {
    return this.#sessions.oldest;
  }

  get hasEarlier() {
    return this.#sessions.before !== undefined;
  }

  /** @param {number} revision @returns {Session | undefined} The session that contains it, if it is loaded. */
  sessionAt(revision) {
    const isIn = (/** @type {Session} */ { firstRevision, lastRevision }) =>
      firstRevision <= revision && revision <= lastRevision;
    return this.#sessions.at(revision) ?? this.#islands.find(isIn);
  }

  /**
   * Returns the loaded changes of a session.
   *
   * @param {Session} session
   * @returns {SessionChanges | undefined}
   */
  changesOf({ firstRevision, lastRevision }) {
    for (const [first, changes] of this.#changes) {
      // The first revision of a cut session decreases when its other part is loaded.
      if (firstRevision <= first && first <= lastRevision) return changes;
    }
    return undefined;
  }

  /** @param {number} revision @returns {Group | undefined} The group that contains it, if it is loaded. */
  groupAt(revision) {
    const session = this.sessionAt(revision);
    const groups = session && this.changesOf(session)?.groups;
    return groups?.find(({ firstRevision, lastRevision }) => firstRevision <= revision && revision <= lastRevision);
  }

  /**
   * Returns the author of a revision, if it is known.
   *
   * @param {number} revision
   */
  authorOf(revision) {
    const authors = this.sessionAt(revision)?.authors ?? [];
    const sole = authors.length === 1 ? authors[0] : authors.find(({ lastRevision }) => lastRevision === revision);
    return this.groupAt(revision)?.author ?? sole?.author;
  }

  /**
   * Returns the revision of the next row in a direction: the end of a session, or of a change of an opened one.
   *
   * @param {number} revision
   * @param {1 | -1} direction
   */
  stop(revision, direction) {
    const stops = this.sessions.flatMap((session) => [
      session.lastRevision,
      ...(this.changesOf(session)?.groups.map(({ lastRevision }) => lastRevision) ?? []),
    ]);
    stops.push(this.oldest, this.head);
    const further = stops.filter((stop) => (direction < 0 ? stop < revision : stop > revision));
    if (further.length === 0) return revision;
    return further.reduce((best, stop) => (direction < 0 ? Math.max(best, stop) : Math.min(best, stop)));
  }

  /** @param {number} revision @returns {Version | undefined} */
  versionAt(revision) {
    return this.versions.find((version) => version.revision === revision);
  }

  /** @param {number} revision @returns {number | undefined} When it was made; milliseconds. */
  timeOf(revision) {
    const exact = this.#texts.kept(revision)?.time;
    if (exact !== undefined) return exact;
    const part = this.groupAt(revision) ?? this.sessionAt(revision);
    if (!part) return undefined;
    // Interpolated within a session or a group, until the text is loaded with the exact time.
    const steps = part.lastRevision - part.firstRevision;
    const share = steps > 0 ? (revision - part.firstRevision) / steps : 1;
    return part.firstTime + (part.lastTime - part.firstTime) * share;
  }

  /** The known authors: those of sessions, oldest first, then those of texts. */
  get authors() {
    const authors = new Set([...this.sessions].reverse().flatMap((session) => session.authors.map(({ author }) => author)));
    for (const { runs } of this.#texts.all) for (const { author } of runs) authors.add(author);
    return authors;
  }

  /**
   * Fetches the newest sessions and the versions. All calls during a fetch cause one more after it.
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
        await Promise.all([this.#fetchNewest(), this.#fetchVersions()]);
      } while (this.#isStale && !this.#isClosed);
      this.isLoaded = true;
    } finally {
      this.#isRefreshing = false;
    }
  }

  /** Fetches the sessions before the earliest loaded one. */
  async fetchEarlier() {
    const before = this.#sessions.before;
    if (before === undefined) return;
    const answer = await this.#request(`${this.#path}/sessions?before=${before}&limit=${sessionsOfAnswer}`);
    if (this.#isClosed || this.#sessions.before !== before) return;
    this.#sessions.takeEarlier(answer);
    this.emit("sessions", undefined);
  }

  /**
   * Fetches the session of a revision that is earlier than the loaded sessions.
   *
   * @param {number} revision
   */
  async lookUp(revision) {
    if (this.sessionAt(revision) || revision <= this.oldest) return;
    const { sessions } = await this.#request(`${this.#path}/sessions?before=${revision + 1}&limit=1`);
    if (this.#isClosed || sessions.length === 0) return;
    this.#islands.push(sessions[0]);
    this.emit("sessions", undefined);
  }

  /**
   * Fetches a session's newest changes; if they are loaded, the changes before them.
   *
   * @param {Session} session
   */
  async openSession(session) {
    const known = this.changesOf(session);
    const last = known?.groups[known.groups.length - 1]?.lastRevision;
    const isWhole = last === undefined || last >= session.lastRevision;
    // If the session has grown, its changes are read again from the same start.
    const through = known && isWhole ? known.after : session.lastRevision;
    const after =
      known && !isWhole ? known.after : Math.max(session.firstRevision - 1, through - revisionsListed);
    const groups = await this.#fetchGroups(after, through);
    if (this.#isClosed) return;
    this.#forgetChanges(session);
    const later = known && isWhole ? known.groups : [];
    this.#changes.set(session.firstRevision, { after, groups: [...groups, ...later] });
    this.emit("sessions", undefined);
  }

  /** @param {Session} session */
  closeSession(session) {
    this.#forgetChanges(session);
    this.emit("sessions", undefined);
  }

  /**
   * Requests the text at a revision; `text` is emitted when it is loaded.
   *
   * @param {number} revision
   */
  want(revision) {
    this.#texts.want(revision);
  }

  /**
   * Requests the difference of two revisions; `difference` is emitted when it is loaded.
   *
   * @param {number} from
   * @param {number} to
   */
  compare(from, to) {
    this.#differences.want(`from=${from}&to=${to}`);
  }

  /**
   * Returns the text at a revision, if it is cached.
   *
   * @param {number} revision
   */
  textAt(revision) {
    return this.#texts.kept(revision);
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
   * Restores the text of a revision, by a new change.
   *
   * @param {number} revision
   * @param {string} author
   * @returns {Promise<number>} The revision of the new change.
   */
  async restore(revision, author) {
    return (await this.#request(`${this.#path}/restore`, "POST", { revision, author })).revision;
  }

  /**
   * Reverts a part of the changes, by a new change, which the server transforms over later changes. In a formatted note,
   * restored text has the attributes that it had.
   *
   * @param {{from: number, to: number}} ends The compared revisions.
   * @param {import("./comparison.js").Hunk} part
   * @param {string} author
   * @returns {Promise<number>} The revision of the new change.
   */
  async restorePart({ from, to }, { operation, restored }, author) {
    const older = restored.length > 0 ? (this.#texts.kept(from) ?? (await this.#fetchText(from))) : undefined;
    const format = older && restoredFormat(older, restored);
    const change = { revision: to, operation, ...(format && { format }), author };
    return (await this.#request(`${this.#path}/changes`, "POST", change)).revision;
  }

  close() {
    this.#isClosed = true;
    this.#texts.close();
    this.#differences.close();
  }

  /** @param {Session} session */
  #forgetChanges({ firstRevision, lastRevision }) {
    for (const first of [...this.#changes.keys()]) {
      if (firstRevision <= first && first <= lastRevision) this.#changes.delete(first);
    }
  }

  async #fetchNewest() {
    const answer = await this.#request(`${this.#path}/sessions?limit=${sessionsOfAnswer}`);
    if (this.#isClosed) return;
    this.#sessions.takeNewest(answer);
    this.emit("sessions", undefined);
    const newest = this.sessions[0];
    if (newest && this.changesOf(newest)) await this.#openGrown(newest);
  }

  /**
   * Fetches the changes that were added to an opened session.
   *
   * @param {Session} session
   */
  async #openGrown(session) {
    const groups = this.changesOf(session)?.groups ?? [];
    if ((groups[groups.length - 1]?.lastRevision ?? Infinity) < session.lastRevision) await this.openSession(session);
  }

  /**
   * Fetches the groups after one revision and through another.
   *
   * @param {number} after
   * @param {number} through
   */
  async #fetchGroups(after, through) {
    /** @type {Group[]} */
    const all = [];
    let reached = after;
    while (reached < through) {
      /** @type {{groups: Group[]}} */
      const { groups } = await this.#request(`${this.#path}/history?after=${reached}&limit=${groupsOfAnswer}`);
      if (this.#isClosed || groups.length === 0) break;
      for (const group of groups) {
        if (group.firstRevision > through) break;
        all.push({ ...group, lastRevision: Math.min(group.lastRevision, through) });
      }
      reached = groups[groups.length - 1]?.lastRevision ?? through;
    }
    return all;
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

  /**
   * Returns the server's difference; if it is too large for an answer, one of both texts by lines.
   *
   * @param {string} ends The query of the request.
   * @param {AbortSignal} signal
   * @returns {Promise<Difference>}
   */
  async #fetchDifference(ends, signal) {
    try {
      return await this.#request(`${this.#path}/diff?${ends}`, "GET", undefined, signal);
    } catch (error) {
      if (!(error instanceof RequestError) || error.status !== 413) throw error;
    }
    const fields = new URLSearchParams(ends);
    const [from, to] = [Number(fields.get("from")), Number(fields.get("to"))];
    const texts = [from, to].map((revision) => this.#texts.kept(revision) ?? this.#fetchText(revision, signal));
    const [older, newer] = /** @type {[PastText, PastText]} */ (await Promise.all(texts));
    return { from, to, fromTime: older.time, toTime: newer.time, parts: differenceOf(older, newer) };
  }

  /** @param {number} revision @param {AbortSignal} [signal] @returns {Promise<PastText>} */
  async #fetchText(revision, signal) {
    const path = `${this.#path}/text?revision=${revision}`;
    const { text, time, authors, format } = await this.#request(path, "GET", undefined, signal);
    const past = { revision, time, text: shownOf(text), committed: text, runs: runsOf(text, authors) };
    return format ? { ...past, format: { sets: format.sets, runs: inUnits(text, format.runs) } } : past;
  }
}
