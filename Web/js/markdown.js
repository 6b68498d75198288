// Markdown for the editor, with a bound on what one key can cost.
//
// The parser takes a paragraph as a whole: each key in one of 1 MB, a text without blank lines, would
// have all of it read again. So a paragraph ends for the parser after some thousand characters, and a
// line longer than that is plain text. Nothing is seen of it, but a mark that spans such an end.

import { bounded } from "./boundedmarkdown.js";
import { Compartment, Language, ViewPlugin, markdown } from "./codemirror.js";

/** @param {any} options Of CodeMirror's Markdown. @returns {any} An extension. */
function bound(options) {
  const { language, support } = markdown(options);
  // Under the same name and data, so that its keys work as before.
  return [new Language(language.data, language.parser.configure(bounded), [], "markdown"), support];
}

/** Markdown, HTML within it being plain text. */
export const markdownAlone = bound({});

/** @type {any} With HTML within it, once a text has had some. */
let withHTML;

/** Markdown with HTML within it. Its parts for HTML, its styles and its scripts are as large as all the rest. */
export async function markdownWithHTML() {
  const { html } = await import("./html.js");
  withHTML ??= bound({ htmlTagLanguage: html({ matchClosingTags: false }) });
  return withHTML;
}

/** The beginning of a tag, a comment, or a declaration. */
const tag = /<[a-z!?/]/i;

/**
 * Markdown for a view: its HTML is read from when there is any.
 *
 * @returns {any} An extension.
 */
export function markdownInText() {
  const language = new Compartment();
  return [
    language.of(withHTML ?? markdownAlone),
    ViewPlugin.fromClass(
      class {
        #isGone = false;
        #isAsked = withHTML !== undefined;

        /** @param {import("./codemirror.js").EditorView} view */
        constructor(view) {
          this.#lookAt(view, view.state.doc.toString());
        }

        /** @param {import("./codemirror.js").ViewUpdate} update */
        update({ docChanged, changes, state, view }) {
          if (!docChanged || this.#isAsked) return;
          changes.iterChanges((_from, _to, from, to) => {
            // What is typed stands beside what was there.
            this.#lookAt(view, state.doc.sliceString(Math.max(0, from - 1), Math.min(state.doc.length, to + 1)));
          });
        }

        destroy() {
          this.#isGone = true;
        }

        /** @param {import("./codemirror.js").EditorView} view @param {string} text */
        #lookAt(view, text) {
          if (this.#isAsked || !tag.test(text)) return;
          this.#isAsked = true;
          markdownWithHTML().then(
            (extension) => {
              if (!this.#isGone) view.dispatch({ effects: language.reconfigure(extension) });
            },
            // Tags without colours are a text all the same.
            (error) => console.warn(error),
          );
        }
      },
    ),
  ];
}
