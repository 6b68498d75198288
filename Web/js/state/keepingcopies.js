// Decides when copies are written and removed (copies.js).

import { accessCodes } from "../client/connection.js";
import { t } from "../ground/language.js";
import { access, connection, copies, list } from "./session.js";
import { tellNews } from "../ground/news.js";

/** @typedef {import("../client/note.js").Note} Note */

/** Delay between a change of a note and its copy; milliseconds. Edits are stored separately, and earlier. */
const saveAfter = 5_000;

/** Error codes for a note that this user may not read, or that does not exist. */
const lostCodes = new Set(["notAllowed", "readingLost", "unauthorised", "unknownDocument"]);

/** @type {WeakMap<Note, string>} The last copied state of each note. */
const saved = new WeakMap();

/** @type {WeakSet<Note>} Notes that the server has let this user join since the page was loaded. */
let entered = new WeakSet();

/** Whether the page itself is cached; without it, copies could not be read. */
let isOn = Boolean(globalThis.navigator?.serviceWorker?.controller);

/** @param {Note} note Its copy is written if it has changed. */
export function saveCopy(note) {
  if (!isOn || !entered.has(note) || (note.phase !== "live" && note.phase !== "away")) return;
  const copy = note.copy;
  if (!copy || saved.get(note) === copy.session + copy.access) return;
  saved.set(note, copy.session + copy.access);
  void copies.save(copy);
}

/** @param {Iterable<Note>} notes */
export function saveCopies(notes) {
  for (const note of notes) saveCopy(note);
}

/** @param {Note} note Copied while it is open; its copy is removed when it is gone. */
export function followCopy(note) {
  /** @type {any} */
  let timer;
  const soon = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      saveCopy(note);
    }, saveAfter);
  };
  note.on("joined", () => {
    entered.add(note);
    saveCopy(note);
  });
  note.on("changes", soon);
  note.on("edited", soon);
  note.on("status", () => {
    const isLost = note.phase === "deleted" || (note.phase === "failed" && lostCodes.has(note.failure));
    if (!isLost) return;
    clearTimeout(timer);
    timer = undefined;
    entered.delete(note);
    void copies.remove(note.documentId);
  });
}

/**
 * Begins to make copies, because the page itself is cached.
 *
 * @param {Iterable<Note>} notes The open notes.
 */
export function startCopying(notes) {
  isOn = copies.keepsAnswers = true;
  if (list.held && connection.isOnline) void copies.saveList(list.held);
  saveCopies(notes);
}

/** Removes all copies and makes no more, because the server does not allow them. */
export async function endCopying() {
  isOn = copies.keepsAnswers = false;
  await copies.forgetAll();
}

export const refusedText = t("page.copiesRefused");

/** @param {(id: string) => boolean} isOpen Whether the server has let this user join the note, and still does. */
export function setUpCopies(isOpen) {
  copies.keepsAnswers = isOn;
  copies.whenRefused = () => {
    tellNews("copies", { text: refusedText, isOnce: true });
  };
  list.on("fetched", (fetched) => {
    if (isOn) void copies.saveList(fetched.held);
    copies.keepOnly(fetched.notes, isOpen);
  });
  connection.on("welcome", () => void copies.tidy());
  connection.on("status", ({ state, code }) => {
    // The server requires a token from now on, or has revoked this user's.
    const isOut = code === accessCodes.revoked || (code === accessCodes.unauthorised && !access.pass);
    if (state !== "stopped" || !isOut || access.isLink) return;
    entered = new WeakSet();
    void copies.clear();
  });
}
