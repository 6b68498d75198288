// The ranges of comments in the editor of a formatted note: they are shown, and move with every change. The same
// surface as editing/commentmarks.js, so that comments need not know which editor shows the note.

import { applied } from "../ground/lineends.js";
import { placeBefore } from "../client/changes.js";
import { Decoration, DecorationSet, Plugin, PluginKey } from "../prosemirror.js";
import { readCaret } from "./caret.js";
import { textOfDocument, toDocument, toText } from "./document.js";

/**
 * @typedef {import("../prosemirror.js").Mapping} Mapping
 * @typedef {import("../prosemirror.js").Node} Node
 * @typedef {{id: string, from: number, to: number}} Mark In UTF-16 units of the text.
 * @typedef {{marks: readonly Mark[], chosen: string | undefined, shown: DecorationSet}} Shown Marks in the document.
 */

/** @type {PluginKey<Shown>} */
const key = new PluginKey("comments");

/** @param {Node} doc @param {readonly Mark[]} marks @param {string | undefined} chosen */
const decorated = (doc, marks, chosen) =>
  DecorationSet.create(
    doc,
    marks.map(({ id, from, to }) => {
      const kind = id === "" ? " is-draft" : id === chosen ? " is-chosen" : "";
      return Decoration.inline(from, to, { class: `comment-mark${kind}`, "data-comment": id });
    }),
  );

/** @param {Mark} mark @param {Mapping} mapping @returns {Mark | undefined} Undefined if its text was deleted. */
function movedOver({ id, from, to }, mapping) {
  const [start, end] = [mapping.map(from, 1), mapping.map(to, -1)];
  return start < end ? { id, from: start, to: end } : undefined;
}

/** A text at one moment. It moves the ranges of that text along with later changes. */
class Moment {
  /** Whether the editor has loaded another text since. */
  isLost = false;
  /** @type {Mapping[]} */
  #mappings = [];
  #doc;
  #hidden;
  #now;
  #ended;

  /**
   * @param {Node} doc
   * @param {import("../client/door.js").TextChange[]} hidden Changes of the note's text that the editor does not show yet.
   * @param {() => Node} now
   * @param {(moment: Moment) => void} ended
   */
  constructor(doc, hidden, now, ended) {
    this.#doc = doc;
    this.#hidden = hidden;
    this.#now = now;
    this.#ended = ended;
    const text = applied(textOfDocument(doc), hidden);
    this.doc = { toString: () => text };
  }

  /** @param {Mapping} mapping */
  follow(mapping) {
    this.#mappings.push(mapping);
  }

  /** @param {Mark} mark @returns {Mark | undefined} Its present range; undefined if its text was deleted. */
  moved({ id, from, to }) {
    const place = (/** @type {number} */ at) => toDocument(this.#doc, placeBefore(at, this.#hidden));
    /** @type {Mark | undefined} */
    let mark = { id, from: place(from), to: place(to) };
    for (const mapping of this.#mappings) mark = mark && movedOver(mark, mapping);
    const now = this.#now();
    return mark && { id, from: toText(now, mark.from), to: toText(now, mark.to) };
  }

  end() {
    this.#ended(this);
  }
}

/**
 * @param {object} tell
 * @param {() => void} tell.moved The ranges have changed.
 * @param {() => void} tell.doubtful Text around the end of a range was replaced.
 * @param {() => import("../client/door.js").TextChange[]} tell.waiting Changes that the editor does not show yet.
 */
export function commentRanges({ moved, doubtful, waiting }) {
  /** @type {Set<Moment>} */
  const moments = new Set();
  /** @param {any} surface @returns {any} */
  const viewOf = (surface) => surface.editor;
  const plugin = new Plugin({
    key,
    state: {
      init: () => ({ marks: [], chosen: undefined, shown: DecorationSet.empty }),
      apply(/** @type {any} */ transaction, /** @type {Shown} */ value) {
        const told = transaction.getMeta(key);
        let { marks, chosen } = value;
        if (transaction.docChanged && marks.length > 0) {
          marks = marks.flatMap((mark) => movedOver(mark, transaction.mapping) ?? []);
        }
        if (told?.marks) marks = told.marks;
        if (told && "chosen" in told) chosen = told.chosen;
        if (marks === value.marks && chosen === value.chosen && !transaction.docChanged) return value;
        return { marks, chosen, shown: marks.length > 0 ? decorated(transaction.doc, marks, chosen) : DecorationSet.empty };
      },
    },
    props: { decorations: (/** @type {any} */ state) => key.getState(state).shown },
  });
  return {
    plugin,
    /** @param {import("../prosemirror.js").Transaction} transaction Called for each that was applied. */
    follow(transaction) {
      const told = transaction.getMeta(key);
      if (!transaction.docChanged && !told?.marks) return;
      if (transaction.docChanged) for (const moment of moments) moment.follow(transaction.mapping);
      if (transaction.docChanged && transaction.getMeta("hasReplaced")) doubtful();
      moved();
    },
    /** @param {any} surface @returns {readonly Mark[]} */
    marksOf(surface) {
      const { state } = viewOf(surface);
      return key.getState(state).marks.map(({ id, from, to }) => ({ id, from: toText(state.doc, from), to: toText(state.doc, to) }));
    },
    /** @param {any} surface @param {readonly Mark[]} marks */
    set(surface, marks) {
      const view = viewOf(surface);
      readCaret(view);
      const { doc } = view.state;
      const placed = marks.map(({ id, from, to }) => ({ id, from: toDocument(doc, from), to: toDocument(doc, to) }));
      view.dispatch(view.state.tr.setMeta(key, { marks: placed }));
    },
    /** @param {any} surface @param {string | undefined} id */
    choose(surface, id) {
      const view = viewOf(surface);
      readCaret(view);
      view.dispatch(view.state.tr.setMeta(key, { chosen: id }));
    },
    /** @param {any} surface */
    moment(surface) {
      const view = viewOf(surface);
      const moment = new Moment(view.state.doc, waiting(), () => view.state.doc, (ended) => moments.delete(ended));
      moments.add(moment);
      return moment;
    },
    /** Marks all moments as lost, because the editor loads another text. */
    reset() {
      for (const moment of moments) moment.isLost = true;
      moments.clear();
    },
    /**
     * Whether a change replaces text around the end of a range; only the server knows if the new text is in it.
     *
     * @param {import("../prosemirror.js").EditorState} state Before the change.
     * @param {import("./ranges.js").Range[]} ranges
     */
    isDoubtful: (state, ranges) =>
      key.getState(state).marks.some((mark) =>
        ranges.some(({ from, to, fromNow, toNow }) => from < to && fromNow < toNow && from < mark.to && mark.to < to && mark.from < from)),
  };
}
