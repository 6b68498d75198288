// Shows a past text as a page, or the changes to it. It is drawn in slices, so that a long text does not block the
// page.

import { showFiles } from "../links/files.js";
import { t } from "../ground/language.js";
import { ComparedPage } from "./comparedpage.js";

/** @typedef {typeof import("../reading/pageview.js")} Reading */
/** @typedef {import("./comparedpage.js").Part} Part */

/** The maximum time of a slice, in milliseconds. */
const sliceMax = 12;

/** The maximum blocks of a page that is laid out as a whole. */
const laidOutMax = 300;

/** The number of blocks in the first batch, and the factor by which each further batch grows. */
const batchMin = 50;
const batchGrowth = 4;

/** Elements that count as one changed part: the innermost one around a mark. */
const units = "li, tr, p, h2, h3, h4, h5, h6, pre, .table, .block";

export class PastPage {
  #host;
  #reading;
  #noteId;
  /** @type {WeakMap<Element, string>} The source of each block. */
  #keys = new WeakMap();
  /** The number of the current drawing. */
  #turn = 0;
  /** @type {HTMLElement[]} The changed parts. */
  #changed = [];

  /**
   * @param {object} options
   * @param {HTMLElement} options.host
   * @param {Reading} options.reading
   * @param {string} options.noteId The note whose files are shown.
   */
  constructor({ host, reading, noteId }) {
    this.#host = host;
    this.#reading = reading;
    this.#noteId = noteId;
    host.addEventListener("click", this.#follow);
  }

  get changedCount() {
    return this.#changed.length;
  }

  /**
   * Shows a newer text, with the text deleted since the older one marked. If both are equal, shows the text without
   * marks.
   *
   * @param {string} older
   * @param {string} newer
   * @returns {Promise<boolean>} False if another drawing has begun.
   */
  async show(older, newer) {
    const mine = (this.#turn += 1);
    const page = new ComparedPage(this.#reading);
    if (!(await this.#run(page.read(older, newer), mine))) return false;
    if (!(await this.#settle(page, mine))) return false;
    if (Math.max(older.length, newer.length) > this.#reading.renderedMax) this.#addRest();
    this.#changed = this.#unitsOf();
    showFiles(this.#host, this.#noteId);
    void this.#reading.colourCode(this.#host);
    void this.#reading.drawParts(this.#host);
    return true;
  }

  /** @param {number} index The index of a changed part, to scroll to. */
  reveal(index) {
    for (const part of this.#host.querySelectorAll(".is-looked-at")) part.classList.remove("is-looked-at");
    const part = this.#changed[index];
    part?.classList.add("is-looked-at");
    part?.scrollIntoView({ block: "center" });
  }

  destroy() {
    this.#turn += 1;
    this.#host.removeEventListener("click", this.#follow);
    this.#host.replaceChildren();
  }

  /**
   * Runs steps in slices, and lets the page handle events between them.
   *
   * @param {Generator<void, unknown>} steps
   * @param {number} mine
   * @returns {Promise<boolean>} False if another drawing has begun.
   */
  async #run(steps, mine) {
    for (let isDone = false; !isDone; ) {
      const end = performance.now() + sliceMax;
      while (!isDone && performance.now() < end) isDone = steps.next().done === true;
      if (!isDone) await new Promise((resolve) => setTimeout(resolve));
      if (this.#turn !== mine) return false;
    }
    return true;
  }

  /**
   * Makes the parts of a page the children of the host. Each batch causes a layout, so batches grow. Existing blocks
   * are reused.
   *
   * @param {ComparedPage} page
   * @param {number} mine
   * @returns {Promise<boolean>} False if another drawing has begun.
   */
  async #settle(page, mine) {
    const { parts } = page;
    const kept = this.#keptFor(parts);
    const staying = new Set(kept);
    this.#host.classList.toggle("is-long", parts.length > laidOutMax);
    /** @type {HTMLElement[]} */
    const blocks = [];
    let next = /** @type {HTMLElement | null} */ (this.#host.firstElementChild);
    const dropFormer = (/** @type {HTMLElement | undefined} */ block) => {
      while (next && next !== block && !staying.has(next)) next = dropped(next);
    };
    for (let size = batchMin; blocks.length < parts.length; size *= batchGrowth) {
      const begin = blocks.length;
      if (!(await this.#run(this.#drawing(parts.slice(begin, begin + size), kept, blocks), mine))) return false;
      this.#reading.keepingTop(this.#host, () => {
        for (const block of blocks.slice(begin)) {
          dropFormer(block);
          if (next === block) next = /** @type {HTMLElement | null} */ (block.nextElementSibling);
          else this.#host.insertBefore(block, next);
        }
      });
    }
    this.#reading.keepingTop(this.#host, () => {
      while (next) next = dropped(next);
      const notes = page.footnotes(blocks);
      if (notes) this.#host.append(notes);
      // The note's own page has the same ids.
      for (const one of this.#host.querySelectorAll("[id]:not([id^=past-])")) one.id = `past-${one.id}`;
    });
    return true;
  }

  /** @param {Part[]} parts @returns {(HTMLElement | undefined)[]} For each part, a child of the host to reuse. */
  #keptFor(parts) {
    /** @type {Map<string, HTMLElement[]>} */
    const known = new Map();
    for (const child of /** @type {HTMLElement[]} */ ([...this.#host.children].reverse())) {
      const key = this.#keys.get(child);
      const alike = key === undefined ? undefined : known.get(key);
      if (alike) alike.push(child);
      else if (key !== undefined) known.set(key, [child]);
    }
    return parts.map(({ key }) => known.get(key)?.pop());
  }

  /**
   * @param {Part[]} parts
   * @param {(HTMLElement | undefined)[]} kept The reused children, for all parts of the page.
   * @param {HTMLElement[]} blocks The drawn blocks, to which this adds.
   * @returns {Generator<void, void>}
   */
  *#drawing(parts, kept, blocks) {
    for (const part of parts) {
      const block = kept[blocks.length] ?? (yield* this.#drawn(part));
      this.#keys.set(block, part.key);
      blocks.push(block);
      yield;
    }
  }

  /** @param {Part} part @returns {Generator<void, HTMLElement>} */
  *#drawn(part) {
    const block = yield* part.drawing();
    if (part.isChanged) block.classList.add("is-changed");
    for (const box of block.querySelectorAll("input")) box.disabled = true;
    // Highlighting would remove the marks.
    for (const code of /** @type {NodeListOf<HTMLElement>} */ (block.querySelectorAll("code:has(ins, del)"))) {
      code.dataset.isColoured = "true";
    }
    return block;
  }

  #addRest() {
    const words = document.createElement("p");
    words.className = "block hint";
    words.append(t("note.restTooLong"));
    this.#host.append(words);
  }

  #unitsOf() {
    const found = [...this.#host.querySelectorAll("ins, del")].map((mark) => mark.querySelector(units) ?? mark.closest(units));
    return /** @type {HTMLElement[]} */ ([...new Set(found)].filter((one) => one !== null));
  }

  /** @param {MouseEvent} event Follows a link within the page, without changing the address. */
  #follow = (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!link || !link.matches(".within, .footnote, .footnote-back, [data-file]")) return;
    event.preventDefault();
    if (!link.matches(".footnote, .footnote-back")) return;
    const target = /** @type {HTMLElement | null} */ (this.#host.querySelector(link.hash.replace("#", "#past-")));
    if (target && !target.matches("a")) target.tabIndex = -1;
    target?.scrollIntoView({ block: "center" });
    target?.focus();
  };
}

/** @param {HTMLElement} element The element to remove. @returns {HTMLElement | null} The next one. */
function dropped(element) {
  const next = /** @type {HTMLElement | null} */ (element.nextElementSibling);
  element.remove();
  return next;
}
