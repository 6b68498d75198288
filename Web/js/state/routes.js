// Addresses: "/" for the list, "/n/ID" for a note, "/n/ID#history" for its history, "/p/NAME" for a published note, and
// "/#new=KEY" for a new note that the server has not created yet. In a tab of a shared link, they contain its token.

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

/** @param {string} key The key of a new note that the server has not created yet. */
export const pathOfNew = (key) => `${home}#${newPlace}=${key}`;

/** @param {string} path */
export function go(path) {
  if (path !== location.pathname + location.hash) history.pushState(null, "", path);
  page.emit("went", undefined);
}
