// What can be done with a note, from the list, the bar above it, or a notice.

import { announce, confirm, copy, toast } from "./dialogs.js";
import { untitled } from "./newnote.js";
import { notes } from "./opennotes.js";
import { page } from "./page.js";
import { go, home, noteIn, pathOf } from "./routes.js";
import { mayManage } from "./rights.js";
import { connection, early, list } from "./session.js";
import { openSharing } from "./sharing.js";
import { messageOf, quoted } from "./words.js";
import { drawCount } from "./wordcount.js";

/** @param {string} id @param {string} title */
export async function renameNote(id, title) {
  try {
    const isDone = await list.rename(id, title);
    const note = notes.get(id);
    if (!isDone) toast("The title is kept, and set when the server can be reached.");
    else if (note) note.title = title;
  } catch (error) {
    toast(`The title was not changed. ${messageOf(error)}`);
  }
}

/** @param {string} id */
export async function removeNote(id) {
  const title = list.titleOf(id) || untitled;
  const isSure = await confirm({
    title: `Delete ${quoted(title)}?`,
    text: "It goes away for everybody, with its history. This cannot be undone.",
    yes: "Delete note",
  });
  if (!isSure) return;
  try {
    await list.remove(id);
    announce(`${quoted(title)} was deleted.`);
    if (noteIn(location.pathname) === id) go(home);
  } catch (error) {
    toast(`The note was not deleted. ${messageOf(error)}`);
  }
}

/** @param {string} id */
export async function shareNote(id) {
  const address = new URL(pathOf(id), location.href).href;
  // Who may not make a link can pass on the address.
  if (!mayManage(id)) toast((await copy(address)) ? "Link copied." : address);
  else {
    const title = list.titleOf(id) || untitled;
    const isDemo = connection.welcome?.demo ?? false;
    await openSharing({ id, title, address, isDemo, isWritable: list.may(id, "write") ?? true });
  }
}

/** The note's text, or as much of it as there is here. */
export async function copyText(text = page.current?.text ?? early.text(page.place ?? "")) {
  toast((await copy(text)) ? "Text copied." : "The browser did not allow copying.");
}

/** Gives up the edits that the server refused. */
export async function discard() {
  const isSure = await confirm({
    title: "Discard your unsaved changes?",
    text: "The note goes back to what everybody else sees.",
    yes: "Discard them",
  });
  if (!isSure || !page.current) return;
  page.editor?.destroy();
  page.editor = undefined;
  page.current.discardUnconfirmed();
  drawCount();
}
