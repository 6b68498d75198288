// Follows links in a text.

import { fileIn, saveFile } from "./files.js";
import { safeAddress } from "./safeaddress.js";
import { t } from "../ground/language.js";
import { toast } from "../ground/dialogs.js";
import { placeIn, placeOfHeading } from "./notelinks.js";
import { page } from "../state/page.js";
import { go, pathOf } from "../state/routes.js";
import { messageOf } from "../client/words.js";

/**
 * Goes to a note, and to a heading in it.
 *
 * @param {{note?: string, heading?: string}} place Without a note, the open one.
 */
export function goToPlace({ note, heading }) {
  const id = note ?? page.current?.documentId;
  if (id !== undefined) go(pathOf(id, heading === undefined ? undefined : placeOfHeading(heading)));
}

/**
 * Downloads a file of the open note.
 *
 * @param {string} file
 */
export async function saveFileHere(file) {
  const note = page.current?.documentId;
  if (note === undefined) return;
  try {
    if (!(await saveFile(note, file))) toast(t("file.gone"));
  } catch (error) {
    toast(t("note.downloadFailed", { reason: messageOf(error) }));
  }
}

/**
 * Follows a link of the text: to a note or heading, to a file of the note, or to another site in a new tab.
 *
 * @param {string} url As written in the text.
 */
export function followAddress(url) {
  const place = placeIn(url);
  const file = fileIn(url);
  if (place) goToPlace(place);
  else if (file !== undefined) void saveFileHere(file);
  else {
    const address = safeAddress(url.replace(/^<|>$/g, "").replace(/\\([!-/:-@[-`{-~])/g, "$1"));
    if (address === undefined) toast(t("note.linkRefused"));
    else window.open(address, "_blank", "noopener,noreferrer");
  }
}
