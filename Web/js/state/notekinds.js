// The kinds of notes: of those that this browser has opened, so that the right editor is loaded before the server
// answers; and the kind of new notes.

import { lastingStore } from "../ground/storage.js";

/** @typedef {"plain" | "rich"} NoteKind */

const knownKey = "parley.rich";
const markdownKey = "parley.markdown";
const newKey = "parley.newKind";
/** The most notes that are remembered. */
const knownMax = 200;

/** @param {string} key @returns {string[]} The ids that are stored, latest first. */
function ids(key) {
  try {
    const found = JSON.parse(lastingStore().getItem(key) ?? "[]");
    return Array.isArray(found) ? found.filter((id) => typeof id === "string") : [];
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

/** @param {string} id */
export const isKnownRich = (id) => ids(knownKey).includes(id) && !isShownAsMarkdown(id);

/** @param {string} id @param {NoteKind} kind */
export function learnKind(id, kind) {
  const known = ids(knownKey);
  if (kind === "rich" ? known[0] === id : !known.includes(id)) return;
  const others = known.filter((one) => one !== id);
  const next = kind === "rich" ? [id, ...others].slice(0, knownMax) : others;
  keep(knownKey, next.length > 0 ? JSON.stringify(next) : "");
}

/** @param {string} id Whether this browser shows a formatted note as the Markdown text that was written into it. */
export const isShownAsMarkdown = (id) => ids(markdownKey).includes(id);

/** @param {string} id @param {boolean} isWanted */
export function showAsMarkdown(id, isWanted) {
  const others = ids(markdownKey).filter((one) => one !== id);
  const next = isWanted ? [id, ...others].slice(0, knownMax) : others;
  keep(markdownKey, next.length > 0 ? JSON.stringify(next) : "");
}

/** @returns {NoteKind} The kind that this user chose last for a new note. */
export const newKind = () => (lastingStore().getItem(newKey) === "rich" ? "rich" : "plain");

/** @param {NoteKind} kind */
export const keepNewKind = (kind) => keep(newKey, kind === "rich" ? kind : "");
