// Commands for lines: their kinds, indents and boxes; Enter and Backspace. Each takes the editor's state and returns a
// transaction; undefined if there is nothing to do.

import { TextSelection } from "../prosemirror.js";
import { indentMax, indentOf, isList, kindOf } from "./elements.js";
import { deleteMention } from "./mentions.js";
import { embedType, lineType } from "./schema.js";
import { changed, none, setOf } from "./sets.js";

/**
 * @typedef {import("../prosemirror.js").EditorState} EditorState
 * @typedef {import("../prosemirror.js").Transaction} Transaction
 * @typedef {import("../prosemirror.js").Node} Node
 * @typedef {import("./sets.js").AttributeSet} AttributeSet
 * @typedef {(state: EditorState) => Transaction | undefined} Command
 * @typedef {{line: Node, pos: number, index: number}} Place A line, and its place in the document.
 */

/** @param {EditorState} state @returns {Place[]} The selected lines. */
export function linesOf({ doc, selection }) {
  const { $from, $to } = selection;
  const last = $to.depth === 0 ? doc.childCount - 1 : $to.index(0);
  const first = Math.min($from.index(0), last);
  /** @type {Place[]} */
  const lines = [];
  let pos = 0;
  for (let index = 0; index <= last; index += 1) {
    const line = doc.child(index);
    if (index >= first) lines.push({ line, pos, index });
    pos += line.nodeSize;
  }
  // A last line of which nothing is selected does not count.
  if (lines.length > 1 && !selection.empty && $to.depth > 0 && $to.parentOffset === 0) lines.pop();
  return lines;
}

/**
 * Changes the attributes of lines.
 *
 * @param {EditorState} state
 * @param {(set: AttributeSet, place: Place) => AttributeSet} next
 * @returns {Transaction | undefined}
 */
function withSets(state, next) {
  const { tr } = state;
  for (const place of linesOf(state)) {
    const { set } = place.line.attrs;
    const wanted = next(set, place);
    if (wanted !== set) tr.setNodeAttribute(place.pos, "set", wanted);
  }
  return tr.docChanged ? tr : undefined;
}

/** @param {AttributeSet} set @param {string} kind "" for a paragraph. @returns {AttributeSet} */
export function ofKind(set, kind) {
  const isKept = kind !== "" && isList({ block: kind }) && isList(set);
  return changed(set, setOf([
    ["block", kind || null], ["language", null], ...(isKept ? [] : /** @type {[string, any][]} */ ([["indent", null]])),
  ]));
}

/**
 * Returns a command that makes the selected lines a kind, or paragraphs if all of them are of it.
 *
 * @param {string} kind
 * @returns {Command}
 */
export const toggleKind = (kind) => (state) => {
  const areAll = linesOf(state).every(({ line }) => isOfKind(line.attrs.set, kind));
  return withSets(state, (set) => (areAll ? ofKind(set, "") : isOfKind(set, kind) ? set : ofKind(set, kind)));
};

/** @param {AttributeSet} set @param {string} kind A ticked task is a task. */
export const isOfKind = (set, kind) => kindOf(set) === kind || (kind === "task" && kindOf(set) === "done");

/** @type {Command} Cycles from no heading through the levels 1, 2 and 3. */
export function nextHeading(state) {
  const [first] = linesOf(state);
  const level = Number(/^h([1-3])$/.exec(kindOf(first?.line.attrs.set ?? none))?.[1] ?? 0);
  const kind = level === 3 ? "" : `h${level + 1}`;
  return withSets(state, (set) => ofKind(set, kind));
}

/** @type {Command} Ticks the boxes of the selected lines, or unticks them if all are ticked. */
export function tick(state) {
  const boxes = linesOf(state).filter(({ line }) => isOfKind(line.attrs.set, "task"));
  const areAll = boxes.every(({ line }) => kindOf(line.attrs.set) === "done");
  return withSets(state, (set) => (isOfKind(set, "task") ? changed(set, setOf([["block", areAll ? "task" : "done"]])) : set));
}

/** @param {EditorState} state @param {number} pos The place of a line. @returns {Transaction | undefined} */
export function tickAt(state, pos) {
  const set = state.doc.nodeAt(pos)?.attrs.set ?? none;
  if (!isOfKind(set, "task")) return undefined;
  return state.tr.setNodeAttribute(pos, "set", changed(set, setOf([["block", kindOf(set) === "done" ? "task" : "done"]])));
}

/**
 * Ticks or unticks a box by its number among the boxes of a document.
 *
 * @param {import("../prosemirror.js").Transform} transform
 * @param {number} number
 * @param {boolean} isTicked
 * @returns {import("../prosemirror.js").Transform | undefined} Undefined if there is no such box.
 */
export function tickLine(transform, number, isTicked) {
  let left = number;
  let place = -1;
  transform.doc.forEach(({ attrs: { set } }, pos) => {
    if (isOfKind(set, "task") && left-- === 0) place = pos;
  });
  const set = place < 0 ? none : (transform.doc.nodeAt(place)?.attrs.set ?? none);
  if (place < 0) return undefined;
  return transform.setNodeAttribute(place, "set", changed(set, setOf([["block", isTicked ? "done" : "task"]])));
}

/**
 * Returns a command that indents the selected items.
 *
 * @param {number} step 1, or -1 for less.
 * @returns {Command}
 */
export const indent = (step) => (state) => {
  if (!linesOf(state).some(({ line }) => isList(line.attrs.set))) return undefined;
  return withSets(state, (set) => {
    if (!isList(set)) return set;
    const level = Math.max(0, Math.min(indentMax, indentOf(set) + step));
    return changed(set, setOf([["indent", level || null]]));
  });
};

/** @param {string | null} side @returns {Command} */
export const align = (side) => (state) => withSets(state, (set) => changed(set, setOf([["align", side]])));

/** @param {EditorState} state @returns {Place} The line of the caret. */
function lineAt({ selection: { $from }, doc }) {
  const index = Math.min($from.index(0), doc.childCount - 1);
  return { line: doc.child(index), pos: $from.before(1), index };
}

/** @param {AttributeSet} set Of a line that was split. @returns {AttributeSet} Of the line below. */
function setBelow(set) {
  const kind = kindOf(set);
  if (/^h\d$/.test(kind)) return ofKind(set, "");
  return kind === "done" ? changed(set, setOf([["block", "task"]])) : set;
}

/** @type {Command} */
export function enter(state) {
  const { selection, doc } = state;
  if (selection.$from.depth === 0 || selection.$to.depth === 0) return undefined;
  const { line, pos, index } = lineAt(state);
  const { set } = line.attrs;
  const kind = kindOf(set);
  if (selection.empty && line.content.size === 0) {
    // An empty item ends its list, level by level; an empty quote ends, and code at an empty last line.
    if (isList(set)) return indentOf(set) > 0 ? indent(-1)(state) : withSets(state, () => ofKind(set, ""));
    if (kind === "quote" || (kind === "code" && isEnd(doc, index))) return withSets(state, () => ofKind(set, ""));
  }
  const { tr } = state;
  if (!selection.empty) tr.delete(selection.from, selection.to);
  const at = tr.selection.$from;
  const isHeading = /^h\d$/.test(kind);
  // At the start of a heading, the new line above is a paragraph.
  if (isHeading && at.parentOffset === 0 && at.parent.content.size > 0) {
    tr.insert(at.before(1), lineType.create());
    return tr;
  }
  const isAtEnd = at.parentOffset === at.parent.content.size;
  const below = isHeading && !isAtEnd ? set : setBelow(set);
  const { storedMarks } = state;
  tr.split(at.pos, 1, [{ type: lineType, attrs: { set: below } }]);
  if (storedMarks && tr.doc.nodeAt(pos)) tr.setStoredMarks(storedMarks);
  return tr;
}

/** @type {Command} Within code a line of code, also at its end; elsewhere as Enter. */
export function enterWithin(state) {
  const { selection, tr } = state;
  if (selection.$from.depth === 0 || selection.$to.depth === 0) return undefined;
  const { set } = lineAt(state).line.attrs;
  if (kindOf(set) !== "code") return enter(state);
  if (!selection.empty) tr.delete(selection.from, selection.to);
  return tr.split(tr.selection.from, 1, [{ type: lineType, attrs: { set } }]);
}

/** @param {Node} doc @param {number} index An empty line of code: whether it is the last one, and not the only one. */
function isEnd(doc, index) {
  const isCode = (/** @type {Node | null} */ line) => line !== null && kindOf(line.attrs.set) === "code";
  return isCode(doc.maybeChild(index - 1)) && !isCode(doc.maybeChild(index + 1));
}

/** @type {Command} */
export function backspace(state) {
  const { selection, doc, tr } = state;
  if (!selection.empty) return tr.deleteSelection();
  const { $from } = selection;
  if ($from.depth === 0) return undefined;
  const { nodeBefore } = $from;
  const mention = deleteMention(state);
  if (mention) return mention;
  if (nodeBefore) return nodeBefore.isText ? undefined : tr.delete($from.pos - nodeBefore.nodeSize, $from.pos);
  const { line, pos, index } = lineAt(state);
  const before = doc.maybeChild(index - 1);
  const { set } = line.attrs;
  const kind = kindOf(set);
  if (before && before.content.size === 0 && kindOf(before.attrs.set) === "" && line.content.size > 0) return tr.delete(pos - before.nodeSize, pos);
  if (isList(set) && indentOf(set) > 0) return indent(-1)(state);
  const isInCode = kind === "code" && before && kindOf(before.attrs.set) === "code";
  if (kind && !isInCode) return withSets(state, () => ofKind(set, ""));
  return before ? tr.delete(pos - 1, pos + 1) : undefined;
}

/** @type {Command} The key Delete. */
export function deleteForward(state) {
  const { selection, doc, tr } = state;
  if (!selection.empty) return tr.deleteSelection();
  const { $from } = selection;
  if ($from.depth === 0) return undefined;
  const { nodeAfter } = $from;
  if (nodeAfter) return nodeAfter.isText ? undefined : tr.delete($from.pos, $from.pos + nodeAfter.nodeSize);
  const { line, pos, index } = lineAt(state);
  if (index === doc.childCount - 1) return undefined;
  if (line.content.size > 0) return tr.delete($from.pos, $from.pos + 2);
  tr.delete(pos, pos + line.nodeSize);
  return tr.setSelection(TextSelection.create(tr.doc, pos + 1));
}

/** @type {[RegExp, (found: RegExpExecArray) => string][]} The kinds that typed text at the start of a line makes. */
const starts = [
  [/^(#{1,6}) $/, ([, signs = ""]) => `h${signs.length}`],
  [/^[-*+] $/, () => "bullet"],
  [/^1[.)] $/, () => "ordered"],
  [/^(?:[-*+] )?\[ ?\] $/, () => "task"],
  [/^(?:[-*+] )?\[[xX]\] $/, () => "done"],
  [/^> $/, () => "quote"],
  [/^```([\w+#-]*) ?$/, () => "code"],
];

/**
 * Returns what a typed space, or Enter after a fence, makes of the text before it.
 *
 * @param {EditorState} state
 * @returns {Transaction | undefined}
 */
export function startOfLine(state) {
  const { selection } = state;
  if (!selection.empty || selection.$from.depth === 0) return undefined;
  const { line, pos } = lineAt(state);
  const { set } = line.attrs;
  const kind = kindOf(set);
  const { parentOffset } = selection.$from;
  if (kind === "code" || parentOffset > 24) return undefined;
  const before = line.textBetween(0, parentOffset, "", "\ufffc");
  for (const [pattern, kindFor] of starts) {
    const found = pattern.exec(before);
    const wanted = found ? kindFor(found) : "";
    // In a list, boxes can still be made of items.
    if (!found || (kind !== "" && !(isList(set) && (wanted === "task" || wanted === "done")))) continue;
    const tr = state.tr.delete(pos + 1, pos + 1 + parentOffset);
    const language = wanted === "code" && found[1] ? found[1] : null;
    return tr.setNodeAttribute(pos, "set", changed(ofKind(set, wanted), setOf([["language", language]])));
  }
  return undefined;
}

/** @type {Command} Enter after a fence, or after three dashes. */
export function enterAfterMarks(state) {
  const { selection } = state;
  if (!selection.empty || selection.$from.depth === 0) return undefined;
  const { line, pos } = lineAt(state);
  const text = line.textContent;
  if (selection.$from.parentOffset !== line.content.size || kindOf(line.attrs.set) !== "") return undefined;
  if (/^```[\w+#-]*$/.test(text)) return startOfLine(state);
  if (!/^(?:---|\*\*\*|___)$/.test(text) || line.childCount !== 1) return undefined;
  const tr = state.tr.replaceWith(pos + 1, pos + 1 + line.content.size, embedType.create({ embed: setOf([["rule", true]]) }));
  return tr.split(pos + 2, 1);
}
