// Comments on a note: fetched from the server when the note's room reports a change, positioned in the editor's text,
// and changed by this user.
//
// Ranges are requested for a revision, once the server has all edits made here, so that the editor's text is the text
// of that revision. Edits made before the answer arrives move the ranges.

import { Emitter } from "../ground/emitter.js";

/**
 * @typedef {{revision: number, from: number, to: number}} Range In Unicode scalars.
 * @typedef {{id: string, thread?: string, author: string, mine: boolean, text: string, createdAt: number,
 *   editedAt?: number, withdrawn?: boolean, resolved?: {by: string, at: number},
 *   made?: Range & {epoch: string, quote: string}, place?: Range | null}} Comment
 * @typedef {{first: Comment, answers: Comment[]}} Thread
 * @typedef {import("../editing/commentmarks.js").Mark} Mark
 * @typedef {import("../editing/commentmarks.js").Moment} Moment
 * @typedef {{moment: () => Moment, set: (marks: Mark[]) => void, marks: () => readonly Mark[]}} Marks The editor's
 * marks.
 * @typedef {{text: string, author: string, thread?: string}} Draft
 */

/** The prefix of the rooms that report changes of a note's comments. */
const roomPrefix = "/note/";

/**
 * Converts offsets in scalars to positions in UTF-16 units.
 *
 * @param {string} text
 * @param {number[]} offsets Offsets in Unicode scalars.
 * @returns {Map<number, number>}
 */
export function unitsOf(text, offsets) {
  const wanted = [...new Set(offsets)].sort((a, b) => a - b);
  const found = new Map();
  let [unit, scalar] = [0, 0];
  for (const offset of wanted) {
    while (scalar < offset && unit < text.length) {
      unit += (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1;
      scalar += 1;
    }
    found.set(offset, unit);
  }
  return found;
}

/**
 * Returns the number of scalars before a position in UTF-16 units.
 *
 * @param {string} text
 * @param {number} unit
 */
export function scalarsBefore(text, unit) {
  let count = 0;
  for (let at = 0; at < unit; count += 1) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return count;
}

/**
 * Returns comments by threads, in the order of their positions in the text. Threads whose text is deleted come last.
 *
 * @param {Comment[]} comments Oldest first.
 * @returns {Thread[]}
 */
export function threadsOf(comments) {
  /** @type {Map<string, Thread>} */
  const threads = new Map();
  for (const comment of comments) if (comment.thread === undefined) threads.set(comment.id, { first: comment, answers: [] });
  for (const comment of comments) {
    if (comment.thread !== undefined) threads.get(comment.thread)?.answers.push(comment);
  }
  const placeOf = (/** @type {Thread} */ { first }) => first.place?.from ?? Infinity;
  return [...threads.values()].sort((a, b) => (placeOf(a) === placeOf(b) ? 0 : placeOf(a) - placeOf(b)));
}

/**
 * changed: the comments have changed. failed: they could not be fetched.
 *
 * @extends {Emitter<{changed: void, failed: unknown}>}
 */
export class Comments extends Emitter {
  /** @type {Comment[]} */
  all = [];
  mayComment = false;
  textBytesMax = 4_096;
  isLoaded = false;

  #note;
  #connection;
  #marks;
  #request;
  #newKey;
  #path;
  #room;
  #epoch = "";
  #isFetching = false;
  #isStale = false;
  #isClosed = false;
  /** Whether the note was live at its last change of status. */
  #isFollowing = false;
  /** Whether to request ranges once the server has all edits made here. */
  #wantsPlaces = false;
  /** The revision from which on ranges are requested again; 0 if none is awaited. */
  #placedFrom = 0;
  /** @type {(() => void)[]} Callers that wait until the server has all edits made here. */
  #settling = [];
  /** @type {(() => void)[]} */
  #subscriptions;

  /**
   * @param {object} options
   * @param {import("../client/note.js").Note & {ends?: import("../ground/lineends.js").LineEnds}} options.note
   * @param {import("../client/connection.js").Connection} options.connection
   * @param {Marks} options.marks
   * @param {typeof import("../client/http.js").request} options.request
   * @param {() => string} options.newKey
   */
  constructor({ note, connection, marks, request, newKey }) {
    super();
    this.#note = note;
    this.#connection = connection;
    this.#marks = marks;
    this.#request = request;
    this.#newKey = newKey;
    this.#path = `/api/notes/${encodeURIComponent(note.documentId)}/comments`;
    this.#room = roomPrefix + note.documentId;
    this.#subscriptions = [
      connection.on("room", (name) => name === this.#room && void this.refresh()),
      connection.on("resource", (name) => name === this.#room && void this.refresh()),
      note.on("status", () => {
        this.#follow();
        this.#settle();
      }),
      note.on("changes", () => this.#settle()),
      note.on("reset", () => void this.refresh()),
    ];
    this.#follow();
  }

  /**
   * Subscribes to the note's room whenever the note is joined. The comments are fetched once the room is live, because
   * it reports all later changes. Before the join, the gateway does not know the note's folder, and rejects users whose
   * right to read depends on the folder.
   */
  #follow() {
    const isJoined = this.#note.phase === "live";
    if (isJoined && !this.#isFollowing) this.#connection.subscribe(this.#room);
    this.#isFollowing = isJoined;
  }

  /** All comments in the server's last answer; undefined before the first. */
  get answer() {
    return this.isLoaded ? { epoch: this.#epoch, comments: this.all } : undefined;
  }

  get threads() {
    return threadsOf(this.all);
  }

  close() {
    this.#isClosed = true;
    for (const unsubscribe of this.#subscriptions) unsubscribe();
    this.#connection.handle("unsubscribe", this.#room);
  }

  // Actions that need the server's text.

  /** Whether the server has all edits made here. */
  get #isSettled() {
    return this.#note.phase === "live" && this.#note.unconfirmedCount === 0;
  }

  #settle() {
    // After the pending actions, when the editor shows the note's text.
    this.#connection.afterwards(() => {
      if (this.#isClosed || !this.#isSettled) return;
      for (const go of this.#settling.splice(0)) go();
      if (this.#wantsPlaces && this.#note.revision >= this.#placedFrom) void this.refresh();
    });
  }

  /**
   * @param {number} within Milliseconds.
   * @returns {Promise<boolean>} Whether the server had all edits within this time.
   */
  #settled(within) {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), within);
      this.#settling.push(() => {
        clearTimeout(timer);
        resolve(true);
      });
      this.#settle();
    });
  }

  /** Requests the ranges again, because an edit has made them uncertain. */
  placeAgain() {
    this.#wantsPlaces = true;
    this.#settle();
  }

  // Fetching.

  /** Fetches all comments. All calls during a fetch cause one more after it, even if it fails. */
  async refresh() {
    if (this.#isFetching || this.#isClosed) {
      this.#isStale = true;
      return;
    }
    this.#isFetching = true;
    /** @type {unknown} */
    let failure;
    do {
      this.#isStale = false;
      failure = await this.#fetch().then(() => undefined, (error) => error ?? new Error());
    } while (this.#isStale && !this.#isClosed);
    this.#isFetching = false;
    if (failure !== undefined && !this.#isClosed) this.emit("failed", failure);
  }

  async #fetch() {
    // The editor shows the note's text only after the pending actions.
    await new Promise((resolve) => this.#connection.afterwards(() => resolve(undefined)));
    const isPlacing = this.#isSettled;
    const revision = this.#note.revision;
    const moment = isPlacing ? this.#marks.moment() : undefined;
    const { ends } = this.#note;
    this.#wantsPlaces = !isPlacing;
    this.#placedFrom = 0;
    try {
      const answer = await this.#request(isPlacing ? `${this.#path}?revision=${revision}` : this.#path);
      if (this.#isClosed) return;
      this.#take(answer, moment && !moment.isLost ? { moment, ends, revision } : undefined);
      if (moment?.isLost) this.#isStale = true;
    } finally {
      moment?.end();
    }
  }

  /**
   * @param {{epoch: string, mayComment: boolean, limits: {textBytesMax: number}, comments: Comment[]}} answer
   * @param {{moment: Moment, ends: import("../ground/lineends.js").LineEnds | undefined, revision: number} | undefined}
   * at The text that the ranges refer to; undefined if ranges were not requested.
   */
  #take({ epoch, mayComment, limits, comments }, at) {
    this.#epoch = epoch;
    this.all = comments;
    this.mayComment = mayComment;
    this.textBytesMax = limits.textBytesMax;
    this.isLoaded = true;
    const former = this.#marks.marks();
    const draft = former.filter(({ id }) => id === "");
    const open = comments.filter(({ made, place, resolved }) => made && place && !resolved);
    if (at) {
      const text = at.ends?.text ?? at.moment.doc.toString();
      const units = unitsOf(text, open.flatMap(({ place }) => (place ? [place.from, place.to] : [])));
      const placeOf = (/** @type {number} */ scalar) => at.ends?.toShown(units.get(scalar) ?? 0) ?? units.get(scalar) ?? 0;
      this.#marks.set([
        ...draft,
        ...open.flatMap(({ id, place }) => {
          if (!place) return [];
          if (place.revision !== at.revision) {
            // Its range is for a revision that has not arrived here yet.
            this.#placedFrom = Math.max(this.#placedFrom, place.revision);
            this.#wantsPlaces = true;
            return former.filter((mark) => mark.id === id);
          }
          return at.moment.moved({ id, from: placeOf(place.from), to: placeOf(place.to) }) ?? [];
        }),
      ]);
    } else {
      const ids = new Set(open.map(({ id }) => id));
      this.#marks.set(former.filter(({ id }) => id === "" || ids.has(id)));
    }
    this.emit("changed", undefined);
    if (this.#wantsPlaces) this.#settle();
  }

  // Changing.

  /**
   * Returns the body of a new comment on the range that is marked in the editor for it. Undefined if the server does
   * not receive all edits in time; null if the range's text is deleted.
   *
   * @param {Draft} draft
   * @param {number} [within] Maximum time to wait for the server, in milliseconds.
   * @returns {Promise<object | null | undefined>}
   */
  async bodyOf({ text, author, thread }, within = 10_000) {
    if (thread !== undefined) return { text, author, thread };
    if (!(await this.#settled(within))) return undefined;
    const mark = this.#marks.marks().find(({ id }) => id === "");
    if (!mark) return null;
    const moment = this.#marks.moment();
    moment.end();
    const { ends, revision } = this.#note;
    const words = ends?.text ?? moment.doc.toString();
    const [start, end] = ends ? [ends.toNote(mark.from), ends.toNote(mark.to)] : [mark.from, mark.to];
    const from = scalarsBefore(words, start);
    const to = from + scalarsBefore(words.slice(start, end), end - start);
    const anchor = { revision, from, to };
    return { text, author, anchor: this.#epoch ? { epoch: this.#epoch, ...anchor } : anchor };
  }

  /** Returns an idempotency key for a comment. */
  newKey() {
    return this.#newKey();
  }

  /**
   * Creates a comment. A repetition with the same key and body creates no second one.
   *
   * @param {object} body
   * @param {string} key
   * @returns {Promise<Comment>}
   */
  async make(body, key) {
    const made = await this.#request(this.#path, "POST", body, undefined, key);
    await this.refresh();
    return made;
  }

  /**
   * @param {string} id
   * @param {{text: string, author?: string} | {resolved: boolean, author: string}} change
   */
  async change(id, change) {
    await this.#request(`${this.#path}/${encodeURIComponent(id)}`, "PATCH", change);
    await this.refresh();
  }

  /** @param {string} id */
  async remove(id) {
    await this.#request(`${this.#path}/${encodeURIComponent(id)}`, "DELETE");
    await this.refresh();
  }
}
