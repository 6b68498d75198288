// Short links: the address "/s/KEY", or "#s=KEY" at a note. The server exchanges the key for a token.
//
// The key is sent in the body of a request, and then moved to the fragment, so that it is in no log. The address
// "/p/NAME" of a published note is a link with a public key, and stays as it is.

import { fragmentOf } from "./access.js";
import { at, nameAt, publishedAt, within } from "../ground/base.js";
import { RequestError, isPassing, request } from "../client/http.js";

/** A token that grants nothing; it replaces the token of an expired link. */
export const ended = "ended";
/** Another invalid token, for a link that may still work: the server could not be reached. */
export const unopened = "unopened";

/** Maximum attempts to reach a server that is busy or unreachable. */
const triesMax = 3;

/**
 * @typedef {{key: string, token: string}} OpenedLink The key of a published note is its path.
 */

/** @param {{pathname: string, hash: string}} place @returns {string | undefined} The key of a short link. */
export function keyIn({ pathname, hash }) {
  return /^\/s\/([\w-]{1,64})$/.exec(within(pathname))?.[1] ?? fragmentOf(hash).key;
}

/**
 * Requests the note and the token of a link, or of a published note.
 *
 * @param {string} key
 * @param {(milliseconds: number) => Promise<void>} pause
 * @returns {Promise<{note: string, token: string}>}
 */
async function opened(key, pause) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await (isName(key) ? request(`/api/names/${key.slice(3)}`) : request("/api/links/open", "POST", { key }));
    } catch (error) {
      if (!isPassing(error) || tries === triesMax) throw error;
    }
    await pause(tries * 1_000);
  }
}

/** @param {string | undefined} key @returns {boolean} Whether it is the path of a published note. */
export const isName = (key) => key?.[0] === "/";

/** @param {number} milliseconds @returns {Promise<void>} */
const forAWhile = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/**
 * Opens the short link in the address of this tab, if it has one, and changes the address to the note's.
 *
 * @param {{pathname: string, hash: string}} place
 * @param {{key?: string, token: string} | undefined} known The link that this tab has opened before.
 * @param {(milliseconds: number) => Promise<void>} [pause]
 * @returns {Promise<OpenedLink | undefined>}
 */
export async function openShortLink(place, known, pause = forAWhile) {
  const name = nameAt(place.pathname);
  if (name !== undefined) return openName(name, pause);
  const key = keyIn(place);
  if (key === undefined) return undefined;
  const isAtNote = fragmentOf(place.hash).key !== undefined;
  // A reload reuses the known token, and so works without a server.
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

/**
 * Opens the published note at the address of this tab. If it does not exist, the address names no note.
 *
 * @param {string} path
 * @param {(milliseconds: number) => Promise<void>} pause
 * @returns {Promise<OpenedLink>}
 */
async function openName(path, pause) {
  try {
    const { note, token } = await opened(path, pause);
    publishedAt(path, note);
    return { key: path, token };
  } catch (error) {
    publishedAt(path, path);
    return { key: path, token: isPassing(error) ? unopened : ended };
  }
}
