// Applies a change of the client core (another person's, or a step of the history) to the editor's document.

import { cut } from "./difference.js";
import { linesOf, piecesOf, toDocument } from "./document.js";
import { embedType, lineType, markOf, markTypes } from "./schema.js";
import { changed, none, setFrom } from "./sets.js";
import { Fragment, Slice } from "../prosemirror.js";

/**
 * @typedef {import("./difference.js").Change} Change
 * @typedef {import("./sets.js").AttributeSet} AttributeSet
 * @typedef {import("../prosemirror.js").Node} Node
 * @typedef {import("../prosemirror.js").Transform} Transform
 */

/**
 * @param {Transform} transform
 * @param {number} line
 * @param {number} pos The line's place in the document.
 * @param {AttributeSet} set
 */
function setLine(transform, line, pos, set) {
  if (transform.doc.child(line).attrs.set !== set) transform.setNodeAttribute(pos, "set", set);
}

/**
 * Replaces a part of the document.
 *
 * @param {Transform} transform
 * @param {number} from A place in a line.
 * @param {number} to
 * @param {import("./document.js").Piece[]} pieces
 */
function replace(transform, from, to, pieces) {
  const $to = transform.doc.resolve(to);
  // The text behind the part belongs to the line that ends there, and keeps its newline.
  const { set } = $to.parent.attrs;
  const lines = linesOf(pieces);
  const first = transform.doc.resolve(from).index(0);
  const last = first + lines.length - 1;
  const slice = pieces.length === 0 ? Slice.empty : new Slice(Fragment.fromArray(lines), 1, 1);
  if (from < to || slice.size > 0) transform.replace(from, to, slice);
  for (let index = first, pos = transform.doc.resolve(from).before(1); index <= last; index += 1) {
    setLine(transform, index, pos, index < last ? lines[index - first]?.attrs.set : set);
    pos += transform.doc.child(index).nodeSize;
  }
}

/**
 * Changes attributes of text in one line.
 *
 * @param {Transform} transform
 * @param {number} from
 * @param {number} to
 * @param {[string, any][]} entries
 */
function markText(transform, from, to, entries) {
  for (const [key, value] of entries) {
    const { type } = markOf(key, value ?? true);
    if (value !== null) {
      // A second value of an unknown key would not replace the first.
      if (!markTypes.has(key)) unmark(transform, from, to, key);
      transform.addMark(from, to, markOf(key, value));
    } else if (markTypes.has(key)) transform.removeMark(from, to, type);
    else unmark(transform, from, to, key);
  }
}

/** @param {Transform} transform @param {number} from @param {number} to @param {string} key An unknown one. */
function unmark(transform, from, to, key) {
  /** @type {Set<import("../prosemirror.js").Mark>} */
  const marks = new Set();
  transform.doc.nodesBetween(from, to, (node) => {
    for (const mark of node.marks) if (mark.type.name === "other" && mark.attrs.key === key) marks.add(mark);
  });
  for (const mark of marks) transform.removeMark(from, to, mark);
}

/** @param {Transform} transform @param {number} from @param {number} to @param {AttributeSet} change */
function markEmbeds(transform, from, to, change) {
  transform.doc.nodesBetween(from, to, (node, pos) => {
    if (node.type === embedType) transform.setNodeAttribute(pos, "set", changed(node.attrs.set, change));
  });
}

/**
 * Changes attributes of a part of the document.
 *
 * @param {Transform} transform
 * @param {number} from In the text.
 * @param {number} to
 * @param {AttributeSet} change
 */
function format(transform, from, to, change) {
  const entries = Object.entries(change);
  const ofEmbeds = entries.filter(([key]) => key === "alt" || key === "width");
  const start = toDocument(transform.doc, from);
  let index = transform.doc.resolve(start).index(0);
  let pos = transform.doc.resolve(start).before(1);
  for (let left = to - from, at = start; left > 0; index += 1) {
    const line = transform.doc.child(index);
    const end = Math.min(pos + 1 + line.content.size, at + left);
    if (end > at) {
      markText(transform, at, end, ofEmbeds.length > 0 ? entries.filter((one) => !ofEmbeds.includes(one)) : entries);
      if (ofEmbeds.length > 0) {
        markEmbeds(transform, at, end, change);
        markOther(transform, at, end, ofEmbeds);
      }
    }
    left -= end - at;
    if (left > 0 && index < transform.doc.childCount - 1) setLine(transform, index, pos, changed(line.attrs.set, change));
    left -= 1;
    pos += line.nodeSize;
    at = pos + 1;
    if (index === transform.doc.childCount - 1) return;
  }
}

/** @param {Transform} transform @param {number} from @param {number} to @param {[string, any][]} entries On text. */
function markOther(transform, from, to, entries) {
  /** @type {[number, number][]} */
  const texts = [];
  transform.doc.nodesBetween(from, to, (node, pos) => {
    if (node.type === lineType || node.type === embedType) return;
    texts.push([Math.max(from, pos), Math.min(to, pos + node.nodeSize)]);
  });
  for (const [start, end] of texts) markText(transform, start, end, entries);
}

/**
 * Applies a change to the document.
 *
 * @param {Transform} transform
 * @param {Change} change
 */
export function apply(transform, { changes, format: given }) {
  const sets = [none, ...(given?.sets ?? []).map(setFrom)];
  const kept = given?.kept ?? [];
  // Attributes first: their places are those of the text before the change, and they cover no deleted text.
  for (let index = 0, place = 0; index + 2 < kept.length; index += 3) {
    const from = place + (kept[index] ?? 0);
    place = from + (kept[index + 1] ?? 0);
    format(transform, from, place, sets[kept[index + 2] ?? 0] ?? none);
  }
  const whole = changes.map(({ insert }) => insert).join("");
  const pieces = piecesOf(whole, given && { sets: given.sets ?? [], runs: given.put ?? [] });
  let [moved, used] = [0, 0];
  for (const { from, to, insert } of changes) {
    const { doc } = transform;
    const [start, end] = [toDocument(doc, from + moved), toDocument(doc, to + moved)];
    replace(transform, start, end, cut(pieces, used, used + insert.length));
    moved += insert.length - (to - from);
    used += insert.length;
  }
}
