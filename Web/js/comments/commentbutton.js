// The button for a comment, beside the text's selection.

import { byId } from "../ground/dialogs.js";
import { isInSight } from "../ground/insight.js";

/**
 * @param {object} options
 * @param {NonNullable<typeof import("../state/page.js").page.editor>["view"]} options.view
 * @param {() => boolean} options.isWanted Whether a comment may be begun now.
 * @param {() => void} options.begin
 */
export function commentButton({ view, isWanted, begin }) {
  const button = byId("comment-here");
  let isClosed = false;
  const hide = () => {
    // Hiding it again would cost the browser work at each change of the text.
    if (!button.hidden) button.hidden = true;
  };
  const draw = () => {
    const { empty, from, to, head } = view.state.selection.main;
    hide();
    if (empty || !isWanted()) return;
    requestAnimationFrame(() => {
      if (isClosed || view.state.selection.main.empty) return;
      const end = view.state.doc.length;
      const place = view.coordsAtPos(Math.min(head, end));
      if (!place || !isInSight(view, view.coordsAtPos(Math.min(from, end)), view.coordsAtPos(Math.min(to, end)))) return;
      const paper = byId("paper").getBoundingClientRect();
      button.hidden = false;
      const { width, height } = button.getBoundingClientRect();
      const left = Math.min(Math.max(8, place.left - paper.left - width / 2), paper.width - width - 8);
      const below = place.bottom - paper.top + 6;
      button.style.left = `${left}px`;
      button.style.top = `${Math.max(4, below + height > paper.height ? place.top - paper.top - height - 6 : below)}px`;
    });
  };
  // Not only the user scrolls: the first visible line stays where it is while others write above it.
  view.scrollDOM.addEventListener("scroll", draw);
  // On a phone, a button that took the focus would end the selection.
  button.onpointerdown = (event) => event.preventDefault();
  button.onclick = begin;

  return {
    /** Moves the button to the selection. */
    draw,
    close() {
      isClosed = true;
      hide();
      button.onclick = null;
      view.scrollDOM.removeEventListener("scroll", draw);
    },
  };
}
