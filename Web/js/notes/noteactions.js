// Actions on a note, from the list, the bar above the note, or a notice.

import { at } from "../ground/base.js";
import { announce, confirm, copy, hideToast, toast } from "../ground/dialogs.js";
import { request } from "../client/http.js";
import { lengthOf, t } from "../ground/language.js";
import { withLimit } from "../ground/limit.js";
import { untitled } from "../state/newnote.js";
import { notes } from "../state/opennotes.js";
import { page } from "../state/page.js";
import { loadPart } from "../ground/parts.js";
import { isName } from "../state/shortlink.js";
import { go, home, noteIn, pathOf } from "../state/routes.js";
import { mayManage } from "../account/rights.js";
import { access, connection, early, list, profile } from "../state/session.js";
import { messageOf } from "../client/words.js";
import { drawCount } from "../editing/wordcount.js";

/** @param {string} id @param {string} title */
export async function renameNote(id, title) {
  try {
    const isDone = await list.rename(id, title);
    const note = notes.get(id);
    if (!isDone) toast(t("note.titleKept"));
    else if (note) note.title = title;
  } catch (error) {
    toast(t("note.titleFailed", { reason: messageOf(error) }));
  }
}

/** Maximum time to wait for the server's retention time of deleted notes before the user is asked; milliseconds. */
const askWithin = 5_000;

/** @param {string} id */
export async function removeNote(id) {
  const title = list.titleOf(id) || untitled;
  // The text of the question depends on whether the note can be restored, so fetch that first.
  if (list.deletedAgeMax === undefined) await withLimit(list.refresh(), askWithin, undefined);
  const { deletedAgeMax = 0 } = list;
  const isSure = await confirm({
    title: t("remove.title", { title }),
    text:
      deletedAgeMax > 0
        ? t("remove.textForAWhile", { length: lengthOf(deletedAgeMax) })
        : t("remove.text"),
    yes: t("remove.yes"),
  });
  if (!isSure) return;
  try {
    await list.remove(id, profile.name);
    announce(t("remove.done", { title }));
    if (deletedAgeMax > 0) toast(t("remove.done", { title }), { label: t("remove.undo"), run: () => void undelete(id) });
    if (noteIn(location.pathname) === id) go(home);
  } catch (error) {
    toast(t("remove.failed", { reason: messageOf(error) }));
  }
}

/**
 * Restores a deleted note, and opens it.
 *
 * @param {string} id
 * @returns {Promise<boolean>} Whether it was restored.
 */
export async function undelete(id) {
  try {
    const { title } = await request(`/api/deleted/${encodeURIComponent(id)}/restore`, "POST");
    await list.refresh();
    hideToast();
    announce(t("deleted.back", { title: title || untitled }));
    go(pathOf(id));
    return true;
  } catch (error) {
    toast(t("deleted.backFailed", { reason: messageOf(error) }));
    return false;
  }
}

/** Opens the dialog of deleted notes. */
export async function openDeletedNotes() {
  try {
    const { showDeletedNotes } = await loadPart(() => import("./deletednotes.js"));
    await showDeletedNotes({ undelete });
  } catch (error) {
    console.error(error);
    toast(t("deleted.fetchFailed", { reason: messageOf(error) }));
  }
}

/**
 * Downloads the shown note, or all notes.
 *
 * @param {"md" | "txt" | "html" | "archive"} kind
 */
export async function download(kind) {
  try {
    const exporting = await loadPart(() => import("../exchange/exporting.js"));
    if (kind === "archive") await exporting.downloadAll(list.notes ?? [], toast);
    else {
      const title = page.current?.title || untitled;
      const text = page.current?.text ?? early.text(page.place ?? "");
      const { editor } = page;
      const formatted = editor?.kind === "rich" ? editor : undefined;
      const written = formatted && kind === "md" ? (await loadPart(() => import("../formatted/tomarkdown.js"))).toMarkdown(formatted.document) : text;
      await exporting.downloadText(kind, title, written, page.current?.documentId, formatted?.asPage());
    }
  } catch (error) {
    console.error(error);
    toast(t("note.downloadFailed", { reason: messageOf(error) }));
  }
}

/**
 * Moves a note to a folder, and shows a message with a button to undo it.
 *
 * @param {string} id
 * @param {string} folder "" for no folder.
 */
export async function moveNote(id, folder) {
  const before = list.folderOf(id) ?? "";
  if (folder === before) return;
  try {
    sayMoved(id, await list.move(id, folder), before);
  } catch (error) {
    toast(t("folder.moveFailed", { reason: messageOf(error) }));
  }
}

/** @param {string} id @param {string} folder @param {string} before */
function sayMoved(id, folder, before) {
  const title = list.titleOf(id) || untitled;
  const text = folder ? t("folder.moved", { title, folder }) : t("folder.movedOut", { title });
  announce(text);
  toast(text, { label: t("remove.undo"), run: () => void moveNote(id, before) });
}

/**
 * Asks for a folder, and moves a note to it.
 *
 * @param {string} id
 */
export async function moveNoteByDialog(id) {
  try {
    const { askForFolder } = await loadPart(() => import("./moving.js"));
    const before = list.folderOf(id) ?? "";
    await askForFolder({ title: list.titleOf(id) || untitled, folder: before }, async (folder) => {
      if (folder !== before) sayMoved(id, await list.move(id, folder), before);
    });
  } catch (error) {
    console.error(error);
    toast(t("folder.moveFailed", { reason: messageOf(error) }));
  }
}

/** @param {string} id */
export async function shareNote(id) {
  // A visitor who came by a short link shares the same link.
  const { key } = access.pass ?? {};
  const address = new URL(key && !isName(key) ? at(`/s/${key}`) : pathOf(id), location.href).href;
  const sharing = mayManage(id) ? await sharingPart() : undefined;
  // A user who may not create links, or whose page cannot load the dialog, shares the address.
  if (!sharing) toast((await copy(address)) ? t("note.linkCopied") : address);
  else {
    const title = list.titleOf(id) || untitled;
    const isDemo = connection.welcome?.demo ?? false;
    await sharing.openSharing({ id, title, address, isDemo, isWritable: list.may(id, "write") ?? true });
  }
}

/** Loads the dialog that creates links; undefined if that fails. */
async function sharingPart() {
  try {
    return await loadPart(() => import("./sharing.js"));
  } catch (error) {
    console.error(error);
    return undefined;
  }
}

/** Copies the note's text, or the part of it that this browser has. */
export async function copyText(text = page.current?.text ?? early.text(page.place ?? "")) {
  toast((await copy(text)) ? t("note.textCopied") : t("page.copyRefused"));
}

/** Discards the edits that the server rejected. */
export async function discard() {
  const note = page.current;
  const isSure = await confirm({
    title: t("discard.title"),
    text: t("discard.text"),
    yes: t("discard.yes"),
  });
  if (!isSure || !note || note !== page.current) return;
  page.editor?.destroy();
  page.editor = undefined;
  note.discardUnconfirmed();
  drawCount();
}
