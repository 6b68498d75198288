// A connection to a gateway, for pages of other sites. The client core contains the rules of the protocol; this file
// loads it, requests tokens, and stores unsaved edits in the browser.

import { claimsOf } from "../js/state/access.js";
import { Connection, accessCodes, otherVersionCode } from "../js/client/connection.js";
import { Core } from "../js/client/door.js";
import { Emitter } from "../js/ground/emitter.js";
import { EditStorage } from "../js/client/identity.js";
import { ParleyError } from "./errors.js";
import { SharedNote } from "./note.js";
import { SharedRoom } from "./room.js";
import { Waits } from "./waits.js";

/**
 * connecting: the connection is being established. online: synchronised with the gateway. waiting: the gateway cannot
 * be reached; the next attempt is at `retryAt` (milliseconds since 1970). stopped: no further attempt, for `reason`;
 * `otherVersion`: the gateway and this SDK do not understand each other's first messages.
 *
 * @typedef {{state: "connecting" | "online" | "waiting" | "stopped", retryAt?: number,
 *   reason?: "closed" | "noAccess" | "refused" | "otherVersion"}} Status
 */

/**
 * @typedef {object} Options
 * @property {string} [name] The display name.
 * @property {string} [color] `#rrggbb`. Default: derived from the name.
 * @property {() => string | undefined | Promise<string | undefined>} [token] Returns the user's token; called before
 * connecting and whenever the last token expires. Undefined if no token is available.
 * @property {string} [user] The owner of the unsaved edits, in a browser that several people use. Default: the token's
 * `sub`.
 * @property {number} [timeout] Milliseconds for which a promise waits without a connection, 30,000 by default; with a
 * connection, but without an answer, four times as many. It then rejects with `noAnswer`.
 * @property {(problem: string) => void} [log] Receives each `problem` of the connection.
 * @property {URL | string} [core] The address of the core's WebAssembly. Default: beside this file.
 */

/**
 * The client ids in use by this page.
 *
 * @type {Set<string>}
 */
const inUse = new Set();

/** Maximum failures in a row. After these, another rejected token stops the client. */
const refusalsMax = 5;
/** Delay before the second attempt to get a token, and its maximum; milliseconds. It doubles with each attempt. */
const retryFirst = 1_000;
const retryLongest = 60_000;
/** Minimum time online after which a token counts as accepted; milliseconds. */
const tokenLeast = 5_000;

/** The reasons why a connection has stopped, and what to do. */
const stopped = {
  closed: "the connection was closed",
  noAccess: "expected a token that the gateway accepts",
  refused: "the gateway refuses this client",
  otherVersion: "expected the SDK of this gateway's version",
};

/** Colours of users who have not chosen one. */
const colors = ["#0b6e99", "#8a3ffc", "#b54708", "#0f7b3f", "#c11574", "#5925dc", "#a15c00", "#155eef"];

/** @param {string} name */
function colorFor(name) {
  let sum = 0;
  for (const unit of name) sum = (sum * 31 + (unit.codePointAt(0) ?? 0)) % 65_521;
  return colors[sum % colors.length] ?? "#0b6e99";
}

/**
 * Returns the gateway's addresses.
 *
 * @param {string | URL} url `https://host`, with a path if the gateway is below one.
 */
export function addresses(url) {
  let base;
  try {
    base = new URL(String(url));
  } catch {
    const expected = "expected the gateway's address, such as https://notes.example.org";
    throw new ParleyError("invalid", `${expected}, got something else`);
  }
  if (base.protocol !== "http:" && base.protocol !== "https:") {
    throw new ParleyError("invalid", `expected an address with https:// or http://, got ${base.protocol}`);
  }
  base.search = base.hash = "";
  if (!base.pathname.endsWith("/")) base.pathname += "/";
  const socket = new URL("ws", base);
  socket.protocol = base.protocol === "https:" ? "wss:" : "ws:";
  return { base, socket };
}

/** @param {string} color */
function checkColor(color) {
  if (!/^#[0-9a-f]{6}$/i.test(color)) throw new ParleyError("invalid", "expected a colour as #rrggbb");
}

/** @param {number | undefined} code The code of a stopped connection. @returns {Status["reason"]} */
const reasonOf = (code) => (code === undefined ? "closed" : code === otherVersionCode ? "otherVersion" : "refused");

/** @param {string | undefined} token Returns its `sub`, or "". */
const subjectOf = (token) => (token === undefined ? "" : (claimsOf(token)?.sub ?? ""));

/** @param {Options} options @returns {Promise<string | undefined>} */
async function tokenBy({ token, timeout }) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new ParleyError("noAnswer", "the token function failed", "token")), timeout);
  });
  const given = (await Promise.race([token?.(), late]).finally(() => clearTimeout(timer))) ?? undefined;
  if (given === undefined || typeof given === "string") return given;
  throw new ParleyError("invalid", `expected a token as a string, got ${typeof given}`);
}

/** Maximum length of a name on a gateway, in bytes of UTF-8. */
const nameBytesMax = 200;

/** @param {string} name */
function shortened(name) {
  const bytes = new TextEncoder().encode(name);
  if (bytes.length <= nameBytesMax) return name;
  return new TextDecoder().decode(bytes.subarray(0, nameBytesMax - 3)).replace(/\uFFFD*$/, "…");
}

/** Whether the browser provides storage. It may deny it to a page, or to a frame of another site. */
function hasStorage() {
  try {
    return localStorage.length >= 0 && sessionStorage.length >= 0;
  } catch {
    return false;
  }
}

/** @param {URL | string} from @param {number} timeout @returns {Promise<Core>} */
async function loadCore(from, timeout) {
  let response;
  try {
    response = await fetch(from, { signal: /** @type {any} */ (AbortSignal).timeout(timeout) });
  } catch {
    throw new ParleyError("unreachable", "the client core could not be fetched: is the gateway up, and does the page's "
      + "content-security policy name it in connect-src?");
  }
  if (!response.ok) throw new ParleyError("unreachable", `the client core was not served: status ${response.status}`);
  try {
    return await Core.load(response);
  } catch (error) {
    const isForbidden = error instanceof WebAssembly.CompileError || error instanceof EvalError;
    if (!isForbidden) {
      throw new ParleyError("unreachable", "the client core came broken, or as another type than application/wasm");
    }
    throw new ParleyError("unsupported", "WebAssembly does not run here: a content-security policy needs "
      + `'wasm-unsafe-eval' in script-src (${/** @type {Error} */ (error).name})`);
  }
}

/**
 * Connects to a gateway.
 *
 * Returns once the client core is loaded. Notes may be opened at once; they have their text when the gateway has
 * answered. One connection serves any number of notes.
 *
 * @param {string | URL} url The gateway's address.
 * @param {Options} [options]
 * @returns {Promise<Parley>}
 * @throws {ParleyError} unsupported, unreachable, invalid
 */
export async function connect(url, options = {}) {
  const { timeout = 30_000 } = options;
  options = { ...options, timeout };
  const { base, socket } = addresses(url);
  const core = await loadCore(options.core ?? new URL("client.wasm", import.meta.url), timeout);
  if (options.color !== undefined) checkColor(options.color);
  const token = await tokenBy(options);
  const owner = options.user ?? subjectOf(token);
  // Several gateways may have clients in one page's storage.
  const storage = hasStorage() ? new EditStorage(`parley@${base.host}${base.pathname}`) : undefined;
  let identity = await storage?.claimIdentity(owner);
  // If the browser has no locks, another client of this page may have claimed the same identity.
  if (identity && inUse.has(identity.id)) identity = undefined;
  if (identity) inUse.add(identity.id);
  await storage?.adoptLeftBehind(owner);
  return new Parley({ core, base, socket, storage, identity, owner, token, options });
}

/**
 * status: the connection's state has changed. unsaved: the number of unsaved edits has changed.
 *
 * @extends {Emitter<{status: Status, unsaved: number}>}
 */
export class Parley extends Emitter {
  /** @type {Status} */
  status = { state: "connecting" };
  /** The reason why there is no connection, in words; "" once the gateway has accepted this client. */
  problem = "";

  /**
   * Requests about notes, which need not be open: create, list, search, rename, move, delete, restore, share, history,
   * versions, comments, files.
   *
   * @type {import("./notes.js").Notes}
   */
  notes;

  #core;
  #connection;
  #options;
  #owner;
  #storage;
  /** @type {string | undefined} */
  #token;
  /** @type {Map<string, SharedNote>} */
  #notes = new Map();
  /**
   * Closed notes with edits to send that the browser cannot store.
   *
   * @type {Map<string, SharedNote>}
   */
  #leaving = new Map();
  /** @type {Map<string, SharedRoom>} */
  #rooms = new Map();
  #profile;
  #unsaved = 0;
  #isAsking = false;
  /** The user of the first token. Unsaved edits are never sent as another user's. */
  #subject;
  /** The number of rejected or unavailable tokens since the client was last online for a while. */
  #failures = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #retry;
  #onlineSince = 0;
  #waits;
  #removals = new AbortController();

  /**
   * See `connect`.
   *
   * @param {{core: Core, base: URL, socket: URL, storage: EditStorage | undefined,
   *   identity: import("../js/client/connection.js").ClientIdentity | undefined, owner: string,
   *   token: string | undefined, options: Options}} parts
   */
  constructor({ core, base, socket, storage, identity, owner, token, options }) {
    super();
    this.#storage = storage;
    this.#core = core;
    const requests = async () => new (await import("./notes.js")).Notes({
      base, timeout: /** @type {number} */ (options.timeout), token: (isRefused) => this.#requestToken(isRefused),
      error: (...parts) => new ParleyError(...parts),
    });
    this.notes = /** @type {any} */ (new Proxy({}, {
      get: (_, name) => async (/** @type {any[]} */ ...given) => /** @type {any} */ (await requests())[name](...given),
    }));
    this.#options = options;
    this.#owner = owner;
    this.#token = token;
    this.#subject = subjectOf(token);
    this.#waits = new Waits(/** @type {number} */ (options.timeout), () => this.#noAnswer());
    const told = options.name ?? (token === undefined ? undefined : claimsOf(token)?.name);
    const name = shortened(told ?? "Somebody");
    this.#profile = { name, color: options.color ?? colorFor(name) };
    this.#connection = new Connection({
      core, url: socket.href, profile: () => this.#profile, token: () => this.#token, ...(identity ? { identity } : {}),
    });
    this.#connection.on("welcome", () => {
      const { identity } = this.#connection;
      if (!identity) return;
      inUse.add(identity.id);
      this.#storage?.rememberIdentity(identity, this.#owner);
    });
    this.#connection.on("status", ({ state, retryAt, code }) => this.#became(state, retryAt, code));
    this.#connection.on("expiring", () => void this.#renew());
    this.#connection.on("resource", (id) => this.#rooms.get(id)?.resourceChanged());
    if (typeof window !== "undefined") this.#hearBrowser(window);
    this.#connection.start();
  }

  /** The number of edits of all notes, closed ones included, that the gateway has not confirmed. */
  get unsaved() {
    return this.#unsaved;
  }

  /** The name and colour that other users see. */
  get profile() {
    return { ...this.#profile };
  }

  /**
   * Changes the name and colour that other users see.
   *
   * @param {{name?: string, color?: string}} profile Omitted fields are not changed. `color`: `#rrggbb`.
   */
  setProfile({ name = this.#profile.name, color = this.#profile.color }) {
    checkColor(color);
    this.#profile = { name: shortened(name), color };
    this.#connection.tellProfile(this.#profile);
  }

  /** This user's id in rooms, once the gateway has answered: the token's user, or an id that the gateway assigned. */
  get personId() {
    return this.#connection.welcome?.personId;
  }

  /** Whether unsaved edits outlive the tab: false if the browser provides no storage. */
  get keepsEdits() {
    return this.#storage !== undefined;
  }

  /**
   * The ids of notes with edits that an earlier page left. The edits are sent when the note is opened.
   *
   * @returns {string[]}
   */
  get leftBehind() {
    const own = this.#connection.identity;
    const ids = new Set([...(own ? [own] : []), ...(this.#storage?.adopted ?? [])].map(({ id }) => id));
    const notes = (this.#storage?.allPending(this.#owner) ?? [])
      .filter(({ identity, documentId }) => ids.has(identity.id) && !this.#notes.has(documentId))
      .map(({ documentId }) => documentId);
    return [...new Set(notes)];
  }

  /**
   * Opens a note. Calls with the same id return the same note, until it is closed.
   *
   * @param {string} id
   * @param {{formats?: boolean}} [options] `formats`: the app shows and changes formatting; otherwise the note is its
   * text alone.
   */
  note(id, options = {}) {
    const { formats = false } = options;
    this.#check(id, "a note's id");
    const open = this.#notes.get(id);
    if (open && formats && !open.hasFormats) {
      throw new ParleyError("invalid", "the note is open without formats; close it first");
    }
    if (open) return open;
    const note = new SharedNote({
      core: this.#core, connection: this.#connection, id, formats, owner: this.#owner, storage: this.#storage,
      waits: this.#waits,
      changed: () => this.#count(),
      closed: () => {
        this.#notes.delete(id);
        if (note.unsaved > 0) this.#leaving.set(id, note);
      },
      left: () => {
        if (this.#leaving.get(id) === note) this.#leaving.delete(id);
        this.#count();
      },
    });
    this.#leaving.delete(id);
    this.#notes.set(id, note);
    this.#count();
    return note;
  }

  /**
   * Subscribes to a room. Calls with the same name return the same room, until it is closed.
   *
   * @param {string} name
   * @param {{isPresent?: boolean, from?: import("../js/client/door.js").RoomPosition}} [options] `isPresent`: this user
   * appears in the room's presence, and receives it. `from`: the position of the last publication that was processed,
   * for a room that is not open; publications after it are delivered first, or a gap.
   */
  room(name, options = {}) {
    const { isPresent = false, from } = options;
    this.#check(name, "a room's name");
    const open = this.#rooms.get(name);
    if (open) {
      if (isPresent) open.isPresent = true;
      return open;
    }
    if (from && !(typeof from.epoch === "string" && Number.isSafeInteger(from.offset) && from.offset >= 0)) {
      throw new ParleyError("invalid", "expected a position with an epoch and an offset, got something else");
    }
    const room = new SharedRoom({
      core: this.#core, connection: this.#connection, name, isPresent, from, waits: this.#waits,
      closed: () => this.#rooms.delete(name),
    });
    this.#rooms.set(name, room);
    return room;
  }

  /**
   * Opens a room as the central authority of an editor that rebases its own steps, such as ProseMirror's collab module.
   *
   * @param {string} name
   * @returns {Promise<import("./authority.js").Authority>}
   * @throws {ParleyError} unreachable, refused
   */
  async authority(name) {
    this.#check(name, "a room's name");
    return (await import("./authority.js")).openAuthority(this, name);
  }

  /**
   * Creates a note, and opens it.
   *
   * @param {{title: string, id?: string, folder?: string}} note
   * @returns {Promise<SharedNote>}
   * @throws {ParleyError} unreachable, refused
   */
  async create(note) {
    return this.note((await this.notes.create(note)).id);
  }

  /** Asks the user before the page is left with unsaved edits or publications; returns a function that stops this. */
  preventUnload() {
    const ask = (/** @type {BeforeUnloadEvent} */ event) => {
      if (this.#unsaved > 0 || [...this.#rooms.values()].some(({ waiting }) => waiting > 0)) event.preventDefault();
    };
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }

  /** @param {string} name @param {string} expected */
  #check(name, expected) {
    if (typeof name !== "string" || name === "") {
      throw new ParleyError("invalid", `expected ${expected}, got ${name === "" ? "none" : typeof name}`);
    }
    if (this.#removals.signal.aborted) {
      throw new ParleyError("invalid", "expected an open connection, got one that was closed");
    }
  }

  /** Closes all notes, rooms and the connection. Unsaved edits stay in the browser for the next visit. */
  close() {
    this.#connection.suspend();
    for (const open of [...this.#notes.values(), ...this.#rooms.values()]) open.close();
    this.#removals.abort();
    clearTimeout(this.#retry);
    this.#connection.stop();
    if (this.status.state !== "stopped") this.#became("stopped", undefined, undefined);
    if (this.#connection.identity) inUse.delete(this.#connection.identity.id);
    this.#storage?.close();
  }

  /** @param {Window} window */
  #hearBrowser(window) {
    const { signal } = this.#removals;
    window.addEventListener("online", () => {
      if (this.#retry !== undefined) void this.#renew();
      else this.#connection.retryNow();
    }, { signal });
    window.addEventListener("offline", () => this.#connection.probe(), { signal });
    window.addEventListener("pagehide", () => this.#connection.suspend(), { signal });
    window.document.addEventListener("visibilitychange", () => {
      if (window.document.visibilityState === "hidden") this.#connection.suspend();
      else this.#connection.retryNow();
    }, { signal });
  }

  /** @param {string} state @param {number | undefined} retryAt @param {number | undefined} code */
  #became(state, retryAt, code) {
    const isAccess = code !== undefined && Object.values(accessCodes).includes(code);
    if (state === "online") {
      this.#onlineSince = Date.now();
      this.problem = "";
    } else if (state === "waiting") this.#fail("the gateway cannot be reached");
    if (state === "stopped" && isAccess && this.#options.token && !this.#removals.signal.aborted) {
      // A token that expired is no failure; a rejected token is.
      if (this.#onlineSince > 0 && Date.now() - this.#onlineSince > tokenLeast) this.#failures = 0;
      else this.#failures += 1;
      this.#onlineSince = 0;
      if (this.#failures <= refusalsMax) {
        if (this.#failures > 0) this.#fail(stopped.noAccess);
        this.#renewLater();
        return;
      }
    }
    const reason = state === "stopped" ? (isAccess ? "noAccess" : reasonOf(code)) : undefined;
    if (reason) this.#fail(stopped[reason]);
    this.#tell({
      state: /** @type {Status["state"]} */ (state), ...(retryAt === undefined ? {} : { retryAt }),
      ...(reason ? { reason } : {}),
    });
  }

  /** Requests another token: immediately the first time, then with increasing delays. */
  #renewLater() {
    if (this.#failures === 0) {
      this.#tell({ state: "connecting" });
      void this.#renew();
      return;
    }
    const delay = Math.min(retryLongest, retryFirst * 2 ** (this.#failures - 1));
    this.#tell({ state: "waiting", retryAt: Date.now() + delay });
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => void this.#renew(), delay);
  }

  /** @param {Status} status */
  #tell(status) {
    this.status = status;
    if (status.state === "stopped") {
      const error = this.#noAnswer();
      for (const room of this.#rooms.values()) room.end(error);
    }
    this.#waits.changed(status.state);
    this.emit("status", status);
  }

  /** @param {string} problem */
  #fail(problem) {
    this.problem = problem;
    this.#options.log?.(problem);
  }

  #noAnswer() {
    const { state, reason } = this.status;
    const words = state === "online" ? "the gateway does not answer" : `no connection: ${this.problem || state}`;
    return new ParleyError("noAnswer", words, reason ?? state);
  }

  /** Requests another token of the same user, and continues with it. */
  async #renew() {
    if (this.#isAsking || !this.#options.token) return;
    clearTimeout(this.#retry);
    this.#retry = undefined;
    this.#isAsking = true;
    let hasFailed = false;
    /** @type {string | undefined} */
    let token;
    try {
      token = await tokenBy(this.#options);
    } catch (error) {
      // The token function's own error, for example because a back end does not answer.
      hasFailed = true;
      this.#fail(`the token function failed: ${error instanceof Error ? error.name : "an error"}`);
      console.warn(this.problem);
    }
    this.#isAsking = false;
    if (this.#removals.signal.aborted) return;
    const isOther = token !== undefined && subjectOf(token) !== this.#subject;
    if (this.#connection.isOnline) {
      if (token === undefined || isOther || token === this.#token) return;
      if ((await this.#connection.refresh(token)) === undefined) this.#token = token;
    } else if (this.#connection.status.state !== "stopped") {
      // The connection retries automatically, with this token.
      if (token !== undefined && !isOther) this.#token = token;
    } else if (hasFailed) {
      this.#failures += 1;
      this.#renewLater();
    } else if (token === undefined || isOther) {
      this.#fail(stopped.noAccess);
      this.#tell({ state: "stopped", reason: "noAccess" });
    } else {
      this.#token = token;
      this.#connection.start();
    }
  }

  /** @param {boolean} isRefused Whether the gateway has refused the last token. */
  async #requestToken(isRefused) {
    if (isRefused) {
      const token = await tokenBy(this.#options);
      if (token !== undefined && subjectOf(token) === this.#subject) this.#token = token;
    }
    return this.#token;
  }

  #count() {
    let unsaved = 0;
    for (const note of [...this.#notes.values(), ...this.#leaving.values()]) unsaved += note.unsaved;
    if (unsaved === this.#unsaved) return;
    this.#unsaved = unsaved;
    this.emit("unsaved", unsaved);
  }
}
