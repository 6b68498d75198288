// The dialog by which a note is moved: to a folder that is there, or to a new one.

import { byId, openDialog } from "../shell/dialogs.js";
import { RequestError } from "../client/http.js";
import { t } from "../shell/language.js";
import { folders } from "../session.js";
import { messageOf } from "../words.js";

/**
 * Asks where a note is to go, until it is there or the person gives up.
 *
 * @param {object} note
 * @param {string} note.title
 * @param {string} note.folder
 * @param {(folder: string) => Promise<void>} move Fails with what is shown.
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
  form.onsubmit = async (event) => {
    event.preventDefault();
    yes.disabled = true;
    problem.textContent = "";
    try {
      // One letter has one form, whatever keyboard it comes from.
      await move(field.value.normalize("NFC").trim());
      dialog.close();
    } catch (error) {
      const isUnfit = error instanceof RequestError && (error.status === 400 || error.status === 413);
      problem.textContent = isUnfit ? t("folder.unfit") : t("folder.moveFailed", { reason: messageOf(error) });
      field.focus();
    } finally {
      yes.disabled = false;
    }
  };
  const isOver = openDialog(dialog);
  field.select();
  await isOver;
}
