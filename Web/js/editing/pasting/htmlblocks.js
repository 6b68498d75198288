// Reads the blocks of HTML of web pages, word processors and spreadsheets: paragraphs, headings, lists, tables.
//
// The HTML is parsed in a document that runs no scripts and loads nothing. The result is made of a short list of kinds;
// all other elements are omitted or become text. Reading is a generator that pauses every few hundred nodes, so that its
// caller can let the page handle events, or stop it.

import {
  attribute, depthMax, formulaIn, hasClass, isSkipped, languageOf, marksIn, pictureIn, safeTarget, styleOf, textBelow,
} from "./markup.js";

/**
 * @typedef {import("./markup.js").MarkupNode} MarkupNode
 * @typedef {import("./markup.js").Marks} Marks
 * @typedef {import("./blocks.js").Block} Block
 * @typedef {import("./inline.js").Piece} Piece
 * @typedef {Generator<undefined, void, undefined>} Steps
 *
 * What pictures and formulas within a line become.
 *
 * @typedef {object} Forms
 * @property {(picture: {alt: string, target: string}, marks: Marks) => Piece} picture
 * @property {(tex: string, marks: Marks) => Piece} formula
 */

/** The number of nodes between two pauses. */
const nodesPerStep = 300;
/** The maximum depth of a list. */
const levelMax = 9;
/** The maximum cells that `colspan` and `rowspan` add to a table. */
const spannedMax = 10_000;

const blockNames = new Set([
  "P", "DIV", "SECTION", "ARTICLE", "ASIDE", "HEADER", "FOOTER", "MAIN", "NAV", "ADDRESS", "FIGURE", "FIGCAPTION", "DETAILS",
  "SUMMARY", "DL", "DT", "DD", "FORM", "FIELDSET", "LEGEND", "CENTER", "HGROUP", "CAPTION", "TR", "TBODY", "THEAD", "TFOOT", "TD", "TH",
]);
const callouts = /(?:^|\s)markdown-alert-(note|tip|important|warning|caution)(?:\s|$)/;

/** Collects the blocks of one container. */
class Writer {
  /** @type {Block[]} */
  blocks = [];
  /** @type {import("./inline.js").Piece[]} */
  pieces = [];
  /** @type {boolean | undefined} Whether the box of an item is ticked. */
  task;
  /** The marker that Word wrote before a list item. */
  marker = "";

  /** Ends the paragraph. Two consecutive line breaks also end it. */
  flush() {
    const pieces = this.pieces;
    this.pieces = [];
    let start = 0;
    for (let at = 0; at <= pieces.length; at += 1) {
      const isEnd = at === pieces.length || (pieces[at]?.isBreak && pieces[at + 1]?.isBreak);
      if (!isEnd) continue;
      while (pieces[start]?.isBreak) start += 1;
      const own = pieces.slice(start, at);
      if (own.some(({ text }) => /[^\s\u00a0\u200b\ufeff]/.test(text))) this.blocks.push({ kind: "paragraph", pieces: own });
      start = at;
    }
  }

  /** @param {Block} block */
  add(block) {
    this.flush();
    this.blocks.push(block);
  }

  /** @param {boolean} isOrdered @param {number} level From 1. @param {import("./blocks.js").Item} item */
  addLevelled(isOrdered, level, item) {
    this.flush();
    let { blocks } = this;
    for (let depth = 1; ; depth += 1) {
      let list = blocks[blocks.length - 1];
      const isLast = depth >= Math.min(level, levelMax);
      if (list?.kind !== "list" || !list.isLevelled || (isLast && list.isOrdered !== isOrdered)) {
        list = { kind: "list", isOrdered, start: 1, items: [], isLevelled: true };
        blocks.push(list);
      }
      if (isLast) return void list.items.push(item);
      if (list.items.length === 0) list.items.push({ blocks: [] });
      blocks = /** @type {import("./blocks.js").Item} */ (list.items[list.items.length - 1]).blocks;
    }
  }
}

/**
 * Whether a node below has one of the names.
 *
 * @param {MarkupNode} node
 * @param {Set<string>} names
 * @param {number} [depth]
 */
export function contains(node, names, depth = 0) {
  for (let child = node.firstChild; child; child = child.nextSibling) {
    if (child.nodeType !== 1) continue;
    if (names.has(child.nodeName.toUpperCase()) || (depth < depthMax && contains(child, names, depth + 1))) return true;
  }
  return false;
}
const layoutNames = new Set(["TABLE", "PRE", "H1", "H2", "H3", "H4"]);

/** Converts one document. */
class Conversion {
  #nodes = 0;
  #depth = 0;
  #spanned = 0;
  #forms;

  /** @param {Forms} forms */
  constructor(forms) {
    this.#forms = forms;
  }

  /** @param {MarkupNode} node @param {Writer} writer @param {Marks} marks @returns {Steps} */
  *below(node, writer, marks) {
    if (this.#depth >= depthMax) {
      writer.pieces.push({ text: textBelow(node), marks });
      return;
    }
    this.#depth += 1;
    for (let child = node.firstChild; child; child = child.nextSibling) {
      this.#nodes += 1;
      if (this.#nodes % nodesPerStep === 0) yield;
      if (child.nodeType === 3) this.#text(child.nodeValue ?? "", writer, marks);
      else if (child.nodeType === 1) yield* this.#element(child, writer, marks, node);
    }
    this.#depth -= 1;
  }

  /** @param {string} text @param {Writer} writer @param {Marks} marks */
  #text(text, writer, marks) {
    if (!marks.pre || !text.includes("\n")) return void writer.pieces.push({ text, marks });
    text.split("\n").forEach((line, index) => {
      if (index > 0) writer.pieces.push({ text: "\n", marks, isBreak: true });
      if (line) writer.pieces.push({ text: line, marks });
    });
  }

  /** @param {MarkupNode} node @param {Writer} writer @param {Marks} outer @param {MarkupNode} parent @returns {Steps} */
  *#element(node, writer, outer, parent) {
    const name = node.nodeName.toUpperCase();
    if (isSkipped(node, name)) return;
    if (/mso-list:\s*ignore/.test(styleOf(node))) {
      writer.marker = textBelow(node);
      return;
    }
    const marks = marksIn(node, name, outer);
    if (name === "BR") writer.pieces.push({ text: "\n", marks, isBreak: true });
    else if (name === "HR") writer.add({ kind: "rule" });
    else if (name === "IMG") this.#picture(node, writer, marks);
    else if (name === "INPUT") this.#box(node, writer);
    else if (name === "MATH") this.#formula(node, writer, marks);
    else if (name === "A") yield* this.below(node, writer, this.#linked(node, marks));
    else if (name === "Q") {
      writer.pieces.push({ text: "“", marks });
      yield* this.below(node, writer, marks);
      writer.pieces.push({ text: "”", marks });
    } else if (/^H[1-6]$/.test(name) || hasClass(node, "MsoTitle")) yield* this.#heading(node, writer, Number(name[1]) || 1);
    else if (name === "PRE") this.#code(node, writer, parent);
    else if (name === "UL" || name === "OL" || name === "MENU") yield* this.#list(node, writer, marks);
    else if (name === "LI") yield* this.#levelled(node, writer, marks, 1, parent.nodeName.toUpperCase() === "OL");
    else if (name === "BLOCKQUOTE" || callouts.test(attribute(node, "class"))) yield* this.#quote(node, writer);
    else if (name === "TABLE") yield* this.#table(node, writer, marks);
    else if (blockNames.has(name)) yield* this.#block(node, name, writer, marks);
    else yield* this.below(node, writer, marks);
  }

  /** @param {MarkupNode} node @param {string} name @param {Writer} writer @param {Marks} marks @returns {Steps} */
  *#block(node, name, writer, marks) {
    // Word's lists are paragraphs with a level in their style.
    const level = /mso-list:\s*l\d+\s+level(\d+)/.exec(styleOf(node))?.[1];
    if (level) return yield* this.#levelled(node, writer, marks, Number(level), undefined);
    writer.flush();
    if (hasClass(node, "markdown-alert-title")) return;
    yield* this.below(node, writer, name === "DT" ? { ...marks, bold: true } : marks);
    writer.flush();
  }

  /** @param {MarkupNode} node @param {Marks} marks @returns {Marks} */
  #linked(node, marks) {
    const href = safeTarget(attribute(node, "href"));
    return href === undefined ? marks : { ...marks, link: { href } };
  }

  /** @param {MarkupNode} node @param {Writer} writer @param {Marks} marks */
  #picture(node, writer, marks) {
    const picture = pictureIn(node);
    if (!picture) return;
    if ("text" in picture) writer.pieces.push({ text: picture.text, marks });
    else writer.pieces.push(this.#forms.picture(picture, marks));
  }

  /** @param {MarkupNode} node @param {Writer} writer */
  #box(node, writer) {
    if (attribute(node, "type").toLowerCase() === "checkbox") writer.task = node.getAttribute?.("checked") != null;
  }

  /** @param {MarkupNode} node @param {Writer} writer @param {Marks} marks */
  #formula(node, writer, marks) {
    const formula = formulaIn(node);
    if (!formula) writer.pieces.push({ text: textBelow(node), marks });
    else if (formula.isBlock) writer.add({ kind: "formula", tex: formula.tex });
    else writer.pieces.push(this.#forms.formula(formula.tex, marks));
  }

  /** @param {MarkupNode} node @param {Writer} writer @param {number} level @returns {Steps} */
  *#heading(node, writer, level) {
    const own = new Writer();
    yield* this.below(node, own, {});
    own.flush();
    const pieces = own.blocks.flatMap((block) => ("pieces" in block ? block.pieces : []));
    if (pieces.length > 0) writer.add({ kind: "heading", level, pieces });
  }

  /** @param {MarkupNode} node @param {Writer} writer @param {MarkupNode} parent */
  #code(node, writer, parent) {
    const whole = textBelow(node).replace(/\r\n?/g, "\n").replace(/\u00a0/g, " ").replace(/^\n/, "");
    let end = whole.length;
    while (whole[end - 1] === "\n") end -= 1;
    const text = whole.slice(0, end);
    if (text.trim()) writer.add({ kind: "code", text, language: languageOf(node, parent) });
  }

  /** @param {MarkupNode} node @param {Writer} writer @returns {Steps} */
  *#quote(node, writer) {
    const own = new Writer();
    yield* this.below(node, own, {});
    own.flush();
    const callout = (callouts.exec(attribute(node, "class"))?.[1] ?? "").toUpperCase();
    if (own.blocks.length > 0) writer.add({ kind: "quote", blocks: own.blocks, callout });
  }

  /** @param {MarkupNode} node @param {Marks} marks @returns {Generator<undefined, Writer, undefined>} */
  *#item(node, marks) {
    const own = new Writer();
    if (attribute(node, "role") === "checkbox") own.task = attribute(node, "aria-checked") === "true";
    yield* this.below(node, own, marks);
    own.flush();
    return own;
  }

  /** @param {MarkupNode} node @param {Writer} writer @param {Marks} marks @returns {Steps} */
  *#list(node, writer, marks) {
    const isOrdered = node.nodeName.toUpperCase() === "OL";
    const start = Number(attribute(node, "start"));
    /** @type {Extract<Block, {kind: "list"}>} */
    const list = { kind: "list", isOrdered, start: Number.isInteger(start) && start > 0 && start < 1e8 ? start : 1, items: [], isLevelled: false };
    for (let child = node.firstChild; child; child = child.nextSibling) {
      if (child.nodeType !== 1) continue;
      const name = child.nodeName.toUpperCase();
      const level = Number(attribute(child, "data-aria-level"));
      if (level > 0) {
        // Word on the web writes a list for each item, with the item's level.
        yield* this.#levelled(child, writer, marks, level, isOrdered);
        continue;
      }
      const own = name === "LI" ? yield* this.#item(child, marks) : yield* this.#wrapped(child, marks, node);
      if (own.blocks.length === 0 && own.task === undefined) continue;
      const last = list.items[list.items.length - 1];
      // Google Docs writes a nested list after its item, not in it.
      if (name !== "LI" && last) last.blocks = last.blocks.concat(own.blocks);
      else list.items.push(own);
    }
    if (list.items.length > 0) writer.add(list);
  }

  /** @param {MarkupNode} child A child of a list, but not an item. @param {Marks} marks @param {MarkupNode} parent */
  *#wrapped(child, marks, parent) {
    const own = new Writer();
    yield* this.#element(child, own, marks, parent);
    own.flush();
    return own;
  }

  /** @param {MarkupNode} node @param {Writer} writer @param {Marks} marks @param {number} level @param {boolean | undefined} isOrdered Undefined if the marker says it. @returns {Steps} */
  *#levelled(node, writer, marks, level, isOrdered) {
    const own = yield* this.#item(node, marks);
    if (own.blocks.length > 0) writer.addLevelled(isOrdered ?? /^[\s\u00a0]*\(?\w{1,5}[.)]/.test(own.marker), level, own);
  }

  /** @param {MarkupNode} table @returns {MarkupNode[]} */
  #rows(table) {
    /** @type {MarkupNode[]} */
    const rows = [];
    const add = (/** @type {MarkupNode} */ node) => {
      for (let child = node.firstChild; child; child = child.nextSibling) {
        const name = child.nodeName.toUpperCase();
        if (name === "TR") rows.push(child);
        else if (name === "TBODY" || name === "THEAD" || name === "TFOOT") add(child);
      }
    };
    add(table);
    return rows;
  }

  /** @param {MarkupNode} table @param {Writer} writer @param {Marks} marks @returns {Steps} */
  *#table(table, writer, marks) {
    /** @type {Block[][][]} */
    const rows = [];
    /** @type {string[]} */
    const sides = [];
    /** @type {number[]} For each column, the further rows that its cell spans. */
    const spans = [];
    writer.flush();
    if (attribute(table, "role") === "presentation" || contains(table, layoutNames)) return yield* this.below(table, writer, marks);
    for (let child = table.firstChild; child; child = child.nextSibling) {
      if (child.nodeName.toUpperCase() === "CAPTION") yield* this.#element(child, writer, marks, table);
    }
    for (const row of this.#rows(table)) {
      /** @type {Block[][]} */
      const cells = [];
      for (let child = row.firstChild; child; child = child.nextSibling) {
        const name = child.nodeName.toUpperCase();
        if (name === "TD" || name === "TH") yield* this.#cell(child, name, { cells, sides: rows.length === 0 ? sides : [], spans });
      }
      for (let at = cells.length; at < spans.length; at += 1) spans[at] = Math.max(0, (spans[at] ?? 0) - 1);
      while (cells.length > 0 && cells[cells.length - 1]?.length === 0) cells.pop();
      rows.push(cells);
    }
    while (rows.length > 0 && rows[rows.length - 1]?.length === 0) rows.pop();
    const filled = rows.flat().filter((cell) => cell.length > 0);
    if (filled.length > 1) writer.add({ kind: "table", rows, sides });
    else for (const block of filled.flat()) writer.add(block);
  }

  /** @param {MarkupNode} node @param {string} name @param {{cells: Block[][], sides: string[], spans: number[]}} row @returns {Steps} */
  *#cell(node, name, { cells, sides, spans }) {
    while ((spans[cells.length] ?? 0) > 0) {
      spans[cells.length] = (spans[cells.length] ?? 0) - 1;
      cells.push([]);
    }
    const own = yield* this.#item(node, {});
    const inner = own.blocks;
    // A header cell is always bold.
    for (const block of name === "TH" ? inner : []) {
      if ("pieces" in block) block.pieces = block.pieces.map((piece) => ({ ...piece, marks: { ...piece.marks, bold: false } }));
    }
    sides[cells.length] = /text-align:\s*(right|center)/.exec(styleOf(node))?.[1] ?? attribute(node, "align").toLowerCase();
    const width = this.#span(node, "colspan");
    const height = this.#span(node, "rowspan");
    for (let at = 0; at < width; at += 1) {
      if (height > 1) spans[cells.length] = height - 1;
      cells.push(at === 0 ? inner : []);
    }
  }

  /** @param {MarkupNode} node @param {string} name */
  #span(node, name) {
    const span = Math.max(1, Math.min(1_000, Math.floor(Number(attribute(node, name))) || 1));
    if (span > 1) this.#spanned += span;
    return this.#spanned > spannedMax ? 1 : span;
  }
}

/**
 * @param {MarkupNode} root The root of a parsed document.
 * @param {Forms} forms
 * @returns {Generator<undefined, Block[], undefined>}
 */
export function* blocksOf(root, forms) {
  const writer = new Writer();
  yield* new Conversion(forms).below(root, writer, {});
  writer.flush();
  return writer.blocks;
}
