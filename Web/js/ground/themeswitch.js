// The button that switches between light, dark and the system's theme. theme.js applies the choice before the first
// paint.

import { announce, byId } from "./dialogs.js";
import { t } from "./language.js";

function draw() {
  const chosen = document.documentElement.dataset.theme;
  const label = t(chosen === "dark" ? "theme.dark" : chosen === "light" ? "theme.light" : "theme.system");
  byId("theme").setAttribute("aria-label", label);
  byId("theme").title = label;
}

function next() {
  const isSystemDark = matchMedia("(prefers-color-scheme: dark)").matches;
  // The first press changes the visible theme; the third returns to the system's.
  const order = isSystemDark ? [undefined, "light", "dark"] : [undefined, "dark", "light"];
  const theme = order[(order.indexOf(document.documentElement.dataset.theme) + 1) % order.length];
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  try {
    if (theme) localStorage.setItem("parley.theme", theme);
    else localStorage.removeItem("parley.theme");
  } catch {
    // The storage is full: the choice lasts until the page is reloaded.
  }
  draw();
  announce(byId("theme").title);
}

/** Connects the button. */
export function setUpThemeSwitch() {
  draw();
  byId("theme").addEventListener("click", next);
}
