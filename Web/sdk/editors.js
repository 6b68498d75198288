// Binds a note to an app's own CodeMirror 6 or Monaco. Neither is imported: the app's own modules are used, for two
// copies of one editor do not know each other.

import { wellFormed } from "../js/wellformed.js";
import { applied, placeIn, shownOf, shownPlace } from "./lines.js";

/**
 * @typedef {import("./note.js").SharedNote} SharedNote
 * @typedef {import("../js/door.js").TextChange} TextChange
 */

/**
 * An extension for CodeMirror 6. The editor shows the note's text once there is one, and may be edited from then on;
 * its own text before that is given up.
 *
 * @param {SharedNote} note
 * @param {{Annotation: any, Transaction: any, EditorState: any, Compartment: any, ViewPlugin: any}} modules Of
 *   `@codemirror/state` and `@codemirror/view`.
 */
export function codeMirror(note, { Annotation, Transaction, EditorState, Compartment, ViewPlugin }) {
  const isShared = Annotation.define();
  const locked = new Compartment();
  const mark = () => [isShared.of(true), Transaction.addToHistory.of(false)];
  const plugin = ViewPlugin.define((/** @type {any} */ view) => {
    let isAlive = true;
    const replaceAll = (/** @type {string} */ text) => {
      const { doc } = view.state;
      view.dispatch({ changes: { from: 0, to: doc.length, insert: text }, annotations: mark() });
    };
    const lock = () => view.dispatch({ effects: locked.reconfigure(EditorState.readOnly.of(!note.isWritable)) });
    const stops = [
      note.on("text", replaceAll),
      note.on("changes", ({ changes, source }) => {
        if (source !== view) view.dispatch({ changes, annotations: mark() });
      }),
      note.on("state", () => {
        if (view.state.readOnly === note.isWritable) lock();
      }),
    ];
    // A view may not be changed while it is made.
    queueMicrotask(() => {
      if (!isAlive) return;
      if (note.text !== undefined) replaceAll(note.text);
      lock();
    });
    return {
      /** @param {any} update */
      update({ transactions, selectionSet, docChanged, state }) {
        for (const transaction of transactions) {
          if (!transaction.docChanged || transaction.annotation(isShared)) continue;
          /** @type {TextChange[]} */
          const changes = [];
          /** @type {(from: number, to: number, fromAfter: number, toAfter: number, insert: any) => void} */
          const take = (from, to, _fromAfter, _toAfter, insert) => {
            changes.push({ from, to, insert: insert.toString() });
          };
          transaction.changes.iterChanges(take, true);
          note.edit(changes, view);
        }
        const { anchor, head } = state.selection.main;
        if ((selectionSet || docChanged) && note.isWritable) note.select(anchor, head);
      },
      destroy() {
        isAlive = false;
        for (const stop of stops) stop();
      },
    };
  });
  // A text of the note's has "\n" for an end of line, or the places would not be the same.
  return [locked.of(EditorState.readOnly.of(true)), EditorState.lineSeparator.of("\n"), plugin];
}

/**
 * Binds a Monaco editor to a note, until the returned function is called.
 *
 * @param {SharedNote} note
 * @param {any} editor A standalone code editor.
 * @returns {() => void}
 */
export function monaco(note, editor) {
  const model = editor.getModel();
  let isShared = false;
  const quietly = (/** @type {() => void} */ make) => {
    isShared = true;
    try {
      make();
    } finally {
      isShared = false;
    }
  };
  const rangeOf = (/** @type {number} */ from, /** @type {number} */ to) => {
    const [start, end] = [model.getPositionAt(from), model.getPositionAt(to)];
    return {
      startLineNumber: start.lineNumber, startColumn: start.column,
      endLineNumber: end.lineNumber, endColumn: end.column,
    };
  };
  /** The note's text that the model shows. */
  let text = "";
  const replaceAll = (/** @type {string} */ whole) => {
    text = whole;
    quietly(() => {
      model.setValue(shownOf(whole));
      // 0: "\n", for texts in which none is.
      model.setEOL(0);
    });
  };
  const lock = () => editor.updateOptions({ readOnly: !note.isWritable });
  const stops = [
    note.on("text", replaceAll),
    note.on("changes", ({ changes, source }) => {
      if (source === editor) return;
      const edits = changes.map(({ from, to, insert }) => ({
        range: rangeOf(shownPlace(text, from), shownPlace(text, to)), text: shownOf(insert),
      }));
      const after = applied(text, changes);
      // An edit may make one end of a line of two, or two of one.
      if (after.includes("\r")) return replaceAll(after);
      text = after;
      quietly(() => model.applyEdits(edits));
    }),
    note.on("state", lock),
  ];
  const listeners = [
    model.onDidChangeContent((/** @type {any} */ event) => {
      if (isShared) return;
      /** @type {TextChange[]} */
      const changes = event.changes.map((/** @type {any} */ { rangeOffset, rangeLength, text: insert }) => ({
        from: placeIn(text, rangeOffset), to: placeIn(text, rangeOffset + rangeLength), insert: wellFormed(insert),
      }));
      changes.sort((one, other) => one.from - other.from);
      note.edit(changes, editor);
      text = applied(text, changes);
    }),
    editor.onDidChangeCursorSelection((/** @type {any} */ { selection }) => {
      if (isShared || !note.isWritable) return;
      /** @type {(lineNumber: number, column: number) => number} */
      const at = (lineNumber, column) => placeIn(text, model.getOffsetAt({ lineNumber, column }));
      note.select(
        at(selection.selectionStartLineNumber, selection.selectionStartColumn),
        at(selection.positionLineNumber, selection.positionColumn),
      );
    }),
  ];
  if (note.text !== undefined) replaceAll(note.text);
  lock();
  return () => {
    for (const stop of stops) stop();
    for (const listener of listeners) listener.dispose();
  };
}
