// The common entries of two lists, in order: Myers' algorithm with a bound on its work.

/** Maximum inserted and deleted entries that are searched for; beyond it, the rest counts as changed. */
const changesMax = 600;

/**
 * A run of equal entries: its start in each list, and its length.
 *
 * @typedef {{former: number, next: number, count: number}} Run
 */

/**
 * @template Entry
 * @param {Entry[]} former
 * @param {Entry[]} next
 * @param {number} start Number of equal entries at the start of both lists.
 * @param {number} end Number of equal entries at the end of both lists.
 * @returns {{former: number, next: number}[]} The equal entries between them, last first.
 */
function searched(former, next, start, end) {
  const [width, height] = [former.length - start - end, next.length - start - end];
  const most = Math.min(width + height, changesMax);
  /** @type {Int32Array[]} How far each diagonal reaches after each number of changes. */
  const reached = [];
  let furthest = new Int32Array(2 * most + 3);
  let best = { diagonal: 0, changes: 0, sum: -1 };
  search: for (let changes = 0; changes <= most; changes += 1) {
    reached.push(furthest.slice(most + 1 - changes, most + 2 + changes));
    for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
      const at = most + 1 + diagonal;
      const [left, right] = [furthest[at - 1] ?? 0, furthest[at + 1] ?? 0];
      const isDown = diagonal === -changes || (diagonal !== changes && left < right);
      let x = changes === 0 ? 0 : isDown ? right : left + 1;
      while (x < width && x - diagonal < height && former[start + x] === next[start + x - diagonal]) x += 1;
      furthest[at] = x;
      const y = x - diagonal;
      if (x > width || y > height) continue;
      if (x + y > best.sum) best = { diagonal, changes, sum: x + y };
      if (x === width && y === height) break search;
    }
  }
  /** @type {{former: number, next: number}[]} */
  const pairs = [];
  let x = (best.sum + best.diagonal) / 2;
  for (let { diagonal, changes } = best; changes >= 0; changes -= 1) {
    const row = reached[changes] ?? new Int32Array(1);
    const at = (/** @type {number} */ one) => row[changes + one] ?? 0;
    const isDown = diagonal === -changes || (diagonal !== changes && at(diagonal - 1) < at(diagonal + 1));
    const begin = changes === 0 ? 0 : isDown ? at(diagonal + 1) : at(diagonal - 1) + 1;
    for (; x > begin; x -= 1) pairs.push({ former: start + x - 1, next: start + x - 1 - diagonal });
    diagonal += isDown ? 1 : -1;
    x = isDown ? begin : begin - 1;
  }
  return pairs;
}

/**
 * Returns the runs that two lists have in common. If they differ in more than `changesMax` entries, the rest counts as
 * changed.
 *
 * @template Entry
 * @param {Entry[]} former
 * @param {Entry[]} next
 * @returns {Run[]} In order.
 * @complexity O((n + m) · changes), with a bound on the changes.
 */
export function keptRuns(former, next) {
  const shorter = Math.min(former.length, next.length);
  let start = 0;
  while (start < shorter && former[start] === next[start]) start += 1;
  let end = 0;
  while (end < shorter - start && former[former.length - 1 - end] === next[next.length - 1 - end]) end += 1;
  /** @type {Run[]} */
  const runs = start > 0 ? [{ former: 0, next: 0, count: start }] : [];
  /** @param {Run} run */
  const add = (run) => {
    const last = runs[runs.length - 1];
    if (last && last.former + last.count === run.former && last.next + last.count === run.next) last.count += run.count;
    else runs.push(run);
  };
  if (start + end < shorter) for (const pair of searched(former, next, start, end).reverse()) add({ ...pair, count: 1 });
  if (end > 0) add({ former: former.length - end, next: next.length - end, count: end });
  return runs;
}

/**
 * Visits the common runs of two lists and the differences between them, in order.
 *
 * @param {Run[]} runs
 * @param {{former: number, next: number}} lengths The lengths of the lists.
 * @param {(run: Run) => void} keep
 * @param {(former: {from: number, to: number}, next: {from: number, to: number}) => void} replace Called with ranges of
 * which at least one is not empty.
 */
export function alongRuns(runs, lengths, keep, replace) {
  let [former, next] = [0, 0];
  for (const run of [...runs, { ...lengths, count: 0 }]) {
    if (run.former > former || run.next > next) replace({ from: former, to: run.former }, { from: next, to: run.next });
    if (run.count > 0) keep(run);
    [former, next] = [run.former + run.count, run.next + run.count];
  }
}
