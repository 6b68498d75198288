// Bounds the cost of a change of a Markdown text, as an extension of its parser.

/** Maximum UTF-16 units of a piece that is parsed as a whole. */
const pieceMax = 8_000;
/** Maximum UTF-16 units of a table that is parsed as a whole; its rows cannot be read without the head. */
const tableMax = 200_000;

/** @param {any} leaf @returns {boolean} Whether its first two lines begin a table. */
const isTable = (leaf) => leaf.parsers.some((/** @type {any} */ { rows }) => Array.isArray(rows));

/** An extension for @lezer/markdown. */
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
