// Open notes, and notes whose edits or early text the server does not have yet.

import { CoreError } from "../client/door.js";
import {
  adoptedIdentities, othersOf, pendingOf, removePending, savePending, setPendingAside,
} from "../client/identity.js";
import { followCopy, saveCopy } from "./keepingcopies.js";
import { page } from "./page.js";
import { connection, copies, core, early, list, ownerNow } from "./session.js";
import { ShownNote } from "./shownnote.js";
import { wellFormed } from "../ground/wellformed.js";

/** @typedef {import("../client/note.js").Note} Note */

/** @type {Map<string, ShownNote>} By id. */
export const notes = new Map();

const pending = {
  /**
   * @param {Note} note
   * @param {import("../client/note.js").Edits} edits
   * @param {import("../client/note.js").Base} base
   */
  save({ documentId, title }, edits, base) {
    return savePending({ ...edits, documentId, title, owner: ownerNow() }, base);
  },
  /** @param {Note} note @param {string} clientId */
  remove: (note, clientId) => removePending(note.documentId, clientId),
};

/** @param {string} documentId */
export function openNote(documentId) {
  let note = notes.get(documentId);
  if (note) {
    // It may have failed, and still have its edits.
    note.reopen();
  } else {
    note = noteAsLeft(documentId);
    notes.set(documentId, note);
    followCopy(note);
    note.on("status", () => {
      if (note) takeLeftBehind(note);
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
 * Opens a note with this client's unsaved edits, which new ones would overwrite.
 *
 * @param {string} documentId
 */
function noteAsLeft(documentId) {
  const options = { core, connection, documentId, title: list.titleOf(documentId), pending, formats: true };
  const kept = leftBehind(documentId);
  if (!kept) return noteAsCopied(options);
  try {
    return new ShownNote({ ...options, restored: kept });
  } catch (error) {
    if (!(error instanceof CoreError)) throw error;
    setPendingAside(documentId, kept.identity.id);
    const note = noteAsCopied(options);
    // Another version of the page wrote them, or they are corrupt. Emitted once the caller can listen.
    queueMicrotask(() => note.emit("notice", { kind: "aside" }));
    return note;
  }
}

/**
 * Opens a note with the text of its last copy.
 *
 * @param {ConstructorParameters<typeof ShownNote>[0]} options
 */
function noteAsCopied(options) {
  const copied = copies.of(options.documentId);
  if (!copied) return new ShownNote(options);
  try {
    return new ShownNote({ ...options, copied });
  } catch (error) {
    if (!(error instanceof CoreError)) throw error;
    // Another version wrote the copy. The server has the text.
    void copies.remove(options.documentId);
    return new ShownNote(options);
  }
}

/** Returns the identities under which this tab may send edits: its own, and those adopted from closed tabs. */
function identities() {
  const { identity } = connection;
  return identity ? [identity, ...adoptedIdentities()] : adoptedIdentities();
}

/** @param {string} documentId A note. Returns its unsent edits, of this tab or of an adopted one. */
function leftBehind(documentId) {
  for (const { id } of identities()) {
    const kept = pendingOf(documentId, id, ownerNow());
    if (kept) return kept;
  }
  return undefined;
}

/** @param {string} clientId Whether this tab sends the edits stored under it. */
export const isSentHere = (clientId) => identities().some(({ id }) => id === clientId);

/**
 * Returns the number of unsaved changes to a note. Edits of a closed tab that are not being sent yet count as one, so
 * that the note is not shown as saved.
 *
 * @param {Note} note
 */
export const unsavedIn = (note) =>
  note.unconfirmedCount + (adoptedIdentities().length > 0 ? othersOf(note.documentId, note.keptUnder).length : 0);

/**
 * Sends the edits of the next closed tab once the note is saved: several tabs may have left edits.
 *
 * @param {Note} note
 */
function takeLeftBehind(note) {
  if (note.phase !== "live" || note.unconfirmedCount > 0 || adoptedIdentities().length === 0) return;
  // Not within the note's own event.
  queueMicrotask(() => {
    if (notes.get(note.documentId) !== note || note.phase !== "live" || note.unconfirmedCount > 0) return;
    if (!leftBehind(note.documentId)) return;
    notes.delete(note.documentId);
    note.close();
    if (note === page.current) page.emit("renewed", undefined);
    else openNote(note.documentId);
  });
}

/**
 * Inserts early text into a note whose text arrived while another note was shown.
 *
 * @param {Note} note
 */
function putEarlyWords(note) {
  const words = note.isWritable ? early.take(note.documentId) : undefined;
  if (!words) return;
  note.edit([{ from: 0, to: 0, insert: wellFormed(words.text) }]);
  note.persistNow();
}

/**
 * Stores the edits and the copy of a note that is no longer shown, and closes it once its edits are saved.
 *
 * @param {Note} note
 */
export function leaveNote(note) {
  note.persistNow();
  saveCopy(note);
  // A failed note may be opened again, and retains its edits until then.
  if (note.phase === "deleted" || (note.phase === "failed" && note.unconfirmedCount === 0)) {
    notes.delete(note.documentId);
    note.close();
  } else {
    releaseWhenSaved(note);
  }
}

/**
 * Closes a note that is not shown, once its edits are saved.
 *
 * @param {Note} note
 */
function releaseWhenSaved(note) {
  const isNeeded = () =>
    note === page.current || unsavedIn(note) > 0 || (!note.hasText && early.text(note.documentId) !== "");
  if (isNeeded()) return;
  // Not within the note's own event.
  queueMicrotask(() => {
    if (isNeeded() || notes.get(note.documentId) !== note) return;
    notes.delete(note.documentId);
    note.close();
  });
}
