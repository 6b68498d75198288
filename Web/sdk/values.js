// Values of rooms: shared state that every member sees and changes. A module of its own, with a connection of its own,
// since most pages need notes alone.
//
//     const board = await openValues("https://notes.example.org", "board", { token });
//     board.onChange((names) => draw(board));
//     await board.merge("card-7", { column: "done" });

import { ParleyError } from "./errors.js";
import { OrderKey } from "./orderkey.js";
import { Replica, nameOf } from "./replica.js";

export { OrderKey };

/**
 * @typedef {import("./replica.js").Operation} Operation
 * @typedef {{epoch: string, offset: number}} Position
 */

/**
 * @typedef {object} ValueOptions
 * @property {() => string | undefined | Promise<string | undefined>} [token] Returns the user's token; called before
 * each connection.
 * @property {string} [name] The display name.
 * @property {string} [prefix] Only names that begin with this text.
 * @property {boolean} [latest] Whether to get the newest values, and not each change, while this page reads too slowly.
 * @property {(url: string, protocols: string[]) => WebSocket} [open] Opens a WebSocket.
 */

/**
 * @typedef {{operations: Operation[], ifOffsets: {[name: string]: number}, key: string, client?: string,
 *   isSent: boolean, resolve: (position: Position) => void, reject: (error: ParleyError) => void}} Waiting
 */

const delayMax = 15_000;
/** Milliseconds after which a ping is sent; a gateway closes silent connections. */
const pingPause = 25_000;

const newKey = () => Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("-");

/** The values of one room, as an iterable of names and values. */
export class RoomValues {
  /** The room's name. */
  room;
  #url;
  #options;
  #replica = new Replica();
  /** @type {WebSocket | undefined} */
  #socket;
  /** @type {Waiting[]} Changes without an answer, in order. */
  #waiting = [];
  /** @type {Map<string, Waiting>} The messages in flight that await an answer. */
  #requests = new Map();
  /** @type {Set<(names: Set<string>) => void>} */
  #listeners = new Set();
  /** @type {Set<(name: string, data: any, clientId: string) => void>} */
  #hearers = new Set();
  #client = { id: "", resumeToken: "" };
  #isLive = false;
  #isClosed = false;
  #next = 1;
  #failures = 0;
  #pageRequest = "";
  /** @type {any} */
  #timer;
  /** @type {any} */
  #pings;
  /** @type {{promise: Promise<void>, resolve: () => void, reject: (error: ParleyError) => void}} */
  #ready;

  /** @param {string} url The gateway's WebSocket. @param {string} room @param {ValueOptions} options */
  constructor(url, room, options) {
    this.room = room;
    this.#url = url;
    this.#options = options;
    /** @type {any} */
    const ready = {};
    ready.promise = new Promise((resolve, reject) => Object.assign(ready, { resolve, reject }));
    ready.promise.catch(() => {});
    this.#ready = ready;
    void this.#connect();
  }

  /** Resolves when all values have arrived. Rejects with ParleyError: refused. */
  get ready() {
    return this.#ready.promise;
  }

  /** The number of own changes without an answer. */
  get waiting() {
    return this.#waiting.length;
  }

  /**
   * Returns a value; undefined if there is none. Treat it as read-only.
   *
   * @param {string} name
   */
  get(name) {
    return this.#replica.shown.get(name);
  }

  /** @param {string} name */
  has(name) {
    return this.#replica.shown.has(name);
  }

  /**
   * The offset of a value's last change, for conditions; 0 if there is none.
   *
   * @param {string} name
   */
  offsetOf(name) {
    return this.#replica.offsetOf(name);
  }

  [Symbol.iterator]() {
    return this.#replica.shown[Symbol.iterator]();
  }

  /**
   * Calls a function with the names that have changed. Returns a function that ends this.
   *
   * @param {(names: Set<string>) => void} listener
   */
  onChange(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Calls a function with the name, the data and the client of each signal in the room.
   *
   * @param {(name: string, data: any, clientId: string) => void} listener
   */
  onSignal(listener) {
    this.#hearers.add(listener);
    return () => this.#hearers.delete(listener);
  }

  /**
   * Replaces a value.
   *
   * @param {string} name
   * @param {any} value
   * @param {{ttl?: number, while?: "connected"}} [lifetime]
   */
  set(name, value, lifetime = {}) {
    return this.change([{ set: name, to: value, ...lifetime }]);
  }

  /**
   * Merges fields into a value (RFC 7396): null removes a field.
   *
   * @param {string} name
   * @param {object} fields
   */
  merge(name, fields) {
    return this.change([{ merge: name, with: fields }]);
  }

  /**
   * Adds an integer to a value; a missing one is 0.
   *
   * @param {string} name
   * @param {number} [number]
   */
  add(name, number = 1) {
    return this.change([{ add: name, by: number }]);
  }

  /**
   * Removes a value, if there is one.
   *
   * @param {string} name
   */
  delete(name) {
    return this.change([{ delete: name }]);
  }

  /**
   * Makes several changes, all or none. They show at once, wait for a connection in this page's memory, and are
   * withdrawn if the gateway refuses them.
   *
   * @param {Operation[]} operations
   * @param {{ifOffsets?: {[name: string]: number}, key?: string}} [options] `ifOffsets`: the offset at which each
   * of these names must have changed last; 0 if it must not exist.
   * @returns {Promise<Position>} The position of the publication, once it is on disk. Rejects with ParleyError:
   * refused, with the reason `conflict` if a condition does not hold; unsure.
   */
  change(operations, options = {}) {
    const { ifOffsets = {}, key = newKey() } = options;
    if (this.#isClosed) return Promise.reject(new ParleyError("invalid", "expected values that were not closed"));
    const copy = /** @type {Operation[]} */ (JSON.parse(JSON.stringify(operations)));
    const promise = new Promise((resolve, reject) => {
      this.#waiting.push({ operations: copy, ifOffsets, key, isSent: false, resolve, reject });
    });
    promise.catch(() => {});
    this.#replica.propose({ key, operations: copy });
    this.#tell(new Set(copy.map(nameOf)));
    this.#sendWaiting();
    return promise;
  }

  /**
   * Sends an event of at most 4 KiB to the other subscribers; dropped without a connection.
   *
   * @param {string} name
   * @param {any} data
   */
  signal(name, data) {
    if (this.#isLive) this.#send("signal", { room: this.room, name, data });
  }

  /** Ends the connection. Waiting changes are rejected, and may still be stored. */
  close() {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#hangUp();
    clearTimeout(this.#timer);
    const error = new ParleyError("invalid", "the values were closed before the gateway answered");
    for (const { reject } of this.#waiting.splice(0)) reject(error);
    this.#ready.reject(error);
  }

  // The connection.

  async #connect() {
    try {
      const token = await this.#options.token?.();
      if (this.#isClosed) return;
      const open = this.#options.open ?? ((url, protocols) => new WebSocket(url, protocols));
      const socket = open(this.#url, ["parley.v1"]);
      this.#socket = socket;
      socket.onopen = () => {
        const client = this.#client.id ? { client: { ...this.#client } } : {};
        this.#send("hello", { name: this.#options.name ?? "", ...(token ? { token } : {}), ...client });
      };
      socket.onmessage = ({ data }) => this.#take(JSON.parse(data));
      socket.onclose = ({ code }) => this.#lost(code);
      socket.onerror = () => {};
    } catch {
      this.#lost(1006);
    }
  }

  #hangUp() {
    const socket = this.#socket;
    this.#socket = undefined;
    this.#isLive = false;
    this.#pageRequest = "";
    this.#requests.clear();
    clearInterval(this.#pings);
    for (const change of this.#waiting) change.isSent = false;
    this.#replica.disconnected();
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
  }

  /** @param {number} code */
  #lost(code) {
    this.#hangUp();
    if (this.#isClosed) return;
    if (code >= 4500 && code < 5000) {
      const error = new ParleyError("refused", `the gateway refuses this client: ${code}`, String(code));
      for (const { reject } of this.#waiting.splice(0)) reject(error);
      this.#ready.reject(error);
      this.#isClosed = true;
      return;
    }
    this.#failures += 1;
    const delay = Math.min(delayMax, 250 * 2 ** Math.min(this.#failures, 6)) * (0.5 + Math.random() / 2);
    this.#timer = setTimeout(() => void this.#connect(), delay);
  }

  /** @param {string} type @param {object} data @param {Waiting} [change] */
  #send(type, data, change) {
    const messageId = `v${this.#next}`;
    this.#next += 1;
    if (change) this.#requests.set(messageId, change);
    if (this.#socket?.readyState === 1) this.#socket.send(JSON.stringify({ messageId, type, data }));
    return messageId;
  }

  /** @param {{messageId: string, type: string, data: any}} message */
  #take({ messageId, type, data }) {
    switch (type) {
      case "welcome":
        this.#client = { id: data.clientId, resumeToken: data.resumeToken };
        this.#pings = setInterval(() => this.#send("ping", {}), pingPause);
        this.#subscribe();
        break;
      case "subscribed":
        this.#subscribed(data);
        break;
      case "values":
        this.#paged(messageId, data);
        break;
      case "publication":
        if (data.epoch === this.#replica.epoch) this.#published(data);
        break;
      case "published":
        this.#answered(messageId, data);
        break;
      case "signal":
        for (const hearer of this.#hearers) hearer(data.name, data.data, data.clientId ?? "");
        break;
      case "error":
        this.#failed(messageId, data);
    }
  }

  #subscribe() {
    const { epoch, offset, isComplete } = this.#replica;
    const position = isComplete ? { position: { epoch, offset } } : {};
    const { prefix, latest } = this.#options;
    this.#send("subscribe", { room: this.room, values: prefix || true, ...(latest ? { latest } : {}), ...position });
  }

  /** @param {any} data */
  #subscribed(data) {
    this.#failures = 0;
    this.#isLive = true;
    if (data.values) {
      this.#replica.begin(data.epoch, data.offset);
      this.#addPage(data);
    } else {
      for (const publication of data.publications ?? []) this.#published(publication);
      this.#replica.advance(data.offset);
    }
    this.#replica.subscribed();
    for (const change of [...this.#waiting]) {
      if (change.client && change.client !== this.#client.id) {
        this.#withdraw(change, new ParleyError("unsure", "the gateway has forgotten this client"));
      }
    }
    this.#sendWaiting();
  }

  /** @param {any} data */
  #addPage(data) {
    this.#replica.add(data.values, data.offset, data.more === true);
    if (!this.#replica.isComplete) {
      const prefix = this.#options.prefix ? { prefix: this.#options.prefix } : {};
      this.#pageRequest = this.#send("values", { room: this.room, after: this.#replica.after, ...prefix });
      return;
    }
    this.#ready.resolve();
    const names = new Set([...this.#replica.former, ...this.#replica.shown.keys()]);
    this.#replica.former.clear();
    this.#tell(names);
  }

  /** @param {string} messageId @param {any} data */
  #paged(messageId, data) {
    if (messageId === this.#pageRequest && data.epoch === this.#replica.epoch) this.#addPage(data);
    else if (messageId.startsWith("s") || messageId === this.#pageRequest) {
      // This page was too slow for each change, or the history is another one: all values are read again.
      this.#replica.begin(data.epoch, data.offset);
      if (messageId.startsWith("s")) this.#addPage(data);
      else this.#pageRequest = this.#send("values", { room: this.room });
    }
  }

  /** @param {any} publication */
  #published(publication) {
    const changed = this.#replica.publication(publication);
    if (changed.size > 0 && this.#replica.isComplete) this.#tell(changed);
  }

  #sendWaiting() {
    if (!this.#isLive) return;
    for (const change of this.#waiting) {
      if (change.isSent) continue;
      change.isSent = true;
      change.client ??= this.#client.id;
      const { operations: values, ifOffsets, key } = change;
      const conditions = Object.keys(ifOffsets).length > 0 ? { ifOffsets } : {};
      this.#send("publish", { room: this.room, values, key, senderId: key, ...conditions }, change);
    }
  }

  /** @param {string} messageId @param {any} data */
  #answered(messageId, { epoch, offset }) {
    const change = this.#requests.get(messageId);
    if (!change) return;
    this.#requests.delete(messageId);
    this.#waiting = this.#waiting.filter((other) => other !== change);
    this.#replica.accept(change.key, offset);
    change.resolve({ epoch, offset });
  }

  /** @param {string} messageId @param {any} error */
  #failed(messageId, { code, message, retryable, retryAfter, values }) {
    const change = this.#requests.get(messageId);
    this.#requests.delete(messageId);
    if (change && retryable) {
      change.isSent = false;
      setTimeout(() => this.#sendWaiting(), retryAfter ?? 1_000);
    } else if (change) {
      this.#withdraw(change, Object.assign(new ParleyError("refused", message, code), { values }));
    } else if (!this.#isLive && !retryable) {
      this.#ready.reject(new ParleyError("refused", message, code));
    }
  }

  /** @param {Waiting} change @param {ParleyError} error */
  #withdraw(change, error) {
    this.#waiting = this.#waiting.filter((other) => other !== change);
    this.#replica.withdraw(change.key);
    change.reject(error);
    this.#tell(new Set(change.operations.map(nameOf)));
  }

  /** @param {Set<string>} names */
  #tell(names) {
    for (const listener of this.#listeners) listener(names);
  }
}

/**
 * Opens the values of a room.
 *
 * @param {string | URL} url The gateway: `https://host`, with a path if it is below one.
 * @param {string} room
 * @param {ValueOptions} [options]
 * @returns {Promise<RoomValues>} Once all values have arrived. Rejects with ParleyError: refused.
 */
export async function openValues(url, room, options = {}) {
  const socket = new URL("ws", String(url).replace(/\/*$/, "/"));
  socket.protocol = socket.protocol.replace("http", "ws");
  const values = new RoomValues(socket.href, room, options);
  await values.ready;
  return values;
}
