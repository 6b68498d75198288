// Addresses that a text links to: which are followed, and how.

import { fileIn, saveFile } from "./files.js";
import { t } from "../shell/language.js";
import { toast } from "../shell/dialogs.js";
import { placeIn, placeOfHeading } from "../reading/notelinks.js";
import { page } from "../page.js";
import { go, pathOf } from "../routes.js";
import { messageOf } from "../words.js";

/** Where a link may lead. */
const schemes = new Set(["http:", "https:", "mailto:", "tel:"]);

/** @param {string} text */
const withoutEscapes = (text) => text.replace(/\\([!-/:-@[-`{-~])/g, "$1");

/**
 * The address that a link leads to; undefined for one that is not followed, such as a script.
 *
 * @param {string} url
 */
export function safeAddress(url) {
  const plain = withoutEscapes(url.replace(/^<|>$/g, "")).trim();
  try {
    const address = new URL(/^www\./i.test(plain) ? `https://${plain}` : plain, location.href);
    return schemes.has(address.protocol) ? address.href : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Goes to a note, and to a heading in it.
 *
 * @param {{note?: string, heading?: string}} place Without a note, the one that is open.
 */
export function goToPlace({ note, heading }) {
  const id = note ?? page.current?.documentId;
  if (id !== undefined) go(pathOf(id, heading === undefined ? undefined : placeOfHeading(heading)));
}

/**
 * Saves a file of the note that is open.
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
 * Follows a link of the text: to a place here, to a file of the note, or elsewhere in a new tab.
 *
 * @param {string} url
 */
export function followAddress(url) {
  const place = placeIn(url);
  const file = fileIn(url);
  if (place) goToPlace(place);
  else if (file !== undefined) void saveFileHere(file);
  else {
    const address = safeAddress(url);
    if (address === undefined) toast(t("note.linkRefused"));
    else window.open(address, "_blank", "noopener,noreferrer");
  }
}
