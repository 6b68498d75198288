// The ranges of comments in the editor's text: they are shown, and move with every edit.
//
// The server sends each range as of a revision that the page showed at one moment. Edits made here since that moment
// move the range, so the page need not know which of them the server has stored.

import { Decoration, EditorView, StateEffect, StateField } from "../codemirror.js";

/**
 * @typedef {import("../codemirror.js").ChangeSet} ChangeSet
 * @typedef {import("../codemirror.js").Text} Text
 * @typedef {{id: string, from: number, to: number}} Mark In UTF-16 units. The range of a new, unsaved comment has
 *   the id "".
 */

/** Replaces all ranges. */
const setMarks = StateEffect.define();
/** The comment whose range is highlighted. */
const setChosen = StateEffect.define();

/**
 * @param {readonly Mark[]} marks
 * @param {string | undefined} chosen
 */
const decorated = (marks, chosen) =>
  Decoration.set(
    marks.map(({ id, from, to }) => {
      const kind = id === "" ? " is-draft" : id === chosen ? " is-chosen" : "";
      return Decoration.mark({ class: `comment-mark${kind}`, attributes: { "data-comment": id } }).range(from, to);
    }),
    true,
  );

/**
 * Moves a mark. Text inserted at an edge stays outside, as on the server.
 *
 * @param {Mark} mark
 * @param {ChangeSet} changes
 * @returns {Mark | undefined} Undefined if its text was deleted.
 */
function movedOver({ id, from, to }, changes) {
  const [start, end] = [changes.mapPos(from, 1), changes.mapPos(to, -1)];
  return start < end ? { id, from: start, to: end } : undefined;
}

const field = StateField.define({
  /** @returns {{marks: readonly Mark[], chosen: string | undefined, shown: any}} */
  create: () => ({ marks: [], chosen: undefined, shown: Decoration.none }),
  update(value, transaction) {
    let { marks, chosen } = value;
    if (transaction.docChanged && marks.length > 0) {
      marks = marks.flatMap((mark) => movedOver(mark, transaction.changes) ?? []);
    }
    for (const effect of transaction.effects) {
      if (effect.is(setMarks)) marks = effect.value;
      if (effect.is(setChosen)) chosen = effect.value;
    }
    if (marks === value.marks && chosen === value.chosen) return value;
    return { marks, chosen, shown: decorated(marks, chosen) };
  },
  provide: (own) => EditorView.decorations.from(own, (/** @type {any} */ { shown }) => shown),
});

/**
 * Whether an edit has replaced the text around the end of a range. Then only the server knows if the new text is in it.
 *
 * @param {import("../codemirror.js").ViewUpdate} update
 */
function isDoubtful({ transactions }) {
  return transactions.some(({ docChanged, changes, startState }) => {
    let isFound = false;
    if (docChanged) {
      changes.iterChanges((from, to, fromAfter, toAfter) => {
        if (from === to || fromAfter === toAfter) return;
        isFound ||= startState.field(field).marks.some((/** @type {Mark} */ mark) => from < mark.to && mark.to < to && mark.from < from);
      });
    }
    return isFound;
  });
}

/** The note's text at one moment. It moves the ranges of that text along with later edits. */
export class Moment {
  /** Whether the editor has loaded another text since. */
  isLost = false;

  /** @type {ChangeSet[]} Edits since that moment. */
  #changes = [];
  #hidden;
  #ended;

  /**
   * @param {Text} doc
   * @param {ChangeSet | undefined} hidden Changes of the note's text that the editor does not show yet.
   * @param {(moment: Moment) => void} ended
   */
  constructor(doc, hidden, ended) {
    this.doc = hidden ? hidden.apply(doc) : doc;
    this.#hidden = hidden;
    this.#ended = ended;
  }

  /** @param {ChangeSet} changes An edit of the shown text. */
  follow(changes) {
    this.#changes.push(changes);
  }

  /** @param {Mark} mark @returns {Mark | undefined} Its present range; undefined if its text was deleted. */
  moved(mark) {
    return this.#changes.reduce(
      (/** @type {Mark | undefined} */ at, changes) => at && movedOver(at, changes),
      this.#shown(mark),
    );
  }

  /** @param {Mark} mark @returns {Mark} Its range in the text that the editor showed at that moment. */
  #shown(mark) {
    if (!this.#hidden) return mark;
    const { invertedDesc } = /** @type {any} */ (this.#hidden);
    return { ...mark, from: invertedDesc.mapPos(mark.from, 1), to: invertedDesc.mapPos(mark.to, -1) };
  }

  /** Stops following edits. */
  end() {
    this.#ended(this);
  }
}

/**
 * @param {object} tell
 * @param {() => void} tell.moved The ranges have changed.
 * @param {() => void} tell.doubtful An edit has replaced the text around the end of a range. Only the server knows
 *   whether the new text belongs to the range.
 * @param {() => import("../codemirror.js").ChangeSet | undefined} [tell.waiting] Changes of the note's text that the editor does not show yet.
 */
export function commentMarks({ moved, doubtful, waiting = () => undefined }) {
  /** @type {Set<Moment>} */
  const moments = new Set();

  const watch = EditorView.updateListener.of((update) => {
    if (update.docChanged) {
      for (const moment of moments) moment.follow(update.changes);
      if (isDoubtful(update)) doubtful();
    }
    const before = update.transactions[0]?.startState.field(field, false);
    if (before && before.marks !== update.state.field(field).marks) moved();
  });

  return {
    extension: [field, watch],
    /** @param {EditorView} view @returns {readonly Mark[]} */
    marksOf: (view) => view.state.field(field).marks,
    /**
     * @param {EditorView} view
     * @param {readonly Mark[]} marks
     */
    set: (view, marks) => view.dispatch({ effects: setMarks.of(marks) }),
    /**
     * @param {EditorView} view
     * @param {string | undefined} id
     */
    choose: (view, id) => view.dispatch({ effects: setChosen.of(id) }),
    /**
     * Returns the current text as a moment, which follows edits until `end` is called.
     *
     * @param {EditorView} view
     */
    moment(view) {
      const moment = new Moment(view.state.doc, waiting(), (ended) => moments.delete(ended));
      moments.add(moment);
      return moment;
    },
    /** Marks all moments as lost, because the editor loads another text. */
    reset() {
      for (const moment of moments) moment.isLost = true;
      moments.clear();
    },
  };
}
