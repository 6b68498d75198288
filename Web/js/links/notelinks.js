// Links from a note to other notes, and to headings of this one: they are followed without leaving the page.

import { fragmentOf, headingPlace } from "../state/access.js";
import { at, noteAt } from "../ground/base.js";

/**
 * The note, and the heading, that an address in a text leads to; undefined if it leads elsewhere.
 *
 * @param {string} url As written in the text: “#heading”, “/n/ID”, or a whole address of this server.
 * @returns {{note?: string, heading?: string, href: string} | undefined} Without a note, it is this one.
 */
export function placeIn(url) {
  if (/^#[^\s]/.test(url)) return { heading: headingIn(url), href: url };
  // The server's paths, wherever a proxy has put them, and whole addresses: what is relative may be anything.
  const address = /^\/n\//.test(url) ? parsed(at(url)) : /^https?:/i.test(url) ? parsed(url) : undefined;
  if (!address || address.origin !== location.origin || address.search) return undefined;
  const note = noteAt(address.pathname);
  if (note === undefined) return undefined;
  // A shared link is a right to open a note, and no place in a note.
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

/** @param {string} slug @returns {string} Where a heading is, as a part of an address. */
export const placeOfHeading = (slug) => `${headingPlace}=${encodeURIComponent(slug)}`;
