// A bound on what a change of a Markdown text can cost, as an extension of its parser.

/** What is read in one piece, in UTF-16 units. */
const pieceMax = 8_000;
/** The same for a table, whose rows mean nothing without its head. */
const tableMax = 200_000;

/** @param {any} leaf @returns {boolean} Whether its first two lines are the beginning of a table. */
const isTable = (leaf) => leaf.parsers.some((/** @type {any} */ { rows }) => Array.isArray(rows));

/** A parser's extension, in the form that @lezer/markdown takes. */
export const bounded = {
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
        leaf.content.length > pieceMax && (leaf.content.length > tableMax || !isTable(leaf)),
    },
  ],
};
