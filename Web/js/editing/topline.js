// The first visible line of an editor stays where it is while other people write above it.
//
// CodeMirror keeps it over one transaction. Of several within a frame it loses the first, since it measures the text only
// when it draws.

/**
 * @typedef {import("../codemirror.js").EditorView} EditorView
 * @typedef {import("../codemirror.js").ViewUpdate} ViewUpdate
 */

/** @param {EditorView} view Where it is scrolled to, in the heights of its lines. */
const topOf = (view) => view.scrollDOM.getBoundingClientRect().top - view.documentTop;

export class TopLine {
  #view;
  /** @type {number | undefined} A place in the line, until the next frame. */
  #place;
  /** Pixels of the line above the edge. */
  #hidden = 0;
  /** The scroll position at the last event: reading it now would have the text laid out. */
  #scrolled = 0;
  /** @type {number | undefined} What is added to that for the place in the heights of lines. */
  #offset;
  /** Whether something in this frame brings the caret into view. */
  #showsCaret = false;
  #frame = 0;
  #removals = new AbortController();

  /** @param {EditorView} view */
  constructor(view) {
    this.#view = view;
    // A person scrolls on meanwhile.
    const scrolled = () => {
      const { scrollTop } = view.scrollDOM;
      this.#hidden += scrollTop - this.#scrolled;
      this.#scrolled = scrollTop;
    };
    view.scrollDOM.addEventListener("scroll", scrolled, { capture: true, passive: true, signal: this.#removals.signal });
  }

  /** To be called before a change by others. */
  hold() {
    // A reader at the very top sees text that is added there, so that no line is held.
    if (this.#place !== undefined || this.#scrolled <= 0) return;
    const view = this.#view;
    this.#offset ??= topOf(view) - view.scrollDOM.scrollTop;
    const top = this.#scrolled + this.#offset;
    const line = view.lineBlockAtHeight(top);
    this.#place = line.from;
    this.#hidden = top - line.top;
    this.#showsCaret = false;
  }

  /** @param {ViewUpdate} update */
  follow({ changes, docChanged, transactions }) {
    if (this.#place === undefined) return;
    if (docChanged) this.#place = changes.mapPos(this.#place, 1);
    this.#showsCaret ||= transactions.some(({ scrollIntoView }) => scrollIntoView);
    // Behind the frame's own measuring, which the change has asked for.
    if (docChanged && this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#settle());
  }

  #settle() {
    const view = this.#view;
    const place = this.#place;
    this.#frame = 0;
    this.#place = undefined;
    if (place === undefined) return;
    const top = view.lineBlockAt(place).top + this.#hidden;
    const now = topOf(view);
    this.#offset = now - view.scrollDOM.scrollTop;
    const moved = top - now;
    if (Math.abs(moved) < 1) return;
    const caret = view.lineBlockAt(view.state.selection.main.head);
    const isSeen = caret.top >= top && caret.top + caret.height <= top + view.scrollDOM.clientHeight;
    if (!this.#showsCaret || isSeen) view.scrollDOM.scrollTop += moved;
  }

  destroy() {
    cancelAnimationFrame(this.#frame);
    this.#removals.abort();
  }
}
