// Markdown for the editor, with a bound on the cost of one key.
//
// The parser takes a paragraph as a whole: each key in one of 1 MB, a text without blank lines, would
// have all of it read again. So a paragraph ends for the parser after some thousand characters, and a
// line longer than that is plain text. It shows only at a mark that spans such an end.

import { bounded } from "./boundedmarkdown.js";
import { formulas } from "./formulas.js";
import { frontMatter } from "./frontmatter.js";
import { fetchLanguage, languageHere, nameOfLanguage } from "./codelanguages.js";
import { Compartment, Language, ViewPlugin, markdown, markdownLanguage } from "../codemirror.js";

/** @param {any} options Of CodeMirror's Markdown. @returns {any} An extension. */
function bound(options) {
  // With boxes, tables and what else the page shows.
  const { language, support } = markdown({ base: markdownLanguage, ...options });
  // Under the same name and data, so that its keys work as before.
  return [new Language(language.data, language.parser.configure([bounded, frontMatter, formulas]), [], "markdown"), support];
}

/** Markdown, HTML within it being plain text, and code without colours. */
export const markdownAlone = bound({});

/** @type {Set<string>} Languages of code that are read. */
const codeLanguages = new Set();
/** @type {any} Reads HTML, once a text has had some. */
let htmlTagLanguage;
/** @type {any} Markdown with all of these. */
let whole = markdownAlone;

function rebind() {
  whole = bound({ ...(htmlTagLanguage && { htmlTagLanguage }), codeLanguages: languageHere });
}

/** Markdown with HTML within it. Its parts for HTML, its styles and its scripts are as large as all the rest. */
export async function markdownWithHTML() {
  const { html } = await import("../html.js");
  if (!htmlTagLanguage) {
    htmlTagLanguage = html({ matchClosingTags: false });
    rebind();
  }
  return whole;
}

/** @param {string} name A language that code in the text is in. */
async function markdownWithCode(name) {
  await fetchLanguage(name);
  codeLanguages.add(name);
  rebind();
  return whole;
}

/** The beginning of a tag, a comment, or a declaration. */
const tag = /<[a-z!?/]/i;
/** The word behind a fence. */
const fence = /^[ \t>*+-]*(?:```+|~~~+)[ \t]*([^\s`]+)/gm;

/**
 * Markdown for a view: its HTML, and the languages of its code, are read from when there are any.
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
        /** @type {Set<string>} What this view has, or has asked for. */
        #asked = new Set([...codeLanguages, ...(htmlTagLanguage ? [""] : [])]);

        /** @param {import("../codemirror.js").EditorView} view */
        constructor(view) {
          this.#lookAt(view, view.state.doc.toString());
        }

        /** @param {import("../codemirror.js").ViewUpdate} update */
        update({ docChanged, changes, state, view }) {
          if (!docChanged) return;
          changes.iterChanges((_from, _to, from, to) => {
            // The rest of the line counts, too: typed text may complete what was there, and a fence takes a whole line.
            const [first, last] = [state.doc.lineAt(from), state.doc.lineAt(to)];
            const begin = Math.max(first.from, from - lookedAtMax);
            this.#lookAt(view, state.doc.sliceString(begin, Math.min(last.to, to + lookedAtMax)));
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
         * @param {string} name Of a language; "" for HTML.
         * @param {() => Promise<any>} fetch
         */
        #ask(view, name, fetch) {
          if (this.#asked.has(name)) return;
          this.#asked.add(name);
          fetch().then(
            (extension) => {
              if (!this.#isGone) view.dispatch({ effects: language.reconfigure(extension) });
            },
            // The text stays readable without colours.
            (error) => console.warn(error),
          );
        }
      },
    ),
  ];
}

/** UTF-16 units beside a change that are looked at. */
const lookedAtMax = 200;
