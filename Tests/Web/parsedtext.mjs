// Texts whose Markdown is parsed completely. By itself, the parser stops after a time, which a busy machine may exceed.

import { EditorState, ensureSyntaxTree } from "../../Web/js/codemirror.js";
import { plainMarkdown } from "../../Web/js/markdown/markdown.js";

/** @param {any} state @returns {any} The same text and selection, parsed to its end. */
export function parsed(state) {
  ensureSyntaxTree(state, state.doc.length, Infinity);
  // A state keeps its tree, so only the next state has the parsed one.
  return state.update({}).state;
}

/** @param {string} doc @param {object} [more] Of a state, such as its selection. @returns {any} */
export const parsedText = (doc, more) =>
  parsed(EditorState.create(/** @type {any} */ ({ doc, extensions: [plainMarkdown], ...more })));
