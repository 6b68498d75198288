// Where the page lives: at "/", or below a path that a proxy has put before it, such as "/parley/".
//
// Paths in the page's code begin with "/", as the server knows them; only these functions know what the browser
// calls them.

const here = new URL(import.meta.url);
// All modules are below "/assets/": the written ones deeper than the built ones.
const base = here.protocol.startsWith("http") ? here.pathname.slice(0, here.pathname.lastIndexOf("/assets/") + 1) : "/";

/**
 * The browser's path for one of the server's.
 *
 * @param {string} path Begins with "/".
 */
export function at(path) {
  return base + path.slice(1);
}

/** The page's own address: the list's. */
export const home = at("/");

/**
 * The server's path for one of the browser's.
 *
 * @param {string} pathname
 */
export function within(pathname) {
  return pathname.startsWith(base) ? `/${pathname.slice(base.length)}` : pathname;
}

/** Published notes by their addresses, such as "/p/minutes": the one of this tab. */
const published = new Map();

/** @param {string} pathname @returns {string | undefined} The server's path, if it is a published note's. */
export const nameAt = (pathname) => /^\/p\/[^/]+$/.exec(within(pathname))?.[0];

/** @param {string} path Of a published note. @param {string} note Its id. */
export const publishedAt = (path, note) => published.set(path, note);

/** @param {string} pathname @returns {string | undefined} The note that an address of the browser's names. */
export function noteAt(pathname) {
  const known = published.get(within(pathname));
  if (known !== undefined) return known;
  const match = /^\/n\/([^/]+)$/.exec(within(pathname));
  return match ? decodeURIComponent(match[1] ?? "") : undefined;
}
