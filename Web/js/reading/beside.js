// Text and page side by side: when the user scrolls one, the other scrolls to the same lines.

import { page } from "../state/page.js";
import { sourceOf } from "./redrawing.js";

/**
 * @typedef {import("./drawntext.js").DrawnText} DrawnText
 * @typedef {import("../codemirror.js").EditorView} EditorView
 */

/** Maximum difference in scroll position that is ignored; pixels. */
const ignored = 2;
const leading = ["wheel", "touchstart", "touchmove", "pointerdown", "keydown", "focusin"];

/** Frames for which the text follows the page after a scroll, until lines that came into view are measured. */
const followingFrames = 4;
/** Frames in which neither side follows after a change of the text, until its scroll events have fired. */
const restingFrames = 3;

/** @param {HTMLElement} element */
const isAtEnd = ({ scrollTop, scrollHeight, clientHeight }) => scrollTop + clientHeight >= scrollHeight - 1;

/**
 * The positions of one line in the text and on the page, in pixels from the top of each.
 *
 * @typedef {[text: number, page: number]} Knot
 */

/**
 * @param {[number, number]} from An interval in one scale.
 * @param {[number, number]} to The same interval in another scale.
 * @param {number} place In the first scale; the result is interpolated linearly.
 */
const between = ([a, b], [c, d], place) => (b - a < 1 ? c : c + ((place - a) / (b - a)) * (d - c));

/**
 * @param {EditorView} view
 * @returns {number} The visible top, in pixels from the top of the document.
 */
const topOf = (view) => view.scrollDOM.getBoundingClientRect().top - view.documentTop;

/** @param {HTMLElement} element @param {number} by */
function scroll(element, by) {
  if (Math.abs(by) >= ignored) element.scrollTop += by;
}

export class JointScrolling {
  #host;
  #drawn;
  /** @type {"text" | "page"} The side that the user scrolled last; the other follows. */
  #leader = "text";
  /** @type {EditorView | undefined} */
  #view;
  /** Frames left in which neither side follows, because the text has changed. */
  #resting = 0;
  /** Frames left in which the text follows the page. */
  #following = 0;
  #removals = new AbortController();

  /**
   * @param {object} options
   * @param {HTMLElement} options.host The page's scroll container.
   * @param {HTMLElement} options.textHost The element around the editor.
   * @param {() => DrawnText | undefined} options.drawn Returns the text that the page shows.
   */
  constructor({ host, textHost, drawn }) {
    this.#host = host;
    this.#drawn = drawn;
    const options = { signal: this.#removals.signal, passive: true };
    for (const kind of leading) {
      textHost.addEventListener(kind, () => this.lead(), options);
      host.addEventListener(kind, () => this.#lead("page"), options);
    }
    host.addEventListener("scroll", () => this.#pageScrolled(), options);
  }

  /** Called when the editor was created or replaced. */
  follow() {
    const view = page.editor?.kind === "plain" ? page.editor.view : undefined;
    if (this.#view === view) return;
    this.#view = view;
    const { signal } = this.#removals;
    this.#view?.scrollDOM.addEventListener("scroll", () => this.#followText(), { signal, passive: true });
    this.#followText();
  }

  /** Makes the page follow the text, which is about to be scrolled. */
  lead() {
    this.#lead("text");
  }

  /** Called when the text has changed: the scroll events that follow are not caused by the user. */
  rest() {
    if (this.#resting <= 0) requestAnimationFrame(() => this.#restOn());
    this.#resting = restingFrames;
  }

  end() {
    this.#removals.abort();
  }

  #restOn() {
    this.#resting -= 1;
    if (this.#resting > 0) requestAnimationFrame(() => this.#restOn());
  }

  /** @param {"text" | "page"} side */
  #lead(side) {
    this.#leader = side;
    this.#resting = 0;
  }

  /** @param {HTMLElement} block */
  #onPage(block) {
    return block.getBoundingClientRect().top - this.#host.getBoundingClientRect().top + this.#host.scrollTop;
  }

  /** @param {HTMLElement} block */
  #inText(block) {
    const place = this.#drawn()?.moved(sourceOf(block)?.from ?? 0) ?? 0;
    const shown = page.editor?.positionInView(place) ?? place;
    return this.#view?.lineBlockAt(Math.min(shown, this.#view.state.doc.length)).top ?? 0;
  }

  /**
   * Returns the knots before and after a position.
   *
   * @param {(block: HTMLElement) => number} heightOf Returns a block's position; ascending from block to block.
   * @param {number} place
   * @returns {[Knot, Knot]}
   */
  #around(heightOf, place) {
    const blocks = /** @type {HTMLElement[]} */ ([...this.#host.children].filter((child) => sourceOf(child)));
    let [low, high] = [0, blocks.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (heightOf(/** @type {HTMLElement} */ (blocks[middle])) <= place) low = middle + 1;
      else high = middle;
    }
    const [before, after] = [blocks[low - 1], blocks[low]];
    const end = /** @type {Knot} */ ([this.#view?.contentHeight ?? 0, this.#host.scrollHeight]);
    return [
      before ? [this.#inText(before), this.#onPage(before)] : [0, 0],
      after ? [this.#inText(after), this.#onPage(after)] : end,
    ];
  }

  #followText() {
    const view = this.#view;
    const host = this.#host;
    if (!view || this.#leader !== "text" || this.#resting > 0) return;
    if (view.scrollDOM.scrollTop <= 0) host.scrollTop = 0;
    else if (isAtEnd(view.scrollDOM)) host.scrollTop = host.scrollHeight;
    else {
      const top = topOf(view);
      const [a, b] = this.#around((block) => this.#inText(block), top);
      scroll(host, between([a[0], b[0]], [a[1], b[1]], top) - host.scrollTop);
    }
  }

  #followPage() {
    const view = this.#view;
    const host = this.#host;
    if (!view || this.#leader !== "page" || this.#resting > 0) return;
    if (host.scrollTop <= 0) view.scrollDOM.scrollTop = 0;
    else if (isAtEnd(host)) view.scrollDOM.scrollTop = view.scrollDOM.scrollHeight;
    else {
      const [a, b] = this.#around((block) => this.#onPage(block), host.scrollTop);
      scroll(view.scrollDOM, between([a[1], b[1]], [a[0], b[0]], host.scrollTop) - topOf(view));
    }
  }

  #pageScrolled() {
    if (this.#following <= 0) requestAnimationFrame(() => this.#followPageOn());
    this.#following = followingFrames;
    this.#followPage();
  }

  /** Repeats this in the next frames, in which lines that came into view get their true heights. */
  #followPageOn() {
    this.#followPage();
    this.#following -= 1;
    if (this.#following > 0) requestAnimationFrame(() => this.#followPageOn());
  }
}
