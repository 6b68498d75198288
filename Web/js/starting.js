// Before the page has started: keeps the latest click on a button for the code that will listen to it, and
// says so when the start takes long or fails. A page that a browser has kept since before an upgrade names files
// that the server has no longer: it is reloaded.
//
// A classic script on purpose: it listens before the first button is there. The modules come later than the
// buttons, over a slow line much later, and a browser's `load` event does not wait for them. A block, so that none of
// its names is global.
{
  /** How long a start may take before the page shows a message; milliseconds. */
  const patience = 20_000;

  /** The least time between reloads, as in parts.js; milliseconds. */
  const reloadEvery = 60_000;
  const reloadKey = "parley.reloaded";

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

  /** @param {string} id Of the element that has the text, hidden: in English, until the page's language is there. */
  const textOf = (id) => document.getElementById(id)?.textContent ?? "";

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
    reload.textContent = textOf("starting-reload");
    reload.addEventListener("click", () => location.reload());
    message.append(words, reload);
    document.body.append(message);
  };

  const timer = setTimeout(() => {
    say(textOf("starting-slow"));
  }, patience);

  /** @param {Event} event A file of the page could not be fetched. */
  const miss = (event) => {
    const { tagName, rel } = /** @type {HTMLLinkElement} */ (event.target);
    if (tagName !== "SCRIPT" && !(tagName === "LINK" && rel === "stylesheet")) return;
    try {
      if (Math.abs(Date.now() - Number(sessionStorage.getItem(reloadKey) ?? 0)) >= reloadEvery) {
        sessionStorage.setItem(reloadKey, String(Date.now()));
        location.reload();
        return;
      }
    } catch {
      // Without storage the page could not tell that it has done so before.
    }
    fail();
  };

  const stop = () => {
    clearTimeout(timer);
    document.removeEventListener("error", miss, true);
    document.removeEventListener("click", keepClick, true);
    clicked?.removeAttribute("aria-busy");
  };

  const fail = () => {
    stop();
    say(textOf("starting-failed"));
  };

  document.addEventListener("click", keepClick, true);
  document.addEventListener("error", miss, true);
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
  document.addEventListener("parley-failed", fail, { once: true });
}
