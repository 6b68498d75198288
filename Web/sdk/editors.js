// Binds a note to an app's own CodeMirror 6 or Monaco. Neither is imported: the app passes its own modules, because two
// copies of one editor are not compatible.

import { ComposedLine, listOf, viewOfCodeMirror } from "../js/editing/composedline.js";
import { beginsInHalf, endsInHalf } from "../js/ground/halves.js";
import { wellFormed } from "../js/ground/wellformed.js";
import { difference, movedSelection } from "./difference.js";
import { ParleyError } from "./errors.js";
import { applied, changesIn, placeIn, shownOf } from "./lines.js";

/**
 * @typedef {import("./note.js").SharedNote} SharedNote
 * @typedef {import("../js/client/door.js").TextChange} TextChange
 */

/**
 * Converts an editor's edits to edits that a note accepts: not within a surrogate pair, and without lone surrogates.
 *
 * @param {string} before The text before the edits.
 * @param {() => string} after
 * @param {TextChange[]} changes Sorted.
 */
function whole(before, after, changes) {
  const splits = (/** @type {number} */ place) => {
    const [unit, next] = [before.charCodeAt(place - 1), before.charCodeAt(place)];
    return unit >= 0xd800 && unit < 0xdc00 && next >= 0xdc00 && next < 0xe000;
  };
  if (changes.some(({ from, to }) => splits(from) || splits(to))) {
    const change = difference(before, after());
    return change ? [change] : [];
  }
  return changes.map(({ from, to, insert }) => ({ from, to, insert: wellFormed(insert) }));
}

/** One view of CodeMirror that shows a note. */
class CodeMirrorBinding {
  #note;
  #view;
  #stops;
  #isAlive = true;
  /** @type {string | undefined} The text without the first half of a character, which the note does not have yet. */
  #withoutHalf;
  /** @type {ComposedLine} */
  #composed;

  /**
   * @param {SharedNote} note
   * @param {any} view
   * @param {(changes: TextChange[]) => void} make Applies changes that are not this user's edits.
   * @param {() => void} lock Sets whether the view may be edited, as the note allows.
   */
  constructor(note, view, make, lock) {
    this.#note = note;
    this.#view = view;
    const makeOrShow = (/** @type {TextChange[]} */ changes) =>
      this.#withoutHalf === undefined ? make(changes) : this.#show();
    this.#composed = new ComposedLine(viewOfCodeMirror(view, makeOrShow));
    this.#stops = [
      note.on("text", (text) => this.#show(text)),
      note.on("changes", ({ changes, source }) => {
        if (source !== view) this.#composed.take(changes);
      }),
      note.on("state", () => {
        if (view.state.readOnly === note.isWritable) lock();
      }),
    ];
    // A view must not be changed during its creation.
    queueMicrotask(() => {
      if (!this.#isAlive) return;
      if (note.text !== undefined) this.#show();
      lock();
    });
  }

  #show(text = this.#note.text ?? "") {
    if (this.#withoutHalf !== undefined) this.#composed.reset();
    this.#withoutHalf = undefined;
    const change = difference(applied(this.#view.state.doc.toString(), this.#composed.waiting), text);
    if (change) this.#composed.take([change]);
  }

  /** @param {TextChange[]} changes Changes of the shown text. */
  #edit(changes) {
    this.#note.edit(this.#composed.follow(changes), this.#view);
  }

  /** @param {any} transaction A transaction of the app or its user. @param {string} before The text before it. */
  #takeOwn(transaction, before) {
    const [note, composed] = [this.#note, this.#composed];
    const changes = listOf(transaction.changes);
    const after = () => transaction.newDoc.toString();
    if (!composed.isComposing && changes.some(({ insert }) => endsInHalf(insert))) {
      this.#withoutHalf = note.text ?? "";
      composed.begin("", true);
      return;
    }
    try {
      if (this.#withoutHalf === undefined) {
        this.#edit(whole(before, after, changes));
        return;
      }
      const change = difference(this.#withoutHalf, after());
      this.#withoutHalf = undefined;
      if (change) this.#edit([change]);
      queueMicrotask(() => {
        composed.catchUp();
        // If the other half did not follow, show the stored text.
        this.#show();
      });
    } catch (error) {
      if (!(error instanceof ParleyError)) throw error;
      // Edits that the note rejects must not remain in the view.
      if (note.text !== undefined) queueMicrotask(() => this.#show());
    }
  }

  /** @param {any} update Of the view. @param {(transaction: any) => boolean} isShared */
  take({ transactions, startState, selectionSet, docChanged, state }, isShared) {
    for (const one of transactions) {
      if (one.docChanged && !isShared(one)) this.#takeOwn(one, (one.startState ?? startState).doc.toString());
    }
    const { anchor, head } = state.selection.main;
    const isShown = this.#view.hasFocus && this.#note.isWritable && this.#withoutHalf === undefined;
    if ((selectionSet || docChanged) && isShown) {
      this.#note.select(this.#composed.inNote(anchor), this.#composed.inNote(head));
    }
  }

  destroy() {
    this.#isAlive = false;
    this.#composed.destroy();
    for (const stop of this.#stops) stop();
  }
}

/**
 * Returns an extension for CodeMirror 6. The editor shows the note's text once it is available, and can be edited from
 * then on. Its own former text is discarded.
 *
 * @param {SharedNote} note
 * @param {{Annotation: any, Transaction: any, EditorState: any, EditorView: any, Compartment: any, ViewPlugin: any}}
 *   modules The exports of `@codemirror/state` and `@codemirror/view`.
 */
export function codeMirror(note, { Annotation, Transaction, EditorState, EditorView, Compartment, ViewPlugin }) {
  const shared = Annotation.define();
  const isShared = (/** @type {any} */ transaction) => transaction.annotation(shared) === true;
  const locked = new Compartment();
  const annotations = [shared.of(true), Transaction.addToHistory.of(false), Transaction.remote.of(true)];
  const lifeCycle = ViewPlugin.define((/** @type {any} */ view) => new CodeMirrorBinding(
    note,
    view,
    // The app's own filters are for typed text.
    (changes) => view.dispatch({ changes, annotations, filter: false }),
    () => view.dispatch({ effects: locked.reconfigure(EditorState.readOnly.of(!note.isWritable)) }),
  ));
  return [
    locked.of(EditorState.readOnly.of(true)),
    // An app's own setting may take precedence over the one above, so changes are checked here, too.
    EditorState.changeFilter.of((/** @type {any} */ one) => isShared(one) || note.isWritable),
    // Only "\n" ends a line: other line ends would make positions differ from the note's.
    EditorState.lineSeparator.of("\n"),
    lifeCycle,
    EditorView.updateListener.of((/** @type {any} */ update) => update.view.plugin(lifeCycle).take(update, isShared)),
  ];
}

/** @typedef {{anchor: number, head: number}} Selected */

/** A Monaco editor that shows a note. */
class MonacoBinding {
  #note;
  #editor;
  #model;
  #field;
  #stops;
  #listeners;
  /** Whether the note is changing the model. */
  #isShared = false;
  /** The note's text that the model shows. */
  #text = "";
  /** @type {string | undefined} The shown text without the first half of a character, which the note lacks so far. */
  #withoutHalf;
  /** The first half of a typed character, which Monaco loses if it draws before the other half arrives. */
  #firstHalf = "";
  /** @type {ComposedLine} */
  #composed;

  /** @param {SharedNote} note @param {any} editor */
  constructor(note, editor) {
    this.#note = note;
    this.#editor = editor;
    this.#model = editor.getModel();
    this.#field = editor.getDomNode();
    // In the capture phase, before Monaco's own listener.
    this.#field?.addEventListener("input", this.#noteHalf, true);
    this.#composed = new ComposedLine({
      element: this.#field,
      selection: () => this.#selections()[0],
      slice: (from, to) => this.#model.getValue().slice(from, to),
      lineAt: (place) => this.#lineAt(place),
      make: (changes) => (this.#withoutHalf === undefined ? this.#make(changes) : this.#show(this.#text)),
      focus: () => editor.focus(),
    });
    const lock = () => editor.updateOptions({ readOnly: !note.isWritable });
    this.#stops = [
      note.on("text", (text) => this.#show(text)),
      note.on("changes", (news) => this.#takeShared(news)),
      note.on("state", lock),
    ];
    this.#listeners = [
      this.#model.onDidChangeContent((/** @type {any} */ event) => this.#takeOwn(event)),
      editor.onDidChangeCursorSelection((/** @type {any} */ event) => this.#tellSelection(event)),
      editor.onDidDispose(this.unbind),
    ];
    if (note.text !== undefined) this.#show(note.text);
    lock();
  }

  unbind = () => {
    this.#composed.catchUp();
    this.#composed.destroy();
    for (const stop of this.#stops) stop();
    for (const listener of this.#listeners) listener.dispose();
    this.#field?.removeEventListener("input", this.#noteHalf, true);
  };

  #noteHalf = (/** @type {InputEvent} */ { data }) => {
    if (!beginsInHalf(data ?? "")) this.#firstHalf = endsInHalf(data ?? "") ? (data ?? "").slice(-1) : "";
  };

  /** @param {() => void} make */
  #quietly(make) {
    this.#isShared = true;
    try {
      make();
    } finally {
      this.#isShared = false;
    }
  }

  /** @param {number} lineNumber @param {number} column */
  #placeAt(lineNumber, column) {
    return this.#model.getOffsetAt({ lineNumber, column });
  }

  /** @param {number} place */
  #lineAt(place) {
    const { lineNumber } = this.#model.getPositionAt(place);
    const last = this.#model.getLineMaxColumn(lineNumber);
    return { from: this.#placeAt(lineNumber, 1), to: this.#placeAt(lineNumber, last) };
  }

  /** @param {any} one One of the editor's selections. @returns {Selected} */
  #selectedBy(one) {
    return {
      anchor: this.#placeAt(one.selectionStartLineNumber, one.selectionStartColumn),
      head: this.#placeAt(one.positionLineNumber, one.positionColumn),
    };
  }

  /** @returns {Selected[]} */
  #selections() {
    const all = this.#editor.getModel() === this.#model ? (this.#editor.getSelections() ?? []) : [];
    return all.map((/** @type {any} */ one) => this.#selectedBy(one));
  }

  /** @param {Selected[]} wanted */
  #select(wanted) {
    const now = this.#selections();
    const isSo = wanted.every(({ anchor, head }, index) => now[index]?.anchor === anchor && now[index]?.head === head);
    if (now.length === 0 || (isSo && now.length === wanted.length)) return;
    this.#editor.setSelections(wanted.map(({ anchor, head }) => {
      const [start, end] = [this.#model.getPositionAt(anchor), this.#model.getPositionAt(head)];
      return {
        selectionStartLineNumber: start.lineNumber, selectionStartColumn: start.column,
        positionLineNumber: end.lineNumber, positionColumn: end.column,
      };
    }));
  }

  /** @param {TextChange} change */
  #editOf({ from, to, insert }) {
    const [start, end] = [this.#model.getPositionAt(from), this.#model.getPositionAt(to)];
    const range = {
      startLineNumber: start.lineNumber, startColumn: start.column,
      endLineNumber: end.lineNumber, endColumn: end.column,
    };
    return { range, text: insert };
  }

  /**
   * Edits the model between two stops of the undo stack; otherwise undo of own edits would be misplaced.
   *
   * @param {TextChange[]} changes
   */
  #make(changes) {
    this.#quietly(() => {
      const edits = changes.map((change) => this.#editOf(change));
      // Monaco extends its selections by insertions at their ends, and in some versions carets, too.
      const kept = this.#selections().map((one) => movedSelection(one, changes));
      this.#model.pushStackElement();
      this.#model.pushEditOperations([], edits, () => null);
      this.#model.pushStackElement();
      this.#select(kept);
    });
  }

  /** @param {string} next The note's new text. */
  #show(next) {
    if (this.#withoutHalf !== undefined) this.#composed.reset();
    this.#withoutHalf = undefined;
    this.#text = next;
    // 0 means "\n"; it is set even in a text without a line end.
    this.#quietly(() => this.#model.setEOL(0));
    const before = applied(this.#model.getValue(), this.#composed.waiting);
    const change = difference(before, shownOf(next));
    if (!change) return;
    // Monaco cannot address the position after a lone surrogate, and would include the next unit: replace that as well.
    const [following = ""] = endsInHalf(before, change.to) ? before.slice(change.to) : "";
    this.#composed.take([
      { from: change.from, to: change.to + following.length, insert: change.insert + following },
    ]);
  }

  /** @param {TextChange[]} changes Changes of the shown text. */
  #edit(changes) {
    const before = this.#text;
    const own = changesIn(before, this.#composed.follow(changes));
    const sound = whole(before, () => applied(before, own), own);
    this.#text = applied(before, sound);
    this.#note.edit(sound, this.#editor);
  }

  /** @param {import("./note.js").Changes} news */
  #takeShared({ changes, source }) {
    if (source === this.#editor) return;
    const before = this.#text;
    this.#text = applied(before, changes);
    // An edit may turn one line end into two, or two into one.
    if ((before + this.#text).includes("\r")) this.#show(this.#text);
    else this.#composed.take(changes);
  }

  /** @param {any} event A change event of the model. */
  #takeOwn(event) {
    if (this.#isShared) return;
    const forgotten = this.#firstHalf;
    this.#firstHalf = "";
    if (this.#withoutHalf !== undefined) {
      const change = difference(this.#withoutHalf, this.#model.getValue());
      this.#withoutHalf = undefined;
      if (change) this.#edit([change]);
      // If the other half did not follow, show what is stored. A model must not be changed within its change event.
      queueMicrotask(() => {
        this.#composed.catchUp();
        this.#show(this.#text);
      });
      return;
    }
    if (!this.#composed.isComposing && event.changes.some((/** @type {any} */ { text }) => endsInHalf(text))) {
      this.#withoutHalf = shownOf(this.#text);
      this.#composed.begin("", true);
      return;
    }
    // Monaco lists changes from the last to the first.
    /** @type {TextChange[]} */
    const changes = [...event.changes].reverse()
      .map(({ rangeOffset, rangeLength, text }) => ({ from: rangeOffset, to: rangeOffset + rangeLength, insert: text }))
      .sort((one, other) => one.from - other.from);
    const isSecondHalf = forgotten !== "" && changes.length === 1 && beginsInHalf(changes[0]?.insert ?? "");
    if (isSecondHalf) for (const change of changes) change.insert = forgotten + change.insert;
    this.#edit(changes);
    if (isSecondHalf) queueMicrotask(() => this.#show(this.#text));
  }

  /** @param {any} event A selection event of the editor. */
  #tellSelection({ selection }) {
    if (this.#isShared || !this.#note.isWritable || this.#withoutHalf !== undefined) return;
    const { anchor, head } = this.#selectedBy(selection);
    const place = (/** @type {number} */ shown) => placeIn(this.#text, this.#composed.inNote(shown));
    this.#note.select(place(anchor), place(head));
  }
}

/**
 * Binds a Monaco editor to a note. The returned function unbinds it.
 *
 * @param {SharedNote} note
 * @param {any} editor A standalone code editor.
 * @returns {() => void}
 */
export const monaco = (note, editor) => new MonacoBinding(note, editor).unbind;
