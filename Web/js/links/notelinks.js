// Links from a note to other notes and to headings. They are followed without leaving the page.

import { fragmentOf, headingPlace } from "../state/access.js";
import { at, noteAt } from "../ground/base.js";

/**
 * Returns the note and the heading that an address in a text leads to; undefined if it leads elsewhere.
 *
 * @param {string} url As written in the text: “#heading”, “/n/ID”, or a whole address of this server.
 * @returns {{note?: string, heading?: string, href: string} | undefined} Without `note`, it is the same note.
 */
export function placeIn(url) {
  if (/^#[^\s]/.test(url)) return { heading: headingIn(url), href: url };
  // Paths of the server, below the base path of a proxy if there is one, and absolute URLs. The meaning of other
  // relative paths is unknown.
  const address = /^\/n\//.test(url) ? parsed(at(url)) : /^https?:/i.test(url) ? parsed(url) : undefined;
  if (!address || address.origin !== location.origin || address.search) return undefined;
  const note = noteAt(address.pathname);
  if (note === undefined) return undefined;
  // A shared link grants access to a note, so it is not treated as a position in a note.
  const { share, key, token } = fragmentOf(address.hash);
  if (share || key || token) return undefined;
  return { note, heading: address.hash ? headingIn(address.hash) : undefined, href: address.href };
}

/** @param {string} url */
function parsed(url) {
  try {
    return new URL(url, location.href);
  } catch {
    return undefined;
  }
}

/** @param {string} hash “#heading=what-it-says”, or “#what-it-says” as other services write it. */
function headingIn(hash) {
  const { heading } = fragmentOf(hash);
  if (heading !== undefined) return heading;
  const plain = hash.slice(1);
  try {
    return /[=&]/.test(plain) ? undefined : decodeURIComponent(plain);
  } catch {
    return undefined;
  }
}

/** @param {string} slug @returns {string} The field of the fragment that names the heading. */
export const placeOfHeading = (slug) => `${headingPlace}=${encodeURIComponent(slug)}`;
