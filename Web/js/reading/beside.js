// Text and page side by side: each scrolls along with the other, by the lines that both show.

import { page } from "../page.js";
import { sourceOf } from "./redrawing.js";

/** @typedef {import("./drawntext.js").DrawnText} DrawnText */

/** Differences that are not worth moving for; pixels. */
const ignored = 2;
const leading = ["wheel", "touchstart", "pointerdown", "keydown", "focusin"];

/** @param {HTMLElement} element */
const isAtEnd = ({ scrollTop, scrollHeight, clientHeight }) => scrollTop + clientHeight >= scrollHeight - 1;

/**
 * Two places of which the first is in the text and the second on the page, both in pixels from their beginnings.
 *
 * @typedef {[text: number, page: number]} Knot
 */

/**
 * @param {[number, number]} from Two values in one scale.
 * @param {[number, number]} to The same in another.
 * @param {number} place In the first.
 */
const between = ([a, b], [c, d], place) => (b - a < 1 ? c : c + ((place - a) / (b - a)) * (d - c));

/**
 * @param {object} options
 * @param {HTMLElement} options.host The page.
 * @param {HTMLElement} options.textHost Around the editor.
 * @param {() => DrawnText | undefined} options.drawn What the page shows.
 */
export function jointScrolling({ host, textHost, drawn }) {
  /** @type {"text" | "page"} The one that a person has moved: the other follows. */
  let leader = "text";
  /** @type {import("../codemirror.js").EditorView | undefined} */
  let view;
  const removals = new AbortController();

  const blocks = () => /** @type {HTMLElement[]} */ ([...host.children].filter((child) => sourceOf(child)));

  /** @param {HTMLElement} block */
  const onPage = (block) => block.getBoundingClientRect().top - host.getBoundingClientRect().top + host.scrollTop;

  /** @param {HTMLElement} block */
  function inText(block) {
    const place = drawn()?.moved(sourceOf(block)?.from ?? 0) ?? 0;
    const shown = page.editor?.placeInView(place) ?? place;
    return view?.lineBlockAt(Math.min(shown, view.state.doc.length)).top ?? 0;
  }

  /**
   * The knots around a place.
   *
   * @param {(block: HTMLElement) => number} heightOf Ascending from block to block.
   * @param {number} place
   * @returns {[Knot, Knot]}
   */
  function around(heightOf, place) {
    const all = blocks();
    let [low, high] = [0, all.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (heightOf(/** @type {HTMLElement} */ (all[middle])) <= place) low = middle + 1;
      else high = middle;
    }
    const [before, after] = [all[low - 1], all[low]];
    const end = /** @type {Knot} */ ([view?.contentHeight ?? 0, host.scrollHeight]);
    return [before ? [inText(before), onPage(before)] : [0, 0], after ? [inText(after), onPage(after)] : end];
  }

  /** @param {HTMLElement} element @param {number} by */
  function scroll(element, by) {
    if (Math.abs(by) >= ignored) element.scrollTop += by;
  }

  /**
   * @param {import("../codemirror.js").EditorView} shown
   * @returns {number} Where the text is scrolled to, in its own heights.
   */
  const topOf = (shown) => shown.scrollDOM.getBoundingClientRect().top - shown.documentTop;

  function followText() {
    if (!view || leader !== "text") return;
    const { scrollDOM } = view;
    if (scrollDOM.scrollTop <= 0) host.scrollTop = 0;
    else if (isAtEnd(scrollDOM)) host.scrollTop = host.scrollHeight;
    else {
      const top = topOf(view);
      const [a, b] = around(inText, top);
      scroll(host, between([a[0], b[0]], [a[1], b[1]], top) - host.scrollTop);
    }
  }

  function followPage() {
    if (!view || leader !== "page") return;
    const { scrollDOM } = view;
    if (host.scrollTop <= 0) scrollDOM.scrollTop = 0;
    else if (isAtEnd(host)) scrollDOM.scrollTop = scrollDOM.scrollHeight;
    else {
      const [a, b] = around(onPage, host.scrollTop);
      scroll(scrollDOM, between([a[1], b[1]], [a[0], b[0]], host.scrollTop) - topOf(view));
    }
  }

  const { signal } = removals;
  for (const kind of leading) {
    textHost.addEventListener(kind, () => (leader = "text"), { signal, passive: true });
    host.addEventListener(kind, () => (leader = "page"), { signal, passive: true });
  }
  host.addEventListener("scroll", followPage, { signal, passive: true });

  return {
    /** The editor may be another, or be there at last. */
    follow() {
      if (view === page.editor?.view) return;
      view = page.editor?.view;
      view?.scrollDOM.addEventListener("scroll", followText, { signal, passive: true });
      followText();
    },
    /** The text is going to be scrolled, and the page follows. */
    lead: () => (leader = "text"),
    end: () => removals.abort(),
  };
}
