// Messages for users about errors. The server's own messages are for developers, so the texts depend on its codes.
//
// The key of a code's text is "problem." and the code. ErrorCode.swift defines the codes; a test compares both.

import { isKey, t } from "./language.js";

/** Codes for a mismatch between page and server, not for a mistake of the user. */
const misfits = new Set([
  "badMessage", "unknownType", "notJoined", "badOperation", "lengthMismatch", "futureRevision",
  "negativeRevision", "epochChanged", "sequenceReused", "sequenceGap", "keyReused",
  "idTaken",
]);

/**
 * Texts by the status of an HTTP response without a code.
 *
 * @type {Map<number | undefined, import("./language.js").Key>}
 */
const byStatus = new Map([
  [0, "trouble.unreachable"],
  [401, "problem.unauthorised"],
  [403, "problem.notAllowed"],
  [404, "trouble.gone"],
  [410, "trouble.gone"],
  [413, "problem.tooLarge"],
  [429, "problem.tooFast"],
]);

/**
 * Texts by the numeric codes of a login.
 *
 * @type {Map<number, import("./language.js").Key>}
 */
const byLoginCode = new Map([
  [4001, "trouble.badPassword"],
  [4004, "trouble.signInEnded"],
  [4010, "trouble.invitation"],
  [4011, "trouble.userName"],
  [4012, "trouble.userNameTaken"],
  [4013, "trouble.passwordLength"],
  [4014, "trouble.reset"],
  [5001, "problem.busy"],
]);

/**
 * @param {unknown} code An error's code, or a login's.
 * @param {number} [status] The status of an HTTP response.
 * @returns {string} One or two sentences.
 */
export function problemText(code, status) {
  if (typeof code === "number") {
    return t(status === 429 ? "trouble.signInsFailed" : (byLoginCode.get(code) ?? "trouble.misfit"));
  }
  if (typeof code === "string") {
    const key = `problem.${code}`;
    if (isKey(key)) return t(key);
    if (misfits.has(code)) return t("trouble.misfit");
  }
  const byThat = byStatus.get(status);
  if (byThat) return t(byThat);
  return t(status !== undefined && status >= 500 ? "trouble.server" : "trouble.refused");
}

/**
 * Returns the reason why a note cannot be opened.
 *
 * @param {string} code The error's code, or "disagreement" or "readingLost", which the page itself detects.
 */
export function openingText(code) {
  switch (code) {
    case "notAllowed":
    case "unauthorised":
      return t("opening.notAllowed");
    case "readingLost":
      return t("opening.readingLost");
    case "disagreement":
      return t("opening.disagreement");
    case "tooMany":
      return t("opening.tooMany");
    case "tooLarge":
      return t("opening.tooLarge");
    default:
      return problemText(code);
  }
}

/**
 * Returns the reason why edits were rejected.
 *
 * @param {string} code The rejection's code, or "messageTooLarge", which the page itself detects.
 * @param {Record<string, number>} [limits] The limits in the server's welcome.
 */
export function refusalText(code, limits = {}) {
  const { messageBytesMax, documentScalarsMax } = limits;
  switch (code) {
    case "messageTooLarge":
      return messageBytesMax
        ? t("refusal.messageTooLargeLimit", { limit: Math.floor(messageBytesMax / 1e6) })
        : t("refusal.messageTooLarge");
    case "tooLarge":
      return documentScalarsMax ? t("refusal.tooLargeLimit", { limit: documentScalarsMax }) : t("refusal.tooLarge");
    case "notAllowed":
      return t("refusal.notAllowed");
    case "historyGone":
    case "outdated":
      return t("refusal.outdated");
    default:
      return misfits.has(code) ? t("refusal.disagreement") : problemText(code);
  }
}

/**
 * Returns the reason why the server has closed a connection permanently, except for reasons of the sign-in.
 *
 * @param {number | undefined} closeCode
 * @returns {string}
 */
export function endText(closeCode) {
  switch (closeCode) {
    case 4501:
      return t("end.tooLarge");
    case 4503:
      return t("end.origin");
    case 4504:
      return t("end.tooMany");
    case 4509:
      return t("end.disconnected");
    default:
      return t("end.other");
  }
}
