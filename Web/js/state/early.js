// Text that a user types into a note before the note's own text has arrived.
//
// A note must be joined before it can be edited, which takes a round trip, or as long as the connection is down. Until
// then a plain field replaces the text. Its content is stored in the drawer, as unconfirmed edits are, and outlives the
// tab. When the note's text arrives, the content is inserted at its start.

/** @typedef {{text: string, anchor: number, head: number}} Words The selection in UTF-16 units. */

/** The prefix of the names of early text in the drawer. */
const prefix = "early.";

/** Maximum UTF-16 units of text that is written to the drawer at each keystroke, … */
const shortText = 4_000;
/** … and the delay for longer text, in milliseconds. */
const keepAfter = 150;

export class EarlyWords {
  /** Called when a composition has ended, so that its text may be taken. */
  whenComposed = () => {};

  /** Called when the browser has no room for the text. */
  whenFull = () => {};

  #field;
  #drawer;
  /** @type {Map<string, string>} By note. */
  #texts = new Map();
  /** @type {Set<string>} Notes whose text has changed since it was written to the drawer. */
  #unkept = new Set();
  /** @type {any} */
  #timer;
  /** @type {string | undefined} */
  #note;
  #isComposing = false;

  /**
   * @param {object} options
   * @param {HTMLTextAreaElement} options.field
   * @param {Pick<import("./drawer.js").Drawer, "names" | "get" | "set" | "remove">} options.drawer
   */
  constructor({ field, drawer }) {
    this.#field = field;
    this.#drawer = drawer;
    for (const note of drawer.names(prefix)) {
      const text = drawer.get(prefix + note);
      if (typeof text === "string" && text) this.#texts.set(note, text);
    }
    field.addEventListener("input", () => this.#typed());
    field.addEventListener("compositionstart", () => (this.#isComposing = true));
    field.addEventListener("compositionend", () => {
      this.#isComposing = false;
      this.#typed();
      this.whenComposed();
    });
  }

  /** The note whose text the field shows. */
  get note() {
    return this.#note;
  }

  /** The notes with early text. */
  get notes() {
    return [...this.#texts.keys()];
  }

  /** Whether a word is being composed; an input method would lose it if the field were removed. */
  get isComposing() {
    return this.#isComposing;
  }

  get isFocused() {
    return this.#note !== undefined && this.#field.ownerDocument.activeElement === this.#field;
  }

  /** @param {string | undefined} note The note whose early text is shown; undefined hides the field. */
  show(note) {
    if (note === this.#note) return;
    this.#note = note;
    this.#isComposing = false;
    this.#field.value = note === undefined ? "" : this.text(note);
    this.#field.hidden = note === undefined;
  }

  focus() {
    this.#field.focus();
  }

  /** @param {string} note */
  text(note) {
    return this.#texts.get(note) ?? "";
  }

  /**
   * Removes and returns the text of a note.
   *
   * @param {string} note
   * @returns {Words | undefined} Undefined if there is no text.
   */
  take(note) {
    const text = this.text(note);
    const isShown = note === this.#note;
    const { selectionStart, selectionEnd, selectionDirection } = this.#field;
    this.#put(note, "");
    if (!text) return undefined;
    if (!isShown) return { text, anchor: text.length, head: text.length };
    this.#field.value = "";
    const isBackward = selectionDirection === "backward";
    return {
      text,
      anchor: isBackward ? selectionEnd : selectionStart,
      head: isBackward ? selectionStart : selectionEnd,
    };
  }

  /**
   * Moves the text to a note's new id. A field that shows it stays as it is, with the focus.
   *
   * @param {string} from
   * @param {string} to
   */
  move(from, to) {
    const text = this.text(from);
    this.#put(to, text);
    // Store the text under the new id before it is removed under the old one, so that a crash cannot lose it.
    this.flush();
    this.#put(from, "");
    if (this.#note === from) this.#note = to;
  }

  #typed() {
    if (this.#note !== undefined) this.#put(this.#note, this.#field.value);
  }

  /** @param {string} note @param {string} text */
  #put(note, text) {
    if (text) this.#texts.set(note, text);
    else if (!this.#texts.delete(note)) return;
    this.#unkept.add(note);
    if (text.length <= shortText) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), keepAfter);
  }

  /** Writes all changed text to the drawer now. */
  flush() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    let isFull = false;
    for (const note of this.#unkept) {
      const text = this.text(note);
      if (!text) this.#drawer.remove(prefix + note);
      else if (!this.#drawer.set(prefix + note, text)) isFull = true;
    }
    this.#unkept.clear();
    if (isFull) this.whenFull();
  }
}
