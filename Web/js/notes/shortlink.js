// Short links: the address "/s/KEY", or "#s=KEY" at a note, stands for the token that the server has for the key.
//
// The key goes to the server in the body of a request and stands behind "#" from then on, where it reaches no log.

import { fragmentOf } from "../account/access.js";
import { at, within } from "../base.js";
import { RequestError, isPassing, request } from "../client/http.js";

/** A token that opens nothing: in place of that of a link that has ended. */
const ended = "ended";
/** A token that opens nothing either: of a link that may still work, for the server could not be asked. */
export const unopened = "unopened";

/** A server that is not reached, or has too much to do, is asked again so often at most. */
const triesMax = 3;

/**
 * @typedef {{key: string, token: string}} OpenedLink
 */

/** @param {{pathname: string, hash: string}} place @returns {string | undefined} The key of a short link. */
export function keyIn({ pathname, hash }) {
  return /^\/s\/([\w-]{1,64})$/.exec(within(pathname))?.[1] ?? fragmentOf(hash).key;
}

/**
 * Has the server open a link.
 *
 * @param {string} key
 * @param {(milliseconds: number) => Promise<void>} pause
 * @returns {Promise<{note: string, token: string}>}
 */
async function opened(key, pause) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await request("/api/links/open", "POST", { key });
    } catch (error) {
      if (!isPassing(error) || tries === triesMax) throw error;
    }
    await pause(tries * 1_000);
  }
}

/** @param {number} milliseconds @returns {Promise<void>} */
const forAWhile = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/**
 * Opens the short link that the address of this tab is, if it is one; the address is its note's afterwards.
 *
 * @param {{pathname: string, hash: string}} place
 * @param {{key?: string, token: string} | undefined} known What this tab has opened before.
 * @param {(milliseconds: number) => Promise<void>} [pause]
 * @returns {Promise<OpenedLink | undefined>}
 */
export async function openShortLink(place, known, pause = forAWhile) {
  const key = keyIn(place);
  if (key === undefined) return undefined;
  const isAtNote = fragmentOf(place.hash).key !== undefined;
  // A reload asks nobody, and works without a server.
  if (isAtNote && known?.key === key && known.token !== ended && known.token !== unopened) return { key, token: known.token };
  try {
    const { note, token } = await opened(key, pause);
    if (!isAtNote) history.replaceState(null, "", `${at("/n/")}${encodeURIComponent(note)}#s=${key}`);
    return { key, token };
  } catch (error) {
    if (!isAtNote && error instanceof RequestError && error.status === 404) history.replaceState(null, "", `${at("/")}#s=${key}`);
    return { key, token: isPassing(error) ? unopened : ended };
  }
}
