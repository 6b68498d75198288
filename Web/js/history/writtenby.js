// Who wrote each part of a text, during editing: marks follow the edits, and this user's insertions are attributed
// immediately. Insertions of others have no author until the server is asked.

import { Decoration, RangeSetBuilder, StateEffect, StateField } from "../codemirror.js";

/** @typedef {import("../codemirror.js").Transaction} Transaction */
/** @typedef {{author: string, from: number, to: number}} Run */

/** @type {import("../codemirror.js").AnnotationType<any>} */
const setRuns = /** @type {any} */ (StateEffect.define());

/** @param {Run[]} runs Ascending. @param {(author: string) => any} markOf */
function setOf(runs, markOf) {
  const builder = new RangeSetBuilder();
  for (const { author, from, to } of runs) if (from < to) builder.add(from, to, markOf(author));
  return builder.finish();
}

/**
 * @param {any} marks @param {number} from @param {number} to
 * @returns {Run[]} The whole runs that touch the range.
 */
function runsIn(marks, from, to) {
  /** @type {Run[]} */
  const runs = [];
  marks.between(from, to, (/** @type {number} */ start, /** @type {number} */ end, /** @type {any} */ mark) => {
    runs.push({ author: mark.spec.author, from: start, to: end });
  });
  return runs;
}

/**
 * Replaces the authors of a range.
 *
 * @param {any} marks @param {number} from @param {number} to @param {Run[]} runs Within the part. @param {(author: string) => any} markOf
 */
function replaced(marks, from, to, runs, markOf) {
  const around = runsIn(marks, from, to).filter((run) => run.from < to && run.to > from);
  const left = around.filter((run) => run.from < from).map((run) => ({ ...run, to: from }));
  const right = around.filter((run) => run.to > to).map((run) => ({ ...run, from: to }));
  const add = [...left, ...runs, ...right].filter((run) => run.from < run.to);
  return marks.update({
    filterFrom: from,
    filterTo: to,
    filter: (/** @type {number} */ start, /** @type {number} */ end) => !(start < to && end > from),
    add: add.map((run) => markOf(run.author).range(run.from, run.to)),
    sort: true,
  });
}

/**
 * Creates an editor field that stores the author of each part, as marks.
 *
 * @param {object} options
 * @param {() => string} options.me
 * @param {(transaction: Transaction) => boolean} options.isOwn Whether this user made a change.
 */
export function writtenBy({ me, isOwn }) {
  /** @type {Map<string, any>} */
  const marks = new Map();
  /** @param {string} author */
  const markOf = (author) => {
    let mark = marks.get(author);
    if (!mark) marks.set(author, (mark = Decoration.mark(/** @type {any} */ ({ author }))));
    return mark;
  };
  const field = /** @type {any} */ (
    StateField.define({
      create: () => Decoration.none,
      update(value, transaction) {
        for (const effect of transaction.effects) if (effect.is(setRuns)) return setOf(effect.value, markOf);
        if (!transaction.docChanged) return value;
        const author = isOwn(transaction) ? me() : undefined;
        let next = value.map(transaction.changes);
        transaction.changes.iterChanges((_from, _to, from, to) => {
          if (from < to) next = replaced(next, from, to, author === undefined ? [] : [{ author, from, to }], markOf);
        });
        return next;
      },
    })
  );
  return {
    field,
    /** @param {Run[]} runs The runs of the whole text. @returns {any} An effect. */
    become: (runs) => /** @type {any} */ (setRuns).of(runs),
    /** @param {any} state @param {number} from @param {number} to @returns {Run[]} */
    runs: (state, from, to) => runsIn(state.field(field), from, to),
    /**
     * Maps the runs of a text through later changes; inserted text has its author in the field.
     *
     * @param {any} state After the changes.
     * @param {Run[]} runs Runs of the text before the changes.
     * @param {import("../codemirror.js").ChangeSet} changes
     * @returns {Run[]}
     */
    after(state, runs, changes) {
      let marks = setOf(runs, markOf).map(changes);
      changes.iterChanges((_from, _to, from, to) => {
        const now = runsIn(state.field(field), from, to).map((run) => ({ ...run, from: Math.max(from, run.from), to: Math.min(to, run.to) }));
        if (from < to) marks = replaced(marks, from, to, now, markOf);
      });
      return runsIn(marks, 0, state.doc.length);
    },
  };
}

/**
 * Returns the authors of a text after a difference of the server is applied.
 *
 * @param {{author: string, count: number}[]} authors Counts are in scalars.
 * @param {import("./comparison.js").Part[]} parts
 */
export function authorsAfter(authors, parts) {
  /** @type {{author: string, count: number}[]} */
  const next = [];
  const add = (/** @type {string} */ author, /** @type {number} */ count) => {
    const last = next[next.length - 1];
    if (last && last.author === author) last.count += count;
    else if (count > 0) next.push({ author, count });
  };
  let [index, used] = [0, 0];
  const pass = (/** @type {number} */ count, /** @type {boolean} */ isKept) => {
    for (let run = authors[index]; count > 0 && run; run = authors[index]) {
      const taken = Math.min(count, run.count - used);
      if (isKept) add(run.author, taken);
      [count, used] = [count - taken, used + taken];
      if (used === run.count) [index, used] = [index + 1, 0];
    }
  };
  for (const { kept, deleted, inserted, author } of parts) {
    if (kept !== undefined) pass(kept, true);
    if (deleted !== undefined) pass([...deleted].length, false);
    if (inserted !== undefined) add(author ?? "", [...inserted].length);
  }
  return next;
}
