// A server of one note with formatting, played by a test: it puts the changes of several clients in order. The note's
// content is a naive model, one entry for each scalar; the core of a client transforms.

import assert from "node:assert/strict";
import { World, newCore } from "./support.mjs";

/** @typedef {import("../../Web/js/client/door.js").Attributes} Attributes */
/** @typedef {{scalar: string, attributes: Attributes}} Unit */
/** @typedef {{clientId: string, sequence: number, operation: (number | string)[], format?: any}} Change */

/** @param {Attributes} attributes @param {Attributes} change */
function changed(attributes, change) {
  const all = Object.entries({ ...attributes, ...change }).filter(([, value]) => value !== null);
  return Object.fromEntries(all.sort(([one], [other]) => (one < other ? -1 : 1)));
}

/**
 * Returns the sets of a list of lengths and set numbers, one for each unit.
 *
 * @param {any} format @param {number[]} pairs @param {number} count
 */
function setsOf(format, pairs, count) {
  /** @type {Attributes[]} */
  const sets = [];
  for (let at = 0; at < pairs.length; at += 2) {
    const set = pairs[at + 1] ? format.sets[(pairs[at + 1] ?? 0) - 1] : {};
    assert.ok(set, "a set that there is");
    for (let left = pairs[at] ?? 0; left > 0; left -= 1) sets.push(set);
  }
  assert.ok(sets.length <= count, "within the text");
  while (sets.length < count) sets.push({});
  return sets;
}

/**
 * Returns the content after an operation, whose lengths count scalars as on the wire.
 *
 * @param {Unit[]} units @param {(number | string)[]} operation @param {any} [format] @returns {Unit[]}
 */
export function appliedTo(units, operation, format = {}) {
  /** @type {number[]} */
  const spans = [];
  for (let at = 0; at < (format.kept ?? []).length; at += 3) {
    spans.push(format.kept[at], 0, format.kept[at + 1], format.kept[at + 2]);
  }
  const changes = setsOf(format, spans, units.length);
  const inserted = operation.filter((part) => typeof part === "string").join("");
  const runs = setsOf(format, format.put ?? [], [...inserted].length);
  const result = [];
  let place = 0;
  for (const part of operation) {
    if (typeof part === "string") {
      for (const scalar of part) result.push({ scalar, attributes: changed({}, runs.shift() ?? {}) });
      continue;
    }
    for (const unit of units.slice(place, place + Math.abs(part))) {
      if (part > 0) result.push({ ...unit, attributes: changed(unit.attributes, changes[place] ?? {}) });
      else assert.deepEqual(changes[place], {}, "no span over deleted text");
      place += 1;
    }
  }
  assert.equal(place, units.length, "the operation ends with the text");
  return result;
}

/** @param {Unit[]} units */
export const textOf = (units) => units.map(({ scalar }) => scalar).join("");

/**
 * Returns a text with its attributes as units, from the form in which a note gives both.
 *
 * @param {string} text @param {import("../../Web/js/client/door.js").TextFormat} [format] @returns {Unit[]}
 */
export function unitsOf(text, format = { sets: [], runs: [] }) {
  const sets = setsOf(format, format.runs, text.length);
  let place = 0;
  return [...text].map((scalar) => {
    const attributes = changed({}, sets[place] ?? {});
    place += scalar.length;
    return { scalar, attributes };
  });
}

/**
 * Returns the form of units on the wire.
 *
 * @param {Unit[]} units
 */
export function formatOf(units) {
  /** @type {Attributes[]} */
  const sets = [];
  /** @type {number[]} */
  const runs = [];
  for (const { attributes } of units) {
    const json = JSON.stringify(attributes);
    let set = json === "{}" ? 0 : sets.findIndex((known) => JSON.stringify(known) === json) + 1;
    if (json !== "{}" && set === 0) set = sets.push(attributes);
    if (runs[runs.length - 1] === set) runs[runs.length - 2] = (runs[runs.length - 2] ?? 0) + 1;
    else runs.push(1, set);
  }
  return sets.length > 0 ? { sets, runs } : undefined;
}

/** A client of the server, with a line of its own. */
class TwinClient {
  /** The number of revisions sent to it. */
  seen = 0;
  taken = 0;

  /** @param {string} id */
  constructor(id) {
    this.id = id;
    this.line = new World();
    this.line.capabilities = ["documents", "resume", "rich"];
    this.line.connection.start();
    this.line.welcome(id);
  }

  get changes() {
    return this.line.sent.filter(({ type }) => type === "change");
  }
}

export class TwinServer {
  static firstRevision = 7;
  /** @type {Change[]} */
  log = [];
  /** @type {TwinClient[]} */
  clients = [];
  #core = newCore();

  /** @param {Unit[]} units @param {"plain" | "rich"} kind */
  constructor(units = [], kind = "rich") {
    this.units = units;
    this.kind = kind;
  }

  get revision() {
    return TwinServer.firstRevision + this.log.length;
  }

  /** @param {string} id */
  client(id) {
    const client = new TwinClient(id);
    this.clients.push(client);
    return client;
  }

  /** @param {TwinClient} client Answers its join with the whole text. */
  join(client) {
    const asks = client.line.last("join")?.data.formats;
    const format = asks && this.kind === "rich" ? formatOf(this.units) : undefined;
    client.seen = this.log.length;
    client.line.say("joined", {
      documentId: "d", title: "Title", epoch: "e", revision: this.revision, lastSequence: 0, access: "write", presence: [],
      text: textOf(this.units), ...(this.kind === "rich" && { kind: "rich" }), ...(format && { format }),
    }, "join");
  }

  /** @param {TwinClient} client Takes its next change; whether there is one. */
  take(client) {
    const message = client.changes[client.taken];
    if (!message) return false;
    client.taken += 1;
    const { revision, sequence, operation, format } = message.data;
    if (format && this.kind === "plain") assert.equal(format.kind, "rich", "a format in a plain note");
    let change = JSON.stringify(operation);
    let changeFormat = format ? JSON.stringify(format) : "";
    for (const other of this.log.slice(revision - TwinServer.firstRevision)) {
      const after = this.#core.transform(
        JSON.stringify(other.operation), change, other.format ? JSON.stringify(other.format) : "", changeFormat);
      change = after.rightAfterLeft;
      changeFormat = after.rightFormat;
    }
    const stored = changeFormat ? JSON.parse(changeFormat) : undefined;
    if (stored?.kind) this.kind = "rich";
    this.units = appliedTo(this.units, JSON.parse(change), stored);
    this.log.push({
      clientId: client.id, sequence, operation: JSON.parse(change), ...(stored && { format: stored }),
    });
    return true;
  }

  /** @param {TwinClient} client Tells it of the next revision; whether there is one. */
  tell(client) {
    const change = this.log[client.seen];
    if (!change) return false;
    client.seen += 1;
    const revision = TwinServer.firstRevision + client.seen;
    const { clientId, sequence, format, ...rest } = change;
    if (clientId === client.id) client.line.say("acknowledged", { documentId: "d", sequence, revision });
    else {
      const asks = client.line.last("join")?.data.formats;
      const told = { clientId, sequence, ...rest, ...(asks && format && { format }) };
      client.line.say("changes", { documentId: "d", revision, changes: [told] });
    }
    client.line.pass(1_000);
    return true;
  }

  /** Until nothing is on its way. */
  settle() {
    for (let isMoving = true; isMoving; ) {
      isMoving = false;
      for (const client of this.clients) {
        if (this.take(client)) isMoving = true;
        while (this.tell(client)) isMoving = true;
      }
    }
  }
}
