// A time limit for a promise.

/**
 * @template Value
 * @param {Promise<Value>} promise
 * @param {number} milliseconds
 * @param {Value} otherwise The result after the time limit.
 * @returns {Promise<Value>}
 */
export function withLimit(promise, milliseconds, otherwise) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(otherwise), milliseconds);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
