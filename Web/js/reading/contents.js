// The headings of a page: the table of contents, and the button beside each heading that copies its address.

import { icon } from "../ground/dialogs.js";
import { t } from "../ground/language.js";
import { anchorOf, wordsOf } from "./headings.js";

/** Minimum headings for a table of contents, and maximum headings with an entry and a button. */
const contentsMin = 3;
const contentsMax = 500;
/** @type {HTMLElement | undefined} The table of contents, reused so that it stays expanded or collapsed. */
let contents;

/** @typedef {{slug: string, level: number, heading: HTMLElement}} Heading */

/** @param {Heading[]} headings */
export function contentsOf(headings) {
  if (headings.length < contentsMin) return undefined;
  contents ??= document.createElement("nav");
  contents.className = "contents";
  contents.setAttribute("aria-label", t("note.contents"));
  const details = contents.querySelector("details") ?? document.createElement("details");
  const summary = details.querySelector("summary") ?? document.createElement("summary");
  summary.textContent = t("note.contents");
  const items = document.createElement("ol");
  for (const { slug, level, heading } of headings.slice(0, contentsMax)) {
    const item = document.createElement("li");
    item.className = `depth-${level}`;
    const link = document.createElement("a");
    link.className = "within";
    link.href = anchorOf(slug);
    link.dataset.heading = slug;
    // The text has its own direction, but is aligned with the list.
    const words = document.createElement("bdi");
    words.textContent = wordsOf(heading) || slug;
    link.append(words);
    item.append(link);
    items.append(item);
  }
  const before = details.querySelector("ol");
  if (before?.outerHTML !== items.outerHTML) details.replaceChildren(summary, items);
  if (!details.parentElement) contents.append(details);
  return contents;
}

/** @param {Heading[]} headings */
export function addCopyButtons(headings) {
  for (const { heading, slug } of headings.slice(0, contentsMax)) addCopyButton(heading, slug);
}

/** @param {HTMLElement} heading @param {string} slug */
function addCopyButton(heading, slug) {
  let button = /** @type {HTMLButtonElement | null} */ (heading.parentElement?.querySelector(".heading-link"));
  if (!button) {
    button = document.createElement("button");
    button.type = "button";
    button.className = "icon-button heading-link";
    button.append(icon("link"));
    heading.after(button);
  }
  button.dataset.heading = slug;
  button.setAttribute("aria-label", t("note.copyHeading", { heading: wordsOf(heading) }));
}
