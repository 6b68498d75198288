// Where the page lives: at "/", or below a path that a proxy has put before it, such as "/parley/".
//
// Paths in the page's code begin with "/", as the server knows them; these two are the only ones who know
// what the browser calls them.

const here = new URL("../../", import.meta.url);
const base = here.protocol.startsWith("http") ? here.pathname : "/";

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
