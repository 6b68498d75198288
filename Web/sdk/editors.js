// Binds a note to an app's own CodeMirror 6 or Monaco. Neither is imported: the app's own modules are used, for two
// copies of one editor do not know each other.

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
  /** @type {string | undefined} The text without the first half of a character, which the note has not got. */
  let withoutHalf;
  /** @param {any} view @returns {ComposedLine} */
  const composedIn = (view) => view.plugin(lifeCycle).composed;
  /** @param {any} view @param {string} text */
  const replaceAll = (view, text) => {
    const composed = composedIn(view);
    if (withoutHalf !== undefined) composed.reset();
    withoutHalf = undefined;
    const change = difference(applied(view.state.doc.toString(), composed.waiting), text);
    if (change) composed.take([change]);
  };
  const lifeCycle = ViewPlugin.define((/** @type {any} */ view) => {
    let isAlive = true;
    const annotations = [isShared.of(true), Transaction.addToHistory.of(false), Transaction.remote.of(true)];
    const composed = new ComposedLine(viewOfCodeMirror(view, (changes) => {
      if (withoutHalf !== undefined) replaceAll(view, note.text ?? "");
      // The app's own filters are for typed text.
      else view.dispatch({ changes, annotations, filter: false });
    }));
    const lock = () => view.dispatch({ effects: locked.reconfigure(EditorState.readOnly.of(!note.isWritable)) });
    const stops = [
      note.on("text", (text) => replaceAll(view, text)),
      note.on("changes", ({ changes, source }) => {
        if (source !== view) composed.take(changes);
      }),
      note.on("state", () => {
        if (view.state.readOnly === note.isWritable) lock();
      }),
    ];
    // A view must not be changed while it is made.
    queueMicrotask(() => {
      if (!isAlive) return;
      if (note.text !== undefined) replaceAll(view, note.text);
      lock();
    });
    return {
      composed,
      destroy() {
        isAlive = false;
        composed.destroy();
        for (const stop of stops) stop();
      },
    };
  });
  /** @param {any} update */
  const take = ({ view, transactions, startState, selectionSet, docChanged, state }) => {
    const own = transactions.filter((/** @type {any} */ one) => one.docChanged && !one.annotation(isShared));
    const composed = composedIn(view);
    for (const transaction of own) {
      const changes = listOf(transaction.changes);
      const after = () => transaction.newDoc.toString();
      if (!composed.isComposing && changes.some(({ insert }) => endsInHalf(insert))) {
        withoutHalf = note.text ?? "";
        composed.begin("", true);
        continue;
      }
      const edit = (/** @type {TextChange[]} */ made) => note.edit(composed.follow(made), view);
      try {
        if (withoutHalf !== undefined) {
          const change = difference(withoutHalf, after());
          withoutHalf = undefined;
          if (change) edit([change]);
          queueMicrotask(() => {
            composed.catchUp();
            // A half that stayed alone is shown as it is stored.
            replaceAll(view, note.text ?? "");
          });
          continue;
        }
        edit(whole((transaction.startState ?? startState).doc.toString(), after, changes));
      } catch (error) {
        if (!(error instanceof ParleyError)) throw error;
        // Edits that the note rejects must not stay on the screen.
        if (note.text !== undefined) queueMicrotask(() => replaceAll(view, note.text ?? ""));
      }
    }
    const { anchor, head } = state.selection.main;
    if ((selectionSet || docChanged) && view.hasFocus && note.isWritable && withoutHalf === undefined) {
      note.select(composed.inNote(anchor), composed.inNote(head));
    }
  };
  return [
    locked.of(EditorState.readOnly.of(true)),
    // An app's own setting may come before that one.
    EditorState.changeFilter.of((/** @type {any} */ one) => one.annotation(isShared) === true || note.isWritable),
    // Line ends are "\n", or places would differ from the note's.
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
  /** @type {string | undefined} The shown text without the first half of a character, which the note has not got. */
  let withoutHalf;
  /** The first half of a character that was typed, and that Monaco forgets if it draws before the other comes. */
  let firstHalf = "";
  const typed = (/** @type {InputEvent} */ { data }) => {
    if (!beginsInHalf(data ?? "")) firstHalf = endsInHalf(data ?? "") ? (data ?? "").slice(-1) : "";
  };
  const field = editor.getDomNode();
  // In the capture phase, before Monaco's own listener.
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
  /** Edits the model in steps of undo, without which the undo of own edits would be misplaced. */
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
  const composed = new ComposedLine({
    element: field,
    selection: () => selections()[0],
    slice: (from, to) => model.getValue().slice(from, to),
    lineAt: (place) => {
      const { lineNumber } = model.getPositionAt(place);
      const at = (/** @type {number} */ column) => model.getOffsetAt({ lineNumber, column });
      return { from: at(1), to: at(model.getLineMaxColumn(lineNumber)) };
    },
    make: (changes) => (withoutHalf === undefined ? make(changes) : show(text)),
    focus: () => editor.focus(),
  });
  const show = (/** @type {string} */ next) => {
    if (withoutHalf !== undefined) composed.reset();
    withoutHalf = undefined;
    text = next;
    // 0: "\n", also in a text without a line end.
    quietly(() => model.setEOL(0));
    const before = applied(model.getValue(), composed.waiting);
    const change = difference(before, shownOf(next));
    if (!change) return;
    // Monaco has no place behind a lone half of a character, and would take in the next unit. So that is replaced, too.
    const [following = ""] = endsInHalf(before, change.to) ? before.slice(change.to) : "";
    composed.take([{ from: change.from, to: change.to + following.length, insert: change.insert + following }]);
  };
  /** @param {TextChange[]} changes Of the shown text. */
  const edit = (changes) => {
    const before = text;
    const own = changesIn(before, composed.follow(changes));
    const sound = whole(before, () => applied(before, own), own);
    text = applied(before, sound);
    note.edit(sound, editor);
  };
  const lock = () => editor.updateOptions({ readOnly: !note.isWritable });
  const stops = [
    note.on("text", show),
    note.on("changes", ({ changes, source }) => {
      if (source === editor) return;
      const both = text + (text = applied(text, changes));
      // An edit may make one end of a line of two, or two of one.
      if (both.includes("\r")) show(text);
      else composed.take(changes);
    }),
    note.on("state", lock),
  ];
  const listeners = [
    model.onDidChangeContent((/** @type {any} */ event) => {
      if (isShared) return;
      const forgotten = firstHalf;
      firstHalf = "";
      if (withoutHalf !== undefined) {
        const change = difference(withoutHalf, model.getValue());
        withoutHalf = undefined;
        if (change) edit([change]);
        // A half that stayed alone is shown as it is stored; a model must not be changed within its change event.
        queueMicrotask(() => {
          composed.catchUp();
          show(text);
        });
        return;
      }
      if (!composed.isComposing && event.changes.some((/** @type {any} */ { text: insert }) => endsInHalf(insert))) {
        withoutHalf = shownOf(text);
        composed.begin("", true);
        return;
      }
      // Monaco lists changes from the last to the first.
      /** @type {TextChange[]} */
      const changes = [...event.changes].reverse()
        .map(({ rangeOffset, rangeLength, text: insert }) => ({ from: rangeOffset, to: rangeOffset + rangeLength, insert }))
        .sort((one, other) => one.from - other.from);
      const isSecondHalf = forgotten !== "" && changes.length === 1 && beginsInHalf(changes[0]?.insert ?? "");
      if (isSecondHalf) for (const change of changes) change.insert = forgotten + change.insert;
      edit(changes);
      if (isSecondHalf) queueMicrotask(() => show(text));
    }),
    editor.onDidChangeCursorSelection((/** @type {any} */ { selection }) => {
      if (isShared || !note.isWritable || withoutHalf !== undefined) return;
      /** @type {(lineNumber: number, column: number) => number} */
      const at = (lineNumber, column) => placeIn(text, composed.inNote(model.getOffsetAt({ lineNumber, column })));
      note.select(
        at(selection.selectionStartLineNumber, selection.selectionStartColumn),
        at(selection.positionLineNumber, selection.positionColumn),
      );
    }),
  ];
  if (note.text !== undefined) show(note.text);
  lock();
  const unbind = () => {
    composed.catchUp();
    composed.destroy();
    for (const stop of stops) stop();
    for (const listener of listeners) listener.dispose();
    field?.removeEventListener("input", typed, true);
  };
  listeners.push(editor.onDidDispose(unbind));
  return unbind;
}
