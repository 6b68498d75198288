// The dialog that moves a note to an existing folder or to a new one.

import { byId, openDialog, toast } from "../ground/dialogs.js";
import { RequestError } from "../client/http.js";
import { t } from "../ground/language.js";
import { folders } from "../state/session.js";
import { messageOf } from "../client/words.js";

/**
 * Asks for a note's folder until the note is moved or the user cancels.
 *
 * @param {object} note
 * @param {string} note.title
 * @param {string} note.folder
 * @param {(folder: string) => Promise<void>} move Rejects with the error to show.
 */
export async function askForFolder({ title, folder }, move) {
  const dialog = /** @type {HTMLDialogElement} */ (byId("move"));
  const field = /** @type {HTMLInputElement} */ (byId("move-field"));
  const problem = byId("move-problem");
  const yes = /** @type {HTMLButtonElement} */ (byId("move-yes"));
  byId("move-title").textContent = t("folder.moveTitle", { title });
  field.value = folder;
  problem.textContent = "";
  byId("move-folders").replaceChildren(
    ...folders.all
      .filter((one) => one.folder !== "" && folders.mayCreateIn(one.folder))
      .map((one) => {
        const option = document.createElement("option");
        option.value = one.folder;
        return option;
      }),
  );
  const form = /** @type {HTMLFormElement} */ (dialog.querySelector("form"));
  yes.disabled = false;
  form.onsubmit = submit;

  /** Whether the dialog is still open for this note; it may have been closed or opened for another since. */
  const isHere = () => dialog.open && form.onsubmit === submit;

  /** @param {Event} event */
  async function submit(event) {
    event.preventDefault();
    yes.disabled = true;
    problem.textContent = "";
    try {
      // Normalised, because keyboards enter some letters in different forms.
      await move(field.value.normalize("NFC").trim());
      if (isHere()) dialog.close();
    } catch (error) {
      const isUnfit = error instanceof RequestError && (error.status === 400 || error.status === 413);
      const words = isUnfit ? t("folder.unfit") : t("folder.moveFailed", { reason: messageOf(error) });
      if (!isHere()) {
        toast(words);
        return;
      }
      problem.textContent = words;
      field.focus();
    } finally {
      if (isHere()) yes.disabled = false;
    }
  }

  const isOver = openDialog(dialog);
  field.select();
  await isOver;
}
