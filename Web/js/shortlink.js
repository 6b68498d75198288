// Short links: the address "/s/KEY", or "#s=KEY" at a note, stands for the token that the server has for the key.
//
// The key goes to the server in the body of a request and stands behind "#" from then on, where it reaches no log.

import { fragmentOf } from "./access.js";
import { at, within } from "./base.js";
import { RequestError, request } from "./http.js";

/** A token that opens nothing: in place of that of a link that has ended. */
const ended = "ended";

/**
 * @typedef {{key: string, token: string}} OpenedLink
 */

/** @param {{pathname: string, hash: string}} place @returns {string | undefined} The key of a short link. */
export function keyIn({ pathname, hash }) {
  return /^\/s\/([\w-]{1,64})$/.exec(within(pathname))?.[1] ?? fragmentOf(hash).key;
}

/**
 * Opens the short link that the address of this tab is, if it is one; the address is its note's afterwards.
 *
 * @param {{pathname: string, hash: string}} place
 * @param {{key?: string, token: string} | undefined} known What this tab has opened before.
 * @returns {Promise<OpenedLink | undefined>}
 */
export async function openShortLink(place, known) {
  const key = keyIn(place);
  if (key === undefined) return undefined;
  const isAtNote = fragmentOf(place.hash).key !== undefined;
  // A reload asks nobody, and works without a server.
  if (isAtNote && known?.key === key) return { key, token: known.token };
  try {
    const { note, token } = await request("/api/links/open", "POST", { key });
    if (!isAtNote) history.replaceState(null, "", `${at("/n/")}${encodeURIComponent(note)}#s=${key}`);
    return { key, token };
  } catch (error) {
    if (!isAtNote && error instanceof RequestError && error.status === 404) history.replaceState(null, "", `${at("/")}#s=${key}`);
    return { key, token: ended };
  }
}
