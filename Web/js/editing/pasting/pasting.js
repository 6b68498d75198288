// Pasting of HTML, files and addresses. The page fetches this module when the first of them is pasted or dropped.

import { isolateHistory } from "../../codemirror.js";
import { wholeText } from "../../ground/lineends.js";
import { hideToast, toast } from "../../ground/dialogs.js";
import { inSlices } from "../../ground/steps.js";
import { t } from "../../ground/language.js";
import { isInCode, isInTable, put, blockInsertion, putLink } from "./insertion.js";
import { markdownOf } from "./markdownof.js";
import { inert } from "./markup.js";

export { uploadsInto } from "./uploads.js";

/** The maximum UTF-16 units of HTML that are converted. */
export const htmlMax = 5_000_000;
/** The time after which a conversion shows a message, in milliseconds. */
const saidAfter = 400;

/**
 * @typedef {import("../../codemirror.js").EditorView} EditorView
 * @typedef {import("../brought.js").Range} Range
 */

/**
 * Converts HTML in steps, between which the page handles events.
 *
 * @param {string} html
 * @param {AbortSignal} signal
 * @returns {Promise<{text: string, isInline: boolean, isPlain: boolean} | undefined>} Undefined if it was stopped.
 */
export async function convert(html, signal) {
  if (signal.aborted) return undefined;
  // A parser's document runs no scripts and loads no pictures.
  const { body } = new DOMParser().parseFromString(inert(html), "text/html");
  return inSlices(markdownOf(body), signal);
}

/** @param {EditorView} view @param {object} insertion The insertion, which is one step of undo. */
function insert(view, insertion) {
  view.dispatch({ ...insertion, scrollIntoView: true, userEvent: "input.paste", annotations: isolateHistory.of("full") });
}

/** @param {string} html @param {AbortController} stop */
async function converted(html, stop) {
  let isSaid = false;
  const timer = setTimeout(() => {
    isSaid = true;
    toast(t("paste.working"), { label: t("paste.asText"), run: () => stop.abort() });
  }, saidAfter);
  try {
    return await convert(html, stop.signal);
  } finally {
    clearTimeout(timer);
    if (isSaid) hideToast();
  }
}

/**
 * Pastes HTML as Markdown. In code, above the limit, without formatting, or after a stop, pastes its plain text
 * instead.
 *
 * @param {EditorView} view
 * @param {{html: string, text: string, range: Range, isGone: () => boolean}} brought
 */
export async function pasteHTML(view, { html, text, range, isGone }) {
  const plain = wholeText(text);
  const isTooLarge = html.length > htmlMax;
  const link = range.from < range.to ? putLink(view.state, range, plain) : undefined;
  if (link) return insert(view, link);
  const made = isTooLarge || isInCode(view.state, range) ? undefined : await converted(html, range.stop);
  if (isGone() || view.state.readOnly) return;
  if (isTooLarge) toast(t("paste.tooLarge"));
  const { state } = view;
  // A table cell has only one line.
  const isForPlace = made?.isInline || !isInTable(state, range);
  const inCell = (/** @type {string} */ text) => text.replace(/(?<!\\)\||\\\n/g, (sign) => (sign === "|" ? "\\|" : " "));
  if (!made || !isForPlace || (made.isPlain && plain)) insert(view, put(range, plain || made?.text.replace(/\n+/g, " ") || ""));
  else if (!made.isInline) insert(view, blockInsertion(state, range, made.text));
  else insert(view, put(range, isInTable(state, range) ? inCell(made.text) : made.text));
}
