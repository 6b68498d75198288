// Keyboard shortcuts that work everywhere on the page.

import { offer } from "../state/commands.js";
import { commentHere } from "../comments/commenting.js";
import { byId, toast } from "../ground/dialogs.js";
import { t } from "../ground/language.js";
import { createNote } from "../notes/newnoteview.js";
import { page } from "../state/page.js";
import { loadPart } from "../ground/parts.js";
import { goToPast, leavePast } from "../history/past.js";
import { closePeople } from "../people/peoplebar.js";
import { go, home } from "../state/routes.js";
import { openSearch } from "../search/searching.js";
import { isApple, isHelpKey, isOfComposition, isSearchKey, shortcutOf } from "../ground/shortcuts.js";
import { focusText } from "./textplace.js";

/** Whether Control is needed as well, because Option alone types characters. */
const isMac = isApple(navigator);

/** Shows the list of shortcuts. */
async function openHelp() {
  try {
    const { showHelp } = await loadPart(() => import("./help.js"));
    // Another dialog may have opened while the code was loading.
    if (!document.querySelector("dialog[open]")) await showHelp();
  } catch (error) {
    console.error(error);
    toast(t("help.failed"));
  }
}

/** @param {Event} event Whether it goes into a text field or the editor. */
function isTyping(event) {
  const [target] = event.composedPath();
  return target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"));
}

/** @param {KeyboardEvent} event */
function follow(event) {
  if (isHelpKey(event, isTyping(event))) {
    event.preventDefault();
    if (!document.querySelector("dialog[open]")) void openHelp();
    return;
  }
  if (isSearchKey(event, isMac)) {
    // The browser's own shortcut would leave the page.
    event.preventDefault();
    event.stopPropagation();
    if (!document.querySelector("dialog[open]")) void openSearch();
    return;
  }
  const shortcut = shortcutOf(event, isMac);
  if (!shortcut || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  event.stopPropagation();
  switch (shortcut) {
    case "create":
      createNote();
      break;
    case "list":
      focusList();
      break;
    case "text":
      if (!page.past) focusText();
      break;
    case "comment":
      if (!page.past) commentHere();
      break;
    case "history":
      if (page.past) leavePast();
      else if (page.current?.hasText) goToPast(page.current.documentId);
      break;
  }
}

/** Moves the focus to the open note in the list, or to the first note. */
function focusList() {
  const open = byId("notes").querySelector(".is-open .note-link") ?? byId("notes").querySelector(".note-link");
  if (byId("app").dataset.view === "note" && matchMedia("(max-width: 720px)").matches) go(home);
  /** @type {HTMLElement | null} */ (open)?.focus();
}

/** Connects the shortcuts. */
export function setUpKeyboard() {
  if (isMac) {
    for (const key of document.querySelectorAll("kbd[data-modifier]")) {
      const control = document.createElement("kbd");
      control.textContent = "Control";
      key.textContent = "Option";
      key.before(control, " ");
    }
  }
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !isOfComposition(event) && !byId("people-panel").hidden) {
      closePeople();
      byId("people").focus();
      return;
    }
  });
  offer(() => [{ label: t("help.open"), icon: "help", keys: "F1", run: () => void openHelp() }]);
  // In the capture phase, because the editor has other uses for some of these keys.
  document.addEventListener("keydown", follow, { capture: true });
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault();
    focusText();
  });
  byId("skip-to-list").addEventListener("click", (event) => {
    event.preventDefault();
    focusList();
  });
}
