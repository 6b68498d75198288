// Comments beside a note's history: those that existed while a revision was the newest, each with its quoted text.

import { commentItem } from "../comments/commentitem.js";
import { threadsOf } from "../comments/comments.js";

/**
 * @typedef {import("../comments/comments.js").Comment} Comment
 * @typedef {import("../comments/comments.js").Thread} Thread
 * @typedef {{epoch: string, comments: Comment[]}} Answer The server's answer: all comments of the note.
 */

/**
 * Returns the open threads at the time when a revision was the newest, with their answers. Comments that were deleted
 * since are missing; edited ones have their newest text.
 *
 * @param {Answer} answer
 * @param {number} revision
 * @param {number} end When the next revision was made, in milliseconds; Infinity if missing.
 * @returns {Thread[]}
 */
export function threadsAt({ epoch, comments }, revision, end) {
  const isThere = (/** @type {Comment} */ { createdAt, withdrawn }) => createdAt < end && !withdrawn;
  return threadsOf(comments).flatMap(({ first, answers }) => {
    const { made, resolved } = first;
    // A comment may refer to a text that was no longer the newest, so its time is checked, too.
    if (!made || made.epoch !== epoch || made.revision > revision || first.createdAt >= end) return [];
    if (resolved && resolved.at < end) return [];
    const stood = answers.filter(isThere);
    return first.withdrawn && stood.length === 0 ? [] : [{ first, answers: stood }];
  });
}

/** @param {Thread} thread */
export function threadItem({ first, answers }) {
  const item = document.createElement("li");
  item.className = "past-thread";
  const quote = document.createElement("blockquote");
  quote.dir = "auto";
  quote.textContent = first.made?.quote ?? "";
  item.append(quote, ...[first, ...answers].map((comment) => commentItem(comment)));
  return item;
}
