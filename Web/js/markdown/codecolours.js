// Colours the code on a page when its language has been fetched, without a change of its characters.

import { fetchLanguage } from "./codelanguages.js";
import { highlightTree } from "../codemirror.js";
import { highlighter } from "./highlighter.js";

/** The longest piece of code that is coloured, in UTF-16 units. */
const colouredMax = 100_000;

/** Milliseconds of one slice of work, after which the page handles events. */
const sliceMax = 15;

/** @param {HTMLElement} code @param {any} language */
function colour(code, language) {
  const text = code.textContent ?? "";
  const parts = document.createDocumentFragment();
  let place = 0;
  highlightTree(language.parser.parse(text), highlighter, (from, to, classes) => {
    if (from > place) parts.append(text.slice(place, from));
    const span = document.createElement("span");
    span.className = classes;
    span.append(text.slice(from, to));
    parts.append(span);
    place = to;
  });
  parts.append(text.slice(place));
  code.replaceChildren(parts);
}

/**
 * Colours the code of a page, as far as its languages are known.
 *
 * @param {HTMLElement} host
 */
export async function colourCode(host) {
  let began = performance.now();
  for (const code of /** @type {NodeListOf<HTMLElement>} */ (host.querySelectorAll("code[data-language]"))) {
    const { language } = code.dataset;
    if (language === undefined || code.dataset.isColoured || (code.textContent?.length ?? 0) > colouredMax) continue;
    code.dataset.isColoured = "true";
    try {
      colour(code, await fetchLanguage(language));
    } catch (error) {
      // Code stays readable without colours. The next drawing tries again.
      console.warn(error);
      delete code.dataset.isColoured;
    }
    // Pauses between slices let the page handle typing.
    if (performance.now() - began < sliceMax) continue;
    await new Promise((resolve) => setTimeout(resolve));
    began = performance.now();
  }
}
