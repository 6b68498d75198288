// What goes wrong, told to people. The server's own messages are for developers; its codes decide here.

/**
 * By the code of an error. Which of them are meant is in ErrorCode.swift; a test compares.
 *
 * @type {Record<string, string>}
 */
const byCode = {
  notAllowed: "You are not allowed to do this.",
  unauthorised: "Your sign-in is not valid. Sign in again.",
  unknownDocument: "This note does not exist any more.",
  historyGone: "The history does not go back that far any more.",
  outdated: "The note has changed in the meantime. Try again.",
  notOffered: "This server does not offer that.",
  unknownPublication: "This message does not exist any more.",
  unknownConnection: "This connection has ended already.",
  tooLarge: "This is too long.",
  tooMany: "There are too many already.",
  tooFast: "That was too much at once. Try again in a moment.",
  busy: "The server is busy. Try again in a moment.",
  unavailable: "The server cannot save anything at the moment. Try again later.",
  damaged: "The stored note is damaged. The operator of this server has to repair it.",
};

/** Codes that say that page and server do not fit together: there is nothing a person has done wrong. */
const misfits = new Set([
  "badMessage", "unknownType", "notJoined", "badOperation", "lengthMismatch", "futureRevision",
  "negativeRevision", "epochChanged", "sequenceReused", "sequenceGap", "keyReused",
  "idTaken",
]);

const misfit = "This page and the server do not fit together. Reload the page.";

/** By the status of an answer over HTTP, where there is no code. */
const byStatus = new Map([
  [0, "The server cannot be reached."],
  [401, byCode.unauthorised],
  [403, byCode.notAllowed],
  [404, "This does not exist any more."],
  [410, "This does not exist any more."],
  [413, byCode.tooLarge],
  [429, byCode.tooFast],
]);

/** By the codes of a login, which are numbers. */
const byLoginCode = new Map([
  [4001, "The e-mail address or the password is wrong."],
  [4004, "Your sign-in has ended. Sign in again."],
  [5001, byCode.busy],
]);

/**
 * @param {unknown} code Of an error, or of a login.
 * @param {number} [status] Over HTTP.
 * @returns {string} One or two sentences.
 */
export function problemText(code, status) {
  if (typeof code === "number") {
    if (status === 429) return "Too many sign-ins have failed. Try again in a few minutes.";
    return byLoginCode.get(code) ?? misfit;
  }
  if (typeof code === "string" && Object.hasOwn(byCode, code)) return byCode[code] ?? misfit;
  if (typeof code === "string" && misfits.has(code)) return misfit;
  const text = status === undefined ? undefined : byStatus.get(status);
  if (text) return text;
  if (status !== undefined && status >= 500) return "The server had a problem. Try again later.";
  return "The server did not accept this.";
}

/**
 * Why a note cannot be opened.
 *
 * @param {string} code Of the error, or "disagreement" or "readingLost", which the page itself finds.
 */
export function openingText(code) {
  switch (code) {
    case "notAllowed":
    case "unauthorised":
      return "You are not allowed to read it.";
    case "readingLost":
      return "You are no longer allowed to read it.";
    case "disagreement":
      return "This page and the server disagree about the text. Copy your text, then reload the page.";
    case "tooMany":
      return "Too many notes are open in this window. Reload the page.";
    case "tooLarge":
      return "Its address is not valid.";
    default:
      return problemText(code);
  }
}

/**
 * Why edits were not accepted.
 *
 * @param {string} code Of the refusal, or "messageTooLarge", which the page itself finds.
 * @param {Record<string, number>} [limits] As the server announced them.
 */
export function refusalText(code, limits = {}) {
  switch (code) {
    case "messageTooLarge":
      return `These changes are too large to send at once${limit(limits.messageBytesMax && limits.messageBytesMax / 1e6, "MB")}.`;
    case "tooLarge":
      return `The note would become too long${limit(limits.documentScalarsMax, "characters")}.`;
    case "notAllowed":
      return "You are not allowed to change this note.";
    case "historyGone":
    case "outdated":
      return "The note has changed too much in the meantime.";
    default:
      return misfits.has(code)
        ? "This page and the server disagree about the text. Copy your text before you reload the page."
        : problemText(code);
  }
}

/** @param {number | undefined} most @param {string} unit */
const limit = (most, unit) => (most ? ` (limit: ${Math.floor(most).toLocaleString()} ${unit})` : "");

/**
 * Why the server has ended a connection for good, except for reasons that concern the sign-in.
 *
 * @param {number | undefined} closeCode
 * @returns {string}
 */
export function endText(closeCode) {
  switch (closeCode) {
    case 4501:
      return "A change was too large for it. Copy your text before you reload the page.";
    case 4503:
      return "It does not accept pages from this address. Ask its operator for the right one.";
    case 4504:
      return "You have too many windows open here. Close some of them, then reload the page.";
    case 4509:
      return "Its operator has disconnected you. Reload the page to connect again.";
    default:
      return "Reload the page: it may be older than the server.";
  }
}
