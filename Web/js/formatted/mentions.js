// Mentions in a formatted note: text with the attribute `mention`, the id of a person in this note. A mention is shown
// with the person's current name, if the page knows it; the text has the name of the time at which it was written.
//
// The server makes an id for each person and note (Documentation/Protocol.md, presence). People without an account have
// none: they are mentioned by their names.

import { Decoration, DecorationSet, Plugin } from "../prosemirror.js";
import { shownName } from "../state/people.js";
import { readCaret } from "./caret.js";
import { markOf, schema } from "./schema.js";

/**
 * @typedef {import("../prosemirror.js").Node} Node
 * @typedef {import("../prosemirror.js").EditorState} EditorState
 * @typedef {{from: number, to: number, id: string, text: string}} Mention In a line.
 * @typedef {{id: string, name: string}} Named
 */

/** @type {Map<string, string>} The current names of people by their ids. An id belongs to one note. */
const names = new Map();
/** The number of names that are kept. */
const namesMax = 2_000;
/** Counts changes of the names. */
let version = 0;

/** @param {{personId: string, name: string}[]} people @returns {boolean} Whether a name is new. */
export function rememberNames(people) {
  const former = version;
  for (const { personId, name } of people) {
    if (!personId || !name || names.get(personId) === name) continue;
    if (names.size >= namesMax) names.delete(names.keys().next().value ?? "");
    names.set(personId, name);
    version += 1;
  }
  return version !== former;
}

/** @param {unknown} id @returns {string | undefined} The text of a mention with the person's current name, if it is known. */
export function currentText(id) {
  const name = typeof id === "string" ? names.get(id) : undefined;
  return name === undefined ? undefined : `@${shownName(name)}`;
}

/** @type {WeakMap<Node, Mention[]>} */
const known = new WeakMap();

/** @param {Node} line @returns {Mention[]} Neighbours with one id are one mention. */
export function mentionsIn(line) {
  const found = known.get(line);
  if (found) return found;
  /** @type {Mention[]} */
  const mentions = [];
  line.forEach((node, offset) => {
    const id = node.isText ? node.marks.find(({ type }) => type.name === "mention")?.attrs.value : undefined;
    if (typeof id !== "string") return;
    const last = mentions[mentions.length - 1];
    const text = node.text ?? "";
    if (last && last.to === offset && last.id === id) {
      last.to += node.nodeSize;
      last.text += text;
    } else mentions.push({ from: offset, to: offset + node.nodeSize, id, text });
  });
  known.set(line, mentions);
  return mentions;
}

/**
 * Returns the people that the menu at the caret offers: those who have the note open, those whom it mentions already, and
 * its authors.
 *
 * @param {{name: string, personId: string}[]} here
 * @param {Node} doc
 * @param {string[]} authors
 * @returns {Named[]} Each name once. `id` is the name itself if there is no other.
 */
export function peopleToMention(here, doc, authors) {
  /** @type {Map<string, string>} */
  const found = new Map();
  const add = (/** @type {string} */ name, /** @type {string} */ id) => {
    if (name && !found.has(name)) found.set(name, id || name);
  };
  // Ids first: another window of a person may have none.
  for (const { name, personId } of here) if (personId) add(shownName(name), personId);
  doc.forEach((line) => {
    for (const { id, text } of mentionsIn(line)) add((currentText(id) ?? text).replace(/^@/, ""), id);
  });
  for (const { name } of here) add(shownName(name), "");
  for (const name of authors) add(shownName(name), "");
  return [...found].map(([name, id]) => ({ name, id }));
}

/** @param {Named} person @returns {Node} */
export const mentionOf = ({ id, name }) => schema.text(`@${name}`, [markOf("mention", id)]);

/** @param {EditorState} state @returns {import("../prosemirror.js").Transaction | undefined} Deletes the mention before the caret as a whole. */
export function deleteMention({ selection, tr }) {
  const { $from, empty } = selection;
  if (!empty || $from.depth === 0) return undefined;
  const found = mentionsIn($from.parent).find(({ to }) => to === $from.parentOffset);
  return found && tr.delete($from.start() + found.from, $from.pos);
}

/** @param {string} name */
function nameElement(name) {
  const element = document.createElement("span");
  element.textContent = name;
  return element;
}

/** @param {EditorState} state @returns {DecorationSet} Current names, but where the caret is in the text of one. */
function renamed({ doc, selection }) {
  /** @type {Decoration[]} */
  const shown = [];
  doc.forEach((line, pos) => {
    for (const { from, to, id, text } of mentionsIn(line)) {
      const name = currentText(id);
      const [start, end] = [pos + 1 + from, pos + 1 + to];
      const isWithin = selection.empty && selection.from > start && selection.from < end;
      if (name === undefined || name === text || isWithin) continue;
      const marks = line.nodeAt(from)?.marks ?? [];
      shown.push(
        Decoration.widget(start, () => nameElement(name), { key: name, marks: [...marks], side: 1, ignoreSelection: true }),
        Decoration.inline(start, end, { class: "is-renamed", "aria-hidden": "true" }),
      );
    }
  });
  return shown.length > 0 ? DecorationSet.create(doc, shown) : DecorationSet.empty;
}

/** @param {import("../state/shownnote.js").ShownNote} note Shows the current names of its people in its editor. */
export function mentionNames(note) {
  /** @type {{state: EditorState, version: number, set: DecorationSet} | undefined} */
  let last;
  rememberNames(note.people);
  return new Plugin({
    view: (/** @type {import("../prosemirror.js").EditorView} */ view) => ({
      destroy: note.on("people", () => {
        if (!rememberNames(note.people)) return;
        readCaret(view);
        view.dispatch(view.state.tr);
      }),
    }),
    props: {
      decorations(/** @type {EditorState} */ state) {
        const isSame = last && last.version === version && last.state.doc === state.doc && last.state.selection.eq(state.selection);
        if (!last || !isSame) last = { state, version, set: renamed(state) };
        return last.set;
      },
    },
  });
}
