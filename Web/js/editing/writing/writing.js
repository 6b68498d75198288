// The part of the page with aids for writing.

import { Prec, keymap } from "../../codemirror.js";
import { authorised, request } from "../../client/http.js";
import { byId, toast } from "../../ground/dialogs.js";
import { t } from "../../ground/language.js";
import { page } from "../../state/page.js";
import { openSearch } from "../../search/searching.js";
import { list } from "../../state/session.js";
import { shownName } from "../../state/people.js";
import { messageOf } from "../../client/words.js";
import { choiceMenu } from "./choicemenu.js";
import { emojiChoices, notesToLink, partsOfText, people } from "./choices.js";
import { drawnMarks } from "./drawnmarks.js";
import { selectionBar } from "./selectionbar.js";
import { newRow, toCell } from "./tablekeys.js";
import { writingStyles } from "./writingsheet.js";

const sheet = new CSSStyleSheet();
sheet.replaceSync(await writingStyles());

/** Inserts the text of another note at the caret. */
function useTemplate() {
  void openSearch("", async ({ id }) => {
    try {
      const response = await authorised(`/api/notes/${encodeURIComponent(id)}/text`, { Accept: "text/markdown" });
      const text = await response?.text();
      const view = page.editor?.kind === "plain" ? page.editor.view : undefined;
      if (text && view && !view.state.readOnly) {
        const { head } = view.state.selection.main;
        view.dispatch({ changes: { from: head, insert: text }, selection: { anchor: head + text.length }, userEvent: "input.paste" });
        view.focus();
      }
    } catch (error) {
      toast(messageOf(error));
    }
  });
}

/**
 * Returns a function that returns the names of a note's newest authors. Its first call requests them from the server;
 * it returns no names until they have arrived.
 *
 * @param {string} id
 */
function authorsOf(id) {
  /** @type {string[] | undefined} */
  let names;
  /** @param {import("../../history/sessions.js").Answer} answer */
  const take = ({ sessions }) => (names = sessions.flatMap(({ authors }) => authors.map(({ author }) => author)));
  return () => {
    if (!names) request(`/api/notes/${encodeURIComponent(id)}/sessions`).then(take, () => {});
    return (names ??= []);
  };
}

/** @param {(state: import("../../codemirror.js").EditorState) => object | undefined} command */
const keyOf = (command) => (/** @type {import("../../codemirror.js").EditorView} */ view) => {
  const change = view.state.readOnly ? undefined : command(view.state);
  if (change) view.dispatch({ ...change, userEvent: "input" });
  return change !== undefined;
};

/**
 * @typedef {object} Dependencies Modules that the editor has already loaded.
 * @property {import("../../client/note.js").Note} note
 * @property {typeof import("../editorcommands.js").commandsOf} commandsOf
 * @property {typeof import("../textcommands.js").linkText} linkText
 */

/** @param {Dependencies} dependencies @returns {any} An extension. */
export function writing({ note, commandsOf, linkText }) {
  for (const root of [document, byId("editor").shadowRoot]) {
    if (root && !root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
  }
  const authors = authorsOf(note.documentId);
  const offers = {
    part: () => partsOfText(t, { addFile: () => byId("file").click(), useTemplate }),
    person: () => people([...note.people.map(({ name }) => name), ...authors()].filter(Boolean).map(shownName)),
    note: () => notesToLink((list.notes ?? []).filter(({ id }) => id !== note.documentId), linkText),
    emoji: emojiChoices,
  };
  return [
    choiceMenu((kind) => offers[kind]()),
    drawnMarks(note.documentId),
    selectionBar(commandsOf),
    Prec.highest(
      keymap.of([
        { key: "Tab", run: keyOf(toCell(1)), shift: keyOf(toCell(-1)) },
        { key: "Enter", run: keyOf(newRow) },
      ]),
    ),
  ];
}
