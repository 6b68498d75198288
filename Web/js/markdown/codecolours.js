// Colours the code on a page once its language is loaded. The characters do not change.

import { fetchLanguage } from "./codelanguages.js";
import { highlightTree } from "../codemirror.js";
import { highlighter } from "./highlighter.js";

/** Maximum UTF-16 units of a piece of code that is coloured. */
const colouredMax = 100_000;

/** Maximum milliseconds of one slice of work; between slices the page handles events. */
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
 * Colours the code of a page in the languages that are known.
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
      // Code is readable without colours, and the next drawing tries again.
      console.warn(error);
      delete code.dataset.isColoured;
    }
    // Pauses between slices let the page handle typing.
    if (performance.now() - began < sliceMax) continue;
    await new Promise((resolve) => setTimeout(resolve));
    began = performance.now();
  }
}
