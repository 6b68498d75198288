// A formatted note as a Markdown text: with the marks that its attributes mean. What Markdown cannot say, such as colours
// and underlines, is left out.

import { escaped } from "../editing/pasting/inline.js";
import { indentOf, isList, kindOf } from "./elements.js";

/**
 * @typedef {import("../prosemirror.js").Node} Node
 * @typedef {{before: string, after: string}} Around
 */

/** @type {[string, string][]} The marks of inline attributes, outermost first. */
const signs = [["bold", "**"], ["italic", "*"], ["strike", "~~"]];

/** @param {Node} node @param {string} name @returns {any} */
const valueOf = (node, name) => node.marks.find(({ type }) => type.name === name)?.attrs.value;

/** @param {Node} node @returns {string} Of an embed. */
function embedText({ attrs: { embed, set } }) {
  if (embed.rule !== undefined) return "---";
  if (typeof embed.formula === "string") return `$${embed.formula}$`;
  const file = embed.image ?? embed.file;
  if (typeof file !== "string" || !/^[0-9a-f]{64}\/[^/\\?#\s]+$/.test(file)) return "";
  const name = typeof set.alt === "string" ? set.alt : decoded(file.slice(65));
  return `${embed.image === undefined ? "" : "!"}[${escaped(name).replace(/\]/g, "\\]")}](files/${file})`;
}

/** @param {string} name */
function decoded(name) {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** @param {string} text @returns {string} The text as code, with enough backticks around it. */
function asCode(text) {
  let ticks = "`";
  while (text.includes(ticks)) ticks += "`";
  const room = text.startsWith("`") || text.endsWith("`") ? " " : "";
  return ticks + room + text + room + ticks;
}

/** @param {unknown} value @returns {string | undefined} A target for Markdown. */
const targetOf = (value) =>
  typeof value === "string" && value !== "" ? value.replace(/[()\\<>\s]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`) : undefined;

/** @param {Node} line @returns {{text: string, names: string[], link: string | undefined}[]} Pieces with equal marks. */
function piecesOf(line) {
  /** @type {{text: string, names: string[], link: string | undefined}[]} */
  const pieces = [];
  const content = line.textContent;
  line.forEach((node, offset) => {
    if (node.type.name === "control") return;
    const link = targetOf(valueOf(node, "link"));
    if (node.type.name === "embed") return void pieces.push({ text: embedText(node), names: [], link: undefined });
    const isCode = valueOf(node, "code") === true;
    const names = signs.map(([name]) => name).filter((name) => valueOf(node, name) === true);
    const text = isCode ? asCode(node.text ?? "") : escaped(node.text ?? "", content.charAt(offset - 1), content.charAt(offset + node.nodeSize));
    pieces.push({ text, names, link });
  });
  return pieces;
}

/** @param {string} made @param {number} begin The place of "[". @param {string} link @returns {string} */
function linked(made, begin, link) {
  const words = made.slice(begin + 1);
  // An address that is its own text.
  return words === link && /^(?:https?:|mailto:)/.test(link) ? `${made.slice(0, begin)}<${link}>` : `${made}](${link})`;
}

/** @param {Node} line @returns {string} */
function inlineText(line) {
  const pieces = piecesOf(line);
  let made = "";
  /** @type {string[]} */
  let open = [];
  /** @type {string | undefined} */
  let link;
  let begin = 0;
  const sign = (/** @type {string} */ name) => signs.find(([one]) => one === name)?.[1] ?? "";
  const close = (/** @type {string[]} */ wanted) => {
    const kept = open.findIndex((name) => !wanted.includes(name));
    if (kept < 0) return;
    // Marks do not end behind a space.
    const space = /\s*$/.exec(made)?.[0] ?? "";
    made = made.slice(0, made.length - space.length);
    for (const name of open.splice(kept).reverse()) made += sign(name);
    made += space;
  };
  for (const { text, names, link: next } of [...pieces, { text: "", names: [], link: undefined }]) {
    if (next !== link) close([]);
    else close(names);
    if (next !== link) {
      if (link !== undefined) made = linked(made, begin, link);
      begin = made.length;
      if (next !== undefined) made += "[";
      link = next;
    }
    const isBlank = text.trim() === "";
    const space = isBlank ? "" : (/^\s*/.exec(text)?.[0] ?? "");
    made += space;
    if (!isBlank) {
      for (const name of names) {
        if (open.includes(name)) continue;
        open.push(name);
        made += sign(name);
      }
    }
    made += (link === undefined ? text : text.replace(/(?<!\\)\]/g, "\\]")).slice(space.length);
  }
  return made;
}

/** @param {string} text @returns {string} The text, so that Markdown does not read its start as a mark of a block. */
const safeStart = (text) =>
  text
    .replace(/^(?=#{1,6}(?:\s|$)|[-+*](?:\s|$)|>|(?:=+|-{2,})\s*$|~~~|```|_(?:\s*_){2,}\s*$)/, "\\")
    .replace(/^(\d{1,9})(?=[.)](?:\s|$))/, "$1\\")
    // Four spaces would make it code.
    .replace(/^[ \t]+/, "");

/** Writes lines as Markdown. */
class Writer {
  /** @type {string[]} */
  lines = [];
  #former = "";
  /** @type {number[]} The numbers of the open ordered lists, by level. */
  #numbers = [];
  /** @type {number[]} The widths of the marks of the open lists, by level. */
  #widths = [];

  /** @param {Node} line @param {Node | null} next */
  add(line, next) {
    const { set } = line.attrs;
    const kind = kindOf(set);
    if (isList(set)) return this.#item(line, kind);
    this.#numbers = [];
    this.#widths = [];
    if (kind === "code") return this.#code(line, next);
    const text = inlineText(line);
    if (kind === "quote") {
      if (this.#former !== "quote") this.#gap();
      // Lines of a quote are paragraphs.
      else this.lines.push(">");
      this.lines.push(`> ${safeStart(text)}`.trimEnd());
    } else {
      this.#gap();
      const level = Number(/^h([1-6])$/.exec(kind)?.[1] ?? 0);
      const isRule = line.childCount === 1 && line.firstChild?.attrs.embed?.rule !== undefined;
      this.lines.push(level > 0 ? `${"#".repeat(level)} ${text.replace(/(\s)(#+\s*)$/, "$1\\$2")}`.trimEnd() : isRule ? text : safeStart(text));
    }
    this.#former = kind;
  }

  #gap() {
    if (this.lines.length > 0) this.lines.push("");
  }

  /** @param {Node} line @param {Node | null} next */
  #code(line, next) {
    const isFirst = this.#former !== "code";
    if (isFirst) {
      this.#gap();
      const { language } = line.attrs.set;
      this.lines.push("```" + (typeof language === "string" && /^[\w+#-]+$/.test(language) ? language : ""));
    }
    this.lines.push(line.textContent.replace(/^```/, "\u200b```"));
    this.#former = "code";
    if (next && kindOf(next.attrs.set) === "code") return;
    this.lines.push("```");
    this.#former = "";
  }

  /** @param {Node} line @param {string} kind */
  #item(line, kind) {
    const level = Math.min(indentOf(line.attrs.set), this.#widths.length);
    if (this.#former !== "list") this.#gap();
    this.#widths.length = level;
    if (kind !== "ordered") this.#numbers.length = Math.min(this.#numbers.length, level);
    this.#numbers.length = Math.min(this.#numbers.length, level + 1);
    const number = (this.#numbers[level] ?? 0) + 1;
    if (kind === "ordered") this.#numbers[level] = number;
    const mark = kind === "ordered" ? `${number}. ` : "- ";
    const box = kind === "task" ? "[ ] " : kind === "done" ? "[x] " : "";
    const indent = " ".repeat(this.#widths.reduce((sum, width) => sum + width, 0));
    this.#widths.push(mark.length);
    this.lines.push((indent + mark + box + (box ? inlineText(line) : safeStart(inlineText(line)))).trimEnd());
    this.#former = "list";
  }
}

/**
 * @param {Node} doc
 * @returns {string} Its Markdown.
 */
export function toMarkdown(doc) {
  const writer = new Writer();
  /** @type {Node[]} */
  const lines = [];
  doc.forEach((line) => lines.push(line));
  // The last line has no kind, and is empty if the line before has one.
  const last = lines[lines.length - 1];
  const isClosed = lines.length > 1 && last?.content.size === 0;
  const shown = isClosed ? lines.slice(0, -1) : lines;
  shown.forEach((line, index) => {
    // Blank lines are between all blocks anyway.
    if (line.content.size === 0 && kindOf(line.attrs.set) === "") return;
    writer.add(line, shown[index + 1] ?? null);
  });
  return writer.lines.join("\n") + (isClosed ? "\n" : "");
}
