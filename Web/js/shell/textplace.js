// The element for the text: the editor, or a field for text that is typed before the editor is ready.

import { followComments } from "../comments/commenting.js";
import { byId } from "../ground/dialogs.js";
import { t } from "../ground/language.js";
import { drawNotices, notices } from "../ground/notices.js";
import { page } from "../state/page.js";
import { withLimit } from "../ground/limit.js";
import { loadPart } from "../ground/parts.js";
import { showPast } from "../history/past.js";
import { followAuthors } from "../history/authors.js";
import { followEditor, showHeading } from "../reading/reading.js";
import { early } from "../state/session.js";
import { keepPart } from "./offline.js";
import { drawStatus } from "./status.js";
import { drawToolbar } from "../editing/toolbar.js";
import { drawCount } from "../editing/wordcount.js";
import { isShownAsMarkdown, knownKind, learnKind } from "../state/notekinds.js";
import { noteIn } from "../state/routes.js";

/** @type {typeof import("../editing/text.js") | undefined} The part for Markdown notes. */
let text;
/** @type {typeof import("../formatted/formatted.js") | undefined} The part for formatted notes. */
let formatted;
/** @type {Map<string, Promise<void>>} The loading of the parts by kind. */
const loading = new Map();
/** @type {() => void} */
let tellKind = () => {};
/** Resolves when a note has a text, and so a kind. */
const kindIsKnown = new Promise((resolve) => (tellKind = () => resolve(undefined)));

/** @typedef {import("../editing/foundplace.js").Place} Place */

/** @type {{id: string, place: Place | string} | undefined} A passage or heading to show once its text is available. */
let awaited;

/**
 * Shows a passage of a note's text once the note is open.
 *
 * @param {string} id
 * @param {Place | string} place A search result, or the name of a heading.
 */
export function showPlace(id, place) {
  awaited = { id, place };
  goToAwaited();
}

function goToAwaited() {
  if (!awaited || !page.editor || page.current?.documentId !== awaited.id) return;
  const { place } = awaited;
  awaited = undefined;
  if (typeof place === "string") void showHeading(place);
  else page.editor.show(place);
}

/** The time for which loading an editor waits for the kind of a note that this browser has never opened; milliseconds. */
const kindWithin = 400;

/** Loads the code of the editor for the note in the address, then creates the editor. */
export async function loadText() {
  const id = noteIn(location.pathname);
  const kind = id === undefined ? "plain" : knownKind(id);
  if (kind !== undefined) return loadFor(kind);
  // The two editors are the largest parts of the page.
  await withLimit(kindIsKnown, kindWithin, undefined);
  return loadFor(page.current?.hasText ? kindOf(page.current) : "plain");
}

/** @param {import("../state/notekinds.js").NoteKind} kind Of a note. */
function loadFor(kind) {
  const known = loading.get(kind) ?? fetchFor(kind);
  loading.set(kind, known);
  return known;
}

/** @param {import("../state/notekinds.js").NoteKind} kind */
async function fetchFor(kind) {
  try {
    if (kind === "rich") formatted = await loadPart(() => import("../formatted/formatted.js"));
    else text = await loadPart(() => import("../editing/text.js"));
  } catch (error) {
    loading.delete(kind);
    console.error(error);
    notices.set("text", {
      title: t("editor.failed"),
      text: t("editor.failedText"),
      isBad: true,
      buttons: [{ label: t("reload"), run: () => location.reload() }],
    });
    drawNotices();
    return;
  }
  mountEditor();
}

/** @param {import("../state/shownnote.js").ShownNote} note @returns {import("../state/notekinds.js").NoteKind} Of its editor. */
const kindOf = ({ kind, documentId }) => (kind === "rich" && isShownAsMarkdown(documentId) ? "plain" : kind);

/** Creates the editor once the note has a text, unless there is one. */
export function mountEditor() {
  const { current: note } = page;
  // Wait until the word that is being composed is complete.
  if (!note?.hasText || page.editor || early.isComposing) return;
  tellKind();
  learnKind(note.documentId, note.kind);
  const kind = kindOf(note);
  if (!(kind === "rich" ? formatted : text)) return void loadFor(kind);
  const isAwaited = early.isFocused;
  byId("app").dataset.kind = kind;
  const place = { host: byId("editor"), note };
  page.editor = kind === "rich" ? formatted?.formattedEditorIn(place) : text?.editorIn(place);
  if (!page.editor) return;
  if (kind === "rich") keepPart("formatted");
  const words = note.isWritable ? early.take(note.documentId) : undefined;
  if (words) {
    page.editor.put(words);
    note.persistNow();
  }
  // Show the editor first: a hidden element cannot take the focus.
  drawStatus();
  drawToolbar();
  if (isAwaited) page.editor.focus();
  else page.focusIdle();
  goToAwaited();
  drawCount();
  followEditor();
  void followAuthors();
  showPast();
  void followComments();
}

/** Replaces the editor, if it is for notes of another kind. */
export function changeEditor() {
  const { current: note, editor } = page;
  if (!note || !editor || editor.kind === kindOf(note)) return;
  const isFocused = byId("editor").contains(document.activeElement);
  editor.destroy();
  page.editor = undefined;
  mountEditor();
  if (isFocused) focusText();
}

/** Moves the focus to the text, or to the field for early text. */
export function focusText() {
  if (page.editor) page.editor.focus();
  else early.focus();
}
