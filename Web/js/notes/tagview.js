// Tags above the list of notes, as buttons. At most one is pressed; the list then shows the notes with this tag.

import { byId, toast } from "../ground/dialogs.js";
import { t } from "../ground/language.js";
import { drawTabStop, stepWithin } from "../ground/roving.js";
import { tags } from "../state/session.js";
import { messageOf } from "../client/words.js";

/** Maximum number of tags shown before the user asks for more. */
const shownMax = 8;
let isWhole = false;
let drawn = "";

function drawTags() {
  const box = byId("tags");
  const { all, chosen } = tags;
  const key = JSON.stringify([all, chosen, isWhole]);
  if (key === drawn) return;
  drawn = key;
  box.hidden = all.length === 0 && chosen === undefined;
  const shown = isWhole ? all : all.slice(0, shownMax);
  const some = chosen === undefined || shown.some(({ tag }) => tag === chosen) ? shown : [{ tag: chosen, notes: 0 }, ...shown];
  const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset.tag;
  byId("tags-list").replaceChildren(
    ...some.map(({ tag, notes }) => {
      const item = document.createElement("li");
      const button = document.createElement("button");
      button.type = "button";
      button.className = "tag";
      button.dir = "auto";
      button.dataset.tag = tag;
      button.textContent = `#${tag}`;
      button.setAttribute("aria-pressed", String(tag === chosen));
      button.setAttribute("aria-label", `#${tag}${t("separator")}${t("folder.count", { count: notes })}`);
      const count = document.createElement("span");
      count.className = "folder-count";
      count.textContent = String(notes);
      button.append(count);
      button.addEventListener("click", () => tags.choose(tag));
      item.append(button);
      return item;
    }),
  );
  const more = byId("tags-more");
  more.hidden = all.length <= shownMax;
  more.setAttribute("aria-expanded", String(isWhole));
  more.textContent = t(isWhole ? "tag.fewer" : "tag.more");
  if (focused) /** @type {HTMLElement | null} */ (box.querySelector(`[data-tag="${CSS.escape(focused)}"]`))?.focus();
  drawTabStop(byId("tags-list"));
}

/** Draws the tags now and whenever they have changed. */
export function setUpTags() {
  byId("tags-more").addEventListener("click", () => {
    isWhole = !isWhole;
    drawTags();
  });
  stepWithin(byId("tags-list"));
  tags.on("changed", drawTags);
  tags.on("failed", (error) => toast(messageOf(error)));
  drawTags();
}
