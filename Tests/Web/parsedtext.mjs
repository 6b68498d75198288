// Texts whose whole Markdown is parsed, however busy the machine is: the parser's own budget is one of the wall's clock.

import { EditorState, ensureSyntaxTree } from "../../Web/js/codemirror.js";
import { plainMarkdown } from "../../Web/js/markdown/markdown.js";

/** @param {any} state @returns {any} The same text and selection, parsed to its end. */
export function parsed(state) {
  ensureSyntaxTree(state, state.doc.length, Infinity);
  // A state keeps the tree that it began with: only the next one has what was parsed since.
  return state.update({}).state;
}

/** @param {string} doc @param {object} [more] Of a state, such as its selection. @returns {any} */
export const parsedText = (doc, more) =>
  parsed(EditorState.create(/** @type {any} */ ({ doc, extensions: [plainMarkdown], ...more })));
