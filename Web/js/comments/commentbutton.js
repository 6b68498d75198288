// The button beside what is selected in the text, for a comment on it.

import { byId } from "../shell/dialogs.js";

/**
 * @param {object} options
 * @param {import("../codemirror.js").EditorView} options.view
 * @param {() => boolean} options.isWanted Whether a comment may be begun now.
 * @param {() => void} options.begin
 */
export function commentButton({ view, isWanted, begin }) {
  const button = byId("comment-here");
  let isClosed = false;
  const hide = () => {
    // To hide it again would cost the browser work at each change of the text.
    if (!button.hidden) button.hidden = true;
  };
  view.scrollDOM.addEventListener("scroll", hide);
  // A button that took the focus would take the selection with it, on a phone.
  button.onpointerdown = (event) => event.preventDefault();
  button.onclick = begin;

  return {
    /** Puts it where the selection is now. */
    draw() {
      const { empty, head } = view.state.selection.main;
      hide();
      if (empty || !isWanted()) return;
      requestAnimationFrame(() => {
        if (isClosed) return;
        const place = view.coordsAtPos(Math.min(head, view.state.doc.length));
        if (!place || view.state.selection.main.empty) return;
        const paper = byId("paper").getBoundingClientRect();
        button.hidden = false;
        const { width, height } = button.getBoundingClientRect();
        const left = Math.min(Math.max(8, place.left - paper.left - width / 2), paper.width - width - 8);
        const below = place.bottom - paper.top + 6;
        button.style.left = `${left}px`;
        button.style.top = `${Math.max(4, below + height > paper.height ? place.top - paper.top - height - 6 : below)}px`;
      });
    },
    close() {
      isClosed = true;
      hide();
      button.onclick = null;
      view.scrollDOM.removeEventListener("scroll", hide);
    },
  };
}
