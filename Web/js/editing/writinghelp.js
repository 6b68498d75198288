// Loads the writing aids: menus at the caret, table keys, the bar above a selection, hidden marks. They are a part of
// the page that is fetched when a text first needs them.

import { StateEffect, ViewPlugin } from "../codemirror.js";
import { commandsOf } from "./editorcommands.js";
import { linkText } from "./textcommands.js";

/** Text that a menu or drawn Markdown begins with. */
const useful = /[*`#[\]>|~/@:]|^[ \t]*(?:[-+]|\d+[.)])\s/m;
/** The UTF-16 units that are searched before the caret, and after it. */
const lookedAtMax = 4_000;

/** @type {typeof import("./writing/writing.js") | undefined} */
let part;

/** @param {import("../client/note.js").Note} note */
export const writingHelp = (note) =>
  ViewPlugin.fromClass(
    class {
      #isAsked = false;
      #isGone = false;

      /** @param {import("../codemirror.js").EditorView} view */
      constructor(view) {
        this.#look(view);
      }

      /** @param {import("../codemirror.js").ViewUpdate} update */
      update({ view, docChanged, selectionSet }) {
        if (!this.#isAsked && (docChanged || selectionSet)) this.#look(view);
      }

      destroy() {
        this.#isGone = true;
      }

      /** @param {import("../codemirror.js").EditorView} view */
      #look(view) {
        const { doc, selection } = view.state;
        const from = Math.max(0, selection.main.head - lookedAtMax);
        if (selection.main.empty && !useful.test(doc.sliceString(from, from + 2 * lookedAtMax))) return;
        this.#isAsked = true;
        const add = () => {
          if (!this.#isGone && part) view.dispatch({ effects: StateEffect.appendConfig.of(part.writing({ note, commandsOf, linkText })) });
        };
        const load = async () => (part ??= await import("./writing/writing.js"));
        // Without the aids, the text remains editable.
        load().then(add, (error) => console.warn(error));
      }
    },
  );
