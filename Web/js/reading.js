// The note as a page, instead of its text or beside it.

import { byId, toast } from "./dialogs.js";
import { forgetFiles, saveFile, showFiles } from "./files.js";
import { t } from "./language.js";
import { page } from "./page.js";
import { loadPart } from "./parts.js";
import { messageOf } from "./words.js";

/** @typedef {"" | "instead" | "beside"} Reading */

/** @type {Reading} */
let reading = "";
/** @type {typeof import("./rendering.js") | undefined} */
let part;
/** @type {(() => void)[]} To the note that is shown. */
let subscriptions = [];
/** @type {any} */
let timer;
/** @type {string | undefined} The note whose pictures are here. */
let pictured;
/** Milliseconds that drawing took the last time: the longer, the rarer. */
let cost = 0;

const host = () => byId("rendered");

/** Whether a page is to be seen. */
export const isReading = () => reading !== "";

/** @param {Reading} wanted */
export async function read(wanted) {
  reading = wanted;
  if (wanted && !part) {
    try {
      part = await loadPart(() => import("./rendering.js"));
    } catch (error) {
      console.error(error);
      reading = "";
      toast(t("note.readingFailed"));
    }
  }
  drawReading();
  if (!reading) page.editor?.focus();
}

/** From one to the other, by the button. */
export const toggleReading = () => void read(reading ? "" : "instead");

/** Shows what is to be seen, of the note that is open. */
export function drawReading() {
  for (const unsubscribe of subscriptions) unsubscribe();
  subscriptions = [];
  clearTimeout(timer);
  const note = page.current;
  if (pictured !== note?.documentId) {
    forgetFiles();
    host().replaceChildren();
    pictured = note?.documentId;
  }
  const isShown = reading !== "" && part !== undefined && note !== undefined && note.hasText;
  byId("app").dataset.reading = isShown ? reading : "";
  byId("read").setAttribute("aria-pressed", String(isShown));
  host().hidden = !isShown;
  if (!isShown || !note) {
    host().replaceChildren();
    return;
  }
  draw();
  subscriptions = [note.on("changes", later), note.on("edited", later), note.on("reset", later), note.on("status", later)];
}

function later() {
  clearTimeout(timer);
  timer = setTimeout(draw, Math.min(1_000, 30 + 4 * cost));
}

function draw() {
  const note = page.current;
  if (!note || !part || !reading) return;
  const begin = performance.now();
  const text = note.text ?? "";
  part.renderInto(host(), text);
  showFiles(host(), note.documentId);
  for (const box of host().querySelectorAll("input")) box.disabled = !note.isWritable;
  byId("rendered-empty").hidden = text.trim() !== "";
  cost = performance.now() - begin;
}

/**
 * Ticks a box: an edit of the text, which everybody sees.
 *
 * @param {HTMLInputElement} box
 */
function tick(box) {
  const block = /** @type {HTMLElement | null} */ (box.closest(".block"));
  const note = page.current;
  const from = Number(block?.dataset.from) + Number(box.dataset.at) + 1;
  const text = note?.text ?? "";
  const isThere = /^\[[ xX]\]$/.test(text.slice(from - 1, from + 2));
  // The text may have moved on under the page.
  if (!note?.isWritable || !isThere || /x/i.test(text[from] ?? "") === box.checked) return draw();
  const change = { from, to: from + 1, insert: box.checked ? "x" : " " };
  if (page.editor) page.editor.view.dispatch({ changes: change, userEvent: "input" });
  else note.edit([change]);
}

/** @param {string} file */
async function save(file) {
  const note = page.current?.documentId;
  if (note === undefined) return;
  try {
    if (!(await saveFile(note, file))) toast(t("file.gone"));
  } catch (error) {
    toast(t("note.downloadFailed", { reason: messageOf(error) }));
  }
}

/** Makes the button and the page work. */
export function setUpReading() {
  byId("read").addEventListener("click", toggleReading);
  host().addEventListener("change", ({ target }) => {
    if (target instanceof HTMLInputElement) tick(target);
  });
  host().addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a[data-file]") : null;
    const file = link instanceof HTMLElement ? link.dataset.file : undefined;
    if (file === undefined) return;
    // A link says not who asks.
    event.preventDefault();
    void save(file);
  });
}
