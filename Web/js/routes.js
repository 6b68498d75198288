// Addresses: "/" and "/n/ID", "/n/ID#history" for its past, and "/#new" for a note that the server has yet
// to make. Who came by a shared link keeps the link's token there too.

import { page } from "./page.js";
import { access } from "./session.js";

/** @param {string} path */
export function noteIn(path) {
  const match = /^\/n\/([^/]+)$/.exec(path);
  return match ? decodeURIComponent(match[1] ?? "") : undefined;
}

/** @param {string} id @param {string} [place] */
export function pathOf(id, place) {
  const fragment = [access.fragment, place].filter(Boolean).join("&");
  return `/n/${encodeURIComponent(id)}${fragment && "#"}${fragment}`;
}

/** @param {string} path */
export function go(path) {
  if (path !== location.pathname + location.hash) history.pushState(null, "", path);
  page.emit("went", undefined);
}
