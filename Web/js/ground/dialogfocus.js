// Keeps the focus in a dialog when a row is removed together with its button, or when a button was disabled for a
// while.

/** @param {HTMLElement} list @param {Element} row */
export const placeOf = (list, row) => Math.max(0, [...list.children].indexOf(row));

/** @param {Element | null} dialog Whether no element in it has the focus. */
function isLost(dialog) {
  const focused = document.activeElement;
  return !focused || focused === document.body || focused === dialog;
}

/** @param {HTMLElement} button A button of a dialog that was pressed and has been disabled since. */
export function keepFocusOn(button) {
  if (isLost(button.closest("dialog"))) button.focus();
}

/**
 * If the dialog has lost the focus, moves it to the row that is now at an index, else to the nearest row with a button,
 * else to the button that closes the dialog. In a row, the last button is focused: it removes the row.
 *
 * @param {HTMLElement} list
 * @param {number} place The index of the removed row.
 */
export function focusRowAt(list, place) {
  const dialog = list.closest("dialog");
  if (!isLost(dialog)) return;
  const rows = [...list.children];
  const buttons = [...rows.slice(place), ...rows.slice(0, place).reverse()].map((row) => [...row.querySelectorAll("button")].at(-1));
  const next = buttons.find((button) => button !== undefined) ?? dialog?.querySelector("[data-close]");
  /** @type {HTMLElement | null | undefined} */ (next)?.focus();
}
