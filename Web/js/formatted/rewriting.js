// A change that replaces a document's text, removes its formatting, and keeps the characters that both texts have.

import { piecesBetween } from "./document.js";
import { embedSign } from "./schema.js";
import { Numbers, changeBetween, none } from "./sets.js";

/** The UTF-16 units within which a character of the former text is looked for in the new one. */
const lookedAtMax = 300;

/**
 * Returns the changes that make one text of another, most of whose characters it has in the same order.
 *
 * @param {string} former
 * @param {string} text
 * @returns {import("./difference.js").TextChange[]}
 */
export function rewritten(former, text) {
  /** @type {import("./difference.js").TextChange[]} */
  const changes = [];
  const add = (/** @type {number} */ from, /** @type {number} */ to, /** @type {string} */ insert) => {
    const last = changes[changes.length - 1];
    if (last && last.to === from) {
      last.to = to;
      last.insert += insert;
    } else if (from < to || insert) changes.push({ from, to, insert });
  };
  let at = 0;
  let place = 0;
  while (place < former.length) {
    const sign = String.fromCodePoint(former.codePointAt(place) ?? 0);
    const found = text.slice(at, at + lookedAtMax).indexOf(sign);
    // An embed is not in the new text.
    if (found < 0 || sign === embedSign) add(place, place + sign.length, "");
    else {
      if (found > 0) add(place, place, text.slice(at, at + found));
      at += found + sign.length;
    }
    place += sign.length;
  }
  if (at < text.length) add(former.length, former.length, text.slice(at));
  return changes;
}

/**
 * Returns the change that leaves a text without formatting.
 *
 * @param {import("../prosemirror.js").Node} doc
 * @param {string} text
 * @returns {import("./difference.js").Change}
 */
export function changesBetween(doc, text) {
  const pieces = piecesBetween(doc, 0, doc.content.size);
  const changes = rewritten(pieces.map((piece) => piece.text).join(""), text);
  const numbers = new Numbers();
  /** @type {number[]} */
  const kept = [];
  let [place, passed, next] = [0, 0, 0];
  for (const { text: own, set } of pieces) {
    // Embeds are deleted.
    const number = own === embedSign ? 0 : numbers.of(changeBetween(set, none));
    let from = place;
    place += own.length;
    while (number > 0 && from < place) {
      while (changes[next] && (changes[next]?.to ?? 0) <= from) next += 1;
      const gone = changes[next];
      const end = Math.min(place, Math.max(from, gone?.from ?? Infinity));
      if (end > from) {
        kept.push(from - passed, end - from, number);
        passed = end;
      }
      from = gone && gone.from < place ? Math.max(end, gone.to) : end;
    }
  }
  return { changes, ...(kept.length > 0 && { format: { sets: numbers.sets, kept } }) };
}
