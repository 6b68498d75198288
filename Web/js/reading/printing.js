// The whole note on paper, as a page: the editor has only those lines in the page that can be seen.

import { byId } from "../ground/dialogs.js";
import { embedFiles } from "../links/files.js";
import { page } from "../state/page.js";
import { early } from "../state/session.js";
import { loadRendering } from "./reading.js";

/** Milliseconds that the pictures of a note may take before it is printed without the missing ones. */
const picturesWait = 5_000;

/** Whether the text is in place before the browser's own event asks for it. */
let isPrepared = false;

/** @param {boolean} asPage Whether the copy consists of elements, and not of the text as it was typed. */
function present(asPage) {
  const printed = byId("printed");
  printed.className = asPage ? "printed rendered" : "printed";
  printed.dir = "auto";
  printed.hidden = false;
}

/** Puts the text where the print style shows it. */
function prepare() {
  if (isPrepared || (!page.current && !page.newNote)) return;
  const printed = byId("printed");
  // A copy of the page view, if it is shown: the copy does not scroll.
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

/** Makes the browser's key and its command for printing print the whole note. */
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
