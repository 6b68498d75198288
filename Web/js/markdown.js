// Markdown for the editor, with a bound on what one key can cost.
//
// The parser takes a paragraph as a whole: each key in one of 1 MB, a text without blank lines, would
// have all of it read again. So a paragraph ends for the parser after some thousand characters, and a
// line longer than that is plain text. Nothing is seen of it, but a mark that spans such an end.

import { Language, languages } from "./codemirror.js";
import { withLimit } from "./limit.js";

/** How long a start waits for it; milliseconds. */
const loadMax = 10_000;

/** What is read in one piece, in UTF-16 units. */
const pieceMax = 8_000;

/** A parser's extension, in the form that @lezer/markdown takes. */
const bounded = {
  parseBlock: [
    {
      name: "BoundedParagraph",
      before: "IndentedCode",
      parse(/** @type {any} */ context, /** @type {any} */ line) {
        if (line.text.length - line.pos <= pieceMax) return false;
        const { lineStart } = context;
        context.addElement(context.elt("Paragraph", lineStart + line.pos, lineStart + line.text.length));
        context.nextLine();
        return true;
      },
      endLeaf: (/** @type {any} */ _context, /** @type {any} */ _line, /** @type {any} */ leaf) =>
        leaf.content.length > pieceMax,
    },
  ],
};

/**
 * A note opens with it: were it added later, the first keystrokes would do something else than the ones
 * that follow.
 *
 * @returns {Promise<any>} An extension. Undefined if it cannot be had: plain text is a note all the same.
 */
export async function loadMarkdown() {
  try {
    const loading = languages.find(({ name }) => name === "Markdown")?.load();
    const loaded = loading && (await withLimit(loading, loadMax, undefined));
    if (!loaded) return undefined;
    const { language, support } = loaded;
    // Under the same name and data, so that its keys work as before.
    return [new Language(language.data, language.parser.configure(bounded), [], "markdown"), support];
  } catch {
    return undefined;
  }
}
