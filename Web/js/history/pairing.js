// Pairs the blocks of an older text with their changed versions in a newer text.

/** Minimum similarity of two blocks that are paired, from 0 to 1. */
const likenessMin = 0.3;
/** Maximum comparisons of every block with every other. Beyond it, each block is compared with a few. */
const comparisonsMax = 2_500;
/** The number of blocks that each block is compared with in that case. */
const lookedAt = 6;

/**
 * @template Block
 * @typedef {{one: Block | undefined, other: Block | undefined}[]} Pairs Each block once; deleted ones come first.
 */

/**
 * Pairs blocks in their order, in steps.
 *
 * @template Block
 * @param {Block[]} former
 * @param {Block[]} next
 * @param {(one: Block, other: Block) => number} similarity 0 ... 1.
 * @returns {Generator<void, Pairs<Block>>}
 */
export function* pairing(former, next, similarity) {
  const isShort = former.length * next.length <= comparisonsMax;
  const pairs = isShort ? best(former, next, similarity) : yield* near(former, next, similarity);
  /** @type {{one: Block | undefined, other: Block | undefined}[]} */
  const all = [];
  let [passed, passedNext] = [0, 0];
  /** @type {[number, number]} */
  const end = [former.length, next.length];
  for (const [at, atNext] of [...pairs, end]) {
    for (const one of former.slice(passed, at)) all.push({ one, other: undefined });
    for (const other of next.slice(passedNext, atNext)) all.push({ one: undefined, other });
    if (at < former.length) all.push({ one: former[at], other: next[atNext] });
    [passed, passedNext] = [at + 1, atNext + 1];
  }
  return all;
}

/**
 * Returns the pairs with the greatest total similarity, as indices.
 *
 * @template Block
 * @param {Block[]} former
 * @param {Block[]} next
 * @param {(one: Block, other: Block) => number} similarity
 */
function best(former, next, similarity) {
  const width = next.length + 1;
  const sums = new Float64Array((former.length + 1) * width);
  const shares = former.map((one) => next.map((other) => similarity(one, other)));
  const at = (/** @type {number} */ row, /** @type {number} */ column) => sums[row * width + column] ?? 0;
  const share = (/** @type {number} */ row, /** @type {number} */ column) => shares[row]?.[column] ?? 0;
  for (let row = former.length - 1; row >= 0; row -= 1) {
    for (let column = next.length - 1; column >= 0; column -= 1) {
      const own = share(row, column);
      const paired = own >= likenessMin ? own + at(row + 1, column + 1) : 0;
      sums[row * width + column] = Math.max(at(row + 1, column), at(row, column + 1), paired);
    }
  }
  /** @type {[number, number][]} */
  const pairs = [];
  for (let row = 0, column = 0; row < former.length && column < next.length; ) {
    const own = share(row, column);
    if (own >= likenessMin && at(row, column) === own + at(row + 1, column + 1)) {
      pairs.push([row, column]);
      row += 1;
      column += 1;
    } else if (at(row, column) === at(row + 1, column)) row += 1;
    else column += 1;
  }
  return pairs;
}

/**
 * Returns pairs of long lists, as indices: compares each block only with the next few blocks of the other text.
 *
 * @template Block
 * @param {Block[]} former
 * @param {Block[]} next
 * @param {(one: Block, other: Block) => number} similarity
 * @returns {Generator<void, [number, number][]>}
 */
function* near(former, next, similarity) {
  /** @type {[number, number][]} */
  const pairs = [];
  for (let row = 0, column = 0; row < former.length && column < next.length; ) {
    let found = { ahead: 0, isDeleted: false, share: 0 };
    for (let ahead = 0; ahead < lookedAt && found.share < likenessMin; ahead += 1) {
      for (const isDeleted of [false, true]) {
        const [one, other] = isDeleted ? [former[row + ahead], next[column]] : [former[row], next[column + ahead]];
        const share = one !== undefined && other !== undefined ? similarity(one, other) : 0;
        if (share >= likenessMin && share > found.share) found = { ahead, isDeleted, share };
      }
    }
    if (found.share >= likenessMin) {
      if (found.isDeleted) row += found.ahead;
      else column += found.ahead;
      pairs.push([row, column]);
    }
    row += 1;
    column += 1;
    yield;
  }
  return pairs;
}
