// Converts HTML of web pages, word processors and spreadsheets to Markdown, from a short list of elements.

import { linesInSteps } from "./blocks.js";
import { blocksOf, contains } from "./htmlblocks.js";
import { inlineMarkdown } from "./inline.js";

/**
 * @typedef {import("./markup.js").MarkupNode} MarkupNode
 * @typedef {import("./blocks.js").Block} Block
 */

/** @type {import("./htmlblocks.js").Forms} */
const forms = {
  picture({ alt, target }, marks) {
    const words = inlineMarkdown([{ text: alt, marks: { link: { href: "" } } }]).slice(1, -"]()".length);
    return { text: `![${words}](${target})`, marks, isMarkdown: true };
  },
  formula: (tex, marks) => ({ text: `$${tex}$`, marks, isMarkdown: true }),
};

/** @param {Block[]} blocks @returns {boolean} Whether they contain formatting. */
function hasFormat(blocks) {
  if (blocks.length === 1 && blocks[0]?.kind === "code") return blocks[0].text.includes("\n");
  return blocks.some((block) => {
    if (block.kind !== "paragraph") return true;
    const isCode = block.pieces.every(({ text, marks }) => marks.code || !text.trim());
    return block.pieces.some(({ text, marks, isMarkdown }) => {
      const isLinked = marks.link && marks.link.href.replace(/\/$/, "") !== text.trim().replace(/\/$/, "");
      return text.trim() && (isMarkdown || isLinked || marks.bold || marks.italic || marks.strike || (marks.code && !isCode));
    });
  });
}

/**
 * @param {MarkupNode} root The root of a parsed document.
 * @returns {Generator<undefined, {text: string, isInline: boolean, isPlain: boolean}, undefined>} `isPlain`: the HTML
 *   has neither marks nor paragraphs, so plain text is equivalent. `isInline`: the text belongs within a line.
 */
export function* markdownOf(root) {
  const blocks = yield* blocksOf(root, forms);
  const isPlain = !hasFormat(blocks) && (blocks.length < 2 || !contains(root, paragraphNames));
  const lines = yield* linesInSteps(blocks);
  return { text: lines.join("\n"), isInline: blocks.length < 2 && blocks.every(({ kind }) => kind === "paragraph"), isPlain };
}
const paragraphNames = new Set(["P"]);
