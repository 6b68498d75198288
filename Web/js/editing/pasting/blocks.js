// Converts the blocks of a document to lines of Markdown.

import { finished } from "../../ground/steps.js";
import { alignedTable } from "../../markdown/tables.js";
import { inlineMarkdown, longestTicks } from "./inline.js";

/**
 * @typedef {import("./inline.js").Piece} Piece
 * @typedef {{blocks: Block[], task?: boolean | undefined}} Item
 * @typedef {{kind: "paragraph", pieces: Piece[]}
 *   | {kind: "heading", level: number, pieces: Piece[]}
 *   | {kind: "rule"}
 *   | {kind: "code", text: string, language: string}
 *   | {kind: "formula", tex: string}
 *   | {kind: "quote", blocks: Block[], callout: string}
 *   | {kind: "list", isOrdered: boolean, start: number, items: Item[], isLevelled: boolean}
 *   | {kind: "table", rows: Block[][][], sides: string[]}} Block
 */

/** The maximum UTF-16 units of a table whose columns are padded. */
const paddedMax = 20_000;

/** @param {Block[]} blocks @returns {string} The text of a cell, in one line. */
function cellText(blocks) {
  const texts = blocks.map((block) => {
    switch (block.kind) {
      case "paragraph":
      case "heading":
        return inlineMarkdown(block.pieces, { isCell: true });
      case "code":
        return inlineMarkdown([{ text: block.text, marks: { code: true } }], { isCell: true });
      case "formula":
        return `$${block.tex.replace(/\|/g, "\\|")}$`;
      case "list":
        return block.items.map((item) => cellText(item.blocks)).join("; ");
      case "quote":
        return cellText(block.blocks);
      default:
        return "";
    }
  });
  return texts.filter(Boolean).join(" ");
}

/** @param {Extract<Block, {kind: "table"}>} table @returns {string[]} */
function tableLines({ rows, sides }) {
  const cells = rows.map((row) => row.map(cellText));
  const count = cells.reduce((most, row) => Math.max(most, row.length), 0);
  const longest = cells.reduce((most, row) => row.reduce((one, cell) => Math.max(one, cell.length), most), 0);
  const [head = [], ...body] = cells;
  // Markdown parsers fill shorter rows, but not the header.
  while (head.length < count) head.push("");
  const rule = head.map((_, column) => ({ right: "--:", center: ":-:" })[sides[column] ?? ""] ?? "---");
  const text = [head, rule, ...body].map((row) => `| ${row.join(" | ")} |`).join("\n");
  const room = count * cells.length * Math.min(80, longest);
  return (text.length + room < paddedMax ? alignedTable(text) : text).split("\n");
}

/** @param {Extract<Block, {kind: "list"}>} list @param {boolean} isSecond After a similar list. @returns {string[]} */
function listLines({ isOrdered, start, items }, isSecond) {
  const isLoose = items.some(({ blocks }) => blocks.filter(({ kind }) => kind !== "list").length > 1);
  return items.flatMap(({ blocks, task }, index) => {
    const marker = isOrdered ? `${start + index}${isSecond ? ")" : "."} ` : isSecond ? "* " : "- ";
    const box = task === undefined ? "" : task ? "[x] " : "[ ] ";
    const lines = linesOf(blocks, true);
    const indent = " ".repeat(marker.length);
    const made = (lines.length > 0 ? lines : [""]).map((line, at) => (at === 0 ? marker + box + line : line && indent + line));
    return isLoose && index > 0 ? ["", ...made] : made;
  });
}

/** @param {Block} block @param {boolean} isSecond @returns {string[]} */
function blockLines(block, isSecond) {
  switch (block.kind) {
    case "paragraph":
      return inlineMarkdown(block.pieces).split("\n");
    case "heading":
      return [`${"#".repeat(block.level)} ${inlineMarkdown(block.pieces, { isHeading: true })}`];
    case "rule":
      return ["---"];
    case "code": {
      const fence = "`".repeat(longestTicks(block.text, 2) + 1);
      return [fence + block.language, ...block.text.split("\n"), fence];
    }
    case "formula":
      return ["$$", block.tex, "$$"];
    case "quote": {
      const lines = linesOf(block.blocks);
      return [...(block.callout ? [`[!${block.callout}]`] : []), ...lines].map((line) => (line ? `> ${line}` : ">"));
    }
    case "list":
      return listLines(block, isSecond);
    case "table":
      return tableLines(block);
  }
}

/** @param {Block[]} blocks @param {boolean} [isItem] @returns {string[]} */
const linesOf = (blocks, isItem) => finished(linesInSteps(blocks, isItem));

/**
 * @param {Block[]} blocks
 * @param {boolean} [isItem] A list below the text of an item needs no blank line.
 * @returns {Generator<undefined, string[], undefined>} The lines; the generator pauses after each block.
 */
export function* linesInSteps(blocks, isItem = false) {
  /** @type {string[]} */
  const lines = [];
  let isSecond = false;
  for (const [index, block] of blocks.entries()) {
    const last = blocks[index - 1];
    const isSame = last?.kind === "list" && block.kind === "list" && last.isOrdered === block.isOrdered;
    isSecond = isSame && !isSecond;
    const made = blockLines(block, isSecond);
    const isClose = isItem && last?.kind === "paragraph" && block.kind === "list";
    if (index > 0 && !isClose) lines.push("");
    // In a loop: a long code block has more lines than a call may have arguments.
    for (const line of made) lines.push(line);
    yield;
  }
  return lines;
}
