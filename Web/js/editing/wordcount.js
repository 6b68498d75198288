// The length of the text, shown below it.

import { byId } from "../ground/dialogs.js";
import { language, t } from "../ground/language.js";
import { page } from "../state/page.js";

/** @type {any} */
let countTimer;

/** Schedules an update; many edits cause one. */
export function scheduleCount() {
  countTimer ??= setTimeout(drawCount, 200);
}

/** Updates the count immediately. */
export function drawCount() {
  clearTimeout(countTimer);
  countTimer = undefined;
  const text = page.editor?.view.state.doc;
  // Counting the words of a very long note on every edit would be noticeable.
  if (!text) byId("count").textContent = "";
  else if (text.length > 200_000) byId("count").textContent = t("count.characters", { count: text.length });
  else if (language === "ja") {
    // Japanese has no spaces between words.
    const characters = [...text.toString().replace(/\s/g, "")].length;
    byId("count").textContent = t("count.characters", { count: characters });
  } else {
    const words = text.toString().match(/[\p{L}\p{N}]+(?:['’\-][\p{L}\p{N}]+)*/gu)?.length ?? 0;
    byId("count").textContent = t("count.words", { count: words });
  }
}
