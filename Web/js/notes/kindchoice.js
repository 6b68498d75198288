// The choice between Markdown and formatting, shown with a new note until something is written in it.

import { byId, toast } from "../ground/dialogs.js";
import { keepNewKind } from "../state/notekinds.js";
import { page } from "../state/page.js";
import { go, pathOfNew } from "../state/routes.js";
import { early, list, newNotes } from "../state/session.js";
import { messageOf } from "../client/words.js";

/** @typedef {import("../state/notekinds.js").NoteKind} NoteKind */

/** @type {Set<string>} The notes that were created in this tab. */
const own = new Set();
/** @type {Map<string, NoteKind>} The kinds that were chosen for notes that do not have them yet, by place. */
const wanted = new Map();

const box = () => byId("kind-choice");

/** @returns {NoteKind | undefined} The kind of the shown note, if it can still be chosen. */
function kindNow() {
  const { current: note, newNote, place = "" } = page;
  if (newNote) return early.text(place) === "" ? (wanted.get(place) ?? newNote.kind) : undefined;
  if (!note || !own.has(place) || !note.hasText || !note.isWritable || !note.canBeRich) return undefined;
  return note.text === "" ? note.kind : undefined;
}

/** Shows or hides the choice. */
export function drawKindChoice() {
  const kind = kindNow();
  box().hidden = kind === undefined;
  for (const input of box().querySelectorAll("input")) input.checked = input.value === kind;
}

/** Applies the chosen kind to the shown note, once it is open. */
export function settleKind() {
  const { current: note } = page;
  const kind = note && wanted.get(note.documentId);
  if (!note || !kind || note.phase !== "live") return;
  wanted.delete(note.documentId);
  if (kind === note.kind || note.text !== "" || !note.isWritable) return;
  if (kind === "rich") note.editOwn([], { sets: [], kind: "rich" });
  else void replaceByPlain(note.documentId);
}

/** @param {string} id A formatted note stays one, so an empty one is replaced. */
async function replaceByPlain(id) {
  const folder = list.folderOf(id) ?? "";
  try {
    await list.remove(id, "");
    const next = newNotes.begin(folder, "plain");
    go(pathOfNew(next.key));
  } catch (error) {
    toast(messageOf(error));
  }
}

/** @param {string} place Of a new note. @param {string} id Of the note that the server has created for it. */
export function followNewNote(place, id) {
  own.add(id);
  const kind = wanted.get(place);
  wanted.delete(place);
  if (kind) wanted.set(id, kind);
}

/** Listens to the choice. */
export function setUpKindChoice() {
  box().addEventListener("change", ({ target }) => {
    const kind = target instanceof HTMLInputElement && target.value === "rich" ? "rich" : "plain";
    const { place } = page;
    keepNewKind(kind);
    if (place === undefined) return;
    wanted.set(place, kind);
    settleKind();
    if (page.editor) page.editor.focus();
    else early.focus();
  });
}
