// Enter on an empty second item of a list ends the list, as on any later empty item. CodeMirror's command would insert
// a blank line between the two items instead.

import { EditorSelection, syntaxTree } from "../codemirror.js";

/** @typedef {import("../codemirror.js").EditorState} EditorState */
/** @typedef {import("./textcommands.js").Node & {prevSibling: Node | null}} Node */

const start = /^(\s*(?:>\s*)*)([-*+]|\d{1,9}[.)])(\s+\[[ xX]\])?/;

/** @param {EditorState} state @param {number} place @returns {Node | undefined} The item whose mark ends there. */
function itemAt(state, place) {
  const mark = /** @type {any} */ (syntaxTree(state)).resolveInner(place, -1);
  return mark.name === "ListMark" && mark.parent?.name === "ListItem" ? mark.parent : undefined;
}

/** @param {Node | undefined} item @returns {Node | null} The previous item of its list. */
function itemBefore(item) {
  let before = item?.prevSibling ?? null;
  while (before?.name === "QuoteMark") before = before.prevSibling;
  return before;
}

/** @param {string} mark The mark of an item. @returns {string} The mark of the next item. */
const markAfter = (mark) => mark.replace(/\d+/, (number) => String(Number(number) + 1));

/**
 * Replaces an empty second item by an item of the outer list, or by an empty line.
 *
 * @param {EditorState} state
 * @returns {object | undefined} The transaction; undefined if the caret is elsewhere.
 */
export function listEnd(state) {
  const { empty, head } = state.selection.main;
  const line = state.doc.lineAt(head);
  const [found, before = "", mark = ""] = start.exec(line.text) ?? [];
  if (!empty || found === undefined || line.text.slice(found.length).trim() !== "" || head < line.from + found.length) return undefined;
  const item = itemAt(state, line.from + before.length + mark.length);
  const first = itemBefore(item);
  if (first?.name !== "ListItem" || itemBefore(first) || state.doc.lineAt(Math.max(0, line.from - 1)).text.trim() === "") return undefined;
  const outer = item?.parent?.parent;
  const around = outer?.name === "ListItem" ? start.exec(state.doc.lineAt(outer.from).text) : undefined;
  const insert = around ? `${around[1]}${markAfter(around[2] ?? "")}${around[3] ? " [ ]" : ""} ` : /^(?:.*>\s?)?/.exec(before)?.[0] ?? "";
  return {
    changes: { from: line.from, to: line.to, insert },
    selection: EditorSelection.cursor(line.from + insert.length),
    scrollIntoView: true,
    userEvent: "delete",
  };
}

/** @param {import("../codemirror.js").EditorView} view A view, which may be read-only. */
export function endList(view) {
  const change = view.state.readOnly ? undefined : listEnd(view.state);
  if (change) view.dispatch(change);
  return change !== undefined;
}
