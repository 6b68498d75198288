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

/** The maximum time for which one slice blocks the page, in milliseconds. */
const sliceTime = 12;

/**
 * Takes the steps in slices, between which the page handles events.
 *
 * @template Result
 * @param {Generator<void, Result>} steps
 * @param {AbortSignal} signal
 * @returns {Promise<Result | undefined>} Undefined if it was stopped.
 */
export async function inSlices(steps, signal) {
  for (;;) {
    const end = performance.now() + sliceTime;
    do {
      const step = steps.next();
      if (step.done) return step.value;
    } while (performance.now() < end);
    await new Promise((resolve) => setTimeout(resolve));
    if (signal.aborted) return undefined;
  }
}
