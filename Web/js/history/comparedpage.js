// Two texts as one page: blocks of both, blocks of one of them, and changed blocks.

import { alongRuns, keptRuns } from "./alignment.js";
import { Merger, likenessOf, marked, wordsIn } from "./merging.js";
import { pairing } from "./pairing.js";

/**
 * The functions of the page view (reading/pageview.js), which is loaded on demand.
 *
 * @typedef {Pick<typeof import("../reading/pageview.js"), "readingBlocks" | "drawFootnotes" | "numberFootnotes">} Reading
 * @typedef {import("../reading/rendering.js").Blocks} Blocks
 * @typedef {Blocks["blocks"][number]} Block
 */

/**
 * A block of the page. Equal keys mean equal blocks.
 *
 * @typedef {{key: string, isChanged: boolean, drawing: () => Generator<void, HTMLElement>}} Part
 */

/** Maximum UTF-16 units of a block that are compared with other blocks. */
const comparedMax = 4_000;

/** @param {HTMLElement} element @param {string} tag @param {HTMLElement} [top] Not examined. */
function isWithin(element, tag, top) {
  for (let one = element.parentElement; one && one !== top; one = one.parentElement) if (one.tagName.toUpperCase() === tag) return true;
  return false;
}

/** Reads two texts, and draws them as one page. */
export class ComparedPage {
  /** @type {Part[]} */
  parts = [];

  #reading;
  #merger = new Merger();
  /** @type {Blocks | undefined} */
  #before;
  /** @type {Blocks | undefined} */
  #after;

  /** @param {Reading} reading */
  constructor(reading) {
    this.#reading = reading;
  }

  /**
   * Reads the texts in steps. For two equal texts, the result is the page of the text.
   *
   * @param {string} older
   * @param {string} newer
   * @returns {Generator<void, void>}
   */
  *read(older, newer) {
    const after = (this.#after = yield* this.#reading.readingBlocks(newer));
    const before = (this.#before = older === newer ? after : yield* this.#reading.readingBlocks(older));
    const isSame = before.meaning === after.meaning;
    // A reference may have another target in the other text.
    const keyOf = (/** @type {Block} */ { key }, /** @type {string} */ side) => (isSame || !key.includes("[") ? key : side + key);
    const runs = keptRuns(before.blocks.map((one) => keyOf(one, "- ")), after.blocks.map((one) => keyOf(one, "+ ")));
    /** @type {(() => Generator<void, void>)[]} */
    const steps = [];
    alongRuns(
      runs,
      { former: before.blocks.length, next: after.blocks.length },
      ({ next, count }) => steps.push(() => this.#addKept(after.blocks.slice(next, next + count), after.meaning)),
      (one, other) =>
        steps.push(() => this.#addChanged(before.blocks.slice(one.from, one.to), after.blocks.slice(other.from, other.to))),
    );
    for (const step of steps) yield* step();
  }

  /** @param {Block[]} blocks @param {string} meaning @returns {Generator<void, void>} */
  *#addKept(blocks, meaning) {
    for (const block of blocks) this.parts.push(this.#kept(block, meaning));
    yield;
  }

  /** @param {Block} block @param {string} meaning @returns {Part} */
  #kept(block, meaning) {
    return {
      key: block.key.includes("[") ? `${meaning} ${block.key}` : block.key,
      isChanged: false,
      *drawing() {
        return block.draw();
      },
    };
  }

  /** @param {Block[]} former @param {Block[]} next @returns {Generator<void, void>} */
  *#addChanged(former, next) {
    const merger = this.#merger;
    /** @type {Map<Block, string[]>} */
    const words = new Map();
    for (const block of [...former, ...next]) {
      words.set(block, wordsIn(block.key.slice(0, comparedMax)).filter((word) => /[\p{L}\p{N}]/u.test(word)));
      yield;
    }
    const alike = (/** @type {Block} */ one, /** @type {Block} */ other) =>
      one.key === other.key ? 1 : likenessOf(words.get(one) ?? [], words.get(other) ?? []);
    for (const { one, other } of yield* pairing(former, next, alike)) {
      this.parts.push({
        key: JSON.stringify([one?.key, other?.key]),
        isChanged: true,
        *drawing() {
          if (one && other) return yield* merger.merging(one.draw(), other.draw());
          return one ? marked(one.draw(), "del") : marked(/** @type {Block} */ (other).draw(), "ins");
        },
      });
    }
  }

  /**
   * Numbers the footnotes of the drawn blocks, and draws them. Footnotes of the older text alone come last.
   *
   * @param {HTMLElement[]} blocks
   * @returns {HTMLElement | undefined}
   */
  footnotes(blocks) {
    const [before, after] = [this.#before, this.#after];
    const { drawFootnotes, numberFootnotes } = this.#reading;
    const isDeleted = (/** @type {HTMLElement} */ link) => isWithin(link, "DEL");
    const named = numberFootnotes(blocks, isDeleted);
    if (named.length === 0 || !before || !after) return undefined;
    const [older, newer] = [new Set(), new Set()];
    /** @param {HTMLElement} element */
    const note = (element) => {
      for (const link of /** @type {NodeListOf<HTMLElement>} */ (element.querySelectorAll("a.footnote"))) {
        if (!isWithin(link, "INS")) older.add(link.dataset.footnote);
        if (!isDeleted(link)) newer.add(link.dataset.footnote);
      }
    };
    blocks.forEach(note);
    const drawOf = (/** @type {string} */ name) => () => {
      const one = older.has(name) ? before.notes.get(name)?.draw() : undefined;
      const other = newer.has(name) ? after.notes.get(name)?.draw() : undefined;
      const item = one && other ? this.#merger.merged(one, other) : one ? marked(one, "del") : other && marked(other, "ins");
      if (item) note(item);
      return item ?? document.createElement("li");
    };
    const all = new Map([...before.notes, ...after.notes].map(([name, { key }]) => [name, { key, draw: drawOf(name) }]));
    const section = drawFootnotes(named, all);
    numberFootnotes([...blocks, section], isDeleted);
    return section;
  }
}
