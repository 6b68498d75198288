// What the page's unit tests share.

import { readFileSync } from "node:fs";
import { Connection } from "../../Web/js/client/connection.js";
import { Core, CoreError } from "../../Web/js/client/door.js";
import { Note } from "../../Web/js/client/note.js";

const compiled = new WebAssembly.Module(readFileSync(new URL("../../Web/generated/client.wasm", import.meta.url)));

const encoder = new TextEncoder();

/** A client core of its own, as in the page, with what a test needs that plays the server. */
export class ServerCore extends Core {
  #exports;

  /** @param {WebAssembly.Instance} instance */
  constructor(instance) {
    super(instance);
    this.#exports = /** @type {any} */ (instance.exports);
  }

  /**
   * Both operations moved past each other, `left`'s inserts first; all are JSON text.
   *
   * @param {string} left
   * @param {string} right
   * @param {string} leftFormat
   * @param {string} rightFormat
   */
  transform(left, right, leftFormat = "", rightFormat = "") {
    this.#call("operation_transform", left, right, leftFormat, rightFormat);
    const { memory, output_address: address, output_count: count } = this.#exports;
    const output = new DataView(memory.buffer, address(), count());
    /** @type {string[]} */
    const texts = [];
    for (let at = 0; texts.length < 4; ) {
      const length = output.getFloat64(at, true);
      texts.push(new TextDecoder().decode(new Uint8Array(output.buffer, output.byteOffset + at + 8, length)));
      at += 8 + length;
    }
    const [leftAfterRight = "", rightAfterLeft = "", leftFormatAfter = "", rightFormatAfter = ""] = texts;
    return { leftAfterRight, rightAfterLeft, leftFormat: leftFormatAfter, rightFormat: rightFormatAfter };
  }

  /** @param {string} message A server's. @returns {boolean} Whether this client knows its type. */
  knows(message) {
    return this.#call("message_check", message) === 1;
  }

  /** @param {string} name @param {...string} texts */
  #call(name, ...texts) {
    const all = texts.map((text) => encoder.encode(text));
    const count = all.reduce((sum, { length }) => sum + 8 + length, 0);
    let at = this.#exports.input_reserve(count);
    const { buffer } = this.#exports.memory;
    for (const bytes of all) {
      new DataView(buffer).setFloat64(at, bytes.length, true);
      new Uint8Array(buffer).set(bytes, at + 8);
      at += 8 + bytes.length;
    }
    const result = this.#exports[name](count);
    if (result < 0) throw new CoreError(`${name}: the core does not take this`);
    return result;
  }
}

/** The machine is in the instance's memory. */
export const newCore = () => new ServerCore(new WebAssembly.Instance(compiled));

/**
 * Stops time until a test moves it. (The mock timers of Node 18, which Debian has, forget timers
 * when another one is cleared.)
 */
export function stopTime(/** @type {import("node:test").TestContext} */ context) {
  let now = 0;
  let timers = /** @type {{id: number, due: number, run: () => void}[]} */ ([]);
  const started = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout };
  context.after(() => Object.assign(globalThis, started));
  Object.assign(globalThis, {
    setTimeout(/** @type {() => void} */ run, delay = 0) {
      const id = Math.max(0, ...timers.map((timer) => timer.id)) + 1;
      timers.push({ id, due: now + delay, run });
      return id;
    },
    clearTimeout(/** @type {number} */ id) {
      timers = timers.filter((timer) => timer.id !== id);
    },
  });
  return (/** @type {number} */ milliseconds) => {
    now += milliseconds;
    const due = timers.filter((timer) => timer.due <= now).sort((a, b) => a.due - b.due);
    timers = timers.filter((timer) => timer.due > now);
    for (const { run } of due) run();
  };
}

/** Numbers from a seed: a failure can be run again. */
export class Random {
  #state;

  /** @param {number} seed */
  constructor(seed) {
    this.#state = (seed * 0x9e3779b9) >>> 0 || 1;
  }

  /** 0 ..< 1. */
  next() {
    let state = this.#state;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    this.#state = state >>> 0;
    return this.#state / 2 ** 32;
  }

  /**
   * 0 ..< bound.
   *
   * @param {number} bound
   */
  below(bound) {
    return Math.floor(this.next() * bound);
  }

  /** @template Value @param {Value[]} values @returns {Value} */
  pick(values) {
    return /** @type {Value} */ (values[this.below(values.length)]);
  }
}

const words = [
  "a", "b", " ", "\n", "\r\n", "é", "e\u0301", "字", "漢字かな", "😀", "😁", "👨‍👩‍👧‍👦", "🏳️‍🌈", "ß", "עברית", "\u0000",
  "𝒳", "\"", "\\", "\u2028", "lorem ipsum ",
];

/** @param {Random} random */
export const randomText = (random, pieces = 4) =>
  Array.from({ length: random.below(pieces + 1) }, () => random.pick(words)).join("");

/**
 * Whether a UTF-16 offset is between whole scalars.
 *
 * @param {string} text
 * @param {number} at
 */
export const isBoundary = (text, at) =>
  !(at > 0 && at < text.length && text.codePointAt(at - 1) !== text.charCodeAt(at - 1));

/** @param {Random} random @param {string} text */
export function randomPosition(random, text) {
  let at = random.below(text.length + 1);
  while (!isBoundary(text, at)) at -= 1;
  return at;
}

/**
 * One to three edits as CodeMirror reports them: ascending, not touching each other.
 *
 * @param {Random} random
 * @param {string} text
 */
export function randomChanges(random, text) {
  const positions = Array.from({ length: 2 * (1 + random.below(3)) }, () => randomPosition(random, text));
  positions.sort((a, b) => a - b);
  const changes = [];
  let last = -1;
  for (let index = 0; index + 1 < positions.length; index += 2) {
    const from = positions[index] ?? 0;
    let to = random.below(3) === 0 ? (positions[index + 1] ?? from) : from;
    // Long deletions would leave nothing to play with.
    if (to - from > 6) to = from;
    const insert = random.below(3) === 0 && to > from ? "" : randomText(random, 2);
    if (from <= last || (from === to && insert === "")) continue;
    changes.push({ from, to, insert });
    last = to;
  }
  return changes;
}

/** @param {string} text @param {{from: number, to: number, insert: string}[]} changes */
export function applied(text, changes) {
  let result = "";
  let position = 0;
  for (const { from, to, insert } of changes) {
    result += text.slice(position, from) + insert;
    position = to;
  }
  return result + text.slice(position);
}

/** What `localStorage` is for the page. */
export class FakeStorage {
  /** @type {Map<string, string>} */
  items = new Map();
  /** For so many characters. */
  room = Infinity;

  get length() {
    return this.items.size;
  }

  /** @param {number} index */
  key = (index) => [...this.items.keys()][index] ?? null;
  /** @param {string} key */
  getItem = (key) => this.items.get(key) ?? null;
  /** @param {string} key */
  removeItem = (key) => void this.items.delete(key);
  /** @param {string} key @param {string} value */
  setItem = (key, value) => {
    let size = key.length + value.length;
    for (const [other, text] of this.items) if (other !== key) size += other.length + text.length;
    if (size > this.room) throw new Error("QuotaExceededError");
    this.items.set(key, value);
  };
}

/** What a server says of itself. */
const welcome = {
  protocol: "parley.v1", serverTime: 1_763_712_000_000, demo: false, capabilities: ["documents", "resume"],
  limits: { messageBytesMax: 100_000, documentScalarsMax: 4_000_000 },
};

/** A connection around a client core, with sockets, timers and time in the test's hands. */
export class World {
  now = 0;
  /** @type {{at: number, run: () => void}[]} */
  timers = [];
  /** @type {any[]} */
  sockets = [];
  /** @type {string[]} */
  statuses = [];
  /** @type {string | undefined} */
  token;
  /** Whether the page is visible. */
  isSeen = true;
  /** Whether the browser lets a socket be made. */
  opens = true;
  /** What the server can do. */
  capabilities = welcome.capabilities;
  /** Called with the type of each message before it goes out. */
  beforeSending = (/** @type {string} */ _type) => {};

  /** @param {{identity?: {id: string, resumeToken: string}}} [options] */
  constructor(options) {
    this.core = newCore();
    this.connection = new Connection({
      core: this.core,
      url: "ws://here/ws",
      profile: () => ({ name: "Ann", color: "#123456" }),
      token: () => this.token,
      identity: options?.identity,
      dependencies: {
        open: (url, protocols) => {
          if (!this.opens) throw new Error("SecurityError");
          const socket = {
            url, protocols, readyState: 0, /** @type {any[]} */ sent: [],
            send: (/** @type {string} */ text) => {
              const { messageId, type, data } = JSON.parse(text);
              this.beforeSending(type);
              socket.sent.push({ messageId, type, data, text: text.slice(text.indexOf('"data":')) });
            },
            close() {
              socket.readyState = 3;
            },
          };
          this.sockets.push(socket);
          return /** @type {any} */ (socket);
        },
        setTimeout: (run, delay) => {
          const timer = { at: this.now + delay, run };
          this.timers.push(timer);
          return timer;
        },
        clearTimeout: (timer) => {
          this.timers = this.timers.filter((other) => other !== timer);
        },
        now: () => this.now,
        random: () => 0.5,
        isSeen: () => this.isSeen,
      },
    });
    this.connection.on("status", ({ state }) => this.statuses.push(state));
  }

  get socket() {
    return this.sockets[this.sockets.length - 1];
  }

  /** What went out, on all sockets. */
  get sent() {
    return /** @type {{messageId: string, type: string, data: any, text: string}[]} */ (
      this.sockets.flatMap(({ sent }) => sent)
    );
  }

  /** @param {string} type */
  last = (type) => this.sent.findLast((message) => message.type === type);

  /** @param {string} type */
  count = (type) => this.sent.filter((message) => message.type === type).length;

  open() {
    this.socket.readyState = 1;
    this.socket.onopen();
  }

  /** @param {string} text */
  receive(text) {
    this.socket.onmessage?.({ data: text });
  }

  /** @param {string} type @param {object} data @param {string} [to] The type of message that it answers. */
  say(type, data, to) {
    const messageId = to ? this.last(to)?.messageId : "s1";
    this.receive(JSON.stringify({ messageId, type, data }));
  }

  /** @param {string} to The type of message that it answers. @param {{code: string, [field: string]: unknown}} error */
  refuse(to, error) {
    this.say("error", { message: "", retryable: false, ...error }, to);
  }

  /** @param {string} [id] */
  welcome(id = "ann") {
    this.open();
    this.say("welcome", { ...welcome, capabilities: this.capabilities, clientId: id, resumeToken: `token of ${id}` }, "hello");
  }

  /** @param {number} code */
  hangUp(code) {
    this.socket.readyState = 3;
    this.socket.onclose?.({ code, reason: "" });
  }

  /** Lets time pass up to the next timer. */
  tick() {
    const next = this.timers.sort((a, b) => a.at - b.at).shift();
    if (!next) throw new Error("nothing is waiting");
    this.now = Math.max(this.now, next.at);
    next.run();
    return this.now;
  }

  /** @param {number} milliseconds */
  pass(milliseconds) {
    const end = this.now + milliseconds;
    while (this.timers.some(({ at }) => at <= end)) this.tick();
    this.now = end;
  }
}

/** What answers a join of the note "d", all but the text or the changes. */
const joinedNote = { title: "Title", epoch: "e", revision: 7, lastSequence: 0, access: "write", presence: [] };

/** A world with an open line to the server, which is lost and restored as the test says. */
export class Line extends World {
  id = "ann";

  /** @param {{identity?: {id: string, resumeToken: string}}} [options] */
  constructor(options) {
    super(options);
    this.connection.start();
    this.welcome(this.id);
  }

  lose() {
    this.hangUp(1006);
  }

  comeBack() {
    this.connection.retryNow();
    this.welcome(this.id);
  }

  /**
   * Says something of the note "d"; "joined" answers the join.
   *
   * @param {string} type
   * @param {object} data
   */
  tell(type, data) {
    if (type === "joined") this.say(type, { documentId: "d", ...joinedNote, ...data }, "join");
    else if (type === "presence") this.say(type, { documentId: "d", joined: [], updated: [], left: [], ...data });
    else this.say(type, { documentId: "d", ...data });
  }
}

/**
 * A note "d" between an editor and a server, both played by the test.
 *
 * @param {object} options
 * @param {Line} [options.line]
 * @param {Map<string, import("../../Web/js/client/note.js").Kept>} [options.kept] Edits in the browser, by client id.
 * @param {import("../../Web/js/client/note.js").Kept} [options.restored]
 * @param {number} [options.room] For so many records.
 * @param {typeof Note} [options.Kind]
 */
export function openedNote({ line = new Line(), kept = new Map(), restored, room = 9, Kind = Note } = {}) {
  const screen = { text: "", notices: /** @type {string[]} */ ([]) };
  const note = new Kind({
    core: line.core,
    connection: line.connection,
    documentId: "d",
    pending: {
      save: (_note, edits, base) =>
        (kept.has(edits.identity.id) || kept.size < room) &&
        Boolean(kept.set(edits.identity.id, { ...edits, base: base.read() })),
      remove: (_note, clientId) => void kept.delete(clientId),
    },
    restored,
  });
  screen.text = note.text ?? "";
  note.on("reset", (event) => (screen.text = event.text));
  note.on("changes", ({ changes }) => (screen.text = applied(screen.text, changes)));
  note.on("notice", ({ kind }) => screen.notices.push(kind));
  const type = (/** @type {number} */ at, /** @type {string} */ insert) => {
    screen.text = applied(screen.text, [{ from: at, to: at, insert }]);
    note.edit([{ from: at, to: at, insert }]);
  };
  return { line, note, screen, type, kept };
}

/** @param {string} text @param {object} [more] @param {number} [room] */
export function joinedWith(text, more, room) {
  const opened = openedNote({ room });
  opened.line.tell("joined", { text, ...more });
  return opened;
}
