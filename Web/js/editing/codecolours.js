// Colours of the code on a page: filled in when its language is here, character by character what it was.

import { fetchLanguage } from "./codelanguages.js";
import { highlightTree } from "../codemirror.js";
import { highlighter } from "./highlighter.js";

/** UTF-16 units of one piece of code that are coloured, at most. */
const colouredMax = 100_000;

/** Milliseconds after which what else happens has its turn. */
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
      // Code without colours is code all the same. The next time it is drawn it has another chance.
      console.warn(error);
      delete code.dataset.isColoured;
    }
    // Pauses between slices let the page handle typing.
    if (performance.now() - began < sliceMax) continue;
    await new Promise((resolve) => setTimeout(resolve));
    began = performance.now();
  }
}
