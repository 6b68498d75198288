// Signing in at an identity provider: this tab leaves for it, and returns to where it was.
//
// The server sends people back to the page's own address, with one of these behind "#":
//
//   #signed-in            it has tokens for this browser, which the page asks for
//   #sign-in-problem=…    it has none, for this reason

import { fragmentOf } from "./access.js";
import { home } from "../ground/base.js";

/** The key under which a tab remembers what it showed before it left for the provider. */
const placeKey = "parley.place";
/** The key under which it remembers whether the browser keeps the session. */
const keepKey = "parley.keep";

/**
 * Remembers what this tab shows, for its return.
 *
 * @param {boolean} keep Whether the browser keeps the session.
 */
export function leaveForProvider(keep) {
  try {
    sessionStorage.setItem(placeKey, location.pathname + location.hash);
    if (keep) sessionStorage.setItem(keepKey, "true");
    else sessionStorage.removeItem(keepKey);
  } catch {
    // It returns to the list then.
  }
}

/** Whether the browser keeps the session of the user who returns. */
export function isToBeKept() {
  try {
    return sessionStorage.getItem(keepKey) !== null;
  } catch {
    return false;
  }
}

/** @returns {string} What the tab showed before; the list, if that is not known. */
function formerPlace() {
  try {
    const place = sessionStorage.getItem(placeKey) ?? "";
    sessionStorage.removeItem(placeKey);
    return place.startsWith(home) && new URL(place, location.href).origin === location.origin ? place : home;
  } catch {
    return home;
  }
}

/**
 * Returns the outcome if this tab has just returned from the provider, and restores the address of what it showed.
 *
 * @returns {{problem?: string} | undefined}
 */
export function comeBack() {
  const { isSignedIn, signInProblem } = fragmentOf(location.hash);
  if (!isSignedIn && signInProblem === undefined) return undefined;
  history.replaceState(null, "", formerPlace());
  return { problem: signInProblem };
}
