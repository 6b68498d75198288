// The note as a page, instead of its text or beside it.

import { goToPlace, saveFileHere } from "../editing/addresses.js";
import { byId, copy, icon, toast } from "../shell/dialogs.js";
import { forgetFiles, showFiles } from "../editing/files.js";
import { anchorOf, headingOn } from "./headings.js";
import { t } from "../shell/language.js";
import { placeOfHeading } from "./notelinks.js";
import { page } from "../page.js";
import { loadPart } from "../parts.js";
import { pathOf } from "../routes.js";

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

/** Fetches what reads notes as pages; undefined if it cannot be fetched, which the person is told. */
export async function loadRendering() {
  try {
    part ??= await loadPart(() => import("./rendering.js"));
  } catch (error) {
    console.error(error);
    toast(t("note.readingFailed"));
  }
  return part;
}

/** @param {Reading} wanted */
export async function read(wanted) {
  reading = wanted;
  if (wanted && !(await loadRendering())) reading = "";
  drawReading();
  if (!reading) page.editor?.focus();
}

/**
 * Shows a heading of the note that is open: on the page, or else in its text.
 *
 * @param {string} slug Its name in addresses.
 */
export async function showHeading(slug) {
  const note = page.current;
  if (!note || !(await loadRendering()) || !part || note !== page.current) return;
  if (reading === "instead") {
    const heading = headingOn(host(), slug);
    heading?.scrollIntoView();
    if (!heading) toast(t("note.headingGone"));
    return;
  }
  const place = part.placeOfSlug(note.text ?? "", slug);
  if (place === undefined) toast(t("note.headingGone"));
  else page.editor?.showAt(place);
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
  const headings = part.renderInto(host(), text, contentsOf);
  for (const { heading, slug } of headings.slice(0, contentsMax)) addCopyButton(heading, slug);
  showFiles(host(), note.documentId);
  void part.colourCode(host());
  for (const box of host().querySelectorAll("input")) box.disabled = !note.isWritable;
  byId("rendered-empty").hidden = text.trim() !== "";
  cost = performance.now() - begin;
}

/** Headings that a note has before there is a list of them, and those that are in it, and have buttons, at most. */
const contentsMin = 3;
const contentsMax = 500;
/** @type {HTMLElement | undefined} The list of headings, which stays open or closed while the text changes. */
let contents;

/** @param {{slug: string, level: number, heading: HTMLElement}[]} headings */
function contentsOf(headings) {
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
    // In its own direction, at the side where the list is.
    const words = document.createElement("bdi");
    words.textContent = heading.textContent || slug;
    link.append(words);
    item.append(link);
    items.append(item);
  }
  const before = details.querySelector("ol");
  if (before?.outerHTML !== items.outerHTML) details.replaceChildren(summary, items);
  if (!details.parentElement) contents.append(details);
  return contents;
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
  button.setAttribute("aria-label", t("note.copyHeading", { heading: heading.textContent ?? "" }));
}

/** @param {string} slug */
async function copyHeading(slug) {
  const id = page.current?.documentId;
  if (id === undefined) return;
  const address = new URL(pathOf(id, placeOfHeading(slug)), location.href).href;
  if (await copy(address)) toast(t("note.linkCopied"));
  else toast(t("page.copyRefused"));
}

/**
 * Follows a link that does not leave the page.
 *
 * @param {HTMLAnchorElement} link
 */
function follow(link) {
  const { note, heading } = link.dataset;
  if (link.matches(".footnote, .footnote-back")) {
    const target = /** @type {HTMLElement | null} */ (host().querySelector(link.hash));
    if (target && !target.matches("a")) target.tabIndex = -1;
    target?.scrollIntoView({ block: "center" });
    target?.focus();
  } else goToPlace({ note, heading });
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

/** Makes the button and the page work. */
export function setUpReading() {
  byId("read").addEventListener("click", toggleReading);
  host().addEventListener("change", ({ target }) => {
    if (target instanceof HTMLInputElement) tick(target);
  });
  host().addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : undefined;
    const button = target?.closest(".heading-link");
    if (button instanceof HTMLElement) return void copyHeading(button.dataset.heading ?? "");
    const within = target?.closest("a.within, a.footnote, a.footnote-back");
    const isPlain = !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (within instanceof HTMLAnchorElement && isPlain) {
      event.preventDefault();
      return follow(within);
    }
    const link = event.target instanceof Element ? event.target.closest("a[data-file]") : null;
    const file = link instanceof HTMLElement ? link.dataset.file : undefined;
    if (file === undefined) return;
    // A link says not who asks.
    event.preventDefault();
    void saveFileHere(file);
  });
}
