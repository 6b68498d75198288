// Binds a note with formatting to an app's own Quill: its changes become edits, and others' edits are applied in place.
//
// Quill's text always ends with a newline that the note does not have. It is ignored until it gets the formatting of a
// line: then the note gets a newline there, and Quill another last one.

import { isLink, isSource } from "./addresses.js";

/**
 * @typedef {import("./note.js").SharedNote} SharedNote
 * @typedef {import("./delta.js").Delta} Delta
 * @typedef {import("./delta.js").DeltaOp} DeltaOp
 * @typedef {{updateContents: (delta: any, source?: any) => any, setContents: (delta: any, source?: any) => any,
 *   getLength: () => number, on: (event: any, listener: (...given: any[]) => void) => any,
 *   off: (event: any, listener: (...given: any[]) => void) => any, enable: (isEnabled?: boolean) => any,
 *   root?: any}} Quill
 */

/** Shown in place of an embedded thing that the editor does not know. */
const box = "\ufffc";

/** A Quill editor that shows a note. */
class QuillBinding {
  #note;
  #editor;
  #embeds;
  #stops;
  #removals = new AbortController();
  /** Whether the note is changing the editor. */
  #isShared = false;
  #hasText = false;

  /** @param {SharedNote} note @param {Quill} editor @param {string[]} embeds */
  constructor(note, editor, embeds) {
    this.#note = note;
    this.#editor = editor;
    this.#embeds = new Set(embeds);
    this.#stops = [
      note.on("text", () => this.#show()),
      note.on("formats", ({ delta, source }) => {
        if (source !== this && this.#hasText) this.#quietly(() => this.#update(delta.ops));
      }),
      note.on("state", () => this.#allow()),
    ];
    editor.on("text-change", this.#takeOwn);
    editor.on("selection-change", this.#tellSelection);
    const { signal } = this.#removals;
    // A browser ends a composition when its text is redrawn.
    editor.root?.addEventListener?.("compositionstart", () => note.hold(new Promise((resolve) => {
      editor.root.addEventListener("compositionend", resolve, { once: true, signal });
    })), { signal });
    this.#allow();
    if (note.text !== undefined) this.#show();
  }

  unbind = () => {
    this.#removals.abort();
    this.#editor.off("text-change", this.#takeOwn);
    this.#editor.off("selection-change", this.#tellSelection);
    for (const stop of this.#stops) stop();
  };

  #allow() {
    this.#editor.enable(this.#note.isWritable);
  }

  /** @param {() => void} make */
  #quietly(make) {
    this.#isShared = true;
    try {
      make();
    } finally {
      this.#isShared = false;
    }
  }

  /**
   * @param {DeltaOp[]} ops
   * @returns {DeltaOp[]} With a box for each embedded thing that the editor does not know or must not load, and without
   * links that must not be followed.
   */
  #known(ops) {
    return ops.map((op) => {
      const [kind, value] = typeof op.insert === "object" ? (Object.entries(op.insert)[0] ?? []) : [];
      const isShown = kind === undefined || (this.#embeds.has(kind) && (kind === "formula" || isSource(value)));
      return isShown ? withoutScripts(op) : { insert: box };
    });
  }

  /** @param {DeltaOp[]} ops */
  #update(ops) {
    this.#editor.updateContents({ ops: this.#known(ops) }, "api");
  }

  #show() {
    this.#hasText = true;
    const ops = this.#known(this.#note.delta?.ops ?? []);
    this.#quietly(() => this.#editor.setContents({ ops: [...ops, { insert: "\n" }] }, "api"));
  }

  /** @param {Delta} delta */
  #takeOwn = (delta) => {
    if (this.#isShared || !this.#hasText) return;
    const before = this.#note.text?.length ?? 0;
    try {
      this.#note.update({ ops: withoutLastNewline(delta.ops, before) }, this);
    } catch {
      // Edits that the note rejects must not remain in the editor.
      this.#show();
      return;
    }
    const length = this.#note.text?.length ?? 0;
    const more = length + 1 - this.#editor.getLength();
    if (more === 1) this.#quietly(() => this.#update([{ retain: length }, { insert: "\n" }]));
    else if (more !== 0) this.#show();
  };

  /** @param {{index: number, length: number} | null} range */
  #tellSelection = (range) => {
    const end = this.#note.text?.length;
    if (!range || end === undefined) return;
    this.#note.select(Math.min(range.index, end), Math.min(range.index + range.length, end));
  };
}

/** @param {DeltaOp} op @returns {DeltaOp} Without a link that must not be followed. */
function withoutScripts(op) {
  const { link, ...rest } = op.attributes ?? {};
  if (link === undefined || link === null || isLink(link)) return op;
  // A kept link would remain without a change of it.
  return { ...op, attributes: op.insert === undefined ? { ...rest, link: null } : rest };
}

/**
 * Returns a change of the editor's text as one of the note's text, which lacks the last newline.
 *
 * @param {DeltaOp[]} ops
 * @param {number} length The length of the note's text.
 * @returns {DeltaOp[]}
 */
function withoutLastNewline(ops, length) {
  /** @type {DeltaOp[]} */
  const result = [];
  let place = 0;
  for (const op of ops) {
    if (op.insert !== undefined) {
      result.push(op);
      continue;
    }
    const count = op.retain ?? op.delete ?? 0;
    const inside = Math.max(0, Math.min(count, length - place));
    place += count;
    if (inside > 0) result.push(op.delete === undefined ? { ...op, retain: inside } : { delete: inside });
    const isSet = Object.values(op.attributes ?? {}).some((value) => value !== null && value !== false);
    if (count > inside && isSet) result.push({ insert: "\n", attributes: op.attributes ?? {} });
  }
  return result;
}

/**
 * Shows a note in a Quill editor and sends what is edited there, until the returned function is called. Quill's own
 * former content is discarded. Its undo covers only this user's edits with `modules: { history: { userOnly: true } }`.
 *
 * @param {SharedNote} note Opened with `{ formats: true }`.
 * @param {Quill} editor
 * @param {{embeds?: string[]}} [options] `embeds`: the kinds of embedded things that the editor has a format for; others
 * are shown as a box, and stay in the note.
 * @returns {() => void} Unbinds them.
 * @throws {import("./errors.js").ParleyError} invalid
 */
export function quill(note, editor, options = {}) {
  const { embeds = ["image", "video", "formula"] } = options;
  if (!note.hasFormats) throw note.error("expected a note opened with { formats: true }, got one without");
  return new QuillBinding(note, editor, embeds).unbind;
}
