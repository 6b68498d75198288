// Formulas in Markdown: $a^2$ in a line, and $$a^2$$ in a line of its own.

/** Maximum UTF-16 units of a formula. */
const sourceMax = 5_000;

/** From one `$` to the next. No digit may follow, so that "$5 and$6" is text. */
const inLine = /^\$(?![\s$])((?:\\[^]|[^\\$])*)\$(?!\d)/;
const display = /^\$\$(?!\$)((?:\\[^]|[^\\$])+)\$\$/;

const blank = /^\s*$/;

/** An extension for @lezer/markdown. */
export const formulas = {
  defineNodes: [{ name: "FormulaBlock", block: true }, { name: "Formula" }, { name: "FormulaMark" }],
  parseBlock: [
    {
      name: "FormulaBlock",
      before: "HorizontalRule",
      parse(/** @type {any} */ context, /** @type {any} */ line) {
        const first = line.text.slice(line.pos);
        if (line.next !== 36 || line.indent >= line.baseIndent + 4 || !first.startsWith("$$")) return false;
        const end = first.indexOf("$$", 2);
        // With text after it, this is a paragraph that contains a formula.
        if (end >= 0 && (blank.test(first.slice(2, end)) || !blank.test(first.slice(end + 2)))) return false;
        const from = context.lineStart + line.pos;
        const marks = [context.elt("FormulaMark", from, from + 2)];
        let to = context.lineStart + line.text.trimEnd().length;
        let isEnded = end >= 0;
        while (context.nextLine() && !isEnded && line.depth >= context.stack.length) {
          for (const mark of line.markers) marks.push(mark);
          // An unclosed formula ends where a paragraph would.
          if (blank.test(line.text.slice(line.basePos)) || to - from > sourceMax) break;
          to = context.lineStart + line.text.trimEnd().length;
          isEnded = /\$\$\s*$/.test(line.text.slice(line.basePos));
        }
        if (isEnded) marks.push(context.elt("FormulaMark", to - 2, to));
        context.addElement(context.elt("FormulaBlock", from, to, marks));
        return true;
      },
      endLeaf: (/** @type {any} */ _context, /** @type {any} */ line) =>
        line.next === 36 && line.indent < line.baseIndent + 4 && /^\$\$\s*$/.test(line.text.slice(line.pos)),
    },
  ],
  parseInline: [
    {
      name: "Formula",
      before: "Escape",
      parse(/** @type {any} */ context, /** @type {number} */ next, /** @type {number} */ at) {
        if (next !== 36) return -1;
        const text = context.slice(at, Math.min(context.end, at + sourceMax));
        const isDisplay = context.char(at + 1) === 36;
        const [found, inner = ""] = (isDisplay ? display : inLine).exec(text) ?? [];
        // If no formula follows, both signs of a `$$` are text.
        if (!found || (!isDisplay && /\s$/.test(inner))) return isDisplay ? at + 2 : -1;
        const [length, end] = [isDisplay ? 2 : 1, at + found.length];
        return context.addElement(
          context.elt("Formula", at, end, [
            context.elt("FormulaMark", at, at + length),
            context.elt("FormulaMark", end - length, end),
          ]),
        );
      },
    },
  ],
};
