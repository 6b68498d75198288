// Before the page has started: keeps the latest click on a button for the code that will listen to it, and
// says so when the start takes long or fails.
//
// A classic script on purpose: it listens before the first button is there. The modules come later than the
// buttons, over a slow line much later, and a browser's `load` event does not wait for them.
(() => {
  /** How long a start may take until the person is told; milliseconds. */
  const patience = 20_000;

  /** @type {HTMLElement | undefined} The button that was clicked last. */
  let clicked;
  /** @type {HTMLElement | undefined} */
  let message;

  /** @param {Event} event */
  const keepClick = (event) => {
    const button = /** @type {HTMLElement} */ (event.target).closest?.("button[id]");
    if (!button) return;
    clicked?.removeAttribute("aria-busy");
    clicked = /** @type {HTMLElement} */ (button);
    clicked.setAttribute("aria-busy", "true");
  };

  /** @param {string} text */
  const say = (text) => {
    message?.remove();
    message = document.createElement("div");
    message.className = "broken";
    message.setAttribute("role", "alert");
    const words = document.createElement("p");
    words.textContent = text;
    const reload = document.createElement("button");
    reload.type = "button";
    reload.className = "button";
    reload.textContent = "Reload";
    reload.addEventListener("click", () => location.reload());
    message.append(words, reload);
    document.body.append(message);
  };

  const timer = setTimeout(() => {
    say(
      "Parley is still starting: the line is slow, or a part of the page does not come. It goes on by " +
        "itself when that is there; if nothing happens, reload the page.",
    );
  }, patience);

  const stop = () => {
    clearTimeout(timer);
    document.removeEventListener("click", keepClick, true);
    clicked?.removeAttribute("aria-busy");
  };

  document.addEventListener("click", keepClick, true);
  document.addEventListener(
    "parley-started",
    () => {
      stop();
      message?.remove();
      // A button that the start has hidden would do nothing.
      if (clicked && !clicked.hidden) clicked.click();
      clicked = undefined;
    },
    { once: true },
  );
  document.addEventListener(
    "parley-failed",
    () => {
      stop();
      say(
        "Parley could not start here. Reload the page; if that does not help, the browser may be too " +
          "old, or a part of the page could not be fetched.",
      );
    },
    { once: true },
  );
})();
