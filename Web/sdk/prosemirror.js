// Binds a note with formatting to an app's own ProseMirror, or to an editor over it, with a flat schema: a document is
// lines, and a line is text and embedded things. A position in the document is then the offset in the text, plus the
// number of the line, plus 1.

import { isLink, isSource } from "./addresses.js";

/**
 * @typedef {import("./note.js").SharedNote} SharedNote
 * @typedef {import("../js/client/door.js").TextChange} TextChange
 * @typedef {import("../js/client/door.js").ChangeFormat} ChangeFormat
 * @typedef {Record<string, any>} Attributes A note's.
 * @typedef {{unit: string, attributes: Attributes}} Unit One UTF-16 unit; a newline has the attributes of its line.
 */

/**
 * The correspondence of a schema with the attributes of notes, where it does not follow from the names.
 *
 * @typedef {object} Mapping
 * @property {(attributes: Attributes) => {type: string, attrs?: any} | undefined} [line] Returns the node of a line with
 * a newline's attributes; undefined for the binding's own choice.
 * @property {(node: any) => Attributes | undefined} [ofLine] Returns the newline's attributes of a line.
 * @property {Record<string, {key: string, attr?: string}>} [marks] The attribute of each mark, and the mark's attribute
 * that has its value.
 */

const markNames = new Map([
  ["strong", "bold"], ["em", "italic"], ["s", "strike"], ["strikethrough", "strike"], ["u", "underline"],
  ["sub", "script=sub"], ["subscript", "script=sub"], ["sup", "script=super"], ["superscript", "script=super"],
]);
const lineKeys = ["block", "indent", "align", "direction", "language"];
const object = "\ufffc";

/** @param {any} type A mark's or a node's type. @returns {string[]} The names of its attributes. */
const attrsOf = (type) => Object.keys(type.spec.attrs ?? {});

/** The correspondence of a flat schema with the attributes of notes. */
class FlatSchema {
  schema;
  #mapping;
  /** @type {Map<string, {key: string, attr?: string, value?: any}>} By the mark's name. */
  #marks = new Map();
  /** @type {Map<string, any>} The mark's type, by attribute, or by attribute and value. */
  #markTypes = new Map();
  /** @type {WeakMap<any, Unit[]>} The units of each line. */
  #units = new WeakMap();

  /** @param {any} schema @param {Mapping} mapping @param {(message: string) => Error} error */
  constructor(schema, mapping, error) {
    this.schema = schema;
    this.#mapping = mapping;
    const refuse = (/** @type {string} */ problem) => {
      throw error(`the schema cannot be mapped to a note: ${problem}`);
    };
    const all = Object.values(schema.nodes);
    const isChildOf = (/** @type {any} */ type) => (/** @type {any} */ other) => contains(type, other);
    const lines = all.filter(isChildOf(schema.topNodeType));
    if (lines.length === 0) refuse("the document has no lines");
    for (const type of lines) {
      if (!type.isTextblock) refuse(`expected lines of text in the document, got ${type.name}`);
      for (const child of all.filter(isChildOf(type))) {
        if (!child.isText && !child.isLeaf) refuse(`expected text and embedded things in ${type.name}, got ${child.name}`);
      }
      const known = attrsOf(type).every((name) => lineKeys.includes(name));
      const isNamed = ["paragraph", "heading", "code_block", "codeBlock"].includes(type.name);
      if (!known && !isNamed && !mapping.ofLine) refuse(`the attributes of ${type.name} need a mapping`);
    }
    for (const type of Object.values(schema.marks)) {
      const given = mapping.marks?.[type.name];
      const attrs = attrsOf(type);
      const [key = type.name, value] = (markNames.get(type.name) ?? type.name).split("=");
      const isLink = key === "link" && attrs.includes("href");
      if (!given && !isLink && attrs.length > 1) refuse(`the attributes of the mark ${type.name} need a mapping`);
      const name = (given?.key ?? key).toLowerCase();
      if (!/^[a-z][a-z0-9-]{0,39}$/.test(name) || name === "embed") refuse(`the mark ${type.name} needs a mapping`);
      const attr = given ? given.attr : isLink ? "href" : attrs[0];
      this.#marks.set(type.name, { key: name, ...(attr && { attr }), ...(value && { value }) });
      this.#markTypes.set(value ? `${name}=${value}` : name, type);
    }
  }

  /** @param {Attributes} attributes A newline's; a last line has none. @returns {{type: any, attrs: any}} */
  lineOf(attributes) {
    const { nodes, topNodeType } = this.schema;
    const own = this.#mapping.line?.(attributes);
    if (own) return { type: nodes[own.type], attrs: own.attrs ?? null };
    const { block } = attributes;
    const level = /^h([1-6])$/.exec(block ?? "")?.[1];
    const code = nodes.code_block ?? nodes.codeBlock;
    const named = level && nodes.heading ? nodes.heading : block === "code" && code ? code : undefined;
    const type = named ?? nodes.paragraph ?? topNodeType.contentMatch.defaultType;
    /** @type {Attributes} */
    const attrs = {};
    for (const name of attrsOf(type)) {
      if (name === "level") attrs[name] = Number(level);
      else if (lineKeys.includes(name)) attrs[name] = attributes[name] ?? type.spec.attrs[name].default ?? null;
      else if (name === "params" && attributes.language) attrs[name] = attributes.language;
    }
    return { type, attrs };
  }

  /** @param {any} node A line. @returns {Attributes} */
  ofLine(node) {
    const own = this.#mapping.ofLine?.(node);
    if (own) return own;
    /** @type {Attributes} */
    const attributes = {};
    if (node.type.name === "heading") attributes.block = `h${node.attrs.level ?? 1}`;
    else if (node.type.spec.code) attributes.block = "code";
    if (node.attrs.params) attributes.language = node.attrs.params;
    for (const key of lineKeys) {
      const value = node.attrs[key];
      if (value !== undefined && value !== node.type.spec.attrs?.[key]?.default && value !== null && value !== "") {
        attributes[key] = value;
      }
    }
    return attributes;
  }

  /** @param {any} mark @returns {[string, any]} */
  ofMark(mark) {
    const { key, attr, value } = /** @type {any} */ (this.#marks.get(mark.type.name));
    return [key, value ?? (attr ? (mark.attrs[attr] ?? true) : true)];
  }

  /**
   * @param {string} key @param {any} value
   * @returns {any} The mark; undefined for an attribute that the schema lacks, and for a link that must not be followed.
   */
  markOf(key, value) {
    if (key === "link" && !isLink(value)) return undefined;
    const type = this.#markTypes.get(`${key}=${value}`) ?? this.#markTypes.get(key);
    if (!type) return undefined;
    const { attr } = /** @type {any} */ (this.#marks.get(type.name));
    return type.create(attr ? { [attr]: value } : null);
  }

  /** @param {string} key @returns {any[]} The types of all marks of an attribute. */
  marksOf(key) {
    return [...this.#markTypes].filter(([name]) => name.split("=")[0] === key).map(([, type]) => type);
  }

  /** @param {any} node A line. @returns {Unit[]} Without its newline. */
  unitsOf(node) {
    const known = this.#units.get(node);
    if (known) return known;
    /** @type {Unit[]} */
    const units = [];
    node.forEach((/** @type {any} */ child) => {
      /** @type {Attributes} */
      const attributes = Object.fromEntries(child.marks.map((/** @type {any} */ mark) => this.ofMark(mark)));
      if (child.isText) {
        for (const unit of child.text.split("")) units.push({ unit, attributes });
        return;
      }
      const { src = true, alt, width, value = src } = child.attrs;
      const embed = { [child.type.name.toLowerCase().replace(/_/g, "-")]: value };
      units.push({ unit: object, attributes: { ...attributes, embed, ...(alt && { alt }), ...(width && { width }) } });
    });
    this.#units.set(node, units);
    return units;
  }

  /**
   * Returns the nodes of a text within a line. An embedded thing that the schema lacks, or that must not be loaded, is shown
   * as U+FFFC.
   *
   * @param {string} text @param {Attributes} attributes @returns {any[]}
   */
  inline(text, attributes) {
    const { embed, alt, width, ...rest } = attributes;
    const marks = Object.entries(rest).map(([key, value]) => this.markOf(key, value)).filter(Boolean);
    const [[kind = "", value] = []] = Object.entries(embed ?? {});
    const type = Object.values(this.schema.nodes)
      .find((/** @type {any} */ one) => one.isLeaf && one.isInline && one.name.toLowerCase().replace(/_/g, "-") === kind);
    const isShown = type && (!attrsOf(type).includes("src") || isSource(value));
    if (!embed || !isShown) return text ? [this.schema.text(text, marks)] : [];
    const attrs = Object.fromEntries(Object.entries({ src: value, value, alt, width })
      .filter(([name, one]) => attrsOf(type).includes(name) && one !== undefined));
    return [...text].map(() => /** @type {any} */ (type).create(attrs, null, marks));
  }
}

/** @param {any} type @param {any} other Whether nodes of `type` may contain nodes of `other`. */
function contains(type, other) {
  const seen = new Set();
  const queue = [type.contentMatch];
  for (let match = queue.pop(); match; match = queue.pop()) {
    if (seen.has(match)) continue;
    seen.add(match);
    for (let at = 0; at < match.edgeCount; at += 1) {
      if (match.edge(at).type === other) return true;
      queue.push(match.edge(at).next);
    }
  }
  return false;
}

/** @param {Attributes} one @param {Attributes} other */
const isSame = (one, other) => one === other || JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));

/** @param {Attributes} attributes */
const sorted = (attributes) => Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1));

/** @param {Attributes} before @param {Attributes} after @returns {Attributes} The change; null removes a key. */
function changeOf(before, after) {
  /** @type {Attributes} */
  const change = {};
  for (const [key, value] of Object.entries(after)) {
    if (key !== "embed" && JSON.stringify(before[key]) !== JSON.stringify(value)) change[key] = value;
  }
  for (const key of Object.keys(before)) if (!(key in after)) change[key] = null;
  return change;
}

/** Sets of attributes, numbered from 1; 0 is none. */
class Sets {
  /** @type {Attributes[]} */
  all = [];

  /** @param {Attributes} set */
  number(set) {
    if (Object.keys(set).length === 0) return 0;
    const known = this.all.findIndex((one) => isSame(one, set));
    return known >= 0 ? known + 1 : this.all.push(set);
  }
}

/**
 * Returns the change of one list of units to another, `start` units after the beginning of the text.
 *
 * @param {Unit[]} before @param {Unit[]} after @param {number} start
 * @returns {{changes: TextChange[], format: ChangeFormat | undefined}}
 */
function difference(before, after, start) {
  const isEqual = (/** @type {Unit | undefined} */ one, /** @type {Unit | undefined} */ other) =>
    one?.unit === other?.unit && isSame(one?.attributes.embed ?? {}, other?.attributes.embed ?? {});
  const shorter = Math.min(before.length, after.length);
  const isHigh = (/** @type {Unit | undefined} */ one) => /[\ud800-\udbff]/.test(one?.unit ?? "");
  const isLow = (/** @type {Unit | undefined} */ one) => /[\udc00-\udfff]/.test(one?.unit ?? "");
  let head = 0;
  while (head < shorter && isEqual(before[head], after[head])) head += 1;
  if (isHigh(before[head - 1])) head -= 1;
  let tail = 0;
  while (tail < shorter - head && isEqual(before[before.length - 1 - tail], after[after.length - 1 - tail])) tail += 1;
  if (tail > 0 && isLow(before[before.length - tail])) tail -= 1;
  const sets = new Sets();
  /** @type {number[]} */
  const kept = [];
  let end = 0;
  const keep = (/** @type {number} */ at, /** @type {number} */ other) => {
    const set = sets.number(changeOf(before[at]?.attributes ?? {}, after[other]?.attributes ?? {}));
    if (set === 0) return;
    const place = start + at;
    if (kept.length > 0 && place === end && kept[kept.length - 1] === set) kept[kept.length - 2] = (kept[kept.length - 2] ?? 0) + 1;
    else kept.push(place - end, 1, set);
    end = place + 1;
  };
  for (let at = 0; at < head; at += 1) keep(at, at);
  const shift = after.length - before.length;
  for (let at = before.length - tail; at < before.length; at += 1) keep(at, at + shift);
  /** @type {number[]} */
  const put = [];
  let insert = "";
  for (const { unit, attributes } of after.slice(head, after.length - tail)) {
    insert += unit;
    const set = sets.number(attributes);
    if (put[put.length - 1] === set) put[put.length - 2] = (put[put.length - 2] ?? 0) + 1;
    else put.push(1, set);
  }
  const isReplaced = insert !== "" || before.length - tail > head;
  const changes = isReplaced ? [{ from: start + head, to: start + before.length - tail, insert }] : [];
  const format = sets.all.length > 0 ? { sets: sets.all, kept, put } : undefined;
  return { changes, format };
}

/** A view of ProseMirror that shows a note. */
class ProseMirrorBinding {
  #note;
  #view;
  #flat;
  /** The document that shows the note's text. */
  #doc;
  #isShared = false;
  #hasText = false;
  #stops;
  #isHeld = false;

  /** @param {SharedNote} note @param {any} view @param {FlatSchema} flat */
  constructor(note, view, flat) {
    this.#note = note;
    this.#view = view;
    this.#flat = flat;
    this.#doc = view.state.doc;
    this.#stops = [
      note.on("text", () => this.#show()),
      note.on("formats", ({ changes, format, source }) => {
        if (source !== this && this.#hasText) this.#take(changes, format ?? {});
      }),
      note.on("state", () => view.setProps({})),
    ];
    // A view must not be changed during its creation.
    queueMicrotask(() => {
      if (note.text !== undefined && !view.isDestroyed) this.#show();
    });
  }

  destroy() {
    for (const stop of this.#stops) stop();
  }

  /** @param {any} transaction */
  #dispatch(transaction) {
    transaction.setMeta("addToHistory", false);
    this.#isShared = true;
    try {
      this.#view.dispatch(transaction);
    } finally {
      this.#isShared = false;
    }
    this.#doc = transaction.doc;
    // Changes that the app's own plugins have added to the transaction are edits of this user.
    if (this.#view.state.doc !== this.#doc) this.update();
  }

  #show() {
    this.#hasText = true;
    const { schema } = this.#flat;
    const text = this.#note.text ?? "";
    const { sets, runs } = this.#note.runs ?? { sets: [], runs: [] };
    /** @type {any[]} */
    const lines = [];
    /** @type {any[]} */
    let line = [];
    const pieces = [...runs, Math.max(0, text.length - runs.reduce((sum, one, at) => sum + (at % 2 ? 0 : one), 0)), 0];
    let place = 0;
    for (let at = 0; at < pieces.length; at += 2) {
      const attributes = sets[(pieces[at + 1] ?? 0) - 1] ?? {};
      const parts = text.slice(place, (place += pieces[at] ?? 0)).split("\n");
      parts.forEach((part, index) => {
        if (index > 0) {
          const { type, attrs } = this.#flat.lineOf(attributes);
          lines.push(type.create(attrs, line));
          line = [];
        }
        line.push(...this.#flat.inline(part, attributes));
      });
    }
    const { type, attrs } = this.#flat.lineOf({});
    lines.push(type.create(attrs, line));
    const { tr, doc } = this.#view.state;
    this.#dispatch(tr.replaceWith(0, doc.content.size, schema.topNodeType.create(null, lines).content));
  }

  /** Sends what the view has changed since the last update. */
  update() {
    const { doc } = this.#view.state;
    if (this.#isShared || !this.#hasText || doc === this.#doc) return;
    this.#holdWhileComposing();
    const before = this.#doc;
    this.#doc = doc;
    let head = 0;
    const shorter = Math.min(before.childCount, doc.childCount);
    let start = 0;
    while (head < shorter && before.child(head) === doc.child(head)) start += before.child(head++).content.size + 1;
    let tail = 0;
    while (tail < shorter - head && before.child(before.childCount - 1 - tail) === doc.child(doc.childCount - 1 - tail)) tail += 1;
    // A change of a line without a newline may give it one.
    const units = (/** @type {any} */ of) => {
      /** @type {Unit[]} */
      const all = [];
      for (let at = head; at < of.childCount - tail; at += 1) {
        all.push(...this.#flat.unitsOf(of.child(at)));
        if (at < of.childCount - 1) all.push({ unit: "\n", attributes: this.#flat.ofLine(of.child(at)) });
      }
      return all;
    };
    const { changes, format } = difference(units(before), units(doc), start);
    try {
      this.#note.edit(changes, this, format);
    } catch {
      // Edits that the note rejects must not remain in the editor.
      queueMicrotask(() => this.#show());
    }
  }

  #holdWhileComposing() {
    if (!this.#view.composing || this.#isHeld) return;
    this.#isHeld = true;
    this.#note.hold(new Promise((resolve) => {
      const end = () => {
        this.#isHeld = false;
        this.#view.dom.removeEventListener("compositionend", end);
        resolve(undefined);
      };
      this.#view.dom.addEventListener("compositionend", end);
    }));
  }

  /** @param {any} selection */
  select({ anchor, head }) {
    if (!this.#hasText || this.#isShared) return;
    const { doc } = this.#view.state;
    const place = (/** @type {number} */ position) => position - 1 - doc.resolve(position).index(0);
    this.#note.select(Math.max(0, place(anchor)), Math.max(0, place(head)));
  }

  /** @param {TextChange[]} changes @param {ChangeFormat} format */
  #take(changes, { sets = [], kept = [], put = [] }) {
    const { tr } = this.#view.state;
    // Apply the formats first, because they change no positions; then the changes from the last to the first.
    let end = 0;
    for (let at = 0; at < kept.length; at += 3) {
      const from = end + (kept[at] ?? 0);
      end = from + (kept[at + 1] ?? 0);
      this.#format(tr, from, end, /** @type {Attributes} */ (sets[(kept[at + 2] ?? 0) - 1] ?? {}));
    }
    let inserted = changes.reduce((sum, { insert }) => sum + insert.length, 0);
    for (const { from, to, insert } of [...changes].reverse()) {
      inserted -= insert.length;
      this.#replace(tr, from, to, piecesOf(insert, inserted, put, sets));
    }
    this.#keepSelection(tr);
    this.#dispatch(tr);
  }

  /**
   * What others write at the caret comes behind it, so that words which two people type at one place stay whole; what they
   * write beside a selection stays outside, and marks for the next letter stay.
   *
   * @param {any} tr
   */
  #keepSelection(tr) {
    const { selection, storedMarks } = this.#view.state;
    // Only selections of text have `between`.
    const { between } = selection.constructor;
    if (!tr.docChanged || !between) return;
    const { anchor, head, from, empty } = selection;
    const place = (/** @type {number} */ pos) => tr.doc.resolve(tr.mapping.map(pos, !empty && pos === from ? 1 : -1));
    tr.setSelection(between(place(anchor), place(head)));
    if (storedMarks) tr.setStoredMarks(storedMarks);
  }

  /** @param {any} tr @param {number} offset Of the text. @returns {number} The position in the document. */
  #position({ doc }, offset) {
    let [line, start] = [0, 0];
    while (line < doc.childCount - 1 && start + doc.child(line).content.size < offset) start += doc.child(line++).content.size + 1;
    return offset + line + 1;
  }

  /** @param {any} tr @param {number} from @param {number} to @param {Attributes} change */
  #format(tr, from, to, change) {
    const text = tr.doc.textBetween(0, tr.doc.content.size, "\n", object);
    let place = from;
    while (place < to) {
      const newline = text.indexOf("\n", place);
      const end = newline < 0 ? to : Math.min(newline, to);
      const [start, stop] = [this.#position(tr, place), this.#position(tr, end)];
      for (const [key, value] of stop > start ? Object.entries(change) : []) {
        for (const type of this.#flat.marksOf(key)) tr.removeMark(start, stop, type);
        const mark = value === null ? undefined : this.#flat.markOf(key, value);
        if (mark) tr.addMark(start, stop, mark);
      }
      if (end < to) this.#setLine(tr, this.#position(tr, end), change);
      place = end + 1;
    }
  }

  /** @param {any} tr @param {number} position Within a line. @param {Attributes} change */
  #setLine(tr, position, change) {
    const place = tr.doc.resolve(position);
    const attributes = { ...this.#flat.ofLine(place.parent), ...change };
    const left = Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== null));
    this.#markUp(tr, place.before(), place.parent, left);
  }

  /** @param {any} tr @param {number} start @param {any} node @param {Attributes} attributes */
  #markUp(tr, start, node, attributes) {
    const { type, attrs } = this.#flat.lineOf(attributes);
    if (type !== node.type || JSON.stringify(attrs) !== JSON.stringify(node.attrs)) tr.setNodeMarkup(start, type, attrs);
  }

  /** @param {any} tr @param {number} from @param {number} to @param {{text: string, set: Attributes}[]} pieces */
  #replace(tr, from, to, pieces) {
    if (to > from) {
      const [start, stop] = [this.#position(tr, from), this.#position(tr, to)];
      const last = tr.doc.resolve(stop).parent;
      tr.delete(start, stop);
      // Joined lines have the kind of the last one.
      const place = tr.doc.resolve(start);
      if (place.parent.type !== last.type || place.parent.attrs !== last.attrs) {
        tr.setNodeMarkup(place.before(), last.type, last.attrs);
      }
    }
    let offset = from;
    for (const { text, set } of pieces) {
      text.split("\n").forEach((part, index) => {
        if (index > 0) {
          const position = this.#position(tr, offset);
          tr.split(position);
          const line = tr.doc.resolve(position);
          this.#markUp(tr, line.before(), line.parent, set);
          offset += 1;
        }
        if (!part) return;
        tr.insert(this.#position(tr, offset), this.#flat.inline(part, set));
        offset += part.length;
      });
    }
  }
}

/**
 * Returns the pieces of an insertion, each with its attributes.
 *
 * @param {string} insert @param {number} start The number of units inserted before. @param {number[]} put @param {any[]} sets
 */
function piecesOf(insert, start, put, sets) {
  const pieces = [];
  let place = 0;
  for (let at = 0; at < put.length; at += 2) {
    const [from, to] = [Math.max(place, start), Math.min(place + (put[at] ?? 0), start + insert.length)];
    if (to > from) pieces.push({ text: insert.slice(from - start, to - start), set: sets[(put[at + 1] ?? 0) - 1] ?? {} });
    place += put[at] ?? 0;
  }
  const rest = insert.slice(Math.max(0, place - start));
  if (rest) pieces.push({ text: rest, set: {} });
  return pieces;
}

/**
 * Returns a plugin for ProseMirror with a flat schema: the editor shows the note's content once it is available, and can
 * be edited from then on. Its own former content is discarded. An editor over ProseMirror takes the plugin as its own.
 *
 * @param {SharedNote} note Opened with `{ formats: true }`.
 * @param {{Plugin: any}} modules The exports of `prosemirror-state`.
 * @param {any} schema The editor's. The lines of a document are text, with kinds as attributes; nested blocks are refused.
 * @param {Mapping} [mapping]
 * @throws {import("./errors.js").ParleyError} invalid
 */
export function proseMirror(note, { Plugin }, schema, mapping = {}) {
  if (!note.hasFormats) throw note.error("expected a note opened with { formats: true }, got one without");
  const flat = new FlatSchema(schema, mapping, (message) => note.error(message));
  return new Plugin({
    props: { editable: () => note.isWritable },
    // The last line has no newline, and so no kind: below one with a kind comes an empty line.
    appendTransaction(/** @type {any[]} */ transactions, /** @type {any} */ _before, /** @type {any} */ { doc, tr }) {
      if (!transactions.some(({ docChanged }) => docChanged)) return undefined;
      if (Object.keys(flat.ofLine(doc.lastChild)).length === 0) return undefined;
      const { type, attrs } = flat.lineOf({});
      return tr.insert(doc.content.size, type.create(attrs));
    },
    view(/** @type {any} */ editorView) {
      const binding = new ProseMirrorBinding(note, editorView, flat);
      return {
        update(/** @type {any} */ view, /** @type {any} */ before) {
          binding.update();
          if (!before.selection.eq(view.state.selection)) binding.select(view.state.selection);
        },
        destroy: () => binding.destroy(),
      };
    },
  });
}
