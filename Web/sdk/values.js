// Values of rooms: shared state that every member sees and changes. A module of its own, with a connection of its own,
// since most pages need notes alone.
//
//     const board = await openValues("https://notes.example.org", "board", { token });
//     board.onChange((names) => draw(board));
//     await board.merge("card-7", { column: "done" });

import { claimsOf } from "../js/state/access.js";
import { ParleyError } from "./errors.js";
import { KeptValues, canKeep } from "./keptvalues.js";
import { OrderKey } from "./orderkey.js";
import { Replica, nameOf } from "./replica.js";
import { Undo, inverse } from "./undo.js";

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
 * @property {boolean} [keep] Whether own changes without an answer outlive the page: true by default. They are sent once
 * the user opens the room's values again in this browser.
 * @property {boolean} [latest] Whether to get the newest values, and not each change, while this page reads too slowly.
 * @property {(url: string, protocols: string[]) => WebSocket} [open] Opens a WebSocket.
 */

/**
 * @typedef {{operations: Operation[], ifOffsets: {[name: string]: number}, key: string, client?: string,
 *   time?: number, isSent: boolean, resolve: (position: Position) => void, reject: (error: ParleyError) => void}} Waiting
 */

const delayMax = 15_000;
/** Milliseconds after which a ping is sent; a gateway closes silent connections. */
const pingPause = 25_000;

/** Maximum tries of a transaction. */
const triesMax = 25;
/** Milliseconds for which a transaction or an undo waits for the gateway. */
const waitMax = 30_000;

/**
 * Returns a promise's result, or rejects after a time in milliseconds since 1970.
 *
 * @template Value @param {Promise<Value>} promise @param {number} end @returns {Promise<Value>}
 */
const limited = (promise, end) =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(noAnswer()), end - Date.now());
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });

const noAnswer = () => new ParleyError("noAnswer", "the gateway did not answer in time; a try that was sent remains queued");

/** @param {number} count Waits before another try, longer after each, so that of many clients one succeeds. */
const pause = (count) => new Promise((resolve) => setTimeout(resolve, Math.random() * Math.min(20 * count, 400)));

/** Maximum own changes without an answer. */
const waitingMax = 1_000;
/** Milliseconds for which the gateway surely knows a key: a day by default. */
const keyAge = 20 * 3_600_000;

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
  /** @type {Set<(operations: Operation[], error: ParleyError) => void>} */
  #refusalListeners = new Set();
  /** @type {KeptValues | undefined} */
  #kept;
  #isRestored = false;
  #hello = "";
  #client = { id: "", resumeToken: "" };
  #isLive = false;
  #isClosed = false;
  #next = 1;
  #failures = 0;
  #pageRequest = "";
  #undo = new Undo();
  /**
   * The last undo or redo, for which the next one waits.
   *
   * @type {Promise<any>}
   */
  #reverting = Promise.resolve();
  /** The position up to which publications had arrived before the values were read again. */
  #before = { epoch: "", offset: 0 };
  /**
   * Called once, after the next event.
   *
   * @type {Set<() => void>}
   */
  #stirs = new Set();
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
   * Calls a function with the operations and the error of each own change that fails, also those of an earlier page.
   * Returns a function that ends this.
   *
   * @param {(operations: Operation[], error: ParleyError) => void} listener
   */
  onRefused(listener) {
    this.#refusalListeners.add(listener);
    return () => this.#refusalListeners.delete(listener);
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
   * Makes several changes, all or none. They show at once, wait for a connection, and are withdrawn if the gateway
   * refuses them.
   *
   * @param {Operation[]} operations
   * @param {{ifOffsets?: {[name: string]: number}, key?: string}} [options] `ifOffsets`: the offset at which each
   * of these names must have changed last; 0 if it must not exist.
   * @returns {Promise<Position>} The position of the publication, once it is on disk. Rejects with ParleyError:
   * refused, with the reason `conflict` if a condition does not hold; unsure.
   */
  change(operations, options = {}) {
    return this.#change(operations, options, "change");
  }

  /**
   * Changes values that depend on values: reads names, and publishes the operations that a function returns for them
   * if none of them was changed meanwhile. Otherwise it is called again with the current values.
   *
   * Waits for a connection.
   *
   * @param {string[]} names
   * @param {(values: {[name: string]: any}) => Operation[] | undefined} update Gets the values on the server's disk,
   * undefined for a missing one. Nothing is published if it returns nothing.
   * @param {{tries?: number, timeout?: number}} [options] `tries`: 25 by default. `timeout`: milliseconds, 30,000 by
   * default.
   * @returns {Promise<Position | undefined>} Rejects with ParleyError: refused, with the reason `tooManyConflicts` and
   * the current `values` after the last try; noAnswer: a try that was sent remains queued, with its conditions.
   */
  async transaction(names, update, options = {}) {
    const { tries = triesMax, timeout = waitMax } = options;
    const end = Date.now() + timeout;
    await this.#until(() => this.#isCurrent(names), end);
    const base = new Map(names.map((name) => [name, this.#replica.stored(name)]));
    for (let count = 1; ; count += 1) {
      const operations = update(structuredClone(Object.fromEntries([...base].map(([name, { value }]) => [name, value]))));
      if (!operations?.length) return undefined;
      const ifOffsets = Object.fromEntries([...base].map(([name, { offset }]) => [name, offset]));
      try {
        return await limited(this.#change(operations, { ifOffsets }, "change"), end);
      } catch (/** @type {any} */ error) {
        if (error.reason !== "conflict") throw error;
        if (count >= tries) throw tooManyConflicts(error);
        for (const [name, { value, offset }] of Object.entries(error.values ?? {})) base.set(name, { value, offset });
      }
      if (count > 1) await pause(count);
      await this.#until(() => this.#isLive, end);
    }
  }

  /** Whether there is a change to undo. */
  get canUndo() {
    return this.#undo.steps.undo.length > 0;
  }

  /** Whether there is a change to redo. */
  get canRedo() {
    return this.#undo.steps.redo.length > 0;
  }

  /**
   * Undoes this page's last change by a new change, which restores what that one replaced. Changes of others stay. Waits
   * for a connection, at most 30 s.
   *
   * @returns {Promise<Position | undefined>} Undefined if there is nothing to undo. Rejects with ParleyError: refused,
   * with the reason `changedSince` and the `names` if another client has changed the same name or field since: nothing
   * is changed, and the next undo is for the change before. noAnswer, unsure.
   */
  undo() {
    return this.#revert("undo");
  }

  /**
   * Undoes the last undo, under the same conditions. Another change ends it.
   *
   * @returns {Promise<Position | undefined>}
   */
  redo() {
    return this.#revert("redo");
  }

  /** @param {"undo" | "redo"} cause */
  #revert(cause) {
    const done = this.#reverting.then(() => this.#revertNow(cause, Date.now() + waitMax));
    this.#reverting = done.catch(() => {});
    return done;
  }

  /** @param {"undo" | "redo"} cause @param {number} end @returns {Promise<Position | undefined>} */
  async #revertNow(cause, end) {
    const step = this.#undo.steps[cause].at(-1);
    if (!step) return undefined;
    const isThere = () => this.#undo.steps[cause].includes(step);
    let offset = 0;
    for (let count = 1; ; count += 1) {
      const names = () => (step.parts ?? []).map(({ operation }) => nameOf(operation));
      await this.#until(() => !isThere()
        || (this.#isCurrent(names()) && !this.#replica.isProposed(step.key) && this.#replica.offset >= offset), end);
      // It was refused meanwhile.
      if (!isThere()) return undefined;
      try {
        const position = await this.#takeBack(step, cause, end);
        this.#undo.remove(step.key);
        return position;
      } catch (/** @type {any} */ error) {
        const isConflict = error.reason === "conflict";
        if (!isConflict || count >= triesMax) this.#undo.remove(step.key);
        if (!isConflict) throw error;
        if (count >= triesMax) throw tooManyConflicts(error);
        // Publications show whether the other change was of the same fields.
        offset = Math.max(0, ...Object.values(error.values ?? {}).map((item) => item.offset));
      }
      if (count > 1) await pause(count);
    }
  }

  /** @param {import("./undo.js").Step} step @param {"undo" | "redo"} cause @param {number} end */
  async #takeBack(step, cause, end) {
    if (!step.parts) throw new ParleyError("unsure", "what the change replaced is not known, so it cannot be undone");
    const { operations, ifOffsets, changed } = inverse(step, (name) => this.#replica.stored(name));
    if (changed.length > 0) throw changedSince(changed);
    return operations.length > 0 ? limited(this.#change(operations, { ifOffsets }, cause), end) : undefined;
  }

  /** @param {string[]} names Whether the server's values of the names are known, and contain all own changes. */
  #isCurrent(names) {
    return this.#isLive && this.#replica.isComplete && !this.#replica.isPending(names);
  }

  /** @param {() => boolean} condition @param {number} end The time at which it rejects. */
  async #until(condition, end) {
    while (!this.#isClosed && !condition()) {
      /** @type {Promise<void>} */
      const next = new Promise((resolve) => this.#stirs.add(resolve));
      await limited(next, end);
    }
    if (this.#isClosed) throw new ParleyError("invalid", "expected values that were not closed");
  }

  #stir() {
    const stirs = [...this.#stirs];
    this.#stirs.clear();
    for (const stir of stirs) stir();
  }

  /** @param {Operation[]} operations @param {{ifOffsets?: {[name: string]: number}, key?: string}} options
   * @param {"change" | "undo" | "redo"} cause @returns {Promise<Position>} */
  #change(operations, options, cause) {
    const { ifOffsets = {}, key = newKey() } = options;
    if (this.#isClosed) return Promise.reject(new ParleyError("invalid", "expected values that were not closed"));
    if (this.#waiting.length >= waitingMax) {
      return Promise.reject(new ParleyError("refused", "too many changes wait for the gateway", "tooMany"));
    }
    const copy = /** @type {Operation[]} */ (JSON.parse(JSON.stringify(operations)));
    const promise = new Promise((resolve, reject) => {
      this.#waiting.push({ operations: copy, ifOffsets, key, isSent: false, resolve, reject });
    });
    promise.catch(() => {});
    this.#replica.propose({ key, operations: copy });
    this.#undo.propose(key, cause);
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

  /** Ends the connection. Waiting changes are rejected; those that outlive the page may still be stored. */
  close() {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#hangUp();
    clearTimeout(this.#timer);
    const error = new ParleyError("invalid", "the values were closed before the gateway answered");
    for (const { reject } of this.#waiting.splice(0)) reject(error);
    this.#kept?.close();
    this.#ready.reject(error);
    this.#stir();
  }

  // The connection.

  async #connect() {
    try {
      const token = await this.#options.token?.();
      if (this.#options.keep !== false && !this.#isRestored) await this.#restore(claimsOf(token ?? "")?.sub ?? "");
      if (this.#isClosed) return;
      const open = this.#options.open ?? ((url, protocols) => new WebSocket(url, protocols));
      const socket = open(this.#url, ["parley.v1"]);
      this.#socket = socket;
      socket.onopen = () => {
        const client = this.#client.id ? { client: { ...this.#client } } : {};
        this.#hello = this.#send("hello", { name: this.#options.name ?? "", ...(token ? { token } : {}), ...client });
      };
      socket.onmessage = ({ data }) => this.#take(JSON.parse(data));
      socket.onclose = ({ code }) => this.#lost(code);
      socket.onerror = () => {};
    } catch {
      this.#lost(1006);
    }
  }

  /** @param {string} owner Takes the changes that a closed page has left. */
  async #restore(owner) {
    this.#isRestored = true;
    if (!canKeep()) return;
    const kept = new KeptValues(this.#url, this.room, owner);
    const { identity, changes } = await kept.claim();
    if (this.#isClosed) return kept.close();
    this.#kept = kept;
    if (identity) this.#client = identity;
    const ignore = () => {};
    this.#waiting.unshift(...changes.map((change) => ({ ...change, isSent: false, resolve: ignore, reject: ignore })));
    this.#replica.restore(changes);
    this.#keep();
    if (changes.length > 0) this.#tell(new Set(changes.flatMap(({ operations }) => operations.map(nameOf))));
  }

  /** Stores the changes without an answer, before they are sent. */
  #keep() {
    this.#kept?.save(this.#client, this.#waiting.map(
      ({ operations, ifOffsets, key, client, time }) => ({ operations, ifOffsets, key, ...(client ? { client, time: time ?? 0 } : {}) }),
    ));
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
      for (const { operations, reject } of this.#waiting.splice(0)) {
        reject(error);
        for (const listener of this.#refusalListeners) listener(operations, error);
      }
      this.#kept?.close();
      this.#ready.reject(error);
      this.#isClosed = true;
      return this.#stir();
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
    this.#stir();
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
      this.#begin(data);
      this.#addPage(data);
    } else {
      for (const publication of data.publications ?? []) this.#published(publication);
      this.#replica.advance(data.offset);
    }
    this.#replica.subscribed();
    for (const change of [...this.#waiting]) {
      // Under another identity, or when the gateway has forgotten the key, it could be stored twice.
      const isOld = !change.isSent && Date.now() - (change.time ?? Infinity) > keyAge;
      if (change.client && (change.client !== this.#client.id || isOld)) {
        this.#withdraw(change, new ParleyError("unsure", "the gateway has forgotten this client"));
      }
    }
    this.#sendWaiting();
  }

  /** @param {{epoch: string, offset: number}} position Reads all values again. */
  #begin({ epoch, offset }) {
    const { isComplete } = this.#replica;
    if (isComplete) this.#before = { epoch: this.#replica.epoch, offset: this.#replica.offset };
    this.#replica.begin(epoch, offset);
  }

  /** @param {any} data */
  #addPage(data) {
    this.#replica.add(data.values, data.offset, data.more === true);
    if (!this.#replica.isComplete) {
      const prefix = this.#options.prefix ? { prefix: this.#options.prefix } : {};
      this.#pageRequest = this.#send("values", { room: this.room, after: this.#replica.after, ...prefix });
      return;
    }
    const { epoch, offset } = this.#before;
    this.#undo.reread((name) => epoch !== this.#replica.epoch || this.#replica.offsetOf(name) > offset);
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
      this.#begin(data);
      if (messageId.startsWith("s")) this.#addPage(data);
      else this.#pageRequest = this.#send("values", { room: this.room });
    }
  }

  /** @param {any} publication */
  #published(publication) {
    /** @type {import("./replica.js").Part[]} */
    const parts = [];
    const changed = this.#replica.publication(publication, parts);
    this.#undo.published(publication.senderId, publication.values?.length ?? 0, parts);
    if (changed.size > 0 && this.#replica.isComplete) this.#tell(changed);
  }

  #sendWaiting() {
    const due = this.#isLive ? this.#waiting.filter(({ isSent }) => !isSent) : [];
    for (const change of due) {
      change.isSent = true;
      change.client ??= this.#client.id;
      change.time ??= Date.now();
    }
    this.#keep();
    for (const change of due) {
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
    this.#keep();
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
    } else if (messageId === this.#hello && this.#client.id && code === "unauthorised") {
      // The gateway has forgotten this client.
      this.#client = { id: "", resumeToken: "" };
      this.#hangUp();
      void this.#connect();
    } else if (!this.#isLive && !retryable) {
      this.#ready.reject(new ParleyError("refused", message, code));
    }
  }

  /** @param {Waiting} change @param {ParleyError} error */
  #withdraw(change, error) {
    this.#waiting = this.#waiting.filter((other) => other !== change);
    this.#keep();
    this.#replica.withdraw(change.key);
    this.#undo.remove(change.key);
    change.reject(error);
    for (const listener of this.#refusalListeners) listener(change.operations, error);
    this.#tell(new Set(change.operations.map(nameOf)));
  }

  /** @param {Set<string>} names */
  #tell(names) {
    for (const listener of this.#listeners) listener(names);
  }
}

/** @param {any} error The last conflict. */
const tooManyConflicts = (error) => Object.assign(
  new ParleyError("refused", "other clients changed the same values at each try; try again later", "tooManyConflicts"),
  { values: error.values },
);

/** @param {string[]} names */
const changedSince = (names) => Object.assign(
  new ParleyError("refused", "another client has changed the same values since; nothing was undone", "changedSince"),
  { names },
);

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
