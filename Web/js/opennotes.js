// Notes that are open, and those whose edits, or first words, still have to reach the server.

import { wellFormed } from "./editor.js";
import { removePending, savePending } from "./identity.js";
import { Note } from "./note.js";
import { page } from "./page.js";
import { connection, core, early, list, ownerNow } from "./session.js";

/** @type {Map<string, Note>} By id. */
export const notes = new Map();

const pending = {
  /** @param {Note} note @param {import("./note.js").Kept} record */
  save({ documentId, title }, record) {
    return savePending({ ...record, documentId, title, owner: ownerNow() });
  },
  /** @param {Note} note @param {string} clientId */
  remove: (note, clientId) => removePending(note.documentId, clientId),
};

/** @param {string} documentId @param {import("./note.js").Kept} [restored] */
export function openNote(documentId, restored) {
  let note = notes.get(documentId);
  if (!note) {
    const title = list.titleOf(documentId);
    note = new Note({ core, connection, documentId, title, pending, restored });
    notes.set(documentId, note);
    note.on("status", () => {
      if (note && note !== page.current) releaseWhenSaved(note);
      page.emit("notes", undefined);
    });
    note.on("reset", () => {
      if (note && note !== page.current) putEarlyWords(note);
    });
  }
  return note;
}

/**
 * What was typed into a note before its text came, and then another note was shown.
 *
 * @param {Note} note
 */
function putEarlyWords(note) {
  const words = note.isWritable ? early.take(note.documentId) : undefined;
  if (words) note.edit([{ from: 0, to: 0, insert: wellFormed(words.text) }]);
}

/**
 * A note that is not shown stays joined until its edits are saved.
 *
 * @param {Note} note
 */
export function releaseWhenSaved(note) {
  const isNeeded = () =>
    note === page.current || note.unconfirmedCount > 0 || (!note.hasText && early.text(note.documentId) !== "");
  if (isNeeded()) return;
  // Not from within the note's own event.
  queueMicrotask(() => {
    if (isNeeded() || notes.get(note.documentId) !== note) return;
    notes.delete(note.documentId);
    note.close();
  });
}
