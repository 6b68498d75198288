// Commands for the attributes of text: bold, links, colours. Each takes the editor's state and returns a transaction;
// undefined if there is nothing to do.

import { markOf, markTypes, schema } from "./schema.js";

/**
 * @typedef {import("../prosemirror.js").EditorState} EditorState
 * @typedef {import("../prosemirror.js").Transaction} Transaction
 * @typedef {import("../prosemirror.js").Mark} Mark
 * @typedef {(state: EditorState) => Transaction | undefined} Command
 */

/** @param {string} key @returns {any} */
const typeOf = (key) => markTypes.get(key);

/** @param {EditorState} state @returns {readonly Mark[]} The marks of text that is typed now. */
const marksHere = ({ storedMarks, selection }) => storedMarks ?? (selection.$from.depth > 0 ? typedMarks(selection.$from) : []);

/**
 * Returns the marks that typed text takes: those that go on behind the text before it. At a line's start it takes none.
 *
 * @param {import("../prosemirror.js").ResolvedPos} place
 * @returns {readonly Mark[]}
 */
export const typedMarks = (place) => (place.parentOffset === 0 ? [] : place.marks());

/** @param {EditorState} state @param {string} key @returns {any} The value that all selected text has; undefined if not. */
export function valueHere(state, key) {
  const { selection, doc } = state;
  const type = typeOf(key);
  if (selection.empty) return type.isInSet(marksHere(state))?.attrs.value;
  /** @type {Set<any>} */
  const values = new Set();
  doc.nodesBetween(selection.from, selection.to, (node) => {
    if (node.isText) values.add(type.isInSet(node.marks)?.attrs.value);
    return values.size < 2;
  });
  return values.size === 1 ? [...values][0] : undefined;
}

/** @param {string} key @param {any} value `null` removes the attribute. @returns {Command} */
export const setMark = (key, value) => (state) => {
  const { selection, tr } = state;
  const type = typeOf(key);
  if (selection.empty) {
    if (selection.$from.depth === 0) return undefined;
    const rest = type.removeFromSet(marksHere(state));
    return tr.setStoredMarks(value === null ? rest : markOf(key, value).addToSet(rest));
  }
  if (value === null) tr.removeMark(selection.from, selection.to, type);
  else tr.addMark(selection.from, selection.to, markOf(key, value));
  return tr.docChanged ? tr : undefined;
};

/** @param {string} key @param {any} [value] @returns {Command} Sets the attribute, or removes it if all selected text has it. */
export const toggleMark = (key, value = true) => (state) => setMark(key, valueHere(state, key) === value ? null : value)(state);

/** The marks that *clear formatting* keeps, as they are content. */
const content = new Set(["link", "mention"]);

/** @type {Command} */
export function clearMarks(state) {
  const { selection, tr } = state;
  if (selection.empty) return tr.setStoredMarks([]);
  for (const [key, type] of markTypes) if (!content.has(key)) tr.removeMark(selection.from, selection.to, type);
  return tr.docChanged ? tr : undefined;
}

/** @param {EditorState} state @returns {{from: number, to: number, value: string} | undefined} The link at the caret. */
export function linkHere({ doc, selection }) {
  const { $from } = selection;
  if ($from.depth === 0) return undefined;
  const type = typeOf("link");
  const line = $from.parent;
  const start = $from.start();
  /** @type {{from: number, to: number, value: string} | undefined} */
  let found;
  line.forEach((node, offset) => {
    const value = type.isInSet(node.marks)?.attrs.value;
    const [from, to] = [start + offset, start + offset + node.nodeSize];
    if (value === undefined) return;
    if (found && found.to === from && found.value === value) found.to = to;
    else if (!found || found.to < $from.pos) found = { from, to, value };
  });
  return found && found.from <= selection.from && found.to >= selection.to && doc ? found : undefined;
}

/**
 * Returns a command that links the selected text, or the link at the caret, or inserts the address itself.
 *
 * @param {string | null} url `null` removes the link.
 * @param {string} [words] Inserted if nothing is selected.
 * @returns {Command}
 */
export const linkTo = (url, words) => (state) => {
  const { selection, tr } = state;
  const here = linkHere(state);
  const { from, to } = selection.empty && here ? here : selection;
  if (url === null) return tr.removeMark(from, to, typeOf("link"));
  if (from < to) return tr.addMark(from, to, markOf("link", url));
  return tr.replaceWith(from, to, schema.text(words || url, markOf("link", url).addToSet(marksHere(state)))).setStoredMarks([]);
};

/** @type {[RegExp, string][]} The marks that typed signs around a word make, by the text up to the last sign. */
const signs = [
  [/(?:^|[^*])(\*\*)([^\s*](?:[^*]*[^\s*])?)\*\*$/, "bold"],
  [/(?:^|[^*])(\*)([^\s*](?:[^*]*[^\s*])?)\*$/, "italic"],
  // Not within a word: names of programs have such signs.
  [/(?:^|[^\p{L}\p{N}_])(_)([^\s_](?:[^_]*[^\s_])?)_$/u, "italic"],
  [/(?:^|[^`])(`)([^`]+)`$/, "code"],
  [/(?:^|[^~])(~~)([^\s~](?:[^~]*[^\s~])?)~~$/, "strike"],
];

/** The UTF-16 units before the caret that are searched for the first sign. */
const lookedAtMax = 500;

/**
 * Makes marks of signs that surround a word, when the last sign was typed.
 *
 * @param {EditorState} state
 * @returns {Transaction | undefined}
 */
export function markTyped(state) {
  const { $from, empty } = state.selection;
  if (!empty || $from.depth === 0 || typeOf("code").isInSet($from.marks())) return undefined;
  const from = Math.max(0, $from.parentOffset - lookedAtMax);
  const before = $from.parent.textBetween(from, $from.parentOffset, "", "\ufffc");
  for (const [pattern, key] of signs) {
    const [, sign = "", word = ""] = pattern.exec(before) ?? [];
    if (!word) continue;
    const end = $from.pos - sign.length;
    const start = end - word.length;
    const tr = state.tr.addMark(start, end, markOf(key, true));
    tr.delete(end, $from.pos).delete(start - sign.length, start);
    return tr.setStoredMarks(typeOf(key).removeFromSet($from.marks()));
  }
  return undefined;
}
