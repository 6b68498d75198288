// The base path of the page: "/", or a path that a proxy has put before it, such as "/parley/".
//
// Paths in the page's code begin with "/", as the server knows them; only these functions convert them to and from the
// browser's paths.

const here = new URL(import.meta.url);
// All modules are below "/assets/"; source modules are deeper than built ones.
const base = here.protocol.startsWith("http") ? here.pathname.slice(0, here.pathname.lastIndexOf("/assets/") + 1) : "/";

/**
 * Returns the browser's path for a path of the server.
 *
 * @param {string} path Begins with "/".
 */
export function at(path) {
  return base + path.slice(1);
}

/** The address of the page without a note: the list. */
export const home = at("/");

/**
 * Returns the server's path for a path of the browser.
 *
 * @param {string} pathname
 */
export function within(pathname) {
  return pathname.startsWith(base) ? `/${pathname.slice(base.length)}` : pathname;
}

/** The note ids of published addresses such as "/p/minutes" that this tab has opened. */
const published = new Map();

/** @param {string} pathname @returns {string | undefined} The server's path, if it is a published note's. */
export const nameAt = (pathname) => /^\/p\/[^/]+$/.exec(within(pathname))?.[0];

/** @param {string} path The path of a published note. @param {string} note Its id. */
export const publishedAt = (path, note) => published.set(path, note);

/** @param {string} pathname @returns {string | undefined} The id of the note at a path of the browser. */
export function noteAt(pathname) {
  const known = published.get(within(pathname));
  if (known !== undefined) return known;
  const match = /^\/n\/([^/]+)$/.exec(within(pathname));
  return match ? decodeURIComponent(match[1] ?? "") : undefined;
}
