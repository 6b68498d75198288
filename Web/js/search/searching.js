// Opens the search of notes, whose code is loaded at its first use.

import { byId, toast } from "../ground/dialogs.js";
import { t } from "../ground/language.js";
import { loadPart } from "../ground/parts.js";
import { isApple, isOfComposition } from "../ground/shortcuts.js";

/**
 * @param {string} [words] The initial text of the field.
 * @param {(note: {id: string, title: string}) => void} [choose] Called with the chosen note, which is not opened then.
 */
export async function openSearch(words = "", choose) {
  try {
    const { showPalette } = await loadPart(() => import("./palette.js"));
    // Do not cover a dialog that has opened while the code was loading.
    if (!document.querySelector("dialog[open]")) showPalette(words, choose);
  } catch (error) {
    console.error(error);
    toast(t("search.failed"));
  }
}

/** Makes the button and the field of the list open the search. */
export function setUpSearching() {
  if (isApple(navigator)) byId("search-modifier").textContent = "⌘";
  // Load the palette when the first key of a shortcut is pressed: letters typed before the palette opens would go
  // elsewhere.
  const prepare = (/** @type {KeyboardEvent} */ { key }) => {
    if (key !== "Control" && key !== "Meta") return;
    document.removeEventListener("keydown", prepare);
    import("./palette.js").catch(() => {});
  };
  document.addEventListener("keydown", prepare);
  byId("search").addEventListener("click", () => void openSearch());
  const find = /** @type {HTMLInputElement} */ (byId("find"));
  find.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || isOfComposition(event)) return;
    event.preventDefault();
    void openSearch(find.value);
  });
}
