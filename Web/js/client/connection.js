// Performs the actions of the client core (door.js): owns the socket and the timer, passes actions to notes and rooms,
// and reports the state of the connection to the page. The core contains all rules of the protocol.
//
// Actions are performed in order, all actions of one event before those of the next, even if a listener causes an
// event. The new states of all actions are stored first (`take`), so that each listener reads the latest state.

import { Emitter } from "../ground/emitter.js";
import { Pacing } from "./pacing.js";

/**
 * @typedef {import("./door.js").Core} Core
 * @typedef {import("./door.js").Action} Action
 * @typedef {import("./door.js").NoteAction} NoteAction
 * @typedef {import("./door.js").RoomAction} RoomAction
 * @typedef {import("./door.js").EventKind} EventKind
 * @typedef {{kind: "call", tell: () => void}} Call
 * @typedef {{id: string, resumeToken: string}} ClientIdentity
 * @typedef {"connecting" | "online" | "waiting" | "stopped"} ConnectionState
 * @typedef {{state: ConnectionState, retryAt?: number, code?: number}} ConnectionStatus
 * @typedef {{demo: boolean, limits: {messageBytesMax: number, documentScalarsMax: number}, personId: string}} Welcome
 */

const subprotocol = "parley.v1";

/** Close codes about tokens: missing or invalid, expired, revoked. */
export const accessCodes = { unauthorised: 4502, ended: 4507, revoked: 4508 };

/** The close code badMessage: the server does not understand this client, or this client the server. */
export const otherVersionCode = 4500;
/** Error codes for a `hello` that the server does not understand, and for a reply that the core does not understand. */
const versionErrors = ["badMessage", "unknownType"];
/** The code for a server that rejects this client for another reason, without a close code. */
const refusedCode = 4999;

/** Maximum time for which messages are held back during a request over HTTP, in milliseconds. */
const holdWithin = 10_000;
/** Maximum number of messages held back. */
const heldMax = 500;

/**
 * @typedef {object} Dependencies The parts of the browser that a test replaces.
 * @property {(url: string, protocols: string[]) => WebSocket} open
 * @property {(callback: () => void, delay: number) => any} setTimeout
 * @property {(timer: any) => void} clearTimeout
 * @property {() => number} now Milliseconds of a monotonic clock.
 * @property {() => number} random 0 ..< 1.
 * @property {() => boolean} isSeen Whether the page is visible.
 */

/** @type {Dependencies} */
const browser = {
  open: (url, protocols) => new WebSocket(url, protocols),
  setTimeout: (callback, delay) => setTimeout(callback, delay),
  clearTimeout: (timer) => clearTimeout(timer),
  now: () => performance.now(),
  random: () => Math.random(),
  isSeen: () => globalThis.document?.visibilityState === "visible",
};

/**
 * The receiver of an open note's actions.
 *
 * @typedef {object} NoteEnd
 * @property {(action: NoteAction) => void} take Stores the new state, without events.
 * @property {(action: NoteAction) => void} perform
 * @property {() => boolean} isUnconfirmed Whether the server has not confirmed all edits made here.
 */

/**
 * The receiver of a room's actions. A room without a receiver only emits `room`.
 *
 * @typedef {object} RoomEnd
 * @property {(action: RoomAction) => void} take Stores the new state, without events.
 * @property {(action: RoomAction) => void} perform
 */

/**
 * expiring: the time at which the token expires, in milliseconds of `now`; `refresh` replaces it without a new
 * connection. resource: the id of a changed resource. room: a room has become live or has failed. document: a note has
 * a new title, or was deleted. access: this user's rights to a note have changed.
 *
 * @typedef {{status: ConnectionStatus, welcome: Welcome, lost: void, expiring: number, resource: string,
 *   room: string, document: {documentId: string, title?: string, deleted?: boolean}, access: string}} ConnectionEvents
 */

/** @extends {Emitter<ConnectionEvents>} */
export class Connection extends Emitter {
  /** @type {ConnectionStatus} */
  status = { state: "stopped" };
  /** @type {Welcome | undefined} */
  welcome;
  /** @type {ClientIdentity | undefined} */
  identity;

  #core;
  #url;
  #dependencies;
  #token;
  /** @type {string | undefined} The token last passed to the core. */
  #givenToken;
  /** @type {Map<string, ClientIdentity>} All identities that this client has used or adopted, by client id. */
  #identities = new Map();
  /** @type {Map<string, NoteEnd>} */
  #notes = new Map();
  /** @type {Map<string, RoomEnd>} */
  #rooms = new Map();
  /** @type {WebSocket | undefined} */
  #socket;
  /** @type {any} */
  #timer;
  /** @type {(Action | Call)[]} Actions to perform. */
  #actions = [];
  #isActing = false;
  /** @type {string[] | undefined} Messages that are held back. */
  #held;
  /** The number of requests during which they are held back. */
  #holds = 0;
  #pacing;
  /** @type {((problem: string | undefined) => void)[]} Callers of `refresh` that wait for the server's reply. */
  #refreshing = [];

  /**
   * @param {object} options
   * @param {Core} options.core
   * @param {string} options.url
   * @param {() => {name: string, color: string}} options.profile
   * @param {() => string | undefined} [options.token] Called before each connection.
   * @param {ClientIdentity} [options.identity] The client's identity before a reload.
   * @param {Partial<Dependencies>} [options.dependencies]
   */
  constructor({ core, url, profile, token, identity, dependencies }) {
    super();
    this.#core = core;
    this.#url = url;
    this.#token = token ?? (() => undefined);
    this.#dependencies = { ...browser, ...dependencies };
    this.#pacing = new Pacing({
      handle: (messages) => this.#handleReceived(messages),
      awaitsReply: () => [...this.#notes.values()].some((note) => note.isUnconfirmed()),
      dependencies: this.#dependencies,
    });
    this.identity = identity;
    if (identity) this.#identities.set(identity.id, identity);
    core.create(profile(), Math.floor(this.#dependencies.random() * 2 ** 52), identity);
  }

  get isOnline() {
    return this.status.state === "online";
  }

  start() {
    this.#giveToken();
    this.handle("start");
  }

  stop() {
    this.handle("stop");
  }

  /** Reconnects now instead of after the delay. */
  retryNow() {
    if (this.status.state === "waiting") this.handle("reachable");
  }

  /** Checks that the server still answers, because the network may have changed. */
  probe() {
    if (this.isOnline) this.handle("reachable");
  }

  /** Handles a page that may be suspended or closed soon. */
  suspend() {
    this.handle("suspending");
  }

  /** @param {{name: string, color: string}} profile The new display name and colour. */
  tellProfile({ name, color }) {
    this.handle("profile", name, color);
  }

  /**
   * Subscribes to a room.
   *
   * @param {string} room
   * @param {boolean} [isPresent] Whether the user appears in the room's presence.
   * @param {import("./door.js").RoomPosition} [from] The position of the last publication received.
   */
  subscribe(room, isPresent = false, from = undefined) {
    this.#act(this.#core.subscribe(this.#now, room, isPresent, from));
  }

  /**
   * Replaces the token with a newer one of the same user, on the same connection.
   *
   * @param {string} token
   * @returns {Promise<string | undefined>} The error code; undefined if the server accepted the token.
   */
  refresh(token) {
    if (!this.isOnline) return Promise.resolve("unreachable");
    return new Promise((resolve) => {
      this.#refreshing.push(resolve);
      this.#givenToken = token;
      this.handle("token", token);
    });
  }

  /** @param {string} clientId */
  identityOf(clientId) {
    return this.#identities.get(clientId);
  }

  /**
   * @param {string} id
   * @param {NoteEnd} note
   */
  addNote(id, note) {
    this.#notes.set(id, note);
  }

  /** @param {string} id */
  removeNote(id) {
    this.#notes.delete(id);
  }

  /**
   * @param {string} name
   * @param {RoomEnd} room
   */
  addRoom(name, room) {
    this.#rooms.set(name, room);
  }

  /** @param {string} name */
  removeRoom(name) {
    this.#rooms.delete(name);
  }

  /**
   * Holds back the server's messages until it has answered a request over HTTP, for at most `holdWithin`.
   *
   * @template Value
   * @param {() => Promise<Value>} ask
   * @param {(answer: Value) => void} before Called with the answer, before the messages held back are handled.
   */
  async holding(ask, before) {
    this.#held ??= this.#pacing.take();
    this.#holds += 1;
    const timer = this.#dependencies.setTimeout(() => this.#release(), holdWithin);
    try {
      before(await ask());
    } finally {
      this.#dependencies.clearTimeout(timer);
      this.#holds -= 1;
      if (this.#holds === 0) this.#release();
    }
  }

  /**
   * Calls `tell` after all actions that the core has returned are performed; immediately if there are none.
   *
   * @param {() => void} tell
   */
  afterwards(tell) {
    this.#act([{ kind: "call", tell }]);
  }

  /**
   * @param {ClientIdentity} identity An identity that this client has adopted.
   * @param {string} [id] "" for edits that were stored before the server issued an identity.
   */
  addIdentity(identity, id = identity.id) {
    this.#identities.set(id, identity);
  }

  #release() {
    const held = this.#held ?? [];
    this.#held = undefined;
    this.#handleReceived(held);
  }

  /** @param {string[]} messages Handled together, so that their changes are drawn together. */
  #handleReceived(messages) {
    /** @type {Action[]} */
    const actions = [];
    try {
      for (const message of messages) actions.push(...this.#core.handle(this.#now, "received", message));
    } finally {
      this.#act(actions);
    }
  }

  // The core.

  get #now() {
    return Math.floor(this.#dependencies.now());
  }

  /**
   * @param {EventKind} kind
   * @param {...(string | number)} fields
   */
  handle(kind, ...fields) {
    this.#act(this.#core.handle(this.#now, kind, ...fields));
  }

  /**
   * @param {string} note
   * @param {import("./door.js").TextChange[]} changes
   * @param {string} [format]
   */
  edit(note, changes, format = undefined) {
    this.#act(this.#core.edit(this.#now, note, changes, format));
  }

  /** @param {(Action | Call)[]} actions */
  #act(actions) {
    for (const action of actions) this.#take(action);
    this.#actions.push(...actions);
    if (this.#isActing) return;
    this.#isActing = true;
    try {
      for (let action = this.#actions.shift(); action; action = this.#actions.shift()) this.#perform(action);
    } finally {
      this.#isActing = false;
    }
  }

  /** @param {Action | Call} action */
  #take(action) {
    switch (action.kind) {
      case "claim":
        this.identity = { id: action.id, resumeToken: action.resumeToken };
        this.#identities.set(action.id, this.identity);
        break;
      case "welcome":
        this.welcome = { demo: action.demo, limits: action.limits, personId: action.personId };
        break;
      default:
        if ("note" in action) this.#notes.get(action.note)?.take(action);
        else if ("room" in action) this.#rooms.get(action.room)?.take(action);
    }
  }

  /** @param {Action | Call} action */
  #perform(action) {
    switch (action.kind) {
      case "connect":
        this.#connect();
        break;
      case "disconnect":
        this.#hangUp();
        break;
      case "send":
        if (this.#socket?.readyState === 1) this.#socket.send(action.text);
        break;
      case "wake":
        this.#wakeAt(action.at);
        break;
      case "line":
        this.#become(action);
        break;
      case "welcome":
        this.emit("welcome", { demo: action.demo, limits: action.limits, personId: action.personId });
        break;
      case "tokenEnds":
        this.emit("expiring", action.at);
        break;
      case "refreshed":
        this.#refreshed(action.problem || undefined);
        break;
      case "resource":
        this.emit("resource", action.id);
        break;
      case "call":
        action.tell();
        break;
      case "claim":
      case "needToken":
        break;
      default:
        if ("note" in action) {
          this.#notes.get(action.note)?.perform(action);
          break;
        }
        if (action.kind === "roomStatus" && ["live", "failed"].includes(action.phase)) this.emit("room", action.room);
        this.#rooms.get(action.room)?.perform(action);
    }
  }

  /** @param {number | undefined} at */
  #wakeAt(at) {
    this.#dependencies.clearTimeout(this.#timer);
    this.#timer = undefined;
    if (at === undefined) return;
    // The maximum delay of a browser's timer.
    const delay = Math.min(Math.max(0, at - this.#now), 2 ** 31 - 1);
    this.#timer = this.#dependencies.setTimeout(() => this.handle("wake"), delay);
  }

  /** @param {{state: string, until: number, code: number, error: string}} line */
  #become({ state, until, code, error }) {
    const before = this.status.state;
    if (state === before && state === "connecting") return;
    this.status = { state: /** @type {ConnectionState} */ (state) };
    if (state === "waiting") this.status.retryAt = Date.now() + until - this.#now;
    if (error === "unauthorised") this.status.code = accessCodes.unauthorised;
    else if (error) this.status.code = versionErrors.includes(error) ? otherVersionCode : refusedCode;
    else if (code > 0) this.status.code = code;
    if (before === "online") {
      this.#refreshed("unreachable");
      this.emit("lost", undefined);
    }
    this.emit("status", this.status);
  }

  // The socket, and the token.

  #connect() {
    this.#hangUp();
    this.#giveToken();
    /** @type {WebSocket} */
    let socket;
    try {
      socket = this.#dependencies.open(this.#url, [subprotocol]);
    } catch {
      this.handle("closed", 1006);
      return;
    }
    this.#socket = socket;
    socket.onopen = () => this.handle("opened");
    socket.onmessage = ({ data }) => {
      if (typeof data === "string") this.#receive(data);
    };
    socket.onclose = ({ code }) => {
      this.#pacing.flush();
      this.#release();
      this.#hangUp();
      this.handle("closed", code);
    };
    socket.onerror = () => {};
  }

  /** @param {string} text */
  #receive(text) {
    if (!this.#held) {
      this.#pacing.receive(text);
      return;
    }
    this.#held.push(text);
    if (this.#held.length > heldMax) this.#release();
  }

  /** Closes the socket, ignores its later events, and discards the messages held back. */
  #hangUp() {
    const socket = this.#socket;
    this.#socket = undefined;
    this.#pacing.take();
    if (this.#held) this.#held = [];
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    try {
      socket.close();
    } catch {
      // The socket was closed already.
    }
  }

  #giveToken() {
    const token = this.#token();
    if (token === undefined || token === this.#givenToken) return;
    this.#givenToken = token;
    this.handle("token", token);
  }

  /** @param {string | undefined} problem */
  #refreshed(problem) {
    if (problem) this.#givenToken = undefined;
    const waiting = this.#refreshing;
    this.#refreshing = [];
    for (const resolve of waiting) resolve(problem);
  }
}
