// Footnotes: “[^name]” refers to one, and “[^name]: text” anywhere in the note defines it. They are shown at the end of
// the page, in the order of their first references.

/** The start of a footnote's definition. */
const definition = /^\[\^([^\]\s]{1,100})\]:[ \t]*/;
/** Minimum indentation of a footnote's further lines, in columns. */
const indent = 4;

/**
 * An extension of the parser, in the form that @lezer/markdown takes.
 *
 * @param {(name: string) => boolean} isDefined Whether a footnote is defined; otherwise its reference is shown as text.
 */
export const footnotes = (isDefined) => ({
  defineNodes: [
    {
      name: "FootnoteDefinition",
      block: true,
      composite(/** @type {any} */ _context, /** @type {any} */ line, /** @type {number} */ value) {
        if (line.indent < line.baseIndent + value && line.next > -1) return false;
        line.moveBaseColumn(line.baseIndent + value);
        return true;
      },
    },
    { name: "FootnoteMark" },
    { name: "FootnoteReference" },
  ],
  parseBlock: [
    {
      name: "FootnoteDefinition",
      before: "BoundedParagraph",
      parse(/** @type {any} */ context, /** @type {any} */ line) {
        const mark = markIn(line);
        if (mark === undefined) return false;
        context.startComposite("FootnoteDefinition", line.pos, indent);
        const from = context.lineStart + line.pos;
        context.addElement(context.elt("FootnoteMark", from, from + mark.length));
        line.moveBase(line.pos + mark.length);
        return null;
      },
      endLeaf: (/** @type {any} */ _context, /** @type {any} */ line) => markIn(line) !== undefined,
    },
  ],
  parseInline: [
    {
      name: "FootnoteReference",
      before: "Link",
      parse(/** @type {any} */ context, /** @type {number} */ next, /** @type {number} */ at) {
        if (next !== 91 || context.char(at + 1) !== 94) return -1;
        const [mark] = /^\[\^[^\]\s[]{1,100}\]/.exec(context.slice(at, Math.min(context.end, at + 104))) ?? [];
        if (!mark || !isDefined(nameOfFootnote(mark))) return -1;
        return context.addElement(context.elt("FootnoteReference", at, at + mark.length));
      },
    },
  ],
});

/** @param {any} line @returns {string | undefined} */
const markIn = (line) =>
  line.indent < line.baseIndent + indent && line.next === 91 ? definition.exec(line.text.slice(line.pos))?.[0] : undefined;

/** @param {string} text “[^name]” or “[^name]: ”. */
export const nameOfFootnote = (text) => text.replace(/^\[\^|\](:[ \t]*)?$/g, "").toLowerCase();

/**
 * Numbers the footnotes that a page refers to, by first reference, and returns their names in this order.
 *
 * @param {HTMLElement[]} blocks
 * @param {(link: HTMLElement) => boolean} [isLast] Whether a reference is numbered after all others.
 * @returns {string[]}
 */
export function numberFootnotes(blocks, isLast = () => false) {
  /** @type {Map<string, number>} Numbers by name, in order. */
  const numbers = new Map();
  /** @type {Map<string, number>} */
  const uses = new Map();
  const links = blocks.flatMap((block) => [.../** @type {NodeListOf<HTMLAnchorElement>} */ (block.querySelectorAll("a.footnote"))]);
  for (const link of [...links.filter((one) => !isLast(one)), ...links.filter(isLast)]) {
    const name = link.dataset.footnote ?? "";
    const use = (uses.get(name) ?? 0) + 1;
    uses.set(name, use);
    const number = numbers.get(name) ?? numbers.size + 1;
    numbers.set(name, number);
    link.textContent = String(number);
    link.href = `#footnote-${number}`;
    link.id = use === 1 ? `footnote-of-${number}` : `footnote-of-${number}-${use}`;
  }
  return [...numbers.keys()];
}
