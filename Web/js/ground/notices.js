// Notices above the text: at most one of each kind, while it is true.

import { byId } from "./dialogs.js";
import { t } from "./language.js";

/**
 * @typedef {{title?: string, text: string, isBad?: boolean,
 *   buttons?: {label: string, run: () => void}[]}} Notice
 * @type {Map<string, Notice>}
 */
export const notices = new Map();
let drawnNotices = "";

/** Shows the current notices. */
export function drawNotices() {
  const key = JSON.stringify([...notices]);
  if (key === drawnNotices) return;
  drawnNotices = key;
  byId("notices").replaceChildren(
    ...[...notices].map(([kind, { title, text, isBad, buttons = [] }]) => {
      const element = document.createElement("div");
      element.className = "notice" + (isBad ? " bad" : "");
      element.dataset.kind = kind;
      element.setAttribute("role", isBad ? "alert" : "status");
      const words = document.createElement("p");
      if (title) {
        const strong = document.createElement("strong");
        strong.textContent = `${title} `;
        words.append(strong);
      }
      words.append(text);
      const row = document.createElement("div");
      row.className = "notice-buttons";
      const isDismissible = buttons.length === 0;
      const all = isDismissible
        ? [{ label: t("ok"), run: () => (notices.delete(kind), drawNotices()) }]
        : buttons;
      for (const { label, run } of all) {
        const button = document.createElement("button");
        button.type = "button";
        button.className = "button small";
        button.textContent = label;
        button.addEventListener("click", run);
        row.append(button);
      }
      element.append(words, row);
      return element;
    }),
  );
}
