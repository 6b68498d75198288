// Shows the note as a page, instead of its text or beside it.

import { byId, toast } from "../ground/dialogs.js";
import { t } from "../ground/language.js";
import { page } from "../state/page.js";
import { loadPart } from "../ground/parts.js";
import { askedReading, keepReading, keptReading, tellAddress } from "./readingmode.js";
import { isShownAsMarkdown } from "../state/notekinds.js";
import { access } from "../state/session.js";

/** @typedef {import("./readingmode.js").Reading} Reading */

/** @type {Reading | undefined} The choice of the user or of the address. */
let chosen = keptReading();
/** @type {typeof import("./pageview.js") | undefined} */
let part;
/** @type {import("../formatted/pageview.js").PageView | undefined} The page of a formatted note. */
let formattedPage;
/** @type {Promise<typeof import("./pageview.js")> | undefined} */
let loading;

/** Returns how notes are shown. Guests with read access see a page until they choose. */
const readingNow = () => chosen ?? (access.isReader ? "instead" : "");

/** Whether a page is shown. */
export const isReading = () => readingNow() !== "";

/** Loads the part that renders notes; on failure shows a message and returns undefined. */
export async function loadRendering() {
  try {
    loading ??= loadPart(() => import("./pageview.js")).then((fetched) => fetched.adoptStyles().then(() => fetched));
    part = await loading;
  } catch (error) {
    loading = undefined;
    console.error(error);
    toast(t("note.readingFailed"));
  }
  return part;
}

/** @param {Reading} wanted */
export async function read(wanted) {
  const isFormatted = page.editor?.kind === "rich";
  if (wanted && !isFormatted && !(await loadRendering())) wanted = "";
  chosen = wanted;
  keepReading(wanted);
  drawReading();
  if (!wanted) page.editor?.focus();
}

/** Shows the note as the address requests; otherwise as the one before. */
export function readAsAsked() {
  const asked = askedReading();
  if (asked && page.current) chosen = asked;
  drawReading();
}

/**
 * Shows a heading of the note that is open: on the page, or else in its text.
 *
 * @param {string} slug The heading's name in addresses.
 */
export async function showHeading(slug) {
  const note = page.current;
  if (page.editor?.kind === "rich") return page.editor.showHeading(slug) ? undefined : toast(t("note.headingGone"));
  if (!note || !(await loadRendering()) || !part || note !== page.current) return;
  if (readingNow() === "instead") {
    if (byId("rendered").hidden) drawReading();
    if (!part.showHeadingOnPage(slug)) toast(t("note.headingGone"));
    return;
  }
  const place = part.placeOfSlug(note.text ?? "", slug);
  part.followText();
  if (place === undefined) toast(t("note.headingGone"));
  else page.editor?.showAt(place);
}

/** Switches between text and page, by the button. */
export const toggleReading = () => void read(isReading() ? "" : "instead");

/** Shows the open note as text, as a page, or as both. */
export function drawReading() {
  const note = page.current;
  const reading = readingNow();
  formattedPage?.destroy();
  formattedPage = undefined;
  if (note && isFormatted(note)) return drawFormatted(note, reading);
  if (reading && note && !part) void loadRendering().then((loaded) => loaded && drawReading());
  const isShown = reading !== "" && part !== undefined && note !== undefined && note.hasText;
  byId("app").dataset.reading = isShown ? reading : "";
  byId("read").setAttribute("aria-pressed", String(isShown));
  byId("rendered").hidden = !isShown;
  tellAddress(reading);
  if (isShown) part?.showPage(note, reading === "beside");
  else part?.hidePage();
}

/** @param {import("../state/shownnote.js").ShownNote} note */
const isFormatted = ({ kind, documentId }) => kind === "rich" && !isShownAsMarkdown(documentId);

/** @param {import("../state/shownnote.js").ShownNote} note @param {Reading} reading Beside its text, a page would be the same. */
function drawFormatted(note, reading) {
  part?.hidePage();
  const isShown = reading === "instead" && note.hasText;
  byId("app").dataset.reading = isShown ? reading : "";
  byId("read").setAttribute("aria-pressed", String(isShown));
  byId("rendered").hidden = !isShown;
  if (!isShown) return;
  if (page.editor?.kind === "rich") formattedPage = page.editor.pageIn(byId("rendered"));
}

/** Called when the editor was created or replaced. */
export function followEditor() {
  part?.followEditor();
  if (page.current && isFormatted(page.current) && isReading()) drawReading();
}

/** Connects the button. */
export const setUpReading = () => byId("read").addEventListener("click", toggleReading);
