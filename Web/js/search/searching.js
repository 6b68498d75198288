// Opens the search of notes, whose window is fetched at its first use.

import { byId, toast } from "../ground/dialogs.js";
import { t } from "../ground/language.js";
import { loadPart } from "../ground/parts.js";
import { isApple, isOfComposition } from "../ground/shortcuts.js";

/**
 * @param {string} [words] To begin with.
 * @param {(note: {id: string, title: string}) => void} [choose] In place of opening the note.
 */
export async function openSearch(words = "", choose) {
  try {
    const { showPalette } = await loadPart(() => import("./palette.js"));
    // Not over a dialog that has opened while it was fetched.
    if (!document.querySelector("dialog[open]")) showPalette(words, choose);
  } catch (error) {
    console.error(error);
    toast(t("search.failed"));
  }
}

/** Makes the button and the field of the list open the search. */
export function setUpSearching() {
  if (isApple(navigator)) byId("search-modifier").textContent = "⌘";
  // The palette is fetched as soon as a key that begins a shortcut is pressed, for letters that are typed before the
  // palette opens would go elsewhere.
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
