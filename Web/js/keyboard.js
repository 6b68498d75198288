// Keys that work everywhere on the page.

import { byId } from "./dialogs.js";
import { createNote } from "./newnoteview.js";
import { page } from "./page.js";
import { goToPast, leavePast } from "./past.js";
import { closePeople } from "./peoplebar.js";
import { go } from "./routes.js";
import { focusText } from "./textplace.js";

/** Makes them work. */
export function setUpKeyboard() {
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !byId("people-panel").hidden) {
      closePeople();
      byId("people").focus();
      return;
    }
    if (!event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    // By place on the keyboard: with Alt, some layouts give other letters.
    if (event.code === "KeyN") createNote();
    else if (event.code === "KeyL") {
      const open = byId("notes").querySelector(".is-open .note-link, .note-link");
      if (byId("app").dataset.view === "note" && matchMedia("(max-width: 720px)").matches) go("/");
      /** @type {HTMLElement | null} */ (open)?.focus();
    } else if (event.code === "KeyE" && !page.past) focusText();
    else if (document.querySelector("dialog[open]")) return;
    else if (event.code === "KeyH" && page.past) leavePast();
    else if (event.code === "KeyH" && page.current?.hasText) goToPast(page.current.documentId);
    else return;
    event.preventDefault();
  });
  document.querySelector(".skip")?.addEventListener("click", (event) => {
    event.preventDefault();
    focusText();
  });
}
