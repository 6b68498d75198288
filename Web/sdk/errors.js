// Errors of the SDK itself, and of publications. Errors of a note are its `failure` or `refusal`.

/**
 * unsupported: the browser, or the page's content-security policy, does not allow WebAssembly. unreachable: the gateway
 * could not be reached, or served a broken file. refused: the gateway rejected a request. invalid: an argument is
 * wrong. unsure: the gateway has discarded this client's state, so whether something was published is unknown.
 *
 * @typedef {"unsupported" | "unreachable" | "refused" | "invalid" | "unsure"} ParleyErrorCode
 */

export class ParleyError extends Error {
  /** @type {ParleyErrorCode} */
  code;

  /** The protocol's error code if the gateway rejected a request: `notAllowed`, `tooLarge` … */
  reason;

  /**
   * @param {ParleyErrorCode} code
   * @param {string} message What was expected, what was given, and what to do.
   * @param {string} [reason]
   */
  constructor(code, message, reason = "") {
    super(message);
    this.name = "ParleyError";
    this.code = code;
    this.reason = reason;
  }
}
