// Prints the whole note as a page: the editor's elements contain only the visible lines.

import { byId } from "../ground/dialogs.js";
import { embedFiles } from "../links/files.js";
import { page } from "../state/page.js";
import { early } from "../state/session.js";
import { loadRendering } from "./reading.js";

/** Maximum time for a note's pictures to load; then it is printed without the missing ones; milliseconds. */
const picturesWait = 5_000;

/** Whether the printed copy is made before the browser's `beforeprint` event. */
let isPrepared = false;

/** @param {boolean} asPage Whether the copy is a rendered page rather than plain text. */
function present(asPage) {
  const printed = byId("printed");
  printed.className = asPage ? "printed rendered" : "printed";
  printed.dir = "auto";
  printed.hidden = false;
}

/** Copies the shown note into the element that the print style shows. */
function prepare() {
  if (isPrepared || (!page.current && !page.newNote)) return;
  const printed = byId("printed");
  // If the page view is shown, it is copied, because the copy does not scroll.
  const rendered = byId(page.past ? "history-page" : "rendered");
  if (page.past && rendered.hidden) return;
  if (!rendered.hidden) printed.replaceChildren(...[...rendered.children].map((block) => block.cloneNode(true)));
  else printed.textContent = page.current?.text ?? early.text(page.place ?? "");
  present(!rendered.hidden);
}

function clear() {
  isPrepared = false;
  byId("printed").replaceChildren();
  byId("printed").hidden = true;
}

/** Prints the note that is open as a page, whether its text or its page is shown. */
export async function printNote() {
  const note = page.current;
  if (note && page.editor?.kind === "rich" && !page.past) return printFormatted(note, page.editor);
  const part = note && !page.past ? await loadRendering() : undefined;
  if (note && part && note === page.current) {
    const printed = byId("printed");
    part.renderInto(printed, note.text ?? "");
    const pictures = embedFiles(printed, note.documentId).catch((error) => console.error(error));
    await Promise.race([pictures, new Promise((resolve) => setTimeout(resolve, picturesWait))]);
    await part.colourCode(printed);
    present(true);
    isPrepared = true;
  }
  print();
}

/** @param {import("../state/shownnote.js").ShownNote} note @param {import("../formatted/editor.js").FormattedEditor} editor */
async function printFormatted(note, editor) {
  const printed = byId("printed");
  printed.replaceChildren(editor.asPage());
  const pictures = embedFiles(printed, note.documentId).catch((error) => console.error(error));
  await Promise.race([pictures, new Promise((resolve) => setTimeout(resolve, picturesWait))]);
  present(true);
  isPrepared = true;
  print();
}

/** Makes the browser's print key and print command print the whole note. */
export function setUpPrinting() {
  addEventListener("beforeprint", prepare);
  addEventListener("afterprint", clear);
  document.addEventListener("keydown", (event) => {
    const isPrintKey = event.key.toLowerCase() === "p" && (event.ctrlKey || event.metaKey);
    if (!isPrintKey || event.shiftKey || event.altKey || !page.current?.hasText || page.past) return;
    event.preventDefault();
    void printNote();
  });
}
