// Addresses: "/" and "/n/ID", "/n/ID#history" for its past, and "/#new=KEY" for a note that the server
// has yet to make. Who came by a shared link keeps the link's token there too.

import { newPlace } from "./account/access.js";
import { at, home, noteAt } from "./base.js";
import { page } from "./page.js";
import { access } from "./session.js";

export { home, noteAt as noteIn };

/** @param {string} id @param {string} [place] */
export function pathOf(id, place) {
  const fragment = [access.fragment, place].filter(Boolean).join("&");
  return `${at("/n/")}${encodeURIComponent(id)}${fragment && "#"}${fragment}`;
}

/** @param {string} key Of a note that the server has yet to make. */
export const pathOfNew = (key) => `${home}#${newPlace}=${key}`;

/** @param {string} path */
export function go(path) {
  if (path !== location.pathname + location.hash) history.pushState(null, "", path);
  page.emit("went", undefined);
}
