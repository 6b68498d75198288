// The edits from one text to another, by lines, so that the lines between them remain unchanged.

import { alongRuns, keptRuns } from "./alignment.js";
import { smallestEdit } from "./smallestedit.js";

/**
 * @param {string} before
 * @param {string} after
 * @returns {{from: number, to: number, insert: string}[]} Sorted, in positions of `before`; between whole scalars.
 */
export function editsBetween(before, after) {
  const whole = smallestEdit(before, after);
  if (!whole) return [];
  const [former, next] = [before.slice(whole.from, whole.to), whole.insert].map((text) => text.split(/(?<=\n)/));
  if (!former || !next || former.length * next.length <= 1) return [whole];
  const lengthOf = (/** @type {string[]} */ lines) => lines.reduce((sum, line) => sum + line.length, 0);
  /** @type {{from: number, to: number, insert: string}[]} */
  const edits = [];
  let place = whole.from;
  alongRuns(
    keptRuns(former, next),
    { former: former.length, next: next.length },
    (run) => (place += lengthOf(former.slice(run.former, run.former + run.count))),
    (one, other) => {
      const to = place + lengthOf(former.slice(one.from, one.to));
      edits.push({ from: place, to, insert: next.slice(other.from, other.to).join("") });
      place = to;
    },
  );
  return edits;
}
