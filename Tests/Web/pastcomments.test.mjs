// The comments that existed at a revision of the history.

import assert from "node:assert/strict";
import { test } from "node:test";
import { threadsAt } from "../../Web/js/history/pastcomments.js";

/** @param {string} id @param {number} revision @param {number} createdAt @param {object} [more] */
const first = (id, revision, createdAt, more) => ({
  id, author: "Ann", mine: false, text: id, createdAt, made: { epoch: "e", revision, from: 0, to: 1, quote: id }, place: null, ...more,
});
/** @param {string} id @param {string} thread @param {number} createdAt @param {object} [more] */
const answer = (id, thread, createdAt, more) => ({ id, thread, author: "Ben", mine: false, text: id, createdAt, ...more });

test("a thread is shown from its creation until it was resolved, with the answers of that time", () => {
  const comments = [
    first("early", 1, 10),
    first("resolved", 1, 11, { resolved: { by: "Ben", at: 30 } }),
    first("removed", 1, 12, { withdrawn: true, text: "", author: "" }),
    first("late", 1, 40),
    first("new", 3, 41),
    first("other epoch", 1, 13, { made: { epoch: "d", revision: 1, from: 0, to: 1, quote: "q" } }),
    answer("soon", "early", 14),
    answer("later", "early", 42),
    answer("kept", "removed", 25),
    answer("gone", "removed", 15, { withdrawn: true }),
  ];
  const at = (/** @type {number} */ revision, /** @type {number} */ end) =>
    threadsAt({ epoch: "e", comments }, revision, end).map((thread) => [thread.first, ...thread.answers].map(({ id }) => id));
  assert.deepEqual(at(0, 10), []);
  assert.deepEqual(at(1, 20), [["early", "soon"], ["resolved"]]);
  assert.deepEqual(at(2, 31), [["early", "soon"], ["removed", "kept"]]);
  assert.deepEqual(at(3, Infinity), [["early", "soon", "later"], ["removed", "kept"], ["late"], ["new"]]);
});
