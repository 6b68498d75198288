// Open notes, and notes whose edits, or first words, still have to reach the server.

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
    // It may have failed, and kept its edits.
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
 * Opens a note with the edits that this client has not saved, since new ones would overwrite them.
 *
 * @param {string} documentId
 */
function noteAsLeft(documentId) {
  const options = { core, connection, documentId, title: list.titleOf(documentId), pending };
  const kept = leftBehind(documentId);
  if (!kept) return noteAsCopied(options);
  try {
    return new ShownNote({ ...options, restored: kept });
  } catch (error) {
    if (!(error instanceof CoreError)) throw error;
    setPendingAside(documentId, kept.identity.id);
    const note = noteAsCopied(options);
    // Another version of the page wrote them, or the browser has spoilt them. Emitted once the caller can listen.
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
    // Another version has written the copy. The server has the text.
    void copies.remove(options.documentId);
    return new ShownNote(options);
  }
}

/** The identities under which this tab may send: its own, and those of closed tabs. */
function identities() {
  const { identity } = connection;
  return identity ? [identity, ...adoptedIdentities()] : adoptedIdentities();
}

/** @param {string} documentId Edits of this tab, or of one that is gone, which still have to be sent. */
function leftBehind(documentId) {
  for (const { id } of identities()) {
    const kept = pendingOf(documentId, id, ownerNow());
    if (kept) return kept;
  }
  return undefined;
}

/** @param {string} clientId Whether edits that were kept under it are this tab's to send. */
export const isSentHere = (clientId) => identities().some(({ id }) => id === clientId);

/**
 * Changes to a note that are not saved. Edits that a closed tab left, and that are not being sent yet, count as one,
 * so that the page does not seem to be saved.
 *
 * @param {Note} note
 */
export const unsavedIn = (note) =>
  note.unconfirmedCount + (adoptedIdentities().length > 0 ? othersOf(note.documentId, note.keptUnder).length : 0);

/**
 * Takes the edits of the next closed tab once the note is saved: several tabs may have left some.
 *
 * @param {Note} note
 */
function takeLeftBehind(note) {
  if (note.phase !== "live" || note.unconfirmedCount > 0 || adoptedIdentities().length === 0) return;
  // Not from within the note's own event.
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
 * Inserts what was typed into a note before its text came, if another note was shown then.
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
  // A note that failed may be opened again, and keeps its edits until then.
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
  // Not from within the note's own event.
  queueMicrotask(() => {
    if (isNeeded() || notes.get(note.documentId) !== note) return;
    notes.delete(note.documentId);
    note.close();
  });
}
