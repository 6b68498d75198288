// The line in which the user composes a word (with an input method, a dead key, or most Android keyboards).
//
// If the text around a composition is redrawn, browsers abort the composition and insert the word twice. Changes of
// this line by other people therefore wait here until the composition ends. The note contains every change at once, and
// the editor shows changes of all other lines at once.

import { composed, placeAfter, transformed } from "../client/changes.js";

/**
 * @typedef {import("../client/door.js").TextChange} TextChange
 *
 * The view of a note's text, in which the user composes words.
 *
 * @typedef {object} ComposedView
 * @property {HTMLElement} element The target of composition events.
 * @property {() => {anchor: number, head: number} | undefined} selection
 * @property {(from: number, to: number) => string} slice Returns a part of the shown text.
 * @property {(place: number) => {from: number, to: number}} lineAt The part that is redrawn with a position.
 * @property {(changes: TextChange[]) => void} make Applies changes by others to the shown text.
 * @property {() => void} focus
 */

/** The maximum time for which a composition delays other people's changes of its line, in milliseconds. */
export const compositionTimeMax = 60_000;

/**
 * @param {any} view An editor, from any copy of CodeMirror 6.
 * @param {(changes: TextChange[]) => void} make
 * @returns {ComposedView}
 */
export const viewOfCodeMirror = (view, make) => ({
  element: view.contentDOM,
  selection: () => view.state.selection.main,
  slice: (from, to) => view.state.sliceDoc(from, to),
  lineAt: (place) => view.state.doc.lineAt(place),
  make,
  focus: () => view.focus(),
});

/** @param {any} set A change set of CodeMirror 6. @returns {TextChange[]} */
export function listOf(set) {
  /** @type {TextChange[]} */
  const changes = [];
  /** @type {(from: number, to: number, fromAfter: number, toAfter: number, insert: any) => void} */
  const add = (from, to, _fromAfter, _toAfter, insert) => {
    changes.push({ from, to, insert: insert.toString() });
  };
  set.iterChanges(add, true);
  return changes;
}

/** Maps between the shown text and the note's text, which differ only during a composition. */
export class ComposedLine {
  #view;
  /** @type {TextChange[]} The changes from the shown text to the note's text. */
  #waiting = [];
  /** @type {number | undefined} The start of the composed word in the shown text. */
  #start;
  /** Whether the word is still empty. */
  #isEmpty = false;
  /** Whether changes of all lines wait. */
  #isWhole = false;
  /** @type {any} */
  #limit;
  /** @type {any} */
  #ending;
  #removals = new AbortController();

  /** @param {ComposedView} view */
  constructor(view) {
    this.#view = view;
    const { signal } = this.#removals;
    view.element.addEventListener("compositionstart", ({ data }) => this.begin(data), { signal });
    view.element.addEventListener("compositionend", () => this.#end(), { signal });
  }

  /**
   * @param {string} [word] An existing word around the caret, or selected, that is composed again.
   * @param {boolean} [isWhole] Whether changes of all lines wait.
   */
  begin(word = "", isWhole = false) {
    clearTimeout(this.#ending);
    if (this.isComposing) return;
    const { anchor = 0, head = 0 } = this.#view.selection() ?? {};
    const from = Math.min(anchor, head);
    const isWordAt = (/** @type {number} */ place) => this.#view.slice(place, place + word.length) === word;
    let start = from;
    while (start > from - word.length && !isWordAt(start)) start -= 1;
    this.#start = isWordAt(start) ? start : from;
    this.#isEmpty = anchor === head && !word;
    this.#isWhole = isWhole;
  }

  get isComposing() {
    return this.#start !== undefined;
  }

  /** The changes from the shown text to the note's text, which the view does not show yet. */
  get waiting() {
    return this.#waiting;
  }

  /** @param {TextChange[]} changes Changes of the note's text by others. */
  take(changes) {
    const all = composed(this.#waiting, changes);
    if (this.#start === undefined) {
      this.#view.make(all);
      return;
    }
    const line = this.#isWhole ? { from: 0, to: Infinity } : this.#view.lineAt(this.#start);
    const isInLine = (/** @type {TextChange} */ { from, to }) => from <= line.to && to >= line.from;
    const others = all.filter((part) => !isInLine(part));
    this.#start = placeAfter(this.#start, others, true);
    this.#wait(transformed(all.filter(isInLine), others, true));
    if (others.length > 0) this.#view.make(others);
  }

  /**
   * Handles an edit of the shown text.
   *
   * @param {TextChange[]} changes
   * @returns {TextChange[]} The same edit of the note's text.
   */
  follow(changes) {
    const [first] = changes;
    const start = this.#start;
    if (start === undefined || !first) return changes;
    const isAtCaret = this.#isEmpty && first.from === start && first.to === start;
    this.#start = Math.min(start, first.from);
    this.#isEmpty = false;
    const waiting = this.#waiting;
    // Text that others have inserted next to the word remains next to it.
    const isFirst = isAtCaret || first.from > start;
    this.#wait(transformed(waiting, changes, !isFirst));
    return transformed(changes, waiting, isFirst);
  }

  /** @param {number} place A position in the shown text. */
  inNote(place) {
    return placeAfter(place, this.#waiting, true);
  }

  /** Shows the whole text of the note. */
  catchUp() {
    const all = this.#waiting;
    this.reset();
    if (all.length > 0) this.#view.make(all);
  }

  /** Ends the composition without changes, because the view already shows the whole text of the note. */
  reset() {
    this.#start = undefined;
    this.#wait([]);
  }

  destroy() {
    this.reset();
    clearTimeout(this.#ending);
    this.#removals.abort();
  }

  /** @param {TextChange[]} changes */
  #wait(changes) {
    this.#waiting = changes;
    if (changes.length > 0) this.#limit ??= setTimeout(() => this.#commit(), compositionTimeMax);
    else {
      clearTimeout(this.#limit);
      this.#limit = undefined;
    }
  }

  #end() {
    clearTimeout(this.#ending);
    // Safari sends the last input after this event, and CodeMirror reads it in a microtask.
    this.#ending = setTimeout(() => this.catchUp());
  }

  /** Ends the composition by moving the focus: a browser commits the composition of a field that loses it. */
  #commit() {
    this.#limit = undefined;
    const { activeElement } = /** @type {Document | ShadowRoot} */ (this.#view.element.getRootNode());
    /** @type {HTMLElement | null} */ (activeElement)?.blur();
    this.#view.focus();
    this.#end();
  }
}
