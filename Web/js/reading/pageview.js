// Shows a note as a page: draws it as its text changes, and handles the user's actions on it.

import { goToPlace, saveFileHere } from "../links/addresses.js";
import { byId, copy, toast } from "../ground/dialogs.js";
import { forgetFiles, showFiles } from "../links/files.js";
import { JointScrolling } from "./beside.js";
import { settleBoxes, tick } from "./boxes.js";
import { addCopyButtons, contentsOf } from "./contents.js";
import { DrawnText } from "./drawntext.js";
import { headingOn } from "./headings.js";
import { t } from "../ground/language.js";
import { placeOfHeading } from "../links/notelinks.js";
import { page } from "../state/page.js";
import { colourCode, draw as drawParts, renderInto } from "./rendering.js";
import { keepingTop, sourceOf } from "./redrawing.js";
import { pathOf } from "../state/routes.js";
import { connection } from "../state/session.js";

export {
  adoptStyles,
  colourCode,
  draw as drawParts,
  drawFootnotes,
  numberFootnotes,
  placeOfSlug,
  readingBlocks,
  renderInto,
  renderedMax,
} from "./rendering.js";
export { keepingTop } from "./redrawing.js";
export { showFiles } from "../links/files.js";

/** Maximum time from a change until it is drawn, unless drawing takes longer; milliseconds. */
const drawnWithin = 250;
/** Maximum time for which a press delays drawing, so that the click hits its target; milliseconds. */
const heldWithin = 1_000;

/** @type {(() => void)[]} Subscriptions to the shown note. */
let subscriptions = [];
/** @type {any} The timer of the next drawing. */
let timer;
/** @type {number | undefined} When the user pressed on the page; undefined after the release. */
let pressedAt;
/** @type {string | undefined} The note whose pictures are loaded. */
let pictured;
/** The duration of the last drawing, in milliseconds: slow drawings are less frequent. */
let cost = 0;
/** @type {DrawnText | undefined} The text that the page shows. */
let drawn;
/** Whether the text is shown beside the page. */
let isBeside = false;
/** @type {JointScrolling | undefined} */
let joint;

const host = () => byId("rendered");

/** Clears the page and stops its updates. */
export function hidePage() {
  for (const unsubscribe of subscriptions) unsubscribe();
  subscriptions = [];
  clearTimeout(timer);
  timer = undefined;
  joint?.end();
  joint = undefined;
  drawn = undefined;
  host().replaceChildren();
  if (pictured !== page.current?.documentId) forgetFiles();
  pictured = page.current?.documentId;
}

/**
 * Shows a note as a page, and updates it with the text.
 *
 * @param {import("../state/shownnote.js").ShownNote} note The open note.
 * @param {boolean} hasTextBeside
 */
export function showPage(note, hasTextBeside) {
  if (pictured !== note.documentId || isBeside !== hasTextBeside) hidePage();
  for (const unsubscribe of subscriptions) unsubscribe();
  isBeside = hasTextBeside;
  /** @param {{changes: import("./drawntext.js").TextChange[]}} edit */
  const follow = ({ changes }) => {
    drawn?.follow(changes);
    joint?.rest();
    later();
  };
  subscriptions = [
    note.on("changes", follow),
    note.on("shownEdit", follow),
    note.on("reset", ({ text }) => {
      drawn?.become(text);
      later();
    }),
    note.on("status", drawBoxes),
  ];
  // The core's text may include changes that are not reported yet: draw after their events.
  connection.afterwards(draw);
}

/** Called when the editor was created or replaced. */
export const followEditor = () => joint?.follow();

/** Makes the page follow the text, which is about to be scrolled. */
export const followText = () => joint?.lead();

/** @param {string} slug @returns {boolean} Whether the page has this heading. */
export function showHeadingOnPage(slug) {
  if (drawn && !drawn.isCurrent) draw();
  const heading = headingOn(host(), slug);
  heading?.scrollIntoView();
  return heading !== null;
}

function later() {
  timer ??= setTimeout(drawUnlessPressed, Math.max(Math.min(drawnWithin, 30 + 4 * cost), cost));
}

function drawUnlessPressed() {
  const left = pressedAt === undefined ? 0 : pressedAt + heldWithin - performance.now();
  if (left > 0) timer = setTimeout(drawUnlessPressed, left);
  else draw();
}

function draw() {
  clearTimeout(timer);
  timer = undefined;
  const note = page.current;
  if (!note?.hasText || subscriptions.length === 0) return;
  const begin = performance.now();
  const text = note.text ?? "";
  const former = drawn;
  drawn = new DrawnText(text);
  joint?.rest();
  keepingTop(host(), () => {
    addCopyButtons(renderInto(host(), text, contentsOf, (range) => former?.movedRange(range)));
    settleBoxes(text);
  });
  showFiles(host(), note.documentId);
  void colourCode(host());
  void drawParts(host());
  drawBoxes();
  byId("rendered-empty").hidden = text.trim() !== "";
  if (isBeside) {
    joint ??= new JointScrolling({ host: host(), textHost: byId("editor"), drawn: () => drawn });
    joint.follow();
  }
  cost = performance.now() - begin;
}

/** Whether boxes can be ticked. */
function drawBoxes() {
  const isShut = !page.current?.isWritable;
  for (const box of host().querySelectorAll("input")) if (box.disabled !== isShut) box.disabled = isShut;
}

/** @param {Element | null | undefined} element @returns {HTMLElement | undefined} The page's child around it. */
function blockOf(element) {
  while (element && element.parentElement !== host()) element = element.parentElement;
  return /** @type {HTMLElement | undefined} */ (element ?? undefined);
}

/**
 * Returns the current slug of a heading: edits since the page was drawn may have changed it.
 *
 * @param {string} slug The slug on the drawn page.
 * @returns {string | undefined} Undefined if the heading is deleted.
 */
function currentSlug(slug) {
  const source = sourceOf(blockOf(headingOn(host(), slug)) ?? host());
  // Not on the page: a link may name any heading.
  if (!source || !drawn || drawn.isCurrent) return slug;
  const now = drawn.movedRange(source);
  draw();
  if (!now) return undefined;
  const block = [...host().children].find((child) => {
    const { from, to } = sourceOf(child) ?? { from: 0, to: 0 };
    return from < now.to && to > now.from;
  });
  const heading = block?.querySelector("[id]");
  return heading && /^H\d$/.test(heading.tagName) ? /** @type {HTMLElement} */ (block?.querySelector(".heading-link"))?.dataset.heading : undefined;
}

/** @param {string} shown The slug of a heading on the drawn page. */
async function copyHeading(shown) {
  const id = page.current?.documentId;
  const slug = currentSlug(shown);
  if (slug === undefined) toast(t("note.headingGone"));
  if (id === undefined || slug === undefined) return;
  const address = new URL(pathOf(id, placeOfHeading(slug)), location.href).href;
  if (await copy(address)) toast(t("note.linkCopied"));
  else toast(t("page.copyRefused"));
}

/**
 * Follows a link to a footnote, a heading or another note.
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
    return;
  }
  const isHere = note === undefined || note === page.current?.documentId;
  const slug = isHere && heading !== undefined ? currentSlug(heading) : heading;
  if (heading !== undefined && slug === undefined) toast(t("note.headingGone"));
  else goToPlace({ note, heading: slug });
}

/** @param {MouseEvent} event */
function click(event) {
  const target = event.target instanceof Element ? event.target : undefined;
  const button = target?.closest(".heading-link");
  if (button instanceof HTMLElement) return void copyHeading(button.dataset.heading ?? "");
  const within = target?.closest("a.within, a.footnote, a.footnote-back");
  const isPlain = !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (within instanceof HTMLAnchorElement && isPlain) {
    event.preventDefault();
    return follow(within);
  }
  const link = target?.closest("a[data-file]");
  const file = link instanceof HTMLElement ? link.dataset.file : undefined;
  if (file === undefined) return;
  // The browser's own request for the file would contain no token.
  event.preventDefault();
  void saveFileHere(file);
}

function release() {
  pressedAt = undefined;
  if (timer === undefined) return;
  // Draw after the click event that follows.
  clearTimeout(timer);
  timer = setTimeout(drawUnlessPressed, 30);
}

host().addEventListener("change", ({ target }) => {
  if (target instanceof HTMLInputElement) tick(target, drawn);
});
host().addEventListener("click", click);
host().addEventListener("pointerdown", () => (pressedAt = performance.now()));
for (const kind of ["pointerup", "pointercancel"]) addEventListener(kind, release);
