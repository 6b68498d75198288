// Markdown for the editor, with a bound on the cost of each keystroke.
//
// The parser reads a paragraph as a whole, so each keystroke in a text of 1 MB without blank lines would parse all of
// it. Therefore the parser splits a paragraph after about 8,000 UTF-16 units (`pieceMax`), and does not parse a longer
// line. Formatting that spans a split, or is in such a line, is not shown.

import { bounded } from "./boundedmarkdown.js";
import { formulas } from "./formulas.js";
import { frontMatter } from "./frontmatter.js";
import { fetchLanguage, loadedLanguage, nameOfLanguage } from "./codelanguages.js";
import { Compartment, Language, ViewPlugin, markdown, markdownLanguage } from "../codemirror.js";

/** @param {any} options Options of CodeMirror's `markdown`. @returns {any} An extension. */
function bound(options) {
  // Use the extended syntax that the page shows: task lists, tables and others.
  const { language, support } = markdown({ base: markdownLanguage, ...options });
  // Keep the name and the data of the original language, so that Markdown's key bindings still apply.
  return [new Language(language.data, language.parser.configure([bounded, frontMatter, formulas]), [], "markdown"), support];
}

/** Markdown in which HTML is plain text and code has no colours. */
export const plainMarkdown = bound({});

/** @type {Set<string>} Names of the code languages in use. */
const codeLanguages = new Set();
/** @type {any} The HTML language, once a text contains HTML. */
let htmlTagLanguage;
/** @type {any} Markdown with all languages in use. */
let whole = plainMarkdown;

function rebind() {
  whole = bound({ ...(htmlTagLanguage && { htmlTagLanguage }), codeLanguages: loadedLanguage });
}

/** Returns Markdown with HTML. Its parser is loaded on demand: it is as large as the rest of the editor. */
export async function markdownWithHTML() {
  const { html } = await import("../html.js");
  if (!htmlTagLanguage) {
    htmlTagLanguage = html({ matchClosingTags: false });
    rebind();
  }
  return whole;
}

/** @param {string} name The language of some code in the text. */
async function markdownWithCode(name) {
  await fetchLanguage(name);
  codeLanguages.add(name);
  rebind();
  return whole;
}

/** The beginning of a tag, a comment, or a declaration. */
const tag = /<[a-z!?/]/i;
/** The opening fence of a code block, and its language. */
const fence = /^[ \t>*+-]*(?:```+|~~~+)[ \t]*([^\s`]+)/gm;

/**
 * Markdown for a view. Its HTML and code languages are loaded when the text first contains them.
 *
 * @returns {any} An extension.
 */
export function markdownInText() {
  const language = new Compartment();
  return [
    language.of(whole),
    ViewPlugin.fromClass(
      class {
        #isGone = false;
        /** @type {Set<string>} Languages that this view has or has requested; "" for HTML. */
        #asked = new Set([...codeLanguages, ...(htmlTagLanguage ? [""] : [])]);

        /** @param {import("../codemirror.js").EditorView} view */
        constructor(view) {
          this.#lookAt(view, view.state.doc.toString());
        }

        /** @param {import("../codemirror.js").ViewUpdate} update */
        update({ docChanged, changes, state, view }) {
          if (!docChanged) return;
          changes.iterChanges((_from, _to, from, to) => {
            // Include the rest of both lines: an edit may complete a tag or a fence that begins before it.
            const [first, last] = [state.doc.lineAt(from), state.doc.lineAt(to)];
            const begin = Math.max(first.from, from - searchedUnitsMax);
            this.#lookAt(view, state.doc.sliceString(begin, Math.min(last.to, to + searchedUnitsMax)));
          });
        }

        destroy() {
          this.#isGone = true;
        }

        /** @param {import("../codemirror.js").EditorView} view @param {string} text */
        #lookAt(view, text) {
          if (tag.test(text)) this.#ask(view, "", markdownWithHTML);
          for (const [, info = ""] of text.matchAll(fence)) {
            const name = nameOfLanguage(info);
            if (name !== undefined) this.#ask(view, name, () => markdownWithCode(name));
          }
        }

        /**
         * @param {import("../codemirror.js").EditorView} view
         * @param {string} name A language; "" for HTML.
         * @param {() => Promise<any>} fetch
         */
        #ask(view, name, fetch) {
          if (this.#asked.has(name)) return;
          this.#asked.add(name);
          fetch().then(
            (extension) => {
              if (!this.#isGone) view.dispatch({ effects: language.reconfigure(extension) });
            },
            // The text is readable without colours.
            (error) => console.warn(error),
          );
        }
      },
    ),
  ];
}

/** Maximum UTF-16 units before and after a change that are searched for tags and fences. */
const searchedUnitsMax = 200;
