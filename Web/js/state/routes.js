// Addresses: "/" and "/n/ID", "/n/ID#history" for its past, "/p/NAME" for a note that is published under a name, and
// "/#new=KEY" for a note that the server has yet to make. The address of a shared link keeps its token there, too.

import { newPlace } from "./access.js";
import { at, home, nameAt, noteAt } from "../ground/base.js";
import { page } from "./page.js";
import { access } from "./session.js";

export { home, noteAt as noteIn };

/** @param {string} id @param {string} [place] */
export function pathOf(id, place) {
  const fragment = [access.fragment, place].filter(Boolean).join("&");
  const isNamed = nameAt(location.pathname) !== undefined && noteAt(location.pathname) === id;
  const path = isNamed ? location.pathname : at("/n/") + encodeURIComponent(id);
  return `${path}${fragment && "#"}${fragment}`;
}

/** @param {string} key Of a note that the server has yet to make. */
export const pathOfNew = (key) => `${home}#${newPlace}=${key}`;

/** @param {string} path */
export function go(path) {
  if (path !== location.pathname + location.hash) history.pushState(null, "", path);
  page.emit("went", undefined);
}
