// A new comment, from the selection of its range until it is sent or discarded: the range, marked in the editor, and
// the field above the threads.

import { byId } from "../ground/dialogs.js";
import { Composer } from "./composer.js";
import { t } from "../ground/language.js";

/** @typedef {{from: number, to: number}} Range In UTF-16 units. */

/** Maximum UTF-16 units of the range's text shown above the field. */
const quoteMax = 400;

export class NewComment {
  #options;
  #marks;
  #view;
  #place = byId("comment-new");
  /** @type {Composer | undefined} */
  #composer;

  /**
   * @param {object} options
   * @param {import("./commentsview.js").Editor} options.editor
   * @param {import("./comments.js").Comments} options.comments
   * @param {() => import("./commentsender.js").CommentSender} options.sending Called when a comment is begun.
   * @param {() => void} options.redraw Draws the threads again.
   */
  constructor(options) {
    this.#options = options;
    this.#marks = options.editor.comments;
    this.#view = options.editor.view;
  }

  get isBegun() {
    return this.#composer !== undefined;
  }

  /**
   * Begins a comment on a range. If an unfinished one has text, it gets the focus instead.
   *
   * @param {Range} range
   */
  begin(range) {
    if (this.#composer && !this.#composer.isEmpty) {
      this.#composer.focus();
      return;
    }
    if (this.#composer) this.#end();
    this.#hold(range);
    const composer = this.#makeComposer();
    this.#composer = composer;
    this.#place.replaceChildren(this.#quoteOf(range), composer.element);
    this.#place.hidden = false;
    this.#options.redraw();
    composer.focus();
  }

  /** Called when the connection is restored. */
  retry() {
    this.#composer?.retry();
  }

  /** Called when the note is left; the text stays in the drawer. */
  close() {
    this.#composer = undefined;
    this.#place.hidden = true;
    this.#place.replaceChildren();
  }

  #makeComposer() {
    const { text, keep, drop, submit, failed } = this.#options.sending();
    /** @type {Composer} */
    const composer = new Composer({
      label: t("comments.yours"),
      send: t("comments.comment"),
      text,
      bytesMax: () => this.#options.comments.textBytesMax,
      submit: async (words) => {
        const problem = await submit(words);
        if (problem === undefined) {
          this.#deselect();
          this.#endAtText();
        }
        return problem;
      },
      failed,
      cancel: () => {
        drop();
        this.#endAtText();
      },
      changed: () => keep(composer.text),
    });
    return composer;
  }

  /** @param {Range} range */
  #quoteOf({ from, to }) {
    const quote = document.createElement("p");
    quote.className = "quote";
    quote.dir = "auto";
    quote.textContent = this.#view.state.doc.sliceString(from, Math.min(to, from + quoteMax));
    return quote;
  }

  /** @param {Range | undefined} range The range to mark; undefined to remove the mark. */
  #hold(range) {
    const others = this.#marks.marksOf(this.#view).filter(({ id }) => id !== "");
    this.#marks.set(this.#view, range ? [{ id: "", ...range }, ...others] : others);
  }

  /** Deselects the comment's range, so that no button offers another comment on it. */
  #deselect() {
    const held = this.#marks.marksOf(this.#view).find(({ id }) => id === "");
    const { from, to } = this.#view.state.selection.main;
    if (held && held.from === from && held.to === to) this.#view.dispatch({ selection: { anchor: to } });
  }

  #end() {
    this.close();
    this.#hold(undefined);
    this.#options.redraw();
  }

  #endAtText() {
    this.#end();
    this.#view.focus();
  }
}
