// Text that a person types into a note before the note's own text has arrived.
//
// A note has to be joined before it can be edited: that takes a round trip, or as long as the line is
// down. People can type before that: a plain field takes the place of the text, and what is typed into
// it goes in front of the text when that comes. Until then it outlives the tab, as edits do.

/** @typedef {{text: string, anchor: number, head: number}} Words The selection in UTF-16 units. */

/** Begins the names of notes' early text in the drawer. */
const prefix = "early.";

/** Text of up to so many UTF-16 units is written to the drawer at each key … */
const shortText = 4_000;
/** … and longer ones after so long; milliseconds. */
const keepAfter = 150;

export class EarlyWords {
  /** Called when text that was held back during a composition may be taken. */
  whenComposed = () => {};

  /** Called when the browser has no room for the text. */
  whenFull = () => {};

  #field;
  #drawer;
  /** @type {Map<string, string>} By note. */
  #texts = new Map();
  /** @type {Set<string>} Notes whose words have changed since they were written to the drawer. */
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

  /** Notes for which something was typed. */
  get notes() {
    return [...this.#texts.keys()];
  }

  /** Whether a word is being composed: an input method would lose it if the field were removed. */
  get isComposing() {
    return this.#isComposing;
  }

  get isFocused() {
    return this.#note !== undefined && this.#field.ownerDocument.activeElement === this.#field;
  }

  /** @param {string | undefined} note The note for new text; undefined removes the field. */
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
   * @returns {Words | undefined} Undefined if there are none.
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
   * Moves the text to a note's new name. A field that shows it stays as it is, with the focus in it.
   *
   * @param {string} from
   * @param {string} to
   */
  move(from, to) {
    const text = this.text(from);
    this.#put(to, text);
    // The text is under both names for a moment, and never under neither.
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

  /** Writes what was typed to the drawer, before the page may go away. */
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
