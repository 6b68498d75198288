// Errors of the SDK itself, and of publications. Errors of a note are its `failure` or `refusal`.

/**
 * unsupported: this browser, or the page's content-security policy, lets no WebAssembly run. unreachable: the
 * gateway's files could not be fetched. refused: the gateway rejected a request. invalid: an argument is wrong.
 * unsure: the gateway has forgotten this client, so whether something was published is unknown.
 *
 * @typedef {"unsupported" | "unreachable" | "refused" | "invalid" | "unsure"} ParleyErrorCode
 */

export class ParleyError extends Error {
  /** @type {ParleyErrorCode} */
  code;

  /** The protocol's error code, where the gateway has refused something: `notAllowed`, `tooLarge` … */
  reason;

  /**
   * @param {ParleyErrorCode} code
   * @param {string} message What was expected, what came, what to do.
   * @param {string} [reason]
   */
  constructor(code, message, reason = "") {
    super(message);
    this.name = "ParleyError";
    this.code = code;
    this.reason = reason;
  }
}
