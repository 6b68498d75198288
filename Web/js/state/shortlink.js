// Short links: the address "/s/KEY", or "#s=KEY" at a note, stands for the token that the server gives for the key.
//
// The key goes to the server in the body of a request and is behind "#" from then on, so that it reaches no log.
// The address "/p/NAME" of a published note is a link whose key everyone knows: it stays as it is.

import { fragmentOf } from "./access.js";
import { at, nameAt, publishedAt, within } from "../ground/base.js";
import { RequestError, isPassing, request } from "../client/http.js";

/** A token that opens nothing, in place of the token of an ended link. */
export const ended = "ended";
/** Another such token, of a link that may still work, for the server could not be asked. */
export const unopened = "unopened";

/** The most attempts to ask a server that is busy, or cannot be reached. */
const triesMax = 3;

/**
 * @typedef {{key: string, token: string}} OpenedLink The key of a published note is its path.
 */

/** @param {{pathname: string, hash: string}} place @returns {string | undefined} The key of a short link. */
export function keyIn({ pathname, hash }) {
  return /^\/s\/([\w-]{1,64})$/.exec(within(pathname))?.[1] ?? fragmentOf(hash).key;
}

/**
 * Has the server open a link, or a published note.
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

/** @param {string | undefined} key @returns {boolean} Whether it is a published note's. */
export const isName = (key) => key?.[0] === "/";

/** @param {number} milliseconds @returns {Promise<void>} */
const forAWhile = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/**
 * Opens the short link in the address of this tab, if there is one; afterwards the address is its note's.
 *
 * @param {{pathname: string, hash: string}} place
 * @param {{key?: string, token: string} | undefined} known What this tab has opened before.
 * @param {(milliseconds: number) => Promise<void>} [pause]
 * @returns {Promise<OpenedLink | undefined>}
 */
export async function openShortLink(place, known, pause = forAWhile) {
  const name = nameAt(place.pathname);
  if (name !== undefined) return openName(name, pause);
  const key = keyIn(place);
  if (key === undefined) return undefined;
  const isAtNote = fragmentOf(place.hash).key !== undefined;
  // A reload uses the known token, and so works without a server.
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
 * Opens the published note at the address of this tab. If there is none, the address is that of no note.
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
