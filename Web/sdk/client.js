// A connection to a gateway, for pages of anybody. The rules of the protocol are in the client core; what is here
// loads it, gets it tokens, and keeps unsaved edits in the browser's storage.

import { claimsOf } from "../js/access.js";
import { Connection, accessCodes } from "../js/connection.js";
import { Core } from "../js/door.js";
import { Emitter } from "../js/emitter.js";
import { EditStorage } from "../js/identity.js";
import { ParleyError } from "./errors.js";
import { SharedNote } from "./note.js";

/**
 * connecting: on the way. online: in step with the gateway. waiting: it cannot be reached; the next attempt is at
 * `retryAt` (milliseconds since 1970). stopped: it will not be tried again, for `reason`.
 *
 * @typedef {{state: "connecting" | "online" | "waiting" | "stopped", retryAt?: number,
 *   reason?: "closed" | "noAccess" | "refused"}} Status
 */

/**
 * @typedef {object} Options
 * @property {string} [name] How others see this person.
 * @property {string} [color] `#rrggbb`; one is chosen by the name.
 * @property {() => string | undefined | Promise<string | undefined>} [token] Gives the person's token, asked for
 *   before connecting and whenever the last one ends. Undefined if there is none to be had.
 * @property {string} [user] Whose unsaved edits these are, in a browser that several people use; the token's `sub`
 *   unless it is given.
 * @property {URL | string} [core] Where the core's WebAssembly is, if not beside this file.
 */

/** What others see of those who gave no colour. */
const colors = ["#0b6e99", "#8a3ffc", "#b54708", "#0f7b3f", "#c11574", "#5925dc", "#a15c00", "#155eef"];

/** @param {string} name */
function colorFor(name) {
  let sum = 0;
  for (const unit of name) sum = (sum * 31 + (unit.codePointAt(0) ?? 0)) % 65_521;
  return colors[sum % colors.length] ?? "#0b6e99";
}

/**
 * The gateway's addresses.
 *
 * @param {string | URL} url `https://host`, with a path if the gateway is below one.
 */
export function addresses(url) {
  let base;
  try {
    base = new URL(String(url), globalThis.location?.href);
  } catch {
    const expected = "expected the gateway's address, such as https://notes.example.org";
    throw new ParleyError("invalid", `${expected}, got “${url}”`);
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

/** Whether there is a storage: a browser may forbid it to a page, or to a frame of another site. */
function hasStorage() {
  try {
    return localStorage.length >= 0 && sessionStorage.length >= 0;
  } catch {
    return false;
  }
}

/** @param {URL | string} from @returns {Promise<Core>} */
async function loadCore(from) {
  let response;
  try {
    response = await fetch(from);
  } catch {
    throw new ParleyError("unreachable", "the client core could not be fetched: is the gateway up, and does the page's "
      + "content-security policy name it in connect-src?");
  }
  if (!response.ok) throw new ParleyError("unreachable", `the client core was not served: status ${response.status}`);
  try {
    return await Core.load(response);
  } catch (error) {
    throw new ParleyError("unsupported", "WebAssembly does not run here: a content-security policy needs "
      + `'wasm-unsafe-eval' in script-src (${/** @type {Error} */ (error).name})`);
  }
}

/**
 * Connects to a gateway.
 *
 * It returns once the client's code runs; notes may be opened at once, and have their text as soon as the gateway
 * has answered. One connection serves any number of notes.
 *
 * @param {string | URL} url The gateway's address.
 * @param {Options} [options]
 * @returns {Promise<Parley>}
 * @throws {ParleyError} unsupported, unreachable, invalid
 */
export async function connect(url, options = {}) {
  const { base, socket } = addresses(url);
  const core = await loadCore(options.core ?? new URL("client.wasm", import.meta.url));
  const token = await options.token?.();
  const owner = options.user ?? (token === undefined ? "" : (claimsOf(token)?.sub ?? ""));
  // Several gateways may have clients in one page's storage.
  const storage = hasStorage() ? new EditStorage(`parley@${base.host}${base.pathname}`) : undefined;
  const identity = await storage?.claimIdentity(owner);
  return new Parley({ core, base, socket, storage, identity, owner, token, options });
}

/**
 * status: the connection's state is another. unsaved: the number of edits that are not saved is another.
 *
 * @extends {Emitter<{status: Status, unsaved: number}>}
 */
export class Parley extends Emitter {
  /** @type {Status} */
  status = { state: "connecting" };

  #core;
  #connection;
  #base;
  #options;
  #owner;
  #storage;
  /** @type {string | undefined} */
  #token;
  /** @type {Map<string, SharedNote>} */
  #notes = new Map();
  #unsaved = 0;
  #isAsking = false;
  /** The token that the gateway last refused: the same one is not tried again. */
  #refused = "";
  #removals = new AbortController();

  /**
   * See `connect`.
   *
   * @param {{core: Core, base: URL, socket: URL, storage: EditStorage | undefined,
   *   identity: import("../js/connection.js").ClientIdentity | undefined, owner: string,
   *   token: string | undefined, options: Options}} parts
   */
  constructor({ core, base, socket, storage, identity, owner, token, options }) {
    super();
    this.#storage = storage;
    this.#core = core;
    this.#base = base;
    this.#options = options;
    this.#owner = owner;
    this.#token = token;
    const name = options.name ?? (token === undefined ? undefined : claimsOf(token)?.name) ?? "Somebody";
    const profile = { name, color: options.color ?? colorFor(name) };
    this.#connection = new Connection({
      core, url: socket.href, profile: () => profile, token: () => this.#token, ...(identity ? { identity } : {}),
    });
    this.#connection.on("welcome", () => {
      if (this.#connection.identity) this.#storage?.rememberIdentity(this.#connection.identity);
    });
    this.#connection.on("status", ({ state, retryAt, code }) => this.#became(state, retryAt, code));
    this.#connection.on("expiring", () => void this.#renew());
    if (typeof window !== "undefined") this.#hearBrowser(window);
    this.#connection.start();
  }

  /** Edits of all open notes that the gateway has not confirmed to be stored. */
  get unsaved() {
    return this.#unsaved;
  }

  /** Whether edits that are not saved outlive the tab: false where the browser lends no storage. */
  get keepsEdits() {
    return this.#storage !== undefined;
  }

  /** Notes with edits that a former page has left: they are sent once the note is opened. @returns {string[]} */
  get leftBehind() {
    const id = this.#connection.identity?.id;
    return (this.#storage?.allPending(this.#owner) ?? [])
      .filter(({ identity, documentId }) => identity.id === id && !this.#notes.has(documentId))
      .map(({ documentId }) => documentId);
  }

  /**
   * A note. The same one is given for the same id, until it is closed.
   *
   * @param {string} id
   */
  note(id) {
    if (typeof id !== "string" || id === "") throw new ParleyError("invalid", `expected a note's id, got ${typeof id}`);
    const open = this.#notes.get(id);
    if (open) return open;
    const note = new SharedNote({
      core: this.#core, connection: this.#connection, id, owner: this.#owner, storage: this.#storage,
      changed: () => this.#count(),
      closed: () => this.#notes.delete(id),
    });
    this.#notes.set(id, note);
    return note;
  }

  /**
   * Makes a note, and opens it.
   *
   * @param {{title: string, id?: string}} note
   * @returns {Promise<SharedNote>}
   * @throws {ParleyError} unreachable, refused
   */
  async create({ title, id }) {
    /** @type {Record<string, string>} */
    const headers = { "content-type": "application/json" };
    if (this.#token !== undefined) headers["authorization"] = `Bearer ${this.#token}`;
    const address = id === undefined ? "api/notes" : `api/notes/${encodeURIComponent(id)}`;
    let response;
    try {
      response = await fetch(new URL(address, this.#base), {
        method: id === undefined ? "POST" : "PUT", headers, body: JSON.stringify({ title }),
      });
    } catch {
      throw new ParleyError("unreachable", "the gateway could not be asked for a note: is it up, and is this page's "
        + "origin among its allowed-origin?");
    }
    if (!response.ok) throw new ParleyError("refused", `the gateway made no note: status ${response.status}`);
    return this.note((await response.json()).id);
  }

  /** Asks before the page is left while edits are not saved; returns what ends that. */
  preventUnload() {
    const ask = (/** @type {BeforeUnloadEvent} */ event) => {
      if (this.#unsaved > 0) event.preventDefault();
    };
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }

  /** Closes all notes and the connection. Edits that are not saved stay in the browser for the next visit. */
  close() {
    for (const note of [...this.#notes.values()]) note.close();
    this.#removals.abort();
    this.#connection.stop();
  }

  /** @param {Window} window */
  #hearBrowser(window) {
    const { signal } = this.#removals;
    window.addEventListener("online", () => this.#connection.retryNow(), { signal });
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
    if (state === "stopped" && isAccess && this.#options.token) {
      // A token that has ended, or was none: another may do.
      this.#refused = this.#token ?? "";
      void this.#renew();
      return;
    }
    if (state === "online") this.#refused = "";
    this.#tell({
      state: /** @type {Status["state"]} */ (state),
      ...(retryAt === undefined ? {} : { retryAt }),
      ...(state === "stopped" ? { reason: code === undefined ? "closed" : isAccess ? "noAccess" : "refused" } : {}),
    });
  }

  /** @param {Status} status */
  #tell(status) {
    this.status = status;
    this.emit("status", status);
  }

  /** Gets another token of the same person, and goes on with it. */
  async #renew() {
    if (this.#isAsking || !this.#options.token) return;
    this.#isAsking = true;
    /** @type {string | undefined} */
    let token;
    try {
      token = await this.#options.token();
    } catch {
      // The app's own trouble; the token at hand is good until it ends.
    }
    this.#isAsking = false;
    if (this.#removals.signal.aborted) return;
    if (token !== undefined && !this.#isOfSamePerson(token)) token = undefined;
    if (this.#connection.isOnline) {
      if (token === undefined || token === this.#token) return;
      this.#token = token;
      await this.#connection.refresh(token);
    } else if (token === undefined || token === this.#refused) {
      this.#tell({ state: "stopped", reason: "noAccess" });
    } else {
      this.#token = token;
      this.#connection.start();
    }
  }

  /**
   * Edits that wait are their author's: they are never sent as another's.
   *
   * @param {string} token
   */
  #isOfSamePerson(token) {
    return this.#options.user !== undefined || (claimsOf(token)?.sub ?? "") === this.#owner;
  }

  #count() {
    let unsaved = 0;
    for (const note of this.#notes.values()) unsaved += note.unsaved;
    if (unsaved === this.#unsaved) return;
    this.#unsaved = unsaved;
    this.emit("unsaved", unsaved);
  }
}
