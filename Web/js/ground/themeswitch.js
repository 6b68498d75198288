// The button for light, dark, or the system's theme. The choice is applied before the first paint:
// theme.js.

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
    // Then the choice lasts as long as the page.
  }
  draw();
  announce(byId("theme").title);
}

/** Makes the page's button of that name work. */
export function setUpThemeSwitch() {
  draw();
  byId("theme").addEventListener("click", next);
}
