// The Markdown of the page view: the editor's parser (@lezer/markdown), with rules that depend on the whole text.
//
// The parser reads block after block, so it does not know the references that are defined below. CommonMark needs them:
// "[a]" is a link only if "a" is defined. So a first pass with the same parser, without its inline part, collects the
// definitions.

import { bounded } from "../markdown/boundedmarkdown.js";
import { formulas } from "../markdown/formulas.js";
import { frontMatter } from "../markdown/frontmatter.js";
import { markdownLanguage } from "../codemirror.js";
import { unescaped } from "./entities.js";
import { footnotes, nameOfFootnote } from "./footnotes.js";
import { childOf, childrenOf, depthMax } from "./tree.js";

/** @typedef {import("./tree.js").Node} Node */
/** @typedef {Map<string, {url: string, title: string}>} References Link targets by normalised label. */

/**
 * The definitions and indents of the text being parsed. `treeOf` restores it at each step, so that parses can
 * alternate.
 *
 * @type {{references: References, footnotes: Set<string>, indents: Map<number, number>}}
 */
let known = { references: new Map(), footnotes: new Set(), indents: new Map() };

/**
 * The unmodified parser; the rules below call its parts.
 *
 * @type {any}
 */
const original = markdownLanguage.parser;
/** @param {string} name */
const inlineParser = (name) => original.inlineParsers[original.inlineNames.indexOf(name)];
/** @param {string} name */
const blockParser = (name) => original.blockParsers[original.blockNames.indexOf(name)];

/** @param {string} label @returns {string} The normalised form in which labels are compared. */
export const labelled = (label) => label.trim().replace(/\s+/g, " ").toLowerCase().toUpperCase();

/**
 * Returns the label of a reference, full or short; undefined for a link with its address in parentheses.
 *
 * @param {any} context @param {any} opening The delimiter before its text. @param {number} at The position of the "]".
 * @returns {string | undefined}
 */
function labelOfLink(context, opening, at) {
  const text = context.slice(opening.to, at);
  const next = context.char(at + 1);
  if (next !== 40 && next !== 91) return text;
  // The parser finds the end of the link, but would change the context, so it runs on a copy.
  const probe = Object.create(context);
  probe.parts = [Object.assign(Object.create(Object.getPrototypeOf(opening)), opening)];
  const end = inlineParser("LinkEnd")(probe, 93, at);
  if (end <= at + 1) return text;
  const label = context.slice(at + 2, end - 1);
  return next === 40 ? undefined : label.trim() ? label : text;
}

/** Shows the brackets of an undefined reference as text. */
const references = {
  parseInline: [
    {
      name: "LinkEnd",
      parse(/** @type {any} */ context, /** @type {number} */ next, /** @type {number} */ at) {
        if (next !== 93) return -1;
        let place = context.parts.length - 1;
        while (place >= 0 && !(context.parts[place]?.side !== undefined && /^!?\[$/.test(context.slice(context.parts[place].from, context.parts[place].to)))) place -= 1;
        const opening = context.parts[place];
        if (opening?.side) {
          const label = labelOfLink(context, opening, at);
          if (label !== undefined && !known.references.has(labelled(label))) {
            context.parts[place] = null;
            return at + 1;
          }
        }
        return inlineParser("LinkEnd")(context, next, at);
      },
    },
  ],
};

/** Chinese, Japanese and Korean: letters and punctuation. */
const cjk = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\u3000-\u303f\uff00-\uffef]/u;
const punctuation = /[\p{P}\p{S}]/u;

/**
 * Reads marks beside CJK, whose words have no spaces between them: "**強調（注）**の" is bold, too.
 *
 * @param {string} name A parser that examines the characters before and after the mark.
 */
const besideCJK = (name) => ({
  name,
  parse(/** @type {any} */ context, /** @type {number} */ next, /** @type {number} */ at) {
    const parse = inlineParser(name);
    if (next !== 42 && next !== 95 && next !== 126) return -1;
    let end = at + 1;
    while (context.char(end) === next) end += 1;
    const sides = [context.slice(at - 1, at), context.slice(end, end + 1)];
    if (!sides.some((side) => cjk.test(side))) return parse(context, next, at);
    const isPunctuation = sides.some((side) => punctuation.test(side) && !cjk.test(side));
    const probe = Object.create(context);
    probe.slice = (/** @type {number} */ from, /** @type {number} */ to) => {
      const text = context.slice(from, to);
      return cjk.test(text) ? (isPunctuation ? "!" : "x") : text;
    };
    return parse(probe, next, at);
  },
});

/** @param {any} line @returns {number} The columns to remove from indented code, and from a tab after ">". */
const columnsOfCode = (line) =>
  line.baseIndent + 4 + (line.text[line.basePos - 1] === ">" && line.text[line.basePos] === "\t" ? 1 : 0);

/** Records the indentation of code blocks, and accepts a tab after the "#" of a heading. */
const lines = {
  parseBlock: [
    {
      name: "IndentedCode",
      parse(/** @type {any} */ context, /** @type {any} */ line) {
        const [from, columns] = [context.lineStart + line.findColumn(line.baseIndent + 4), columnsOfCode(line)];
        const isThere = blockParser("IndentedCode")(context, line);
        if (isThere) known.indents.set(from, columns);
        return isThere;
      },
    },
    {
      name: "FencedCode",
      parse(/** @type {any} */ context, /** @type {any} */ line) {
        const [from, columns] = [context.lineStart + line.pos, line.indent - line.baseIndent];
        const isThere = blockParser("FencedCode")(context, line);
        if (isThere && columns > 0) known.indents.set(from, columns);
        return isThere;
      },
    },
    {
      name: "ATXHeading",
      parse(/** @type {any} */ context, /** @type {any} */ line) {
        const [signs = ""] = /^#{1,6}(?=\t)/.exec(line.text.slice(line.pos)) ?? [];
        const end = line.pos + signs.length;
        if (signs) line.text = `${line.text.slice(0, end)} ${line.text.slice(end + 1)}`;
        return blockParser("ATXHeading")(context, line);
      },
    },
  ],
};

/** Comments as current HTML defines them; the parser implements an older definition. */
const comments = {
  parseInline: [
    {
      name: "Comment",
      before: "HTMLTag",
      parse(/** @type {any} */ context, /** @type {number} */ next, /** @type {number} */ at) {
        if (next !== 60 || context.char(at + 1) !== 33) return -1;
        const [comment] = /^<!--(?:-?>|[^]*?-->)/.exec(context.slice(at, context.end)) ?? [];
        return comment ? context.addElement(context.elt("Comment", at, at + comment.length)) : -1;
      },
    },
  ],
};

const extensions = [
  bounded,
  footnotes((name) => known.footnotes.has(name)),
  frontMatter,
  formulas,
  lines,
  comments,
  { parseInline: [besideCJK("Emphasis"), besideCJK("Strikethrough")] },
  references,
];

const parser = original.configure(extensions);
/** The same parser without its inline part. */
const blocksAlone = parser.configure({ remove: parser.inlineNames });

/** Blocks that may contain definitions. */
const containers = new Set(["Document", "Blockquote", "BulletList", "OrderedList", "ListItem", "FootnoteDefinition"]);

/**
 * Yields the definitions of links and of footnotes, at any depth.
 *
 * @param {Node} node @param {number} [depth]
 * @returns {Generator<Node>}
 */
export function* definitionsIn(node, depth = 0) {
  if (node.name === "LinkReference" || node.name === "FootnoteDefinition") yield node;
  if (!containers.has(node.name) || depth > depthMax) return;
  for (const child of childrenOf(node)) yield* definitionsIn(child, depth + 1);
}

/** @param {Node} node A definition. @param {string} text @returns {string} The name of its footnote. */
export function footnoteOf(node, text) {
  const mark = childOf(node, "FootnoteMark");
  return mark ? nameOfFootnote(text.slice(mark.from, mark.to)) : "";
}

/** @param {Node} node A definition of a link; the first one of a label applies. @param {string} text */
function addReference(node, text) {
  const [label, url, title] = ["LinkLabel", "URL", "LinkTitle"].map((name) => childOf(node, name));
  const name = label ? labelled(text.slice(label.from + 1, label.to - 1)) : "";
  if (!url || !name || known.references.has(name)) return;
  known.references.set(name, {
    url: urlIn(text.slice(url.from, url.to)),
    title: title ? unescaped(text.slice(title.from + 1, title.to - 1)) : "",
  });
}

/** @param {string} text A link's destination as typed. */
export const urlIn = (text) => unescaped(/^<.*>$/s.test(text) ? text.slice(1, -1) : text);

/**
 * @param {any} parser @param {string} text
 * @returns {Generator<void, Node>} The text's tree. Other texts may be parsed between its steps.
 */
function* treeOf(parser, text) {
  const mine = known;
  const parse = parser.startParse(text);
  for (;;) {
    const tree = parse.advance();
    if (tree) return tree.topNode;
    yield;
    known = mine;
  }
}

/**
 * Parses a text in steps of at most one block.
 *
 * @param {string} text
 * @returns {Generator<void, {top: Node} & typeof known>}
 */
export function* parsing(text) {
  const mine = (known = { references: new Map(), footnotes: new Set(), indents: new Map() });
  if (text.includes("]:")) {
    for (const node of definitionsIn(yield* treeOf(blocksAlone, text))) {
      if (node.name === "LinkReference") addReference(node, text);
      else known.footnotes.add(footnoteOf(node, text));
    }
    known.indents.clear();
  }
  return { top: yield* treeOf(parser, text), ...mine };
}
