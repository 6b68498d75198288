// Errors of the SDK itself, and of publications. Errors of a note are its `failure` or `refusal`.

/**
 * unsupported: the browser, or the page's content-security policy, does not allow WebAssembly. unreachable: the gateway
 * could not be reached, or served a broken file. refused: the gateway rejected a request. invalid: an argument is
 * wrong. unsure: the gateway has discarded this client's state, so whether something was published is unknown.
 * noAnswer: the connection has stopped, or was missing for the timeout; see `reason`. Edits and publications remain
 * queued.
 *
 * @typedef {"unsupported" | "unreachable" | "refused" | "invalid" | "unsure" | "noAnswer"} ParleyErrorCode
 */

export class ParleyError extends Error {
  /** @type {ParleyErrorCode} */
  code;

  /** The protocol's error code if the gateway rejected a request: `notAllowed`, `tooLarge` …; of `noAnswer`, the state of
   * the connection, or the reason why it has stopped. */
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
