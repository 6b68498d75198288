// A note's text with its attributes, as the client core reports it, and the editor's document of lines.

import { controlType, docType, embedOf, embedSign, lineType, marksOf, schema, setOfNode } from "./schema.js";
import { Numbers, areSame, none, setFrom } from "./sets.js";

/**
 * @typedef {import("../prosemirror.js").Node} Node
 * @typedef {import("./sets.js").AttributeSet} AttributeSet
 * @typedef {{sets: readonly object[], runs: readonly number[]}} DocumentFormat `runs` has pairs over the text: UTF-16
 *   units, and the number of a set, from 1; 0 stands for no attributes. Text after the last pair has none.
 * @typedef {{text: string, set: AttributeSet}} Piece A newline is a piece of its own, and so is an embed.
 */

/** Characters that become nodes of their own. */
const special = /[\n\r\ufffc]/;

/**
 * Splits text with attributes into pieces.
 *
 * @param {string} text
 * @param {DocumentFormat | undefined} format
 * @returns {Piece[]}
 */
export function piecesOf(text, format) {
  const sets = [none, ...(format?.sets ?? []).map(setFrom)];
  const runs = format?.runs ?? [];
  /** @type {Piece[]} */
  const pieces = [];
  let place = 0;
  for (let index = 0; place < text.length; index += 2) {
    const end = index < runs.length ? Math.min(text.length, place + (runs[index] ?? 0)) : text.length;
    addPieces(pieces, text.slice(place, end), (index < runs.length && sets[runs[index + 1] ?? 0]) || none);
    place = end;
  }
  return pieces;
}

/** @param {Piece[]} pieces @param {string} text @param {AttributeSet} set */
function addPieces(pieces, text, set) {
  while (text) {
    const at = text.search(special);
    if (at !== 0) pieces.push({ text: at < 0 ? text : text.slice(0, at), set });
    if (at < 0) return;
    pieces.push({ text: text.charAt(at), set });
    text = text.slice(at + 1);
  }
}

/** @param {Piece} piece Not a newline. @returns {Node} */
function nodeOf({ text, set }) {
  if (text === "\r") return controlType.create({ sign: text }, null, marksOf(set));
  // Without the attribute, the character is only a character.
  if (text === embedSign && set.embed !== undefined) return embedOf(set);
  return schema.text(text, marksOf(set));
}

/**
 * Returns the lines of pieces.
 *
 * @param {Piece[]} pieces
 * @returns {Node[]} The last line has no newline.
 */
export function linesOf(pieces) {
  const lines = [];
  /** @type {Node[]} */
  let line = [];
  for (const piece of pieces) {
    if (piece.text !== "\n") line.push(nodeOf(piece));
    else {
      lines.push(lineType.create({ set: piece.set }, line));
      line = [];
    }
  }
  lines.push(lineType.create(null, line));
  return lines;
}

/** @param {string} text @param {DocumentFormat | undefined} format @returns {Node} */
export const documentOf = (text, format) => docType.create(null, linesOf(piecesOf(text, format)));

/**
 * Returns the pieces of a part of a document. A newline belongs to the line before it; the last line has none.
 *
 * @param {Node} doc
 * @param {number} from A place in the document.
 * @param {number} to
 * @returns {Piece[]}
 */
export function piecesBetween(doc, from, to) {
  /** @type {Piece[]} */
  const pieces = [];
  let start = 0;
  const last = doc.childCount - 1;
  for (let index = 0; index <= last && start < to; index += 1) {
    const line = doc.child(index);
    const end = start + line.nodeSize;
    if (end > from) {
      linePieces(pieces, line, from - start - 1, to - start - 1);
      // The newline is where the line's element ends.
      if (index < last && from < end && to >= end) pieces.push({ text: "\n", set: line.attrs.set });
    }
    start = end;
  }
  return pieces;
}

/** @param {Piece[]} pieces @param {Node} line @param {number} from In the line. @param {number} to */
function linePieces(pieces, line, from, to) {
  line.forEach((node, offset) => {
    if (offset + node.nodeSize <= from || offset >= to) return;
    const text = textOf(node).slice(Math.max(0, from - offset), Math.max(0, to - offset));
    if (text) pieces.push({ text, set: setOfNode(node) });
  });
}

/** @param {Node} node In a line. @returns {string} */
export const textOf = (node) => node.text ?? (node.type === controlType ? node.attrs.sign : embedSign);

/** @param {Node} line @returns {string} */
function textOfLine(line) {
  let text = "";
  line.forEach((node) => (text += textOf(node)));
  return text;
}

/** @param {Node} doc @returns {string} */
export function textOfDocument(doc) {
  const lines = [];
  for (let index = 0; index < doc.childCount; index += 1) lines.push(textOfLine(doc.child(index)));
  return lines.join("\n");
}

/**
 * Returns the text and the attributes of a document.
 *
 * @param {Node} doc
 * @returns {{text: string, format: {sets: AttributeSet[], runs: number[]}}}
 */
export function contentOf(doc) {
  const numbers = new Numbers();
  /** @type {number[]} */
  const runs = [];
  let text = "";
  /** @type {AttributeSet | undefined} */
  let former;
  for (const piece of piecesBetween(doc, 0, doc.content.size)) {
    text += piece.text;
    if (former && areSame(former, piece.set)) runs[runs.length - 2] = (runs[runs.length - 2] ?? 0) + piece.text.length;
    else runs.push(piece.text.length, numbers.of(piece.set));
    former = piece.set;
  }
  if (runs[runs.length - 1] === 0) runs.length -= 2;
  return { text, format: { sets: numbers.sets, runs } };
}

/** @param {Node} doc @param {number} pos In a line. @returns {number} The place in the text. */
export function toText(doc, pos) {
  const place = doc.resolve(pos);
  return pos - place.index(0) - (place.depth > 0 ? 1 : 0);
}

/** @param {Node} doc @param {number} place In the text. @returns {number} The place in the document. */
export function toDocument(doc, place) {
  let left = place;
  let start = 0;
  for (let index = 0; index < doc.childCount; index += 1) {
    const { size } = doc.child(index).content;
    if (left <= size) return start + 1 + left;
    left -= size + 1;
    start += size + 2;
  }
  return doc.content.size - 1;
}
