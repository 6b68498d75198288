// Creates notes from files that are dropped on the list. The code that imports them is loaded on demand.

import { toast } from "../ground/dialogs.js";
import { t } from "../ground/language.js";
import { loadPart } from "../ground/parts.js";
import { mayCreate } from "../account/rights.js";
import { messageOf } from "../client/words.js";

/** @typedef {import("./importreader.js").Given} Given */

/** Maximum nesting of folders. */
const depthMax = 32;

/** @param {AsyncIterable<Given>} [dropped] */
export async function importFiles(dropped) {
  if (!mayCreate()) return;
  try {
    const { openImport } = await loadPart(() => import("./importview.js"));
    await openImport(dropped);
  } catch (error) {
    console.error(error);
    toast(t("import.fetchFailed", { reason: messageOf(error) }));
  }
}

export function setUpImportDrop() {
  const place = /** @type {HTMLElement} */ (document.querySelector(".sidebar"));
  const hasFiles = (/** @type {DragEvent} */ event) => (event.dataTransfer?.types.includes("Files") ?? false) && mayCreate();
  place.addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    place.classList.add("is-dropped-on");
  });
  place.addEventListener("dragleave", (event) => {
    if (!place.contains(/** @type {Node | null} */ (event.relatedTarget))) place.classList.remove("is-dropped-on");
  });
  place.addEventListener("drop", (event) => {
    place.classList.remove("is-dropped-on");
    if (!hasFiles(event)) return;
    event.preventDefault();
    void importFiles(filesIn(itemsOf(event)));
  });
}

/**
 * Returns the dropped items, which the browser provides only during the event.
 *
 * @param {DragEvent} event
 * @returns {(FileSystemEntry | File)[]}
 */
const itemsOf = (event) =>
  [...(event.dataTransfer?.items ?? [])].flatMap((item) => item.webkitGetAsEntry?.() ?? item.getAsFile() ?? []);

/**
 * @param {(FileSystemEntry | File)[]} items
 * @param {number} [depth]
 * @returns {AsyncGenerator<Given>}
 */
async function* filesIn(items, depth = 0) {
  for (const item of items) {
    if (item instanceof File) yield { path: item.name, file: item };
    else if (item.isFile) {
      const entry = /** @type {FileSystemFileEntry} */ (item);
      const path = entry.fullPath.replace(/^\//, "");
      /** @type {File | undefined} */
      const file = await new Promise((resolve) => entry.file(resolve, () => resolve(undefined)));
      yield { path, file };
    } else if (depth === depthMax) yield { path: item.fullPath.replace(/^\//, "") };
    else {
      const reader = /** @type {FileSystemDirectoryEntry} */ (item).createReader();
      for (;;) {
        /** @type {FileSystemEntry[]} */
        const some = await new Promise((resolve) => reader.readEntries(resolve, () => resolve([])));
        if (some.length === 0) break;
        yield* filesIn(some, depth + 1);
      }
    }
  }
}
