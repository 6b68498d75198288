// Binds a note to an app's own CodeMirror 6 or Monaco. Neither is imported: the app's own modules are used, for two
// copies of one editor do not know each other.

import { Half, beginsInHalf, endsInHalf } from "../js/editing/halves.js";
import { wellFormed } from "../js/wellformed.js";
import { difference, movedSelection } from "./difference.js";
import { ParleyError } from "./errors.js";
import { applied, placeIn, shownOf, shownPlace } from "./lines.js";

/**
 * @typedef {import("./note.js").SharedNote} SharedNote
 * @typedef {import("../js/client/door.js").TextChange} TextChange
 */

/**
 * Edits as a note takes them: not within a surrogate pair, as editors that compare units may have them, and whole
 * scalars alone.
 *
 * @param {string} before The text before them.
 * @param {() => string} after
 * @param {TextChange[]} changes Ascending.
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

/**
 * An extension for CodeMirror 6. The editor shows the note's text once there is one, and may be edited from then on;
 * its own text before that is given up.
 *
 * @param {SharedNote} note
 * @param {{Annotation: any, Transaction: any, EditorState: any, EditorView: any, Compartment: any, ViewPlugin: any}}
 *   modules Of `@codemirror/state` and `@codemirror/view`.
 */
export function codeMirror(note, { Annotation, Transaction, EditorState, EditorView, Compartment, ViewPlugin }) {
  const isShared = Annotation.define();
  const locked = new Compartment();
  /** The first half of a character, which the editor shows and the note has not got. */
  const half = new Half((end) => note.hold(end));
  const mark = () => [isShared.of(true), Transaction.addToHistory.of(false), Transaction.remote.of(true)];
  /** @param {any} view @param {string} text */
  const replaceAll = (view, text) => {
    half.end();
    const change = difference(view.state.doc.toString(), text);
    // The app's own filters are for what is typed.
    if (change) view.dispatch({ changes: change, annotations: mark(), filter: false });
  };
  const lifeCycle = ViewPlugin.define((/** @type {any} */ view) => {
    let isAlive = true;
    const lock = () => view.dispatch({ effects: locked.reconfigure(EditorState.readOnly.of(!note.isWritable)) });
    const stops = [
      note.on("text", (text) => replaceAll(view, text)),
      note.on("changes", ({ changes, source }) => {
        if (source === view) return;
        if (half.waits) replaceAll(view, note.text ?? "");
        else view.dispatch({ changes, annotations: mark(), filter: false });
      }),
      note.on("state", () => {
        if (view.state.readOnly === note.isWritable) lock();
      }),
    ];
    // A view may not be changed while it is made.
    queueMicrotask(() => {
      if (!isAlive) return;
      if (note.text !== undefined) replaceAll(view, note.text);
      lock();
    });
    return {
      destroy() {
        isAlive = false;
        for (const stop of stops) stop();
      },
    };
  });
  /** @param {any} update */
  const take = ({ view, transactions, startState, selectionSet, docChanged, state }) => {
    const own = transactions.filter((/** @type {any} */ one) => one.docChanged && !one.annotation(isShared));
    for (const transaction of own) {
      /** @type {TextChange[]} */
      const changes = [];
      /** @type {(from: number, to: number, fromAfter: number, toAfter: number, insert: any) => void} */
      const add = (from, to, _fromAfter, _toAfter, insert) => {
        changes.push({ from, to, insert: insert.toString() });
      };
      transaction.changes.iterChanges(add, true);
      const after = () => transaction.newDoc.toString();
      if (!half.waits && changes.some(({ insert }) => endsInHalf(insert))) {
        half.begin();
        continue;
      }
      try {
        if (half.waits) {
          half.end();
          const change = difference(note.text ?? "", after());
          if (change) note.edit([change], view);
          // A half that stayed alone is shown as it is stored.
          queueMicrotask(() => replaceAll(view, note.text ?? ""));
          continue;
        }
        note.edit(whole((transaction.startState ?? startState).doc.toString(), after, changes), view);
      } catch (error) {
        if (!(error instanceof ParleyError)) throw error;
        // What the note does not take does not stay on the screen as if it did.
        if (note.text !== undefined) queueMicrotask(() => replaceAll(view, note.text ?? ""));
      }
    }
    const { anchor, head } = state.selection.main;
    if ((selectionSet || docChanged) && view.hasFocus && note.isWritable && !half.waits) {
      note.select(anchor, head);
    }
  };
  return [
    locked.of(EditorState.readOnly.of(true)),
    // An app's own setting may come before that one.
    EditorState.changeFilter.of((/** @type {any} */ one) => one.annotation(isShared) === true || note.isWritable),
    // A text of the note's has "\n" for an end of line, or the places would not be the same.
    EditorState.lineSeparator.of("\n"),
    lifeCycle,
    EditorView.updateListener.of(take),
  ];
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
  /** The first half of a character, which the model shows and the note has not got. */
  const half = new Half((end) => note.hold(end));
  /** The first half of a character that was typed, and that Monaco forgets if it draws before the other comes. */
  let firstHalf = "";
  const typed = (/** @type {InputEvent} */ { data }) => {
    if (!beginsInHalf(data ?? "")) firstHalf = endsInHalf(data ?? "") ? (data ?? "").slice(-1) : "";
  };
  const field = editor.getDomNode();
  // Before Monaco hears of it.
  field?.addEventListener("input", typed, true);
  /** @returns {{anchor: number, head: number}[]} */
  const selections = () =>
    (editor.getModel() === model ? (editor.getSelections() ?? []) : []).map((/** @type {any} */ one) => ({
      anchor: model.getOffsetAt({ lineNumber: one.selectionStartLineNumber, column: one.selectionStartColumn }),
      head: model.getOffsetAt({ lineNumber: one.positionLineNumber, column: one.positionColumn }),
    }));
  /** @param {{anchor: number, head: number}[]} wanted */
  const select = (wanted) => {
    const now = selections();
    const isSo = wanted.every(({ anchor, head }, index) => now[index]?.anchor === anchor && now[index]?.head === head);
    if (now.length === 0 || (isSo && now.length === wanted.length)) return;
    editor.setSelections(wanted.map(({ anchor, head }) => {
      const [start, end] = [model.getPositionAt(anchor), model.getPositionAt(head)];
      return {
        selectionStartLineNumber: start.lineNumber, selectionStartColumn: start.column,
        positionLineNumber: end.lineNumber, positionColumn: end.column,
      };
    }));
  };
  /** As steps that undo takes back in their order: those of one's own would be misplaced without. */
  const make = (/** @type {TextChange[]} */ changes) =>
    quietly(() => {
      const edits = changes.map(({ from, to, insert }) => ({ range: rangeOf(from, to), text: insert }));
      // Monaco's own selections grow over what is inserted at their ends, and in some versions carets do, too.
      const kept = selections().map((one) => movedSelection(one, changes));
      model.pushStackElement();
      model.pushEditOperations([], edits, () => null);
      model.pushStackElement();
      select(kept);
    });
  const show = (/** @type {string} */ next) => {
    half.end();
    text = next;
    // 0: "\n", also in a text in which none is.
    quietly(() => model.setEOL(0));
    const before = model.getValue();
    const change = difference(before, shownOf(next));
    if (!change) return;
    // A place behind a half that is alone is none to Monaco: it would take what follows along.
    const [following = ""] = endsInHalf(before, change.to) ? before.slice(change.to) : "";
    make([{ from: change.from, to: change.to + following.length, insert: change.insert + following }]);
  };
  const lock = () => editor.updateOptions({ readOnly: !note.isWritable });
  const stops = [
    note.on("text", show),
    note.on("changes", ({ changes, source }) => {
      if (source === editor) return;
      const shown = changes.map(({ from, to, insert }) => ({
        from: shownPlace(text, from), to: shownPlace(text, to), insert: shownOf(insert),
      }));
      const after = applied(text, changes);
      // An edit may make one end of a line of two, or two of one.
      if (after.includes("\r") || half.waits) return show(after);
      text = after;
      make(shown);
    }),
    note.on("state", lock),
  ];
  const listeners = [
    model.onDidChangeContent((/** @type {any} */ event) => {
      if (isShared) return;
      const forgotten = firstHalf;
      firstHalf = "";
      if (half.waits) {
        half.end();
        const change = difference(shownOf(text), model.getValue());
        if (!change) return;
        const own = { from: placeIn(text, change.from), to: placeIn(text, change.to), insert: change.insert };
        text = applied(text, [own]);
        note.edit([own], editor);
        // A half that stayed alone is shown as it is stored; a model may not be changed while it tells of a change.
        queueMicrotask(() => show(text));
        return;
      }
      if (event.changes.some((/** @type {any} */ { text: insert }) => endsInHalf(insert))) {
        half.begin();
        return;
      }
      // They come from the last to the first.
      /** @type {TextChange[]} */
      const changes = [...event.changes].reverse()
        .map(({ rangeOffset, rangeLength, text: insert }) => ({
          from: placeIn(text, rangeOffset), to: placeIn(text, rangeOffset + rangeLength), insert,
        }))
        .sort((one, other) => one.from - other.from);
      const isSecondHalf = forgotten !== "" && changes.length === 1 && beginsInHalf(changes[0]?.insert ?? "");
      if (isSecondHalf) for (const change of changes) change.insert = forgotten + change.insert;
      const before = text;
      const sound = whole(before, () => applied(before, changes), changes);
      text = applied(before, sound);
      note.edit(sound, editor);
      if (isSecondHalf) queueMicrotask(() => show(text));
    }),
    editor.onDidChangeCursorSelection((/** @type {any} */ { selection }) => {
      if (isShared || !note.isWritable || half.waits) return;
      /** @type {(lineNumber: number, column: number) => number} */
      const at = (lineNumber, column) => placeIn(text, model.getOffsetAt({ lineNumber, column }));
      note.select(
        at(selection.selectionStartLineNumber, selection.selectionStartColumn),
        at(selection.positionLineNumber, selection.positionColumn),
      );
    }),
  ];
  if (note.text !== undefined) show(note.text);
  lock();
  const unbind = () => {
    for (const stop of stops) stop();
    for (const listener of listeners) listener.dispose();
    field?.removeEventListener("input", typed, true);
  };
  listeners.push(editor.onDidDispose(unbind));
  return unbind;
}
