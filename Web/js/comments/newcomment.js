// A new comment, from the selection of its range until it is sent or discarded: the range, held in the editor, and the
// field above the threads.

import { byId } from "../shell/dialogs.js";
import { composer } from "./composer.js";
import { t } from "../shell/language.js";

/**
 * @param {object} options
 * @param {ReturnType<typeof import("../editing/editor.js").createEditor>} options.editor
 * @param {import("./comments.js").Comments} options.comments
 * @param {() => import("./commentsender.js").CommentSender} options.sending Asked for when one is begun.
 * @param {() => void} options.redraw Draws the threads again.
 */
export function newComment({ editor, comments, sending, redraw }) {
  const { comments: marks, view } = editor;
  const place = byId("comment-new");
  /** @type {ReturnType<typeof composer> | undefined} */
  let form;

  /** @param {{from: number, to: number} | undefined} range That is held; none otherwise. */
  function hold(range) {
    const others = marks.marksOf(view).filter(({ id }) => id !== "");
    marks.set(view, range ? [{ id: "", ...range }, ...others] : others);
  }

  function clear() {
    form = undefined;
    place.hidden = true;
    place.replaceChildren();
  }

  function end() {
    clear();
    hold(undefined);
    redraw();
  }

  /** Deselects the comment's range, so that no button offers another comment on it. */
  function deselect() {
    const held = marks.marksOf(view).find(({ id }) => id === "");
    const { from, to } = view.state.selection.main;
    if (held && held.from === from && held.to === to) view.dispatch({ selection: { anchor: to } });
  }

  function endAtText() {
    end();
    view.focus();
  }

  return {
    get isBegun() {
      return form !== undefined;
    },
    /**
     * Begins a comment on a range, unless one with words is begun already, which gets the focus.
     *
     * @param {{from: number, to: number}} range In UTF-16 units.
     */
    begin({ from, to }) {
      if (form && !form.isEmpty) {
        form.focus();
        return;
      }
      if (form) end();
      hold({ from, to });
      const { text, keep, drop, submit, failed } = sending();
      const own = composer({
        label: t("comments.yours"),
        send: t("comments.comment"),
        text,
        bytesMax: () => comments.textBytesMax,
        async submit(words) {
          const problem = await submit(words);
          if (problem === undefined) {
            deselect();
            endAtText();
          }
          return problem;
        },
        failed,
        cancel() {
          drop();
          endAtText();
        },
        changed: () => keep(own.text),
      });
      form = own;
      const quote = document.createElement("p");
      quote.className = "quote";
      quote.dir = "auto";
      quote.textContent = view.state.doc.sliceString(from, Math.min(to, from + 400));
      place.replaceChildren(quote, own.element);
      place.hidden = false;
      redraw();
      own.focus();
    },
    /** Called when the server can be reached again. */
    retry: () => form?.retry(),
    /** Called when the note is left: the text stays in the drawer. */
    close: clear,
  };
}
