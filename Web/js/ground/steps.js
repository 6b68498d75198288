// Work in steps: a generator, whose caller takes the next step when there is time.

/**
 * Takes all steps at once.
 *
 * @template Result
 * @param {Generator<void, Result>} steps
 * @returns {Result}
 */
export function finished(steps) {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
