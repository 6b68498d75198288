// A room: its publications, in order and each once, and the people present.

import { CoreError } from "../js/client/door.js";
import { Emitter } from "../js/ground/emitter.js";
import { ParleyError } from "./errors.js";

/**
 * @typedef {import("../js/client/door.js").RoomPosition} RoomPosition
 * @typedef {import("../js/client/door.js").RoomAction} RoomAction
 * @typedef {import("../js/client/door.js").Receipt} Receipt
 */

/**
 * A publication. `position`: its position in the room's history; store it to continue from there on the next visit.
 * `time`: milliseconds since 1970 of the gateway's clock. `personId`: the publisher, as verified by the gateway, or "".
 * `senderId`: the publisher's own id for itself, or "".
 *
 * @typedef {{kind: "publication", data: any, position: RoomPosition, time: number, personId: string,
 *   senderId: string}} Publication
 */

/**
 * Publications between the two positions are missing, because the gateway no longer has them, or the reader was too
 * slow: fetch the room's data again.
 *
 * @typedef {{kind: "gap", after: RoomPosition, through: RoomPosition}} Gap
 */

/**
 * The resource that the room is named after has changed: fetch it again. Rooms do not store these updates.
 *
 * @typedef {{kind: "resource"}} ResourceUpdate
 */

/**
 * A person in a room. `id`: the token's user, or an id that the gateway assigned.
 *
 * @typedef {{id: string, name: string, color: string, isTyping: boolean, isSelf: boolean}} RoomPerson
 */

/**
 * publication, gap, resource: see the types of these names. state: the state has changed. people: others have joined,
 * left, changed their name, or begun or stopped typing. receipt: another person has received or read a publication of
 * this user; receipts during an outage are not repeated.
 *
 * @typedef {{publication: Publication, gap: Gap, resource: ResourceUpdate, state: void, people: void,
 *   receipt: Receipt & {position: RoomPosition}}} SharedRoomEvents
 */

/** Maximum events that wait for one reader; beyond it, one gap replaces the older half. */
const waitingMax = 1_000;

/** @extends {Emitter<SharedRoomEvents>} */
export class SharedRoom extends Emitter {
  /** The room's name. */
  name;
  /**
   * opening: no answer yet. live: synchronised with the gateway. away: the gateway cannot be reached; missed
   * publications are delivered later. failed: the subscription was rejected, for `failure`. closed: by `close`.
   *
   * @type {import("../js/client/door.js").RoomPhase}
   */
  state = "opening";
  /** The reason of the state `failed`: an error code of the protocol, or `readingLost`. */
  failure = "";
  /**
   * The position of the newest publication that was emitted.
   *
   * @type {RoomPosition | undefined}
   */
  position;

  #core;
  #connection;
  #closed;
  #waits;
  #isPresent;
  #isTyping = false;
  /** @type {Set<Reader>} */
  #readers = new Set();
  /** @type {Map<string, {json: string, promise: Promise<RoomPosition>, resolve: (position: RoomPosition) => void,
   *   reject: (error: ParleyError) => void}>} */
  #answers = new Map();
  /** Pending requests for receipts, by offset. @type {Map<number, {promise: Promise<Receipt[]>,
   *   resolve: (receipts: Receipt[]) => void, reject: (error: ParleyError) => void}>} */
  #questions = new Map();

  /**
   * Created by `Parley.room`.
   *
   * @param {{core: import("../js/client/door.js").Core, connection: import("../js/client/connection.js").Connection, name: string,
   *   isPresent: boolean, from: RoomPosition | undefined, waits: import("./waits.js").Waits, closed: () => void}} parts
   */
  constructor({ core, connection, name, isPresent, from, waits, closed }) {
    super();
    this.name = name;
    this.position = from;
    this.#core = core;
    this.#connection = connection;
    this.#waits = waits;
    this.#closed = closed;
    this.#isPresent = isPresent;
    connection.addRoom(name, { take: (action) => this.#take(action), perform: (action) => this.#perform(action) });
    connection.subscribe(name, isPresent, from);
  }

  /** Whether this user appears in the room's presence, and receives it. */
  get isPresent() {
    return this.#isPresent;
  }

  set isPresent(isPresent) {
    if (isPresent === this.#isPresent || this.state === "closed") return;
    this.#isPresent = isPresent;
    this.#connection.subscribe(this.name, isPresent);
  }

  /** Whether the others see that this user is typing. It remains true until it is set to false. */
  get isTyping() {
    return this.#isTyping;
  }

  set isTyping(isTyping) {
    if (isTyping === this.#isTyping || this.state === "closed") return;
    this.#isTyping = isTyping;
    this.#connection.handle("typing", this.name, isTyping ? 1 : 0);
  }

  /**
   * The people present, this user included; empty unless `isPresent`.
   *
   * @returns {RoomPerson[]}
   */
  get people() {
    const { present, typing } = this.#core.roomPeople(this.name);
    const self = this.#connection.welcome?.personId;
    return present.map((person) => ({
      ...person, isTyping: typing.includes(person.id), isSelf: person.id === self,
    }));
  }

  /**
   * The ids of people who are typing.
   *
   * @returns {string[]}
   */
  get typists() {
    return this.#core.roomPeople(this.name).typing;
  }

  /** The number of this page's publications without an answer. At 1,000, the next one is rejected. */
  get waiting() {
    return this.#answers.size;
  }

  /**
   * Publishes data. While the gateway cannot be reached, the publication waits in this page's memory alone.
   *
   * @param {unknown} data A value for JSON, nested at most 24 deep.
   * @param {{key?: string, senderId?: string}} [options] `key`: data is published once for each key, even if it is sent
   * again. Default: a new key. `senderId`: an id by which an app recognises its own publications.
   * @returns {Promise<RoomPosition>} Its position, once the gateway has stored it on disk. Rejects with ParleyError:
   * invalid, refused (see its `reason`), unsure; noAnswer: the publication remains queued, unless the connection has
   * stopped.
   */
  publish(data, options = {}) {
    const { key = newKey(), senderId = "" } = options;
    const json = JSON.stringify(data);
    const invalid = (/** @type {string} */ message) => Promise.reject(new ParleyError("invalid", message));
    if (this.state === "closed") return invalid("expected an open room, got one that was closed");
    if (json === undefined) return invalid(`expected what JSON can hold, got ${typeof data}`);
    const asked = this.#answers.get(key);
    if (asked) {
      if (asked.json === json) return this.#waits.limited(asked.promise);
      return Promise.reject(new ParleyError("refused", "the key is in use for other data", "keyReused"));
    }
    const answer = Object.assign(newAnswer(), { json });
    this.#answers.set(key, answer);
    try {
      this.#connection.handle("publish", this.name, key, senderId, json);
    } catch (error) {
      if (!(error instanceof CoreError)) throw error;
      this.#answers.delete(key);
      return invalid("expected data nested at most 24 deep, got data that the gateway would not take");
    }
    return this.#waits.limited(answer.promise);
  }

  /**
   * Confirms to the publisher that this user has received or read a publication. A receipt is never revoked. Waits for
   * a connection.
   *
   * @param {RoomPosition} position The publication's position.
   * @param {Receipt["stage"]} [stage]
   * @throws {ParleyError} invalid
   */
  confirm({ epoch, offset }, stage = "read") {
    const problem = this.#problemOf(epoch);
    if (problem) throw problem;
    this.#connection.handle("confirm", this.name, offset, stage === "read" ? 1 : 0);
  }

  /**
   * Returns which people have received or read a publication of this user.
   *
   * @param {RoomPosition} position The publication's position.
   * @returns {Promise<Receipt[]>} Rejects with ParleyError: invalid, refused (see its `reason`), noAnswer.
   */
  receiptsOf({ epoch, offset }) {
    const problem = this.#problemOf(epoch);
    if (problem) return Promise.reject(problem);
    const asked = this.#questions.get(offset);
    if (asked) return this.#waits.limited(asked.promise);
    const question = newAnswer();
    this.#questions.set(offset, question);
    this.#connection.handle("askReceipts", this.name, offset);
    return this.#waits.limited(question.promise);
  }

  /** @param {string} epoch */
  #problemOf(epoch) {
    if (this.state !== "closed" && epoch === this.position?.epoch) return undefined;
    return new ParleyError("invalid", "expected the place of a publication in this room's history, got another");
  }

  /**
   * Returns the publications from now on, in order, each once, with gaps and resource updates between them. At most
   * 1,000 wait for the loop; beyond it, one gap replaces the older half. The loop ends when the room is closed, and
   * throws when the subscription is rejected.
   *
   * @returns {AsyncIterableIterator<Publication | Gap | ResourceUpdate>}
   */
  publications() {
    /** @type {Reader} */
    const reader = new Reader(() => this.#readers.delete(reader));
    this.#readers.add(reader);
    if (this.state === "closed") reader.end();
    else if (this.state === "failed") reader.end(notHeard(this.failure));
    return reader;
  }

  /** Subscribes again after a failure. */
  retry() {
    if (this.state === "failed") this.#connection.subscribe(this.name, this.#isPresent);
  }

  /** Leaves the room. Pending publications may still be stored, but their promises are rejected. */
  close() {
    if (this.state === "closed") return;
    this.isTyping = false;
    this.#connection.handle("unsubscribe", this.name);
    this.#connection.removeRoom(this.name);
    this.#closed();
    this.state = "closed";
    this.end(new ParleyError("invalid", "the room was closed before the gateway answered"));
    for (const reader of [...this.#readers]) reader.end();
    this.emit("state", undefined);
  }

  /**
   * Ends all loops and pending requests, because the connection has ended.
   *
   * @param {ParleyError} error
   */
  end(error) {
    for (const answers of [this.#answers, this.#questions]) {
      for (const { reject } of answers.values()) reject(error);
      answers.clear();
    }
    if (this.state === "closed") return;
    for (const reader of [...this.#readers]) reader.end(error);
  }

  /** Reports that the resource that the room is named after has changed. */
  resourceChanged() {
    this.#tell({ kind: "resource" });
  }

  /** @param {RoomAction} action */
  #take(action) {
    if (action.kind === "roomStatus") {
      this.state = action.phase;
      this.failure = action.failure;
    }
  }

  /** @param {RoomAction} action */
  #perform(action) {
    switch (action.kind) {
      case "publication": {
        const { position, time, personId, senderId, json } = action;
        this.position = position;
        this.#tell({ kind: "publication", data: JSON.parse(json), position, time, personId, senderId });
        break;
      }
      case "gap":
        this.position = action.through;
        this.#tell({ kind: "gap", after: action.after, through: action.through });
        break;
      case "position":
        this.position = action.position;
        break;
      case "published":
      case "publishFailed": {
        const answer = this.#answers.get(action.key);
        this.#answers.delete(action.key);
        if (action.kind === "published") answer?.resolve(action.position);
        else answer?.reject(failure(action.code));
        break;
      }
      case "receipt":
        for (const receipt of action.receipts) {
          const { epoch } = this.position ?? { epoch: "" };
          this.emit("receipt", { ...receipt, position: { epoch, offset: action.offset } });
        }
        break;
      case "receipts": {
        const question = this.#questions.get(action.offset);
        this.#questions.delete(action.offset);
        if (action.code) question?.reject(new ParleyError("refused", `the receipts cannot be read: ${action.code}`, action.code));
        else question?.resolve(action.receipts);
        break;
      }
      case "roomPeople":
        this.emit("people", undefined);
        break;
      case "roomStatus":
        if (action.phase === "failed") {
          for (const reader of [...this.#readers]) reader.end(notHeard(action.failure));
        }
        this.emit("state", undefined);
    }
  }

  /** @param {Publication | Gap | ResourceUpdate} news */
  #tell(news) {
    for (const reader of this.#readers) reader.put(news);
    this.emit(news.kind, /** @type {any} */ (news));
  }
}

/** @param {string} code */
const failure = (code) =>
  code === "unsure"
    ? new ParleyError("unsure", "the gateway has forgotten this client, so whether this was published is unknown")
    : new ParleyError("refused", `the gateway did not publish this: ${code}`, code);

/** @param {string} code */
const notHeard = (code) => new ParleyError("refused", `the room may not be heard: ${code}`, code);

/** @returns {any} A promise with its `resolve` and `reject`. */
function newAnswer() {
  /** @type {any} */
  const answer = {};
  answer.promise = new Promise((resolve, reject) => Object.assign(answer, { resolve, reject }));
  // A caller may have stopped waiting for it.
  answer.promise.catch(() => {});
  return answer;
}

/** Returns a new random key. */
const newKey = () => Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("-");

/**
 * The events for one loop.
 *
 * @implements {AsyncIterableIterator<Publication | Gap | ResourceUpdate>}
 */
class Reader {
  /** @type {(Publication | Gap | ResourceUpdate)[]} */
  #news = [];
  /** @type {(() => void)[]} Pending calls of `next`. */
  #calls = [];
  #isOver = false;
  /** @type {ParleyError | undefined} Thrown once, after the remaining events. */
  #error;
  #leave;

  /** @param {() => void} leave */
  constructor(leave) {
    this.#leave = leave;
  }

  /** @param {Publication | Gap | ResourceUpdate} news */
  put(news) {
    this.#news.push(news);
    if (this.#news.length > waitingMax) this.#news = shortened(this.#news);
    this.#calls.shift()?.();
  }

  /** @param {ParleyError} [error] */
  end(error) {
    this.#leave();
    this.#isOver = true;
    this.#error ??= error;
    for (const call of this.#calls.splice(0)) call();
  }

  /** @returns {Promise<IteratorResult<Publication | Gap | ResourceUpdate, undefined>>} */
  async next() {
    while (this.#news.length === 0 && !this.#isOver) await new Promise((call) => this.#calls.push(() => call(undefined)));
    const value = this.#news.shift();
    if (value) return { value, done: false };
    const error = this.#error;
    this.#error = undefined;
    if (error) throw error;
    return { value: undefined, done: true };
  }

  /** @returns {Promise<IteratorResult<Publication | Gap | ResourceUpdate, undefined>>} */
  async return() {
    this.#news = [];
    this.#error = undefined;
    this.end();
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator]() {
    return this;
  }
}

/**
 * Replaces the older half by one gap.
 *
 * @param {(Publication | Gap | ResourceUpdate)[]} news
 */
function shortened(news) {
  const dropped = news.slice(0, (news.length >> 1) + 1);
  const placed = /** @type {(Publication | Gap)[]} */ (dropped.filter(({ kind }) => kind !== "resource"));
  const [first, last] = [placed[0], placed[placed.length - 1]];
  const rest = news.slice(dropped.length);
  // Resource updates contain no data, so one represents many.
  if (!first || !last) return [/** @type {ResourceUpdate} */ ({ kind: "resource" }), ...rest];
  const after = first.kind === "gap" ? first.after : { ...first.position, offset: first.position.offset - 1 };
  const through = last.kind === "gap" ? last.through : last.position;
  return [/** @type {Gap} */ ({ kind: "gap", after, through }), ...rest];
}
