// Keeps the first visible line of an editor at its position while other people write above it.
//
// CodeMirror itself does this for one transaction. With several in a frame it forgets the first, because it measures
// the text only when it draws.

/**
 * @typedef {import("../codemirror.js").EditorView} EditorView
 * @typedef {import("../codemirror.js").ViewUpdate} ViewUpdate
 */

/** @param {EditorView} view @returns The scroll position, in the heights of its lines. */
const topOf = (view) => view.scrollDOM.getBoundingClientRect().top - view.documentTop;

export class TopLine {
  #view;
  /** @type {number | undefined} A position in the line, until the next frame. */
  #place;
  /** The pixels of the line above the visible edge. */
  #hidden = 0;
  /** The scroll position at the last event; reading it now would force a layout. */
  #scrolled = 0;
  /** @type {number | undefined} The difference between the heights of lines and the scroll position. */
  #offset;
  /** Whether a transaction of this frame scrolls to the caret. */
  #showsCaret = false;
  #frame = 0;
  #removals = new AbortController();

  /** @param {EditorView} view */
  constructor(view) {
    this.#view = view;
    // The user may scroll meanwhile.
    const scrolled = () => {
      const { scrollTop } = view.scrollDOM;
      this.#hidden += scrollTop - this.#scrolled;
      this.#scrolled = scrollTop;
    };
    view.scrollDOM.addEventListener("scroll", scrolled, { capture: true, passive: true, signal: this.#removals.signal });
  }

  /** Remembers the first visible line. Call this before a change by others. */
  hold() {
    // At the very top, no line is held, so that text added there becomes visible.
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
    // After the frame's own measuring, which the change has requested.
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
