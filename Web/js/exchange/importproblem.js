// The reason why a file is not imported: the key of a text, so that the reader does not depend on the language.

/** @typedef {import("../ground/language.js").Key} Key */

export class ImportProblem extends Error {
  /**
   * @param {Key} key
   * @param {import("../ground/texts.js").Values} [values] Values of the text's placeholders.
   */
  constructor(key, values) {
    super(key);
    this.key = key;
    this.values = values;
  }
}
