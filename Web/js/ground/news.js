// Messages about the page as a whole: one line each at its foot, until the user closes it.

import { byId } from "./dialogs.js";
import { t } from "./language.js";

/**
 * isOnce: after the user has closed the message, this browser never shows it again.
 *
 * @typedef {{text: string, isOnce?: boolean, button?: {label: string, run: () => void}}} News
 */

const seenPrefix = "parley.seen.";

/** @type {Map<string, News>} By kind. */
const news = new Map();
/** @type {Set<string>} Kinds that the user has closed. */
const seen = new Set();

/**
 * @param {string} kind
 * @param {News} one
 */
export function tellNews(kind, one) {
  if (seen.has(kind) || (one.isOnce && wasSeen(kind))) return;
  news.set(kind, one);
  draw();
}

/** @param {string} kind */
function wasSeen(kind) {
  try {
    return localStorage.getItem(seenPrefix + kind) !== null;
  } catch {
    return false;
  }
}

/** @param {string} kind */
function remember(kind) {
  try {
    localStorage.setItem(seenPrefix + kind, "true");
  } catch {
    // The storage is full: the message is shown again on the next visit.
  }
}

function draw() {
  byId("news").replaceChildren(
    ...[...news].map(([kind, { text, button, isOnce }]) => {
      const element = document.createElement("div");
      element.className = "news-item";
      element.dataset.kind = kind;
      const words = document.createElement("p");
      words.textContent = text;
      element.append(words);
      const close = { label: button ? t("page.later") : t("ok"), run: () => {} };
      for (const { label, run } of button ? [button, close] : [close]) {
        const control = document.createElement("button");
        control.type = "button";
        control.className = "button small";
        control.textContent = label;
        control.addEventListener("click", () => {
          news.delete(kind);
          seen.add(kind);
          if (isOnce) remember(kind);
          draw();
          run();
        });
        element.append(control);
      }
      return element;
    }),
  );
}
