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

/**
 * Ranges that were each before all earlier ones, as *Replace all* makes them: thousands of them cost a step each, since
 * the later ones are moved once.
 */
class Descending {
  /** @type {{range: Range, shift: number}[]} With the shift of all later text through this range. */
  #ranges = [];
  #shift = 0;
  /** The present start of the first range. */
  #first = Infinity;

  /**
   * Whether a range is before all others and does not touch them.
   *
   * @param {Range} range
   */
  precedes({ to }) {
    return to < this.#first;
  }

  /** @param {Range} range Its places before the step are those before all steps. */
  add(range) {
    this.#shift += range.toNow - range.fromNow - (range.to - range.from);
    this.#ranges.push({ range, shift: this.#shift });
    this.#first = range.fromNow;
  }

  /**
   * Forgets the ranges.
   *
   * @returns {Range[]} In order.
   */
  take() {
    const taken = this.#ranges.reverse().map(({ range, shift }) => {
      const moved = this.#shift - shift;
      return { ...range, fromNow: range.fromNow + moved, toNow: range.toNow + moved };
    });
    [this.#ranges, this.#shift, this.#first] = [[], 0, Infinity];
    return taken;
  }
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
  const descending = new Descending();
  for (const step of steps) {
    const touched = touchedBy(step);
    const [only] = touched;
    if (only && touched.length === 1 && moved.length === 0 && still.length === 0 && descending.precedes(only)) {
      descending.add(only);
      continue;
    }
    if (moved.length === 0) moved = descending.take();
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
  if (moved.length === 0) moved = descending.take();
  const ranges = still.map(({ from, to }) => ({
    from: placeBefore(from, moved, false), to: placeBefore(to, moved, true), fromNow: from, toNow: to,
  }));
  return merged([...moved, ...ranges].sort(byPlace));
}
