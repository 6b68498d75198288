// Whether an editor's selection is in the visible part of the editor.

/**
 * @param {{readonly scrollDOM: HTMLElement}} view
 * @param {{top: number} | null} start The places of both ends on the screen; null for one that is not drawn, because it
 *   is far out of sight.
 * @param {{bottom: number} | null} end
 */
export function isInSight(view, start, end) {
  const { top, bottom } = view.scrollDOM.getBoundingClientRect();
  return (!start || start.top < bottom) && (!end || end.bottom > top);
}
