// The button that selects the page's language. chooselanguage.js applies the choice before the first paint.

import { byId, openMenu, toast } from "../ground/dialogs.js";
import { language, languages, t, textsOf } from "../ground/language.js";

const key = "parley.language";

function stored() {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** @param {string | null} chosen Null for the browser's language. */
async function choose(chosen) {
  try {
    // Loading the texts checks that they are available, and lets the worker cache them.
    if (chosen) await textsOf(chosen);
  } catch (error) {
    console.warn(error);
    toast(t("language.missing"));
    return;
  }
  try {
    if (chosen) localStorage.setItem(key, chosen);
    else localStorage.removeItem(key);
  } catch {
    toast(t("language.notKept"));
    return;
  }
  location.reload();
}

/** Connects the button. */
export function setUpLanguageMenu() {
  byId("language").addEventListener("click", () => {
    const chosen = stored();
    openMenu(byId("language"), [
      ...Object.entries(languages).map(([tag, name]) => ({
        label: name,
        language: tag,
        isChosen: chosen !== null && tag === language,
        run: () => void choose(tag),
      })),
      { label: t("language.automatic"), isChosen: chosen === null, run: () => void choose(null) },
    ]);
  });
}
