// The ranges of a document that the steps of a transaction have touched.

/**
 * @typedef {import("../prosemirror.js").Transform} Transform
 * @typedef {import("./difference.js").Range} Range
 */

/**
 * Returns the place before all steps.
 *
 * @param {number} pos A place after the steps so far.
 * @param {Range[]} ranges What they have touched.
 * @param {boolean} isEnd Whether the place is the end of a range.
 */
function placeBefore(pos, ranges, isEnd) {
  let shift = 0;
  for (const { from, to, fromNow, toNow } of ranges) {
    if (pos < fromNow) break;
    if (pos <= toNow) return isEnd ? to : from;
    shift = toNow - to;
  }
  return pos - shift;
}

/** @param {Range[]} ranges Sorted by their starts. @returns {Range[]} The same, with those that touch as one. */
export function merged(ranges) {
  /** @type {Range[]} */
  const result = [];
  for (const range of ranges) {
    const last = result[result.length - 1];
    if (!last || (range.from > last.to && range.fromNow > last.toNow)) result.push({ ...range });
    else {
      last.to = Math.max(last.to, range.to);
      last.toNow = Math.max(last.toNow, range.toNow);
    }
  }
  return result;
}

/** @param {any} step @returns {{from: number, to: number, fromNow: number, toNow: number}[]} In places of this step. */
function touchedBy(step) {
  /** @type {Range[]} */
  const touched = [];
  step.getMap().forEach((/** @type {number} */ from, /** @type {number} */ to, /** @type {number} */ fromNow, /** @type {number} */ toNow) => {
    touched.push({ from, to, fromNow, toNow });
  });
  if (touched.length > 0) return touched;
  // A step that changes marks or attributes has a range, or one node.
  const from = step.from ?? step.pos;
  const to = step.to ?? step.pos + 1;
  return from === undefined || from >= to ? [] : [{ from, to, fromNow: from, toNow: to }];
}

/** @param {Range} one @param {Range} other */
const byPlace = (one, other) => one.from - other.from || one.fromNow - other.fromNow;

/**
 * @param {Transform} transform
 * @returns {Range[]} Sorted. Outside of them, the documents before and after are equal.
 */
export function rangesOf({ steps }) {
  /** @type {Range[]} */
  let moved = [];
  /** @type {{from: number, to: number}[]} In places after the steps so far. There may be thousands of them. */
  let still = [];
  for (const step of steps) {
    const touched = touchedBy(step);
    if (touched.every(({ from, to, fromNow, toNow }) => from === fromNow && to === toNow && step.slice === undefined)) {
      for (const { from, to } of touched) still.push({ from, to });
      continue;
    }
    const map = step.getMap();
    const former = moved;
    moved = former.map((range) => ({ ...range, fromNow: map.map(range.fromNow, -1), toNow: map.map(range.toNow, 1) }));
    for (const { from, to, fromNow, toNow } of touched) {
      moved.push({ from: placeBefore(from, former, false), to: placeBefore(to, former, true), fromNow, toNow });
    }
    moved = merged(moved.sort(byPlace));
    still = still.map(({ from, to }) => ({ from: map.map(from, -1), to: map.map(to, 1) }));
  }
  const ranges = still.map(({ from, to }) => ({
    from: placeBefore(from, moved, false), to: placeBefore(to, moved, true), fromNow: from, toNow: to,
  }));
  return merged([...moved, ...ranges].sort(byPlace));
}
