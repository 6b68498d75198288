// Call-outs: quotes that begin with "[!NOTE]" or another kind, as on GitHub.

import { t } from "../ground/language.js";

/** @typedef {"note" | "tip" | "important" | "warning" | "caution"} Kind */

/** @type {Record<Kind, () => string>} */
const titles = {
  note: () => t("callout.note"),
  tip: () => t("callout.tip"),
  important: () => t("callout.important"),
  warning: () => t("callout.warning"),
  caution: () => t("callout.caution"),
};

/**
 * Shapes of icons, 20 units wide; drawn here, so that a downloaded page contains them.
 *
 * @type {Record<Kind, string>}
 */
const icons = {
  note: "M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14M10 9v4.500M10 6.500h.01",
  tip: "M7.500 13.500c0-1.500-2.500-2.500-2.500-5.500a5 5 0 0 1 10 0c0 3-2.500 4-2.500 5.500ZM8 16.500h4",
  important: "M3.500 4h13v9.500H10L6.500 17v-3.500h-3ZM10 6.500v3M10 11.500h.01",
  warning: "m10 3.500 7.500 13h-15ZM10 8.500v3.500M10 14.200h.01",
  caution: "M7 3h6l4 4v6l-4 4H7l-4-4V7ZM10 6.500v4.500M10 13.500h.01",
};

/** The first line of a call-out, with its quote mark. */
const mark = /^>[ \t]?[ ]{0,3}\[!(note|tip|important|warning|caution)\][ \t]*(?:\n|$)/i;

/**
 * @param {string} text The source of a quote.
 * @returns {{kind: Kind, length: number} | undefined} The length of the line that names the kind.
 */
export function calloutIn(text) {
  const [line, kind] = mark.exec(text) ?? [];
  return line === undefined || kind === undefined ? undefined : { kind: /** @type {Kind} */ (kind.toLowerCase()), length: line.length };
}

/** @param {Kind} kind @returns {HTMLElement} The title element of a call-out. */
export function titleOfCallout(kind) {
  const title = document.createElement("p");
  title.className = "callout-title";
  title.dir = "auto";
  const namespace = "http://www.w3.org/2000/svg";
  const icon = document.createElementNS(namespace, "svg");
  icon.setAttribute("viewBox", "0 0 20 20");
  icon.setAttribute("aria-hidden", "true");
  const shape = document.createElementNS(namespace, "path");
  shape.setAttribute("d", icons[kind]);
  icon.append(shape);
  title.append(icon, titles[kind]());
  return title;
}
