// Keeps the focus in a dialog when a row of a list is removed with its button, or a button was disabled for a while.

/** @param {HTMLElement} list @param {Element} row */
export const placeOf = (list, row) => Math.max(0, [...list.children].indexOf(row));

/** @param {Element | null} dialog Whether the focus has fallen from what is in it. */
function isLost(dialog) {
  const focused = document.activeElement;
  return !focused || focused === document.body || focused === dialog;
}

/** @param {HTMLElement} button Of a dialog, that was pressed, and disabled meanwhile. */
export function keepFocusOn(button) {
  if (isLost(button.closest("dialog"))) button.focus();
}

/**
 * Moves the focus, if it has fallen to the page, to the button of the row that is at a place now, else of the nearest
 * one after it or before it, else to what closes the dialog. Of several buttons the last one is meant: it removes a row.
 *
 * @param {HTMLElement} list
 * @param {number} place Of the row that is gone.
 */
export function focusRowAt(list, place) {
  const dialog = list.closest("dialog");
  if (!isLost(dialog)) return;
  const rows = [...list.children];
  const buttons = [...rows.slice(place), ...rows.slice(0, place).reverse()].map((row) => [...row.querySelectorAll("button")].at(-1));
  const next = buttons.find((button) => button !== undefined) ?? dialog?.querySelector("[data-close]");
  /** @type {HTMLElement | null | undefined} */ (next)?.focus();
}
