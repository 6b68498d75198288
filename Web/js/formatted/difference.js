// The difference of two documents as a change for the client core: text changes, and the formatting beside them. Only
// the ranges that a transaction has touched are compared.

import { beginsInHalf, endsInHalf } from "../ground/halves.js";
import { wellFormed } from "../ground/wellformed.js";
import { piecesBetween, toText } from "./document.js";
import { merged } from "./ranges.js";
import { embedSign } from "./schema.js";
import { Numbers, areSame, changeBetween, isEmpty, none } from "./sets.js";

/**
 * @typedef {import("../prosemirror.js").Node} Node
 * @typedef {import("./document.js").Piece} Piece
 * @typedef {import("./sets.js").AttributeSet} AttributeSet
 * @typedef {{from: number, to: number, insert: string}} TextChange
 *
 * Formatting of a change. `kept`: triples over the text before it, each the units passed since the last one's end, its
 * length, and its set, whose values are set, or removed by null. `put`: pairs over all inserted text.
 *
 * @typedef {import("../client/door.js").ChangeFormat} Format
 * @typedef {{changes: TextChange[], format?: Format}} Change
 *
 * @typedef {{from: number, to: number, fromNow: number, toNow: number}} Range A range of the former document, and the
 *   range of the present one that replaced it.
 */

/** @param {Piece[]} pieces @returns {string} */
const textIn = (pieces) => pieces.map(({ text }) => text).join("");

/** @param {Piece[]} pieces @returns {Map<number, AttributeSet>} The sets of embeds by place. */
function embedsIn(pieces) {
  const embeds = new Map();
  let at = 0;
  for (const { text, set } of pieces) {
    if (text === embedSign) embeds.set(at, set);
    at += text.length;
  }
  return embeds;
}

/** @param {AttributeSet | undefined} one @param {AttributeSet | undefined} other Whether both are the same embed. */
const areOneEmbed = (one, other) => JSON.stringify(one?.embed) === JSON.stringify(other?.embed);

/**
 * Returns the lengths of the common start and end of two texts. Their attributes may differ.
 *
 * @param {Piece[]} former
 * @param {Piece[]} now
 */
function commonEnds(former, now) {
  const [one, other] = [textIn(former), textIn(now)];
  const [embeds, embedsNow] = [embedsIn(former), embedsIn(now)];
  const areEqual = (/** @type {number} */ at, /** @type {number} */ atNow) =>
    one.charCodeAt(at) === other.charCodeAt(atNow) &&
    (one[at] !== embedSign || areOneEmbed(embeds.get(at), embedsNow.get(atNow)));
  const most = Math.min(one.length, other.length);
  let end = 0;
  while (end < most && areEqual(one.length - end - 1, other.length - end - 1)) end += 1;
  // The halves of a surrogate pair stay together.
  if (end > 0 && beginsInHalf(one.slice(one.length - end))) end -= 1;
  let start = 0;
  while (start < most - end && areEqual(start, start)) start += 1;
  if (start > 0 && endsInHalf(one.slice(0, start))) start -= 1;
  return { start, end, one, other };
}

/** Collects a change. */
class Collected {
  /** @type {TextChange[]} */
  changes = [];
  /** @type {{from: number, to: number, change: AttributeSet}[]} */
  kept = [];
  /** @type {Piece[]} */
  put = [];

  /** @param {number} from @param {number} to @param {AttributeSet} change */
  keep(from, to, change) {
    if (isEmpty(change)) return;
    const last = this.kept[this.kept.length - 1];
    if (last && last.to === from && areSame(last.change, change)) last.to = to;
    else this.kept.push({ from, to, change });
  }

  /**
   * Adds the attributes that differ over a text that is the same.
   *
   * @param {number} base The place of the text.
   * @param {Piece[]} former
   * @param {Piece[]} now
   */
  compare(base, former, now) {
    let place = base;
    let [at, atNow, used, usedNow] = [0, 0, 0, 0];
    for (;;) {
      const [one, other] = [former[at], now[atNow]];
      if (!one || !other) return;
      const length = Math.min(one.text.length - used, other.text.length - usedNow);
      this.keep(place, place + length, changeBetween(one.set, other.set));
      place += length;
      [used, usedNow] = [used + length, usedNow + length];
      if (used === one.text.length) [at, used] = [at + 1, 0];
      if (usedNow === other.text.length) [atNow, usedNow] = [atNow + 1, 0];
    }
  }

  /**
   * Adds the difference of two texts with attributes.
   *
   * @param {number} base The place of the former text.
   * @param {Piece[]} former
   * @param {Piece[]} now
   */
  add(base, former, now) {
    const { start, end, one, other } = commonEnds(former, now);
    this.compare(base, cut(former, 0, start), cut(now, 0, start));
    const [to, toNow] = [one.length - end, other.length - end];
    if (to > start || toNow > start) {
      this.changes.push({ from: base + start, to: base + to, insert: wellFormed(other.slice(start, toNow)) });
      this.put.push(...cut(now, start, toNow));
    }
    this.compare(base + to, cut(former, to, one.length), cut(now, toNow, other.length));
  }

  /** @returns {Change} */
  get change() {
    const numbers = new Numbers();
    /** @type {number[]} */
    const kept = [];
    let passed = 0;
    for (const { from, to, change } of this.kept) {
      kept.push(from - passed, to - from, numbers.of(change));
      passed = to;
    }
    const put = pairsOf(this.put, numbers);
    if (kept.length === 0 && put.length === 0) return { changes: this.changes };
    return {
      changes: this.changes,
      format: { sets: numbers.sets, ...(kept.length > 0 && { kept }), ...(put.length > 0 && { put }) },
    };
  }
}

/**
 * Returns the runs of pieces: pairs of a length and a set's number, without trailing text that has no attributes.
 *
 * @param {Piece[]} pieces
 * @param {Numbers} numbers
 */
export function pairsOf(pieces, numbers) {
  /** @type {number[]} */
  const pairs = [];
  /** @type {AttributeSet | undefined} */
  let former;
  for (const { text, set } of pieces) {
    if (former && areSame(former, set)) pairs[pairs.length - 2] = (pairs[pairs.length - 2] ?? 0) + text.length;
    else pairs.push(text.length, numbers.of(set));
    former = set;
  }
  if (pairs[pairs.length - 1] === 0) pairs.length -= 2;
  return pairs;
}

/** @param {Piece[]} pieces @param {number} from @param {number} to @returns {Piece[]} */
export function cut(pieces, from, to) {
  /** @type {Piece[]} */
  const part = [];
  let at = 0;
  for (const { text, set } of pieces) {
    const piece = text.slice(Math.max(0, from - at), Math.max(0, to - at));
    if (piece) part.push({ text: piece, set });
    at += text.length;
    if (at >= to) break;
  }
  return part;
}

/**
 * Widens a range that begins behind the last line: the text has no newline there that the range could begin with.
 *
 * @param {Node} former
 * @param {Node} now
 * @param {Range[]} ranges
 * @returns {Range[]}
 */
function withLastLine(former, now, ranges) {
  const last = ranges[ranges.length - 1];
  if (!last || last.to < former.content.size || (last.from < former.content.size && last.fromNow < now.content.size)) return ranges;
  return merged([...ranges.slice(0, -1), { ...last, from: last.from - 1, fromNow: last.fromNow - 1 }]);
}

/** @param {Node} doc @param {number} from @param {number} to @returns {Piece[]} The last line has a newline, too. */
function piecesIn(doc, from, to) {
  const pieces = piecesBetween(doc, from, to);
  if (to >= doc.content.size) pieces.push({ text: "\n", set: none });
  return pieces;
}

/** @param {Node} doc @param {number} pos Whether a surrogate pair is on both sides of it. */
function splitsPair(doc, pos) {
  const { parent, parentOffset, depth } = doc.resolve(pos);
  if (depth === 0 || parentOffset === 0 || parentOffset === parent.content.size) return false;
  const pair = parent.textBetween(parentOffset - 1, parentOffset + 1, "", " ");
  return /^[\ud800-\udbff][\udc00-\udfff]$/.test(pair);
}

/** @param {Node} former @param {Node} now @param {Range} range @returns {Range} The range without halves of pairs. */
function widened(former, now, range) {
  let { from, to, fromNow, toNow } = range;
  if (splitsPair(former, from) || splitsPair(now, fromNow)) [from, fromNow] = [from - 1, fromNow - 1];
  if (splitsPair(former, to) || splitsPair(now, toNow)) [to, toNow] = [to + 1, toNow + 1];
  return { from, to, fromNow, toNow };
}

/**
 * Returns the change between two documents.
 *
 * @param {Node} former
 * @param {Node} now
 * @param {Range[]} [ranges] Sorted; outside of them, the documents are equal.
 * @returns {Change}
 */
export function changeOf(former, now, ranges = [{ from: 0, to: former.content.size, fromNow: 0, toNow: now.content.size }]) {
  const collected = new Collected();
  ranges = withLastLine(former, now, ranges);
  ranges.forEach((range, index) => {
    const { from, to, fromNow, toNow } = widened(former, now, range);
    collected.add(toText(former, from), piecesIn(former, from, to), piecesIn(now, fromNow, toNow));
    // The kind of a line is at its start in the editor, and at its end in the text.
    const [place, placeNow] = [former.resolve(to), now.resolve(toNow)];
    if (place.depth === 0 || placeNow.depth === 0 || place.index(0) === former.childCount - 1) return;
    const next = ranges[index + 1];
    if (next && next.from <= place.end()) return;
    const end = toText(former, place.end());
    collected.keep(end, end + 1, changeBetween(place.parent.attrs.set, placeNow.parent.attrs.set));
  });
  return collected.change;
}
