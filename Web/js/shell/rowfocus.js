// The focus in a list of a dialog: where a row goes away with its button, it does not fall out of the dialog.

/** @param {HTMLElement} list @param {Element} row */
export const placeOf = (list, row) => Math.max(0, [...list.children].indexOf(row));

/**
 * Moves the focus, if it has fallen to the page, to the button of the row that is at a place now, else of the nearest
 * one after it or before it, else to what closes the dialog. Of several buttons the last one is meant: it removes a row.
 *
 * @param {HTMLElement} list
 * @param {number} place Of the row that is gone.
 */
export function focusRowAt(list, place) {
  const focused = document.activeElement;
  const dialog = list.closest("dialog");
  if (focused && focused !== document.body && focused !== dialog) return;
  const rows = [...list.children];
  const buttons = [...rows.slice(place), ...rows.slice(0, place).reverse()].map((row) => [...row.querySelectorAll("button")].at(-1));
  const next = buttons.find((button) => button !== undefined) ?? dialog?.querySelector("[data-close]");
  /** @type {HTMLElement | null | undefined} */ (next)?.focus();
}
