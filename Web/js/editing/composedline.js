// The line in which a word is being composed (an input method, a dead key, most Android keyboards).
//
// A browser gives up the composition when the text around it is redrawn, and then inserts the word twice. So changes of
// that line by other people wait here until the composition ends. The note itself has every change at once, and an
// editor shows changes of all other lines at once.

import { composed, placeAfter, transformed } from "../client/changes.js";

/**
 * @typedef {import("../client/door.js").TextChange} TextChange
 *
 * A view of a note's text, in which words are composed.
 *
 * @typedef {object} ComposedView
 * @property {HTMLElement} element Gets the events of compositions.
 * @property {() => {anchor: number, head: number} | undefined} selection
 * @property {(from: number, to: number) => string} slice Of the shown text.
 * @property {(place: number) => {from: number, to: number}} lineAt The part that is redrawn with a place.
 * @property {(changes: TextChange[]) => void} make Makes changes of the shown text that are not edits of this person.
 * @property {() => void} focus
 */

/** How long a composition may delay other people's changes of its line; milliseconds. */
export const composedWithin = 60_000;

/**
 * @param {any} view An editor, of any copy of CodeMirror 6.
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

/** Maps between the text that a view shows and the note's text. They differ only during a composition. */
export class ComposedLine {
  #view;
  /** @type {TextChange[]} From the shown text to the note's text. */
  #waiting = [];
  /** @type {number | undefined} Where the composed word begins in the shown text. */
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
   * @param {string} [word] An existing word that is composed again; around the caret, or selected.
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

  /** Changes that the view does not show yet, from its text to the note's text. */
  get waiting() {
    return this.#waiting;
  }

  /** @param {TextChange[]} changes Of the note's text. */
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
   * Follows an edit of the shown text.
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
    // Text that was inserted beside the word by other people stays beside it.
    const isFirst = isAtCaret || first.from > start;
    this.#wait(transformed(waiting, changes, !isFirst));
    return transformed(changes, waiting, isFirst);
  }

  /** @param {number} place In the shown text. */
  inNote(place) {
    return placeAfter(place, this.#waiting, true);
  }

  /** Shows the whole text of the note. */
  catchUp() {
    const all = this.#waiting;
    this.reset();
    if (all.length > 0) this.#view.make(all);
  }

  /** The view shows the whole text of the note by itself. */
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
    if (changes.length > 0) this.#limit ??= setTimeout(() => this.#commit(), composedWithin);
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

  /** A browser commits the composition of a field that loses the focus. */
  #commit() {
    this.#limit = undefined;
    const { activeElement } = /** @type {Document | ShadowRoot} */ (this.#view.element.getRootNode());
    /** @type {HTMLElement | null} */ (activeElement)?.blur();
    this.#view.focus();
    this.#end();
  }
}
