// Delta, the form in which Quill and other editors describe formatted texts and their changes, and the form of notes.
// Lengths count UTF-16 units in both.
//
// A note has one attribute `block` for the kind of a line, in place of Quill's `header`, `list`, `blockquote` and
// `code-block`, so that a line has a single kind even if two people change it at the same time. An embedded thing is
// U+FFFC with the attribute `embed`. Attributes that Quill does not know have the same name in both.

import { ParleyError } from "./errors.js";

/**
 * @typedef {import("../js/client/door.js").TextChange} TextChange
 * @typedef {import("../js/client/door.js").TextFormat} TextFormat
 * @typedef {import("../js/client/door.js").ChangeFormat} ChangeFormat
 * @typedef {Record<string, any>} Attributes
 * @typedef {{insert?: string | Record<string, any>, retain?: number, delete?: number, attributes?: Attributes}} DeltaOp
 * @typedef {{ops: DeltaOp[]}} Delta
 */

const object = "\ufffc";
const lineKeys = ["block", "indent", "align", "direction", "language"];

/** Quill's attribute, its key and value, for each value of the note's `block`. */
const names = new Map(/** @type {[string, [string, any]][]} */ ([
  ["bullet", ["list", "bullet"]], ["ordered", ["list", "ordered"]], ["task", ["list", "unchecked"]],
  ["done", ["list", "checked"]], ["quote", ["blockquote", true]], ["code", ["code-block", true]],
  ...[1, 2, 3, 4, 5, 6].map((level) => [`h${level}`, ["header", level]]),
]));
const quillLineKeys = ["header", "list", "blockquote", "code-block"];

/**
 * Returns Quill's attributes for a note's: of a text, or of a change, in which null removes a key.
 *
 * @param {Attributes} attributes
 * @returns {Attributes | undefined} Undefined if there are none.
 */
export function toQuill({ embed, block, language, ...rest }) {
  const [key, value] = names.get(block) ?? [];
  /** @type {Attributes} */
  const result = rest;
  if (key === "code-block") result[key] = language ?? value;
  else if (language !== undefined) result.language = language;
  if (key && key !== "code-block") result[key] = value;
  else if (block && !key) result.block = block;
  return Object.keys(result).length > 0 ? result : undefined;
}

/** @param {Attributes} change A note's. @returns {Attributes | undefined} Quill's, in which one kind of a line ends the others. */
function changeToQuill(change) {
  const result = toQuill(change) ?? {};
  if ("block" in change) for (const key of quillLineKeys) result[key] ??= null;
  return Object.keys(result).length > 0 ? result : undefined;
}

/** @param {string} message @returns {never} */
function refuse(message) {
  throw new ParleyError("invalid", message);
}

/** @param {string} key @param {unknown} value */
function checkedValue(key, value) {
  if (!/^[a-z][a-z0-9-]{0,39}$/.test(key)) refuse("expected a key of lower-case letters, digits and hyphens");
  if (value === null || value === false || value === undefined) return null;
  if (value === true || typeof value === "string" || Number.isSafeInteger(value)) return value;
  return refuse(`expected true, a whole number or a string as the value of ${key}, got another`);
}

/** @param {string} key Quill's. @param {any} value @returns {string | undefined} The note's `block`. */
function blockOf(key, value) {
  if (key === "header") return `h${Math.min(6, Math.max(1, Number(value) || 1))}`;
  if (key === "code-block") return "code";
  return [...names].find(([, [name, known]]) => name === key && known === value)?.[0];
}

/**
 * Returns a note's change of attributes for Quill's.
 *
 * @param {Attributes} attributes
 * @param {Attributes} present The note's attributes of the text that changes: another kind of line is not removed.
 * @returns {Attributes}
 */
export function toNote(attributes, present) {
  /** @type {Attributes} */
  const result = {};
  for (const [key, given] of Object.entries(attributes)) {
    const value = checkedValue(key, given);
    if (!quillLineKeys.includes(key)) result[key] = value;
    else if (value !== null) {
      result.block = blockOf(key, value) ?? refuse(`expected a known kind of ${key}, got another`);
      if (key === "code-block" && typeof value === "string") result.language = value;
    } else if (names.get(present.block)?.[0] === key && !result.block) {
      result.block = null;
      if (present.language !== undefined) result.language = null;
    }
  }
  return result;
}

/** Sets of attributes, numbered from 1. */
class Sets {
  /** @type {Attributes[]} */
  all = [];
  /** @type {Map<string, number>} */
  #numbers = new Map();

  /** @param {Attributes} set */
  number(set) {
    if (Object.keys(set).length === 0) return 0;
    const json = JSON.stringify(set);
    const known = this.#numbers.get(json) ?? this.all.push(set);
    this.#numbers.set(json, known);
    return known;
  }
}

/** The attributes of a text, by position. */
export class Runs {
  #ends = [0];
  /** @type {Attributes[]} */
  #sets = [];

  /** @param {TextFormat | undefined} format @param {number} length */
  constructor({ sets, runs } = { sets: [], runs: [] }, length) {
    let end = 0;
    for (let at = 0; at < runs.length; at += 2) {
      end += runs[at] ?? 0;
      this.#ends.push(end);
      this.#sets.push(sets[(runs[at + 1] ?? 0) - 1] ?? {});
    }
    if (end < length) {
      this.#ends.push(length);
      this.#sets.push({});
    }
  }

  /** The end of the last piece. */
  get length() {
    return this.#ends[this.#ends.length - 1] ?? 0;
  }

  /**
   * Returns the pieces of a range, each with its attributes.
   *
   * @param {number} from @param {number} to
   * @returns {{from: number, to: number, set: Attributes}[]}
   */
  in(from, to) {
    let [low, high] = [0, this.#sets.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ends[middle + 1] ?? 0) <= from) low = middle + 1;
      else high = middle;
    }
    const pieces = [];
    for (let at = low; at < this.#sets.length && (this.#ends[at] ?? 0) < to; at += 1) {
      const [start, end] = [Math.max(from, this.#ends[at] ?? 0), Math.min(to, this.#ends[at + 1] ?? 0)];
      if (end > start) pieces.push({ from: start, to: end, set: this.#sets[at] ?? {} });
    }
    return pieces;
  }
}

/**
 * Returns the operations that insert a text with a note's attributes.
 *
 * @param {string} text @param {Attributes} set
 * @returns {DeltaOp[]}
 */
function insertions(text, set) {
  const attributes = toQuill(set);
  const more = attributes && { attributes };
  if (!set.embed) return text ? [{ insert: text, ...more }] : [];
  return [...text].map(() => ({ insert: set.embed, ...more }));
}

/**
 * Returns a text as Delta.
 *
 * @param {string} text @param {TextFormat | undefined} format
 * @returns {Delta}
 */
export function deltaOf(text, format) {
  const pieces = new Runs(format, text.length).in(0, text.length);
  return { ops: pieces.flatMap(({ from, to, set }) => insertions(text.slice(from, to), set)) };
}

/** A change of a note that is built from the beginning of the text to its end. */
export class ChangeBuilder {
  /** @type {TextChange[]} */
  changes = [];
  #sets = new Sets();
  /** @type {number[]} */
  #kept = [];
  /** @type {number[]} */
  #put = [];
  #place = 0;
  #keptEnd = 0;

  /** @type {Runs | undefined} */
  #runs;

  /** @param {string} text The text before the change. @param {() => TextFormat | undefined} format Its formatting. */
  constructor(text, format) {
    this.text = text;
    this.formatBefore = format;
  }

  get place() {
    return this.#place;
  }

  /** @param {number} count @param {Attributes} [attributes] Quill's. */
  retain(count, attributes) {
    const to = this.#place + count;
    if (attributes) {
      this.#runs ??= new Runs(this.formatBefore(), this.text.length);
      for (const piece of this.#runs.in(this.#place, to)) this.setKept(piece.from, piece.to, toNote(attributes, piece.set));
    }
    this.#move(to);
  }

  /** @param {number} from @param {number} to @param {Attributes} change A note's attributes. Ranges ascend. */
  setKept(from, to, change) {
    const set = this.#sets.number(change);
    if (set === 0) return;
    this.#kept.push(from - this.#keptEnd, to - from, set);
    this.#keptEnd = to;
  }

  /** @param {string} text @param {Attributes} [attributes] A note's. */
  insert(text, attributes = {}) {
    if (!text) return;
    if (/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(text)) {
      refuse("expected whole characters, got half a surrogate pair");
    }
    this.#change().insert += text;
    const given = Object.entries(attributes).filter(([, value]) => value !== null);
    this.#put.push(text.length, this.#sets.number(Object.fromEntries(given)));
  }

  /** @param {number} count */
  delete(count) {
    if (count === 0) return;
    const change = this.#change();
    this.#move(this.#place + count);
    change.to = this.#place;
  }

  #change() {
    const last = this.changes[this.changes.length - 1];
    if (last?.to === this.#place) return last;
    const change = { from: this.#place, to: this.#place, insert: "" };
    this.changes.push(change);
    return change;
  }

  /** @param {number} to */
  #move(to) {
    const [before, at] = [this.text.charCodeAt(to - 1), this.text.charCodeAt(to)];
    const splits = before >= 0xd800 && before < 0xdc00 && at >= 0xdc00 && at < 0xe000;
    if (to > this.text.length || splits) refuse(`expected whole characters of ${this.text.length} units, got ${to}`);
    this.#place = to;
  }

  /** @returns {ChangeFormat | undefined} */
  get format() {
    const isPut = this.#put.some((number, at) => at % 2 === 1 && number > 0);
    if (this.#kept.length === 0 && !isPut) return undefined;
    return { sets: this.#sets.all, ...(this.#kept.length > 0 && { kept: this.#kept }), ...(isPut && { put: this.#put }) };
  }
}

/**
 * Adds a Delta's insertion.
 *
 * @param {ChangeBuilder} builder @param {DeltaOp} op
 */
export function insertInto(builder, { insert, attributes = {} }) {
  const own = toNote(attributes, {});
  if (typeof insert === "string") return builder.insert(insert, own);
  const [[kind, value] = ["", null], ...others] = Object.entries(insert ?? {});
  if (others.length > 0) refuse("expected one embedded thing in an insertion");
  const known = checkedValue(kind, value) ?? refuse("expected a value of an embedded thing");
  builder.insert(object, { ...own, embed: { [kind]: known } });
}

/**
 * Returns the change of a note that a Delta describes.
 *
 * @param {DeltaOp[]} ops @param {string} text The text before it. @param {() => TextFormat | undefined} format Its
 * attributes.
 * @returns {{changes: TextChange[], format: ChangeFormat | undefined}}
 * @throws {ParleyError} invalid
 */
export function changeOf(ops, text, format) {
  const builder = new ChangeBuilder(text, format);
  for (const op of ops) {
    if (op.insert !== undefined) insertInto(builder, op);
    else if (op.delete !== undefined) builder.delete(count(op.delete));
    else builder.retain(count(op.retain), op.attributes);
  }
  return { changes: builder.changes, format: builder.format };
}

/** @param {unknown} number */
const count = (number) =>
  Number.isSafeInteger(number) && /** @type {number} */ (number) >= 0
    ? /** @type {number} */ (number) : refuse("expected a length");

/**
 * Returns a change of a note as a Delta. It inserts before it deletes.
 *
 * @param {TextChange[]} changes @param {ChangeFormat} [format]
 * @param {(set: Attributes) => Attributes} [shown] Replaces the attributes of inserted text.
 * @returns {Delta}
 */
export function deltaOfChange(changes, format = {}, shown = (set) => set) {
  const { sets = [], kept = [], put = [] } = format;
  /** @type {DeltaOp[]} */
  const ops = [];
  let place = 0;
  const spans = new Runs({ sets: /** @type {any} */ (sets), runs: spansAsRuns(kept) }, 0);
  const runs = new Runs({ sets: /** @type {any} */ (sets), runs: put }, changes.reduce((sum, one) => sum + one.insert.length, 0));
  let inserted = 0;
  const retain = (/** @type {number} */ to) => {
    for (const piece of spans.in(place, to)) {
      if (piece.from > place) ops.push({ retain: piece.from - place });
      const attributes = changeToQuill(piece.set);
      ops.push({ retain: piece.to - piece.from, ...(attributes && { attributes }) });
      place = piece.to;
    }
    if (to > place) ops.push({ retain: to - place });
    place = to;
  };
  for (const { from, to, insert } of changes) {
    retain(from);
    for (const piece of runs.in(inserted, inserted + insert.length)) {
      ops.push(...insertions(insert.slice(piece.from - inserted, piece.to - inserted), shown(piece.set)));
    }
    inserted += insert.length;
    if (to > from) ops.push({ delete: to - from });
    place = to;
  }
  retain(spans.length);
  while (ops.length > 0 && ops[ops.length - 1]?.retain && !ops[ops.length - 1]?.attributes) ops.pop();
  return { ops };
}

/** @param {number[]} kept Triples. @returns {number[]} Pairs. */
const spansAsRuns = (kept) => kept.flatMap((number, at) => (at % 3 === 0 ? [number, 0] : [number]));

/**
 * Returns the change that sets attributes of a range. Attributes of lines apply to all lines that the range touches; a
 * last line without a newline gets one. Others apply to the text of the range.
 *
 * @param {string} text @param {() => TextFormat | undefined} format @param {number} from @param {number} to
 * @param {Attributes} attributes Quill's; null removes a key.
 * @throws {ParleyError} invalid
 */
export function formattingOf(text, format, from, to, attributes) {
  const builder = new ChangeBuilder(text, format);
  const isOfLines = (/** @type {string} */ key) => lineKeys.includes(key) || quillLineKeys.includes(key);
  const entries = Object.entries(attributes);
  const ofLines = Object.fromEntries(entries.filter(([key]) => isOfLines(key)));
  const ofText = Object.fromEntries(entries.filter(([key]) => !isOfLines(key)));
  // Whole characters of the range, and nothing outside the text.
  if (!(Number.isSafeInteger(from) && from >= 0 && from <= to && to <= text.length)) {
    refuse(`expected a range within ${text.length} units`);
  }
  builder.retain(from);
  while (builder.place < to) {
    const newline = text.indexOf("\n", builder.place);
    const end = newline < 0 || newline >= to ? to : newline;
    builder.retain(end - builder.place, ofText);
    if (end < to) builder.retain(1, ofLines);
  }
  const isPastEnd = to > from && text[to - 1] === "\n";
  if (Object.keys(ofLines).length > 0 && !isPastEnd) {
    const newline = text.indexOf("\n", to);
    builder.retain((newline < 0 ? text.length : newline) - builder.place);
    if (newline < 0) builder.insert("\n", toNote(ofLines, {}));
    else builder.retain(1, ofLines);
  }
  return { changes: builder.changes, format: builder.format };
}
