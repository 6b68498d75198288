// The title above the text.

import { byId, toast } from "../ground/dialogs.js";
import { t } from "../ground/language.js";
import { isOfComposition } from "../ground/shortcuts.js";
import { untitled } from "../state/newnote.js";
import { copyText, renameNote } from "./noteactions.js";
import { oneLine } from "../ground/oneline.js";
import { page } from "../state/page.js";
import { connection, list } from "../state/session.js";
import { messageOf } from "../client/words.js";

export const titleField = /** @type {HTMLTextAreaElement} */ (byId("title"));

const growsByItself = globalThis.CSS?.supports("field-sizing", "content") ?? true;

/** Makes the field as high as its text in browsers without `field-sizing`. */
function grow() {
  if (growsByItself) return;
  titleField.style.height = "auto";
  titleField.style.height = `${titleField.scrollHeight + 2}px`;
}

/** Whether the user has typed in the field since entering it. */
let isEdited = false;

/** The title of the note that is shown. */
function titleNow() {
  if (page.newNote) return page.newNote.title;
  return page.current ? list.titleOfOpen(page.current) : "";
}

/**
 * Sets the field's text, and selects it if the former text was selected.
 *
 * @param {string} title
 */
function put(title) {
  const { value, selectionStart, selectionEnd } = titleField;
  const isSelected = value !== "" && selectionStart === 0 && selectionEnd === value.length;
  titleField.value = title;
  if (isSelected && document.activeElement === titleField) titleField.select();
}

/** Draws the title as the window's title, and in the field unless the user is typing there. */
export function drawTitle() {
  const id = page.place ?? "";
  const title = titleNow();
  if (!isEdited || titleField.dataset.note !== id) {
    if (titleField.value !== title) put(title);
    titleField.dataset.note = id;
    isEdited = false;
    grow();
  }
  const { current } = page;
  // A person who may not see the note is not to take it for one without a title.
  const isShut = current && !current.hasText && connection.status.state === "stopped";
  const isGone = isShut || current?.phase === "deleted" || current?.phase === "failed";
  titleField.placeholder = isGone ? "" : untitled;
  byId("note-heading").textContent = title || (isGone ? t("note.label") : untitled);
  const name = page.place !== undefined && (title || titleField.placeholder);
  document.title = name ? `${name} · Parley` : "Parley";
}

/** Renames the note if the user has changed the title in the field. */
export function keepTitle() {
  page.typedTitle = undefined;
  const { note: id } = titleField.dataset;
  if (!isEdited || !page.current || !id || id !== page.current.documentId || titleField.disabled) return;
  const value = oneLine(titleField.value);
  if (value !== titleNow()) void renameNote(id, value);
}

/** Ends typing in the field: field and list show the note's title again. */
function endTyping() {
  isEdited = false;
  page.typedTitle = undefined;
  page.emit("notes", undefined);
}

/** @param {() => void} proceed Called after Enter or Escape, to move to the text. */
export function setUpTitle(proceed) {
  titleField.addEventListener("keydown", (event) => {
    if (isOfComposition(event)) return;
    if (event.key === "Escape") {
      endTyping();
      drawTitle();
    } else if (event.key !== "Enter") return;
    event.preventDefault();
    proceed();
  });
  titleField.addEventListener("input", () => {
    isEdited = true;
    grow();
    const title = oneLine(titleField.value);
    if (page.newNote) page.newNote.title = title;
    else if (page.current) page.typedTitle = { id: page.current.documentId, title };
    page.emit("notes", undefined);
  });
  titleField.addEventListener("blur", () => {
    keepTitle();
    endTyping();
    drawTitle();
  });
  addEventListener("resize", grow);
  list.on("changed", drawTitle);
  list.on("refused", ({ title, error }) => {
    const said = t("note.titleFailed", { reason: messageOf(error) });
    toast(said, { label: t("notice.copyMine"), run: () => void copyText(title) });
  });
}
