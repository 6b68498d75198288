// The kinds of notes: of those that this browser has opened, so that the right editor is loaded before the server
// answers; and the kind of new notes.

import { lastingStore } from "../ground/storage.js";

/** @typedef {"plain" | "rich"} NoteKind */

const kindsKey = "parley.kinds";
const markdownKey = "parley.markdown";
const newKey = "parley.newKind";
/** The most notes that are remembered. */
const notesMax = 200;

/** @param {string} key @returns {any[]} The stored list, latest first. */
function listOf(key) {
  try {
    const found = JSON.parse(lastingStore().getItem(key) ?? "[]");
    return Array.isArray(found) ? found : [];
  } catch {
    return [];
  }
}

/** @param {string} key @param {string} value "" removes it. */
function keep(key, value) {
  try {
    if (value) lastingStore().setItem(key, value);
    else lastingStore().removeItem(key);
  } catch {
    // The storage is full: the other editor is loaded first.
  }
}

/** @param {string} key @param {any[]} list */
const keepList = (key, list) => keep(key, list.length > 0 ? JSON.stringify(list.slice(0, notesMax)) : "");

/** @param {string} id @returns {NoteKind | undefined} The kind of its editor, if this browser has opened it. */
export function knownKind(id) {
  if (isShownAsMarkdown(id)) return "plain";
  const kind = listOf(kindsKey).find((one) => Array.isArray(one) && one[0] === id)?.[1];
  return kind === "rich" || kind === "plain" ? kind : undefined;
}

/** @param {string} id @param {NoteKind} kind */
export function learnKind(id, kind) {
  const known = listOf(kindsKey);
  if (known[0]?.[0] === id && known[0]?.[1] === kind) return;
  keepList(kindsKey, [[id, kind], ...known.filter((one) => one?.[0] !== id)]);
}

/** @param {string} id Whether this browser shows a formatted note as the Markdown text that was written into it. */
export const isShownAsMarkdown = (id) => listOf(markdownKey).includes(id);

/** @param {string} id @param {boolean} isWanted */
export function showAsMarkdown(id, isWanted) {
  const others = listOf(markdownKey).filter((one) => one !== id);
  keepList(markdownKey, isWanted ? [id, ...others] : others);
}

/** @returns {NoteKind} The kind that this user chose last for a new note. */
export const newKind = () => (lastingStore().getItem(newKey) === "rich" ? "rich" : "plain");

/** @param {NoteKind} kind */
export const keepNewKind = (kind) => keep(newKey, kind === "rich" ? kind : "");
