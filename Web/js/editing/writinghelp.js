// Help with writing: menus at the caret, keys of tables, the bar above selected words, signs that are hidden. It is a part
// of the page that is fetched when a text first has use for it.

import { StateEffect, ViewPlugin } from "../codemirror.js";
import { commandsOf } from "./editorcommands.js";
import { linkText } from "./textcommands.js";

/** What a menu, or drawn Markdown, begins with. */
const useful = /[*`#[\]>|~/@:]|^[ \t]*(?:[-+]|\d+[.)])\s/m;
/** UTF-16 units that are looked at. */
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
        // A text can be written without help.
        load().then(add, (error) => console.warn(error));
      }
    },
  );
