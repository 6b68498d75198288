// The line in which a word is being composed (an input method, a dead key, most Android keyboards).
//
// A browser gives up the composition when the text around it is redrawn, and then inserts the word twice. So changes of
// that line by other people wait here until the composition ends. The note itself has every change at once, and the
// editor shows changes of all other lines at once.

/**
 * @typedef {import("../client/door.js").TextChange} TextChange
 * @typedef {any} ChangeSet Of the app's own copy of CodeMirror.
 */

/** How long a composition may delay other people's changes of its line; milliseconds. */
export const composedWithin = 60_000;

/** @param {ChangeSet} set @returns {TextChange[]} */
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

/** Maps between the text that an editor shows and the note's text. They differ only during a composition. */
export class ComposedLine {
  #view;
  #make;
  /** @type {ChangeSet | undefined} From the shown text to the note's text. */
  #waiting;
  /** @type {{from: number, to: number} | undefined} The composed word in the shown text. */
  #word;
  /** @type {any} */
  #limit;
  /** @type {any} */
  #ending;
  #removals = new AbortController();

  /**
   * @param {any} view An editor, of CodeMirror 6.
   * @param {(changes: ChangeSet) => void} make Makes changes in the editor that are not edits of this person.
   */
  constructor(view, make) {
    this.#view = view;
    this.#make = make;
    const { signal } = this.#removals;
    view.contentDOM.addEventListener("compositionstart", () => this.#begin(), { signal });
    view.contentDOM.addEventListener("compositionend", () => this.#end(), { signal });
  }

  /** Changes that the editor does not show yet, from its text to the note's text. */
  get waiting() {
    return this.#waiting;
  }

  /** @param {TextChange[]} changes Of the note's text. */
  take(changes) {
    const { doc } = this.#view.state;
    // The app's own class: another copy of CodeMirror would not know its changes.
    const kind = this.#view.state.changes([]).constructor;
    const length = this.#waiting?.newLength ?? doc.length;
    const next = kind.of(changes, length, "\n");
    const all = this.#waiting ? this.#waiting.compose(next) : next;
    if (!this.#word) return this.#make(all);
    const { main } = this.#view.state.selection;
    const from = doc.lineAt(main.from).from;
    const { to } = doc.lineAt(main.to);
    const parts = listOf(all);
    const isInLine = (/** @type {TextChange} */ part) => part.from <= to && part.to >= from;
    const others = kind.of(parts.filter((part) => !isInLine(part)), doc.length, "\n");
    const own = parts.filter(isInLine);
    this.#waiting = own.length > 0 ? kind.of(own, doc.length, "\n").map(others) : undefined;
    this.#word = { from: others.mapPos(this.#word.from, 1), to: others.mapPos(this.#word.to, -1) };
    if (this.#waiting) this.#limit ??= setTimeout(() => this.#commit(), composedWithin);
    if (!others.empty) this.#make(others);
  }

  /**
   * Follows an edit of the shown text.
   *
   * @param {ChangeSet} changes
   * @returns {TextChange[]} The same edit of the note's text.
   */
  follow(changes) {
    const waiting = this.#waiting;
    const word = this.#word;
    if (word) this.#word = { from: changes.mapPos(word.from, -1), to: changes.mapPos(word.to, 1) };
    if (!waiting) return listOf(changes);
    // Text that was inserted beside the word by other people stays beside it.
    const [first] = listOf(changes);
    const isBefore = !word || !first || (word.from === word.to ? first.from === first.to : first.from > word.from);
    this.#waiting = waiting.map(changes, !isBefore);
    return listOf(changes.map(waiting, isBefore));
  }

  /** @param {number} place In the shown text. */
  inNote(place) {
    return this.#waiting ? this.#waiting.mapPos(place) : place;
  }

  /** @param {number} place In the note's text. */
  inView(place) {
    return this.#waiting ? this.#waiting.invertedDesc.mapPos(place) : place;
  }

  /** The editor shows the whole text of the note again. */
  reset() {
    this.#waiting = undefined;
    clearTimeout(this.#limit);
    this.#limit = undefined;
  }

  destroy() {
    this.reset();
    clearTimeout(this.#ending);
    this.#removals.abort();
  }

  #begin() {
    clearTimeout(this.#ending);
    if (this.#word) return;
    const { from } = this.#view.state.selection.main;
    this.#word = { from, to: from };
  }

  #end() {
    clearTimeout(this.#ending);
    // Safari sends the last input after this event, and CodeMirror reads it in a microtask.
    this.#ending = setTimeout(() => {
      this.#word = undefined;
      const all = this.#waiting;
      this.reset();
      if (all) this.#make(all);
    });
  }

  /** A browser commits the composition of a field that loses the focus. */
  #commit() {
    this.#limit = undefined;
    const { contentDOM } = this.#view;
    contentDOM.blur();
    contentDOM.focus({ preventScroll: true });
    this.#end();
  }
}
