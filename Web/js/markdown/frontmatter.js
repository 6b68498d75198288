// Front matter: lines of YAML at the beginning of a text, between "---" and "---", as static site generators and
// HedgeDoc write them. CommonMark reads them as a rule and a heading.

/** Maximum lines of front matter. */
const linesMax = 200;

const fence = /^---[ \t]*$/;
const end = /^(?:---|\.\.\.)[ \t]*$/;
/** A key, as in "title: Minutes". */
const key = /^([\p{L}_][\p{L}\p{N}_. -]{0,99}):(?:[ \t]+(.*)|)$/u;

/**
 * An extension for @lezer/markdown.
 *
 * The first two lines decide whether there is front matter, and a blank line ends it. The closing line must not decide:
 * the parser reuses blocks above an edit, so their result would become outdated.
 */
export const frontMatter = {
  defineNodes: [{ name: "FrontMatter", block: true }, { name: "FrontMatterMark" }],
  parseBlock: [
    {
      name: "FrontMatter",
      before: "HorizontalRule",
      parse(/** @type {any} */ context, /** @type {any} */ line) {
        if (context.lineStart !== 0 || !fence.test(line.text) || !key.test(context.peekLine())) return false;
        const marks = [context.elt("FrontMatterMark", 0, 3)];
        let to = line.text.length;
        for (let count = 0; count < linesMax && context.nextLine(); count += 1) {
          if (/^\s*$/.test(line.text)) break;
          const from = context.lineStart;
          to = from + line.text.length;
          if (!end.test(line.text)) continue;
          marks.push(context.elt("FrontMatterMark", from, from + 3));
          context.nextLine();
          break;
        }
        context.addElement(context.elt("FrontMatter", 0, to, marks));
        return true;
      },
    },
  ],
};

/** @param {string} value A YAML value; its quotes, or the brackets of a list, are removed. */
const shownValue = (value) => {
  const text = value.trim();
  return /^(?:".*"|'.*'|\[.*\])$/.test(text) ? text.slice(1, -1).trim() : text;
};

/**
 * Returns the keys and values of front matter. Values are text; nested ones are joined.
 *
 * @param {string} text The lines between the fences.
 * @returns {{key: string, value: string}[]}
 */
export function entriesIn(text) {
  /** @type {{key: string, values: string[]}[]} */
  const entries = [];
  for (const line of text.split("\n")) {
    const found = key.exec(line);
    const value = found ? (found[2] ?? "") : line.replace(/^[ \t]*(?:-[ \t]+)?/, "");
    const last = entries[entries.length - 1];
    if (found) entries.push({ key: found[1] ?? "", values: [shownValue(value)] });
    else if (last && value.trim() && !/^#/.test(value)) last.values.push(shownValue(value));
  }
  return entries.map(({ key, values }) => ({ key, value: values.filter((value) => value !== "").join(", ") }));
}
