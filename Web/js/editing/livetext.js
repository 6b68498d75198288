// The text while it is edited: links open with Ctrl or ⌘ and a click, a click ticks a box, and tables and code have a
// monospaced font.

import { followAddress } from "../links/addresses.js";
import { Decoration, EditorView, ViewPlugin, syntaxTree } from "../codemirror.js";
import { t } from "../ground/language.js";
import { isApple } from "../ground/shortcuts.js";
import { addressAt } from "./textcommands.js";
import { directionIn } from "../ground/texts.js";

const isMac = isApple(navigator);
const box = Decoration.mark({ class: "box" });
const link = () => Decoration.mark({ class: "followed", attributes: { title: t(isMac ? "note.followOnMac" : "note.follow") } });
/** Line decorations by the direction of the whole table, because its rule has no letters. */
const tableLines = {
  ltr: Decoration.line({ attributes: { class: "table-line is-ltr" } }),
  rtl: Decoration.line({ attributes: { class: "table-line is-rtl" } }),
  none: Decoration.line({ attributes: { class: "table-line" } }),
};
const codeLine = Decoration.line({ attributes: { class: "code-line" } });
const codes = new Set(["FencedCode", "CodeBlock"]);
const links = new Set(["Link", "Image", "URL", "Autolink"]);

/** The maximum UTF-16 units of a table that are searched for a letter. */
const lookedAtMax = 1_000;

/** @param {import("../codemirror.js").Text} doc @param {{from: number, to: number}} node */
const directionOf = (doc, { from, to }) => directionIn(doc.sliceString(from, Math.min(to, from + lookedAtMax))) ?? "none";

/** @param {EditorView} view @returns {any} The decorations of the visible text. */
function marksOf(view) {
  const { doc } = view.state;
  const linkMark = link();
  /** @type {any[]} */
  const marks = [];
  /** @type {Map<number, any>} By line start: two ranges may be in one table. */
  const lines = new Map();
  for (const { from, to } of view.visibleRanges) {
    /** @type {any} */ (syntaxTree(view.state)).iterate({
      from,
      to,
      /** @param {{name: string, from: number, to: number}} node */
      enter(node) {
        const lineMark = node.name === "Table" ? tableLines[directionOf(doc, node)] : codes.has(node.name) ? codeLine : undefined;
        if (lineMark) {
          const end = Math.min(node.to, to);
          for (let line = doc.lineAt(Math.max(node.from, from)); ; line = doc.lineAt(line.to + 1)) {
            lines.set(line.from, lineMark);
            if (line.to >= end || line.to >= doc.length) break;
          }
          // Inside code, the same node names belong to another language.
          return node.name === "Table" ? undefined : false;
        }
        if (node.name === "TaskMarker") marks.push(box.range(node.from, node.to));
        else if (links.has(node.name)) {
          marks.push(linkMark.range(node.from, node.to));
          return false;
        }
        return undefined;
      },
    });
  }
  return Decoration.set([...marks, ...[...lines].map(([from, mark]) => mark.range(from))], true);
}

/**
 * Ticks or unticks the box at a position of the text.
 *
 * @param {EditorView} view
 * @param {number} place
 */
function tickAt(view, place) {
  const from = view.state.doc.sliceString(Math.max(0, place - 2), place + 3).search(/\[[ xX]\]/);
  if (from < 0 || view.state.readOnly) return false;
  const at = Math.max(0, place - 2) + from + 1;
  const insert = view.state.doc.sliceString(at, at + 1) === " " ? "x" : " ";
  view.dispatch({ changes: { from: at, to: at + 1, insert }, userEvent: "input" });
  return true;
}

/** @param {Event} event @param {string} name A class of the element or its ancestors. */
const isOn = (event, name) => event.target instanceof Element && event.target.closest(`.${name}`) !== null;

/** The extension for the editor. */
export const liveText = [
  ViewPlugin.fromClass(
    class {
      /** @param {EditorView} view */
      constructor(view) {
        this.decorations = marksOf(view);
        this.tree = syntaxTree(view.state);
      }

      /** @param {import("../codemirror.js").ViewUpdate} update */
      update({ docChanged, viewportChanged, view, state }) {
        const tree = syntaxTree(state);
        if (!docChanged && !viewportChanged && tree === this.tree) return;
        this.tree = tree;
        this.decorations = marksOf(view);
      }
    },
    { decorations: (/** @type {any} */ plugin) => plugin.decorations },
  ),
  EditorView.domEventHandlers({
    mousedown(event, view) {
      if (event.button !== 0 || event.shiftKey || event.altKey) return false;
      const isFollowing = isMac ? event.metaKey : event.ctrlKey;
      const place = view.posAtCoords({ x: event.clientX, y: event.clientY });
      if (place === null) return false;
      if (isFollowing && isOn(event, "followed")) {
        const address = addressAt(view.state, place);
        if (address) followAddress(address);
      } else if (isFollowing || event.ctrlKey || event.metaKey || !isOn(event, "box") || !tickAt(view, place)) return false;
      event.preventDefault();
      return true;
    },
  }),
];
