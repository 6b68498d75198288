// Keys and typed text in the editor of a formatted note.

import { Plugin, keymap } from "../prosemirror.js";
import { isList } from "./elements.js";
import { backspace, deleteForward, enter, enterAfterMarks, enterWithin, indent, linesOf, startOfLine, tick } from "./linecommands.js";
import { schema } from "./schema.js";
import { markTyped, toggleMark } from "./textmarks.js";

/**
 * @typedef {import("../prosemirror.js").EditorView} EditorView
 * @typedef {(state: import("../prosemirror.js").EditorState) => import("../prosemirror.js").Transaction | undefined} Command
 * @typedef {(state: any, dispatch?: (transaction: any) => void) => boolean} KeyCommand As ProseMirror calls it.
 */

/** @param {Command} command @returns {KeyCommand} */
export const keyOf = (command) => (state, dispatch) => {
  const transaction = command(state);
  if (transaction) dispatch?.(transaction.scrollIntoView());
  return transaction !== undefined;
};

/** @param {Command} command @returns {Command} The command in lists alone: elsewhere, Tab moves the focus. */
const inLists = (command) => (state) => {
  if (!linesOf(state).some(({ line }) => isList(line.attrs.set))) return undefined;
  // A list at its last indent keeps the focus, too.
  return command(state) ?? state.tr;
};

/** The keys of commands, by the commands' names. */
export const keys = { bold: "Mod-b", italic: "Mod-i", underline: "Mod-u", tick: "Mod-Enter" };

/**
 * @param {object} history
 * @param {() => void} history.undo
 * @param {() => void} history.redo
 */
export function bindings({ undo, redo }) {
  const run = (/** @type {() => void} */ act) => () => (act(), true);
  return [
    keymap({
      "Mod-z": run(undo), "Shift-Mod-z": run(redo), "Mod-y": run(redo),
      [keys.bold]: keyOf(toggleMark("bold")),
      [keys.italic]: keyOf(toggleMark("italic")),
      [keys.underline]: keyOf(toggleMark("underline")),
      [keys.tick]: keyOf(tick),
      "Enter": keyOf((state) => enterAfterMarks(state) ?? enter(state)),
      "Shift-Enter": keyOf(enterWithin),
      "Backspace": keyOf(backspace),
      "Shift-Backspace": keyOf(backspace),
      "Delete": keyOf(deleteForward),
      "Mod-]": keyOf(indent(1)),
      "Mod-[": keyOf(indent(-1)),
    }),
  ];
}

/** Tab and Shift Tab indent items; after Escape, the next one moves the focus. */
export function tabKeys() {
  let isLeaving = false;
  const [more, less] = [keyOf(inLists(indent(1))), keyOf(inLists(indent(-1)))];
  return new Plugin({
    props: {
      handleKeyDown(/** @type {EditorView} */ view, /** @type {KeyboardEvent} */ event) {
        const { key, shiftKey, ctrlKey, metaKey, altKey } = event;
        const wasLeaving = isLeaving;
        if (key !== "Shift") isLeaving = key === "Escape";
        if (key !== "Tab" || ctrlKey || metaKey || altKey || wasLeaving) return false;
        return (shiftKey ? less : more)(view.state, (transaction) => view.dispatch(transaction));
      },
    },
  });
}

/** @param {string} text Typed. @returns {boolean} Whether it may end a mark of Markdown. */
const isSign = (text) => text === " " || /[*_`~]$/.test(text);

/**
 * What typed text does beside being inserted.
 *
 * @param {() => void} endStep Makes the next change a step of its own, so that undo restores the typed signs.
 */
export const typedText = (endStep) =>
  new Plugin({
    props: {
      handleTextInput(/** @type {EditorView} */ view, /** @type {number} */ from, /** @type {number} */ to, /** @type {string} */ text) {
        const { state } = view;
        if (from !== to || from !== state.selection.from || !state.selection.empty || view.composing) return false;
        const { $from } = state.selection;
        if ($from.depth === 0) return false;
        const isAtStart = $from.parentOffset === 0 && $from.parent.content.size > 0;
        // At a line's start, typed text takes no attributes.
        if (isAtStart && !state.storedMarks) view.dispatch(state.tr.insert(from, schema.text(text)).scrollIntoView());
        else if (isSign(text)) view.dispatch(state.tr.insertText(text, from, to).scrollIntoView());
        else return false;
        const made = text === " " ? startOfLine(view.state) : markTyped(view.state);
        if (!made) return true;
        // Undo first restores what was typed.
        endStep();
        view.dispatch(made);
        endStep();
        return true;
      },
    },
  });
