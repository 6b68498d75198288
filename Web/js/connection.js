// One socket to the gateway, speaking parley.v1 (Documentation/Protocol.md).
//
//   start ─▶ connecting ─(welcome)─▶ online ─(close, silence)─▶ waiting ─(delay, network)─▶ connecting
//                │                      │
//                └── final close code ──┴─▶ stopped
//
// It knows nothing of documents. It says hello, keeps the line alive, comes back after a loss with
// growing, random delays, and hands every message on in the order of its arrival.

import { Emitter } from "./emitter.js";

/**
 * @typedef {{id: string, resumeToken: string}} ClientIdentity
 * @typedef {{messageId: string, type: string, data: any}} Message
 * @typedef {"connecting" | "online" | "waiting" | "stopped"} ConnectionState
 * @typedef {{state: ConnectionState, retryAt?: number, code?: number}} ConnectionStatus
 * @typedef {{clientId: string, resumeToken: string, protocol?: string, serverTime?: string | number,
 *   demo?: boolean, capabilities?: string[], limits?: Record<string, number>}} Welcome
 */

const subprotocol = "parley.v1";

/** Milliseconds. */
const timing = {
  firstDelay: 250,
  longestDelay: 15_000,
  /** A line silent for so long gets a ping … */
  quietBeforePing: 20_000,
  /** … and is given up when nothing at all comes back within this time. */
  answerWithin: 8_000,
  /** Opening the socket and getting the welcome may take so long. */
  openWithin: 10_000,
};

/** Close codes about tokens: none or no valid one, one that has ended, one that was taken back. */
export const accessCodes = { unauthorised: 4502, ended: 4507, revoked: 4508 };

/** Close codes from 4500 say: do not come back by yourself. */
const firstFinalCode = 4500;
const lastFinalCode = 4999;

/**
 * @typedef {object} Surroundings What a test replaces.
 * @property {(url: string, protocols: string[]) => WebSocket} open
 * @property {(callback: () => void, delay: number) => any} setTimeout
 * @property {(timer: any) => void} clearTimeout
 * @property {() => number} now Milliseconds.
 * @property {() => number} random 0 ..< 1.
 */

/** @type {Surroundings} */
const browser = {
  open: (url, protocols) => new WebSocket(url, protocols),
  setTimeout: (callback, delay) => setTimeout(callback, delay),
  clearTimeout: (timer) => clearTimeout(timer),
  now: () => Date.now(),
  random: () => Math.random(),
};

/**
 * expiring: the token ends at that time (milliseconds); `refresh` with another goes on without a break.
 *
 * @typedef {{status: ConnectionStatus, welcome: Welcome, message: Message, lost: void,
 *   expiring: number}} ConnectionEvents
 */

/** @extends {Emitter<ConnectionEvents>} */
export class Connection extends Emitter {
  /** @type {ConnectionStatus} */
  status = { state: "stopped" };
  /** @type {Welcome | undefined} */
  welcome;

  #url;
  #surroundings;
  #profile;
  #token;
  /** @type {ClientIdentity | undefined} */
  #identity;
  /** @type {ClientIdentity | undefined} One that the server would not know just now. */
  #doubted;
  /** @type {WebSocket | undefined} */
  #socket;
  /** @type {Map<string, (message: Message) => void>} */
  #replies = new Map();
  #messageCount = 0;
  #attempts = 0;
  /** @type {[number, number] | undefined} Milliseconds, as the server asked at its goodbye. */
  #askedDelay;
  /** @type {any} */
  #timer;

  /**
   * @param {object} options
   * @param {string} options.url
   * @param {() => {name: string, color: string}} options.profile Asked at every hello.
   * @param {() => string | undefined} [options.token] Likewise.
   * @param {ClientIdentity} [options.identity] Who this client was before a reload.
   * @param {Partial<Surroundings>} [options.surroundings]
   */
  constructor({ url, profile, token, identity, surroundings }) {
    super();
    this.#url = url;
    this.#profile = profile;
    this.#token = token ?? (() => undefined);
    this.#identity = identity;
    this.#surroundings = { ...browser, ...surroundings };
  }

  get identity() {
    return this.#identity;
  }

  get isOnline() {
    return this.status.state === "online";
  }

  start() {
    if (this.status.state === "stopped") this.#connect();
  }

  stop() {
    this.#release();
    this.#become({ state: "stopped" });
  }

  /** Tries again at once, instead of waiting for the delay to pass. */
  retryNow() {
    if (this.status.state !== "waiting") return;
    this.#attempts = 0;
    this.#connect();
  }

  /**
   * Goes on with a newer token of the same person, without a break.
   *
   * @param {string} token
   * @returns {Promise<string | undefined>} The code of the error; undefined if the server took it.
   */
  refresh(token) {
    return new Promise((resolve) => {
      const isSent = this.send("refresh", { token }, ({ type, data }) =>
        resolve(type === "error" ? String(data.code) : undefined),
      );
      if (!isSent) resolve("unreachable");
    });
  }

  /** Asks the server for a sign of life now: the network may have gone. */
  probe() {
    if (this.isOnline) this.#ping(2_500);
  }

  /**
   * Sends a message; nothing is queued for later while the line is down.
   *
   * @param {string} type
   * @param {object} data
   * @param {(reply: Message) => void} [onReply]
   * @returns {boolean} Whether it was handed to the socket.
   */
  send(type, data, onReply) {
    return this.sendEncoded(type, JSON.stringify(data), onReply);
  }

  /**
   * As `send`, with data that is JSON text already: an operation's bytes stay as they were made.
   *
   * @param {string} type
   * @param {string} data
   * @param {(reply: Message) => void} [onReply]
   * @returns {boolean}
   */
  sendEncoded(type, data, onReply) {
    if (!this.isOnline) return false;
    return this.#write(type, data, onReply);
  }

  /**
   * @param {string} type
   * @param {string} data
   * @param {(reply: Message) => void} [onReply]
   */
  #write(type, data, onReply) {
    const socket = this.#socket;
    if (!socket || socket.readyState !== 1) return false;
    const messageId = `c${++this.#messageCount}`;
    if (onReply) this.#replies.set(messageId, onReply);
    socket.send(`{"messageId":"${messageId}","type":"${type}","data":${data}}`);
    return true;
  }

  #connect() {
    this.#release();
    this.#become({ state: "connecting" });
    /** @type {WebSocket} */
    let socket;
    try {
      socket = this.#surroundings.open(this.#url, [subprotocol]);
    } catch {
      this.#wait();
      return;
    }
    this.#socket = socket;
    const isCurrent = () => this.#socket === socket;
    socket.onopen = () => {
      if (isCurrent()) this.#sayHello();
    };
    socket.onmessage = (event) => {
      if (isCurrent() && typeof event.data === "string") this.#receive(event.data);
    };
    socket.onclose = (event) => {
      if (isCurrent()) this.#closed(event.code);
    };
    socket.onerror = () => {};
    this.#after(timing.openWithin, () => this.#closed(0));
  }

  #sayHello() {
    const { name, color } = this.#profile();
    const client = this.#identity;
    this.#write("hello", JSON.stringify({ name, color, client, token: this.#token() }), (reply) => {
      if (reply.type !== "error") return;
      if (client && !reply.data.retryable) {
        // The server does not know this client any more, so it will get to know a new one. Or it is
        // the token that it does not take: then it hangs up, and the client is who it was.
        this.#identity = undefined;
        this.#doubted = client;
        this.#sayHello();
      } else {
        this.#failed(reply.data);
      }
    });
  }

  /**
   * @param {{code?: string, retryable?: boolean, retryAfter?: number}} error
   *   The reply to a hello.
   */
  #failed({ code, retryable, retryAfter }) {
    if (retryable) {
      this.#release();
      if (Number.isFinite(retryAfter)) this.#askedDelay = [Number(retryAfter), 2 * Number(retryAfter)];
      this.#wait();
    } else {
      this.#closed(code === "unauthorised" ? accessCodes.unauthorised : firstFinalCode);
    }
  }

  /** @param {string} text */
  #receive(text) {
    /** @type {Message} */
    let message;
    try {
      message = JSON.parse(text);
    } catch {
      return;
    }
    if (message === null || typeof message !== "object" || typeof message.type !== "string") return;
    message.data ??= {};
    if (this.isOnline) this.#watchSilence();
    switch (message.type) {
      case "welcome":
        this.#replies.clear();
        this.#welcomed(message.data);
        return;
      case "pong":
        return;
      case "tokenExpiring":
        this.emit("expiring", message.data.expiresAt);
        return;
      case "goodbye": {
        const range = message.data.reconnectAfter;
        if (Array.isArray(range) && range.every(Number.isFinite)) {
          this.#askedDelay = [range[0], range[1] ?? range[0]];
        }
        return;
      }
    }
    const onReply = this.#replies.get(message.messageId);
    if (onReply) {
      this.#replies.delete(message.messageId);
      onReply(message);
    }
    this.emit("message", message);
  }

  /** @param {Welcome} welcome */
  #welcomed(welcome) {
    this.welcome = welcome;
    this.#identity = { id: welcome.clientId, resumeToken: welcome.resumeToken };
    this.#doubted = undefined;
    this.#attempts = 0;
    this.#become({ state: "online" });
    this.#watchSilence();
    this.emit("welcome", welcome);
  }

  #watchSilence() {
    this.#after(timing.quietBeforePing, () => this.#ping(timing.answerWithin));
  }

  /** @param {number} answerWithin */
  #ping(answerWithin) {
    this.#write("ping", "{}");
    this.#after(answerWithin, () => this.#closed(0));
  }

  /** @param {number} code 0 when this side gave up. */
  #closed(code) {
    this.#release();
    this.#identity ??= this.#doubted;
    this.#doubted = undefined;
    if (code >= firstFinalCode && code <= lastFinalCode) {
      this.#become({ state: "stopped", code });
      return;
    }
    this.#wait(code);
  }

  /** @param {number} [code] */
  #wait(code) {
    const [shortest, longest] = this.#askedDelay ?? [
      timing.firstDelay / 2,
      Math.min(timing.longestDelay, timing.firstDelay * 2 ** this.#attempts),
    ];
    this.#askedDelay = undefined;
    this.#attempts += 1;
    // Spread at random, or all clients of a restarted server would come back in one wave.
    const delay = shortest + this.#surroundings.random() * Math.max(0, longest - shortest);
    this.#become({ state: "waiting", retryAt: this.#surroundings.now() + delay, code });
    this.#after(delay, () => this.#connect());
  }

  /** Lets go of the socket, of its timers, and of whoever waits for a reply. */
  #release() {
    this.#surroundings.clearTimeout(this.#timer);
    const socket = this.#socket;
    const wasOnline = this.isOnline;
    this.#socket = undefined;
    this.#replies.clear();
    if (socket) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      try {
        socket.close();
      } catch {
        // It was closed already.
      }
    }
    if (wasOnline) {
      this.status = { state: "waiting" };
      this.emit("lost", undefined);
    }
  }

  /**
   * @param {number} delay Milliseconds.
   * @param {() => void} action Replaces the one that was waiting.
   */
  #after(delay, action) {
    this.#surroundings.clearTimeout(this.#timer);
    this.#timer = this.#surroundings.setTimeout(action, delay);
  }

  /** @param {ConnectionStatus} status */
  #become(status) {
    this.status = status;
    this.emit("status", status);
  }
}
