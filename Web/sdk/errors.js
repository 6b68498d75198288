// What can go wrong in the SDK itself. What goes wrong with a note is its `failure` or `refusal`.

/**
 * unsupported: this browser, or the page's content-security policy, lets no WebAssembly run. unreachable: the
 * gateway's files could not be fetched. refused: the gateway did not do what it was asked for over HTTP. invalid: an
 * argument is of no use.
 *
 * @typedef {"unsupported" | "unreachable" | "refused" | "invalid"} ParleyErrorCode
 */

export class ParleyError extends Error {
  /** @type {ParleyErrorCode} */
  code;

  /**
   * @param {ParleyErrorCode} code
   * @param {string} message What was expected, what came, what to do.
   */
  constructor(code, message) {
    super(message);
    this.name = "ParleyError";
    this.code = code;
  }
}
