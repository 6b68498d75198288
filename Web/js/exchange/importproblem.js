// Why a file is not imported: a text of the page by its key, so that what reads files needs no language.

/** @typedef {import("../shell/language.js").Key} Key */

export class ImportProblem extends Error {
  /**
   * @param {Key} key
   * @param {import("../texts.js").Values} [values] For the text's named places.
   */
  constructor(key, values) {
    super(key);
    this.key = key;
    this.values = values;
  }
}
