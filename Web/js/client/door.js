// The interface to the client core in WebAssembly (Web/core/Door.swift is its other side): events go in, actions come
// out. This file encodes and decodes both; it contains no rule of the protocol.
//
// An event or action is one byte for the kind, then fields. A number is a 64-bit float, little-endian. A text or byte
// string is its length as a number, then its bytes. Positions are UTF-16 units of the editor's text.

/**
 * An edit of the editor's text: `from` and `to` count UTF-16 units of the text before the edit.
 * The edits of a list are sorted, do not overlap, and all refer to the text before the first.
 *
 * @typedef {{from: number, to: number, insert: string}} TextChange
 */

/**
 * Formatting, in the form of messages, but with lengths in UTF-16 units. `sets` are numbered from 1; 0 is no attribute.
 *
 * TextFormat: the attributes of a text. `runs`: pairs over the text, a length and a set; the rest has none.
 *
 * ChangeFormat: the formatting of an edit. `kept`: triples over the text before the edit, for what it keeps: the length
 * passed since the end of the last triple, a length, a set; `null` as a value removes the key. `put`: pairs over all
 * inserted text in the order of the changes; the rest has no attributes. `kind`: the edit makes a plain note rich.
 *
 * @typedef {Record<string, string | number | true | null | Record<string, string | number | true>>} Attributes
 * @typedef {{sets: Attributes[], runs: number[]}} TextFormat
 * @typedef {{sets?: Attributes[], kept?: number[], put?: number[], kind?: "rich"}} ChangeFormat
 * @typedef {"plain" | "rich"} NoteKind
 */

/**
 * The state of a note. joining: no text yet. live: synchronised with the server. away: the text is available, the
 * connection is not.
 *
 * @typedef {"joining" | "live" | "away" | "failed" | "deleted" | "leaving" | "left"} Phase
 * @typedef {{phase: Phase, failure: string, access: "read" | "write", unconfirmed: number, refusal: string,
 *   isKeepFailing: boolean}} NoteStatus
 * @typedef {{clientId: string, name: string, color: string, personId: string, isWriting: boolean,
 *   selections: {anchor: number, head: number}[]}} Participant
 */

/**
 * An action for the page. Times are in milliseconds of the same clock as the `now` of events.
 *
 * @typedef {{kind: "connect"} | {kind: "disconnect"} | {kind: "send", text: string}
 *   | {kind: "wake", at: number | undefined} | {kind: "needToken"}
 *   | {kind: "claim", id: string, resumeToken: string}
 *   | {kind: "line", state: string, until: number, code: number, error: string}
 *   | {kind: "welcome", demo: boolean, limits: {messageBytesMax: number, documentScalarsMax: number}, personId: string}
 *   | {kind: "tokenEnds", at: number} | {kind: "refreshed", problem: string} | {kind: "resource", id: string}
 *   | NoteAction | RoomAction} Action
 * @typedef {{kind: "keep", note: string, isRequired: boolean, clientId: string, tag: string, edits: string}
 *   | {kind: "forget", note: string} | {kind: "reset", note: string, text: string, format?: TextFormat}
 *   | {kind: "apply", note: string, revision: number, changes: TextChange[], format?: ChangeFormat}
 *   | {kind: "step", note: string, changes: TextChange[], format?: ChangeFormat, selection: {anchor: number, head: number}}
 *   | {kind: "becomes", note: string, value: NoteKind}
 *   | {kind: "status", note: string, status: NoteStatus} | {kind: "people", note: string}
 *   | {kind: "carets", note: string} | {kind: "title", note: string, title: string}
 *   | {kind: "rebased", note: string} | {kind: "outOfStep", note: string} | {kind: "misfit", note: string}
 * } NoteAction
 */

/**
 * The position of a publication in a room's history. Another epoch is another history.
 *
 * @typedef {{epoch: string, offset: number}} RoomPosition
 */

/**
 * The delivery state of a publication for one user.
 *
 * @typedef {{personId: string, stage: "delivered" | "read"}} Receipt
 */

/**
 * A room's state, its publications, and the results of own publications: a failed one has an error code of the
 * protocol, or `unsure` if it is unknown whether the server stored it.
 *
 * @typedef {"opening" | "live" | "away" | "failed" | "closed"} RoomPhase
 * @typedef {{kind: "roomStatus", room: string, phase: RoomPhase, failure: string}
 *   | {kind: "publication", room: string, position: RoomPosition, time: number, personId: string, senderId: string,
 *      json: string}
 *   | {kind: "gap", room: string, after: RoomPosition, through: RoomPosition}
 *   | {kind: "position", room: string, position: RoomPosition} | {kind: "roomPeople", room: string}
 *   | {kind: "published", room: string, key: string, position: RoomPosition, isRepeated: boolean}
 *   | {kind: "publishFailed", room: string, key: string, code: string} | {kind: "roomNews", room: string}
 *   | {kind: "receipt" | "receipts", room: string, offset: number, receipts: Receipt[], code: string}
 * } RoomAction
 */

/** Thrown when the core is not available or rejects its input, for example edits stored by another version. */
export class CoreError extends Error {}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The first buffer of each writer; a longer event gets a larger one. */
const scratch = new Uint8Array(16_384);

/** Writes an event's fields. */
class Writer {
  // Writers share the buffer: the core reads each event before the next is written.
  #bytes = scratch;
  #view = new DataView(scratch.buffer);
  #count = 0;

  /** @param {number} kind */
  constructor(kind) {
    if (kind > 0) this.#bytes[this.#count++] = kind;
  }

  get bytes() {
    return this.#bytes.subarray(0, this.#count);
  }

  /** @param {number} more */
  #reserve(more) {
    if (this.#count + more <= this.#bytes.length) return;
    const bytes = new Uint8Array(Math.max(this.#bytes.length * 2, this.#count + more));
    bytes.set(this.bytes);
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer);
  }

  /** @param {number} number */
  number(number) {
    this.#reserve(8);
    this.#view.setFloat64(this.#count, number, true);
    this.#count += 8;
    return this;
  }

  /** @param {string} text */
  text(text) {
    // UTF-8 needs at most three bytes for each UTF-16 unit.
    this.#reserve(8 + text.length * 3);
    const { written = 0 } = encoder.encodeInto(text, this.#bytes.subarray(this.#count + 8));
    this.number(written);
    this.#count += written;
    return this;
  }
}

/** Reads fields of the core's output, which the next call to the core overwrites. */
class Reader {
  #bytes;
  #view;
  #position = 0;

  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  byte() {
    return this.#view.getUint8(this.#position++);
  }

  number() {
    this.#position += 8;
    return this.#view.getFloat64(this.#position - 8, true);
  }

  text() {
    const count = this.number();
    const start = this.#position;
    this.#position += count;
    return decoder.decode(this.#bytes.subarray(start, start + count));
  }

  /** @returns {any} The value of JSON; undefined for an empty text. */
  json() {
    const text = this.text();
    return text ? JSON.parse(text) : undefined;
  }

  /** @template Value @param {() => Value} read @returns {Value[]} */
  list(read) {
    return Array.from({ length: this.number() }, read);
  }
}

/**
 * Reads an action's fields in the order in which Door.swift writes them.
 *
 * @param {Reader} fields
 * @returns {Action}
 */
function readAction(fields) {
  const kind = fields.byte();
  switch (kind) {
    case 1: return { kind: "connect" };
    case 2: return { kind: "disconnect" };
    case 3: return { kind: "send", text: fields.text() };
    case 4: {
      const at = fields.number();
      return { kind: "wake", at: at < 0 ? undefined : at };
    }
    case 5: return { kind: "needToken" };
    case 6: return { kind: "claim", id: fields.text(), resumeToken: fields.text() };
    case 7:
      return { kind: "line", state: fields.text(), until: fields.number(), code: fields.number(), error: fields.text() };
    case 8:
      return {
        kind: "welcome",
        demo: fields.number() === 1,
        limits: { messageBytesMax: fields.number(), documentScalarsMax: fields.number() },
        personId: fields.text(),
      };
    case 9: return { kind: "tokenEnds", at: fields.number() };
    case 10: return { kind: "refreshed", problem: fields.text() };
    case 11: return { kind: "resource", id: fields.text() };
  }
  if (kind >= 40) return readRoomAction(kind, fields);
  const note = fields.text();
  switch (kind) {
    case 20:
      return {
        kind: "keep", note, isRequired: fields.number() === 1, clientId: fields.text(), tag: fields.text(),
        edits: fields.text(),
      };
    case 21: return { kind: "forget", note };
    case 22: return { kind: "reset", note, text: fields.text() };
    case 23: return { kind: "apply", note, revision: fields.number(), changes: fields.list(() => readChange(fields)) };
    case 24: return { kind: "status", note, status: readStatus(fields) };
    case 25: return { kind: "people", note };
    case 26: return { kind: "carets", note };
    case 27: return { kind: "title", note, title: fields.text() };
    case 28: return { kind: "rebased", note };
    case 29: return { kind: "outOfStep", note };
    case 30: return { kind: "misfit", note };
    case 31: return { kind: "reset", note, text: fields.text(), format: fields.json() };
    case 32: return { kind: "apply", note, revision: fields.number(), ...readFormattedChanges(fields) };
    case 33:
      return {
        kind: "step", note, ...readFormattedChanges(fields),
        selection: { anchor: fields.number(), head: fields.number() },
      };
    case 34: return { kind: "becomes", note, value: /** @type {NoteKind} */ (fields.text()) };
  }
  throw new CoreError(`the core asks for ${kind}, which this page does not know`);
}

/** @param {number} kind @param {Reader} fields @returns {RoomAction} */
function readRoomAction(kind, fields) {
  const room = fields.text();
  switch (kind) {
    case 40:
      return { kind: "roomStatus", room, phase: /** @type {RoomPhase} */ (fields.text()), failure: fields.text() };
    case 41:
      return {
        kind: "publication", room, position: readPosition(fields), time: fields.number(), personId: fields.text(),
        senderId: fields.text(), json: fields.text(),
      };
    case 42: return { kind: "gap", room, after: readPosition(fields), through: readPosition(fields) };
    case 43: return { kind: "position", room, position: readPosition(fields) };
    case 44: return { kind: "roomPeople", room };
    case 45:
      return {
        kind: "published", room, key: fields.text(), position: readPosition(fields), isRepeated: fields.number() === 1,
      };
    case 46: return { kind: "publishFailed", room, key: fields.text(), code: fields.text() };
    case 47: return { kind: "roomNews", room };
    case 48: return { kind: "receipt", room, offset: fields.number(), receipts: readReceipts(fields), code: "" };
    case 49: return { kind: "receipts", room, offset: fields.number(), receipts: readReceipts(fields), code: fields.text() };
  }
  throw new CoreError(`the core asks for ${kind}, which this page does not know`);
}

/** @param {Reader} fields @returns {Receipt[]} */
const readReceipts = (fields) =>
  fields.list(() => ({ personId: fields.text(), stage: fields.number() === 1 ? "read" : "delivered" }));

/** @param {Reader} fields @returns {RoomPosition} */
const readPosition = (fields) => ({ epoch: fields.text(), offset: fields.number() });

/** @param {Reader} fields @returns {TextChange} */
function readChange(fields) {
  const from = fields.number();
  return { from, to: from + fields.number(), insert: fields.text() };
}

/** @param {Reader} fields @returns {{changes: TextChange[], format?: ChangeFormat}} */
const readFormattedChanges = (fields) => ({
  changes: fields.list(() => readChange(fields)), format: fields.json(),
});

/** @param {Reader} fields @returns {NoteStatus} */
const readStatus = (fields) => ({
  phase: /** @type {Phase} */ (fields.text()),
  failure: fields.text(),
  access: fields.text() === "read" ? "read" : "write",
  unconfirmed: fields.number(),
  refusal: fields.text(),
  isKeepFailing: fields.number() === 1,
});

const eventKinds = {
  start: 1, stop: 2, opened: 3, received: 4, closed: 5, wake: 6, reachable: 7, token: 8, profile: 9,
  suspending: 10, open: 20, restore: 21, reopen: 22, leave: 23, edit: 24, select: 25, retryRefused: 26,
  discard: 27, kept: 28, keepFailed: 29, unkept: 30, openFormatted: 31, restoreFormatted: 32, editFormatted: 33,
  undo: 34, redo: 35, endStep: 36, subscribe: 40, unsubscribe: 41, publish: 42,
  typing: 43, confirm: 44, askReceipts: 45,
};

/** @typedef {keyof typeof eventKinds} EventKind */

export class Core {
  /** @type {any} */
  #exports;

  /** @param {WebAssembly.Instance} instance One for each client: its memory contains the client's state. */
  constructor(instance) {
    this.#exports = instance.exports;
  }

  /**
   * @param {PromiseLike<Response> | Response | BufferSource} source
   * @returns {Promise<Core>}
   */
  static async load(source) {
    const awaited = await source;
    if (typeof Response !== "undefined" && awaited instanceof Response) {
      if (!awaited.ok) throw new CoreError(`the core was not served: ${awaited.status}`);
      const { instance } = await WebAssembly.instantiateStreaming(awaited);
      return new this(instance);
    }
    const { instance } = await WebAssembly.instantiate(/** @type {BufferSource} */ (awaited));
    return new this(instance);
  }

  /**
   * @param {{name: string, color: string}} profile
   * @param {number} seed An integer that seeds random choices.
   * @param {{id: string, resumeToken: string}} [claim] The client's identity before a reload.
   */
  create({ name, color }, seed, claim) {
    const fields = new Writer(0).text(name).text(color).number(seed).number(claim ? 1 : 0);
    this.#call("client_create", fields.text(claim?.id ?? "").text(claim?.resumeToken ?? ""));
  }

  /**
   * Handles an event.
   *
   * @param {number} now Milliseconds of a monotonic clock.
   * @param {EventKind} kind
   * @param {...(string | number)} fields
   * @returns {Action[]} To be performed in order.
   */
  handle(now, kind, ...fields) {
    const writer = new Writer(eventKinds[kind]);
    for (const field of fields) typeof field === "string" ? writer.text(field) : writer.number(field);
    const count = this.#call("client_handle", writer, now);
    const reader = new Reader(this.#output());
    return Array.from({ length: count }, () => readAction(reader));
  }

  /**
   * @param {number} now
   * @param {string} note
   * @param {TextChange[]} changes
   * @param {string} [format] A ChangeFormat as JSON, or "", for a note that was opened with formats.
   */
  edit(now, note, changes, format = undefined) {
    const each = changes.flatMap(({ from, to, insert }) => [from, to - from, insert]);
    if (format === undefined) return this.handle(now, "edit", note, changes.length, ...each);
    return this.handle(now, "editFormatted", note, changes.length, ...each, format);
  }

  /**
   * @param {number} now
   * @param {string} room
   * @param {boolean} isPresent Whether the user appears in the room's presence.
   * @param {RoomPosition} [from] The position of the last publication received.
   */
  subscribe(now, room, isPresent, from = undefined) {
    return this.handle(now, "subscribe", room, isPresent ? 1 : 0, from?.epoch ?? "", from?.offset ?? 0);
  }

  /** @param {string} note @returns {string | undefined} The text on the screen. */
  text(note) {
    return this.#call("note_text", new Writer(0).text(note)) ? decoder.decode(this.#output()) : undefined;
  }

  /** @param {string} note @returns {TextFormat | undefined} The attributes of the text on the screen. */
  format(note) {
    if (!this.#call("note_format", new Writer(0).text(note))) return undefined;
    return JSON.parse(decoder.decode(this.#output()));
  }

  /** @param {string} note */
  flags(note) {
    const flags = this.#call("note_flags", new Writer(0).text(note));
    return { canUndo: (flags & 1) > 0, canRedo: (flags & 2) > 0, canBeRich: (flags & 4) > 0 };
  }

  /** @param {string} note */
  revision(note) {
    return this.#call("note_revision", new Writer(0).text(note));
  }

  /**
   * @param {string} note
   * @returns {{count: number | undefined, all: Participant[]}} `count`: the number of people, if `all` omits some.
   */
  people(note) {
    this.#call("note_people", new Writer(0).text(note));
    const fields = new Reader(this.#output());
    const count = fields.number();
    const all = fields.list(() => ({
      clientId: fields.text(),
      name: fields.text(),
      color: fields.text(),
      personId: fields.text(),
      isWriting: fields.number() === 1,
      selections: fields.list(() => ({ anchor: fields.number(), head: fields.number() })),
    }));
    return { count: count < 0 ? undefined : count, all };
  }

  /**
   * @param {string} room
   * @returns {{present: {id: string, name: string, color: string}[], typing: string[]}} `typing`: user ids.
   */
  roomPeople(room) {
    this.#call("room_people", new Writer(0).text(room));
    const fields = new Reader(this.#output());
    const present = fields.list(() => ({ id: fields.text(), name: fields.text(), color: fields.text() }));
    return { present, typing: fields.list(() => fields.text()) };
  }

  /**
   * Returns the server's text on which the edits of a note's oldest unanswered `keep` were made.
   *
   * @param {string} note
   */
  keptText(note) {
    this.#call("kept_text", new Writer(0).text(note));
    return decoder.decode(this.#output());
  }

  /**
   * Returns the server's text without unconfirmed edits, for a later `restore`.
   *
   * @param {string} note
   * @returns {{session: string, text: string} | undefined} Undefined until the note has been joined.
   */
  copy(note) {
    if (!this.#call("note_copy", new Writer(0).text(note))) return undefined;
    const fields = new Reader(this.#output());
    return { session: fields.text(), text: fields.text() };
  }

  /** @param {string} operation JSON text. @param {string} text */
  apply(operation, text) {
    this.#call("operation_apply", new Writer(0).text(operation).text(text));
    return decoder.decode(this.#output());
  }

  /** @param {string} name @param {Writer} fields @param {...number} more @returns {number} At least 0. */
  #call(name, fields, ...more) {
    const { bytes } = fields;
    const pointer = this.#exports.input_reserve(bytes.length);
    new Uint8Array(this.#exports.memory.buffer, pointer, bytes.length).set(bytes);
    const result = this.#exports[name](bytes.length, ...more);
    if (result < 0) throw new CoreError(`${name}: the core does not take this`);
    return result;
  }

  /** Returns the output of the last call; valid until the next call. */
  #output() {
    const { memory, output_address, output_count } = this.#exports;
    return new Uint8Array(memory.buffer, output_address(), output_count());
  }
}
