// Pasted HTML as lines of a formatted note. The page fetches this module when HTML is pasted first.

import { wholeText } from "../ground/lineends.js";
import { inSlices } from "../ground/steps.js";
import { blocksOf } from "../editing/pasting/htmlblocks.js";
import { inert } from "../editing/pasting/markup.js";

/**
 * @typedef {import("../editing/pasting/blocks.js").Block} Block
 * @typedef {import("../editing/pasting/markup.js").Marks} Marks
 * @typedef {import("../editing/pasting/inline.js").Piece} Piece
 * @typedef {{text: string, attributes: {[key: string]: any}}} Run A newline is a run of its own, with the line's attributes.
 */

/** The deepest indent of a line. */
const indentMax = 8;

/** @type {import("../editing/pasting/htmlblocks.js").Forms} Pictures of other sites become links: a note shows only its own files. */
const forms = {
  picture: ({ alt, target }, marks) => ({ text: alt || target, marks: { ...marks, link: marks.link ?? { href: target } } }),
  formula: (tex, marks) => ({ text: tex, marks: { ...marks, code: true } }),
};

/** @param {Marks} marks @returns {{[key: string]: any}} */
function attributesOf({ bold, italic, strike, code, raised, lowered, underline, mention, link }) {
  return {
    ...(bold && { bold: true }), ...(italic && { italic: true }), ...(strike && { strike: true }), ...(code && { code: true }),
    // A link is underlined anyway.
    ...(underline && !link && { underline: true }),
    ...(raised ? { script: "super" } : lowered ? { script: "sub" } : {}),
    ...(mention && { mention }),
    ...(link && { link: link.href }),
  };
}

/** Collects lines. */
class Lines {
  /** @type {Run[]} */
  runs = [];

  /** @param {Piece[]} pieces @param {{[key: string]: any}} line The attributes of the line, and of those below breaks. */
  add(pieces, line) {
    let isStart = true;
    for (const { text, marks, isBreak } of pieces) {
      if (isBreak) {
        this.#trim();
        this.runs.push({ text: "\n", attributes: line });
        isStart = true;
        continue;
      }
      let plain = text.replace(/[ \t\n\f\r\u00a0]+/g, " ").replace(/[\u200b\ufeff\0]/g, "");
      if (isStart || this.#endsInSpace) plain = plain.trimStart();
      if (!plain) continue;
      this.runs.push({ text: plain, attributes: attributesOf(marks) });
      isStart = false;
    }
    this.#trim();
    this.runs.push({ text: "\n", attributes: line });
  }

  /** @param {string} text @param {{[key: string]: any}} line */
  plain(text, line) {
    for (const part of text.split("\n")) {
      if (part) this.runs.push({ text: part, attributes: {} });
      this.runs.push({ text: "\n", attributes: line });
    }
  }

  get #endsInSpace() {
    return /\s$/.test(this.runs[this.runs.length - 1]?.text ?? "");
  }

  #trim() {
    const last = this.runs[this.runs.length - 1];
    if (!last || last.text === "\n") return;
    last.text = last.text.trimEnd();
    if (!last.text) this.runs.pop();
  }
}

/**
 * @param {Block[]} blocks
 * @param {Lines} lines
 * @param {{level: number, isQuote: boolean}} around
 * @returns {Generator<undefined, void, undefined>}
 */
function* write(blocks, lines, around) {
  const plain = around.isQuote ? { block: "quote" } : {};
  for (const block of blocks) {
    if (block.kind === "paragraph") lines.add(block.pieces, plain);
    else if (block.kind === "heading") lines.add(block.pieces, around.isQuote ? plain : { block: `h${Math.min(6, block.level)}` });
    else if (block.kind === "code") lines.plain(block.text, { block: "code", ...(block.language && { language: block.language }) });
    else if (block.kind === "formula") lines.plain(block.tex, { block: "code", language: "tex" });
    else if (block.kind === "quote") yield* write(block.blocks, lines, { ...around, isQuote: true });
    else if (block.kind === "rule") lines.runs.push({ text: "\ufffc", attributes: { embed: { rule: true } } }, { text: "\n", attributes: {} });
    else if (block.kind === "table") yield* table(block, lines);
    else yield* list(block, lines, around);
    yield;
  }
}

/** @param {Extract<Block, {kind: "list"}>} list @param {Lines} lines @param {{level: number, isQuote: boolean}} around */
function* list({ isOrdered, items }, lines, around) {
  const indent = Math.min(indentMax, around.level);
  for (const { blocks, task } of items) {
    const block = task === undefined ? (isOrdered ? "ordered" : "bullet") : task ? "done" : "task";
    const own = { block, ...(indent > 0 && { indent }) };
    const [first, ...rest] = blocks;
    if (first && "pieces" in first) lines.add(first.pieces, own);
    else if (task !== undefined || (first && first.kind !== "list")) lines.add([], own);
    yield* write(first && "pieces" in first ? rest : blocks, lines, { ...around, level: around.level + 1 });
    yield;
  }
}

/** @param {Extract<Block, {kind: "table"}>} table @param {Lines} lines A row is a line, with a tab between its cells. */
function* table({ rows }, lines) {
  for (const row of rows) {
    /** @type {Piece[]} */
    const pieces = [];
    row.forEach((cell, index) => {
      if (index > 0) lines.runs.push(...takeRow(pieces), { text: "\t", attributes: {} });
      for (const block of cell) {
        if ("pieces" in block) pieces.push(...block.pieces.map((piece) => (piece.isBreak ? { ...piece, text: " ", isBreak: false } : piece)));
        else pieces.push({ text: textIn(block), marks: {} });
      }
    });
    lines.runs.push(...takeRow(pieces), { text: "\n", attributes: {} });
    yield;
  }
}

/** @param {Piece[]} pieces Emptied. @returns {Run[]} */
function takeRow(pieces) {
  const cell = new Lines();
  cell.add(pieces.splice(0), {});
  return cell.runs.slice(0, -1);
}

/** @param {Block} block @returns {string} */
function textIn(block) {
  if ("pieces" in block) return block.pieces.map(({ text }) => text).join("");
  if (block.kind === "list") return block.items.map(({ blocks }) => blocks.map(textIn).join(" ")).join("; ");
  if (block.kind === "quote") return block.blocks.map(textIn).join(" ");
  return block.kind === "code" ? block.text.replace(/\n/g, " ") : block.kind === "formula" ? block.tex : "";
}

/**
 * Reads HTML as text with attributes.
 *
 * @param {import("../editing/pasting/markup.js").MarkupNode} root The root of a parsed document.
 * @returns {Generator<undefined, {runs: Run[], isInline: boolean}, undefined>} `isInline`: it belongs within a line.
 */
export function* runsOf(root) {
  const blocks = yield* blocksOf(root, forms);
  const lines = new Lines();
  yield* write(blocks, lines, { level: 0, isQuote: false });
  return { runs: lines.runs, isInline: blocks.length < 2 && blocks.every(({ kind }) => kind === "paragraph") };
}

/**
 * @param {string} html
 * @param {string} text The same as plain text.
 * @param {AbortSignal} signal
 * @returns {Promise<{text: string, runs: Run[], isInline: boolean} | undefined>} Undefined if it was stopped, or is empty.
 */
export async function convert(html, text, signal) {
  if (signal.aborted) return undefined;
  // A parser's document runs no scripts and loads no pictures.
  const { body } = new DOMParser().parseFromString(inert(html), "text/html");
  const made = await inSlices(runsOf(body), signal);
  return made && made.runs.length > 0 ? { ...made, text: wholeText(text) } : undefined;
}
