// Runs before the page has started: stores the latest click on a button for the code that will handle it, and shows a
// message if the start takes long or fails. A cached page from before an upgrade refers to files that the server no
// longer has: it is reloaded.
//
// A classic script, because it must listen before the first button is drawn. Modules are loaded after the buttons, on a
// slow connection much later, and a browser's `load` event does not wait for them. The block keeps its names out of the
// global scope.
{
  /** Time after which the page shows that the start takes long; milliseconds. */
  const patience = 20_000;

  /** Minimum time between reloads, as in parts.js; milliseconds. */
  const reloadEvery = 60_000;
  const reloadKey = "parley.reloaded";

  /** @type {HTMLElement | undefined} The last clicked button. */
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

  /** @param {string} id A hidden element that contains the text: in English, until the page's language is loaded. */
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

  /** @param {Event} event A file of the page could not be loaded. */
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
      // Without storage the page cannot record that it has reloaded.
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
      // Do not click a button that the start has hidden.
      if (clicked && !clicked.hidden) clicked.click();
      clicked = undefined;
    },
    { once: true },
  );
  document.addEventListener("parley-failed", fail, { once: true });
}
