// Lists of buttons with one Tab stop each; arrow keys move within them.

/**
 * Makes one button of a list the Tab stop: the focused one, or else the pressed one, or else the first.
 *
 * @param {HTMLElement} box
 */
export function drawTabStop(box) {
  const buttons = /** @type {HTMLElement[]} */ ([...box.querySelectorAll("button")]);
  const isShown = (/** @type {HTMLElement | undefined} */ one) => one?.offsetParent !== null;
  const stop =
    buttons.find((one) => one === document.activeElement) ??
    buttons.find((one) => one.getAttribute("aria-pressed") === "true" && isShown(one)) ??
    buttons.find(isShown);
  for (const one of buttons) one.tabIndex = one === stop ? 0 : -1;
}

/** @param {HTMLElement} box A list whose arrow keys another part handles. */
export function keepTabStop(box) {
  box.addEventListener("focusin", () => drawTabStop(box));
}

/**
 * Moves the focus in a list by arrow keys, Home and End.
 *
 * @param {HTMLElement} box
 */
export function stepWithin(box) {
  keepTabStop(box);
  box.addEventListener("keydown", (event) => {
    const buttons = /** @type {HTMLElement[]} */ ([...box.querySelectorAll("button")]);
    const index = buttons.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    const isRight = getComputedStyle(box).direction === "rtl";
    const step = { ArrowDown: 1, ArrowUp: -1, ArrowRight: isRight ? -1 : 1, ArrowLeft: isRight ? 1 : -1 }[event.key];
    const next = step ? buttons[index + step] : { Home: buttons[0], End: buttons.at(-1) }[event.key];
    if (!next || index < 0) return;
    next.focus();
    event.preventDefault();
  });
}
