// Signing in at an identity provider: this tab opens the provider's page, and returns to its former address.
//
// The server redirects the user to the page, with one of these fragments:
//
//   #signed-in            the server has tokens for this browser, which the page requests
//   #sign-in-problem=…    it has no tokens, for this reason

import { fragmentOf } from "./access.js";
import { home } from "../ground/base.js";

/** The storage key of the address that a tab showed before it opened the provider's page. */
const placeKey = "parley.place";
/** The storage key that records whether the browser stores the session. */
const keepKey = "parley.keep";

/**
 * Stores the address of this tab, for its return.
 *
 * @param {boolean} keep Whether the browser stores the session.
 */
export function leaveForProvider(keep) {
  try {
    sessionStorage.setItem(placeKey, location.pathname + location.hash);
    if (keep) sessionStorage.setItem(keepKey, "true");
    else sessionStorage.removeItem(keepKey);
  } catch {
    // The storage is full: the tab returns to the list.
  }
}

/** Whether the browser stores the session of the user who returns. */
export function isToBeKept() {
  try {
    return sessionStorage.getItem(keepKey) !== null;
  } catch {
    return false;
  }
}

/** @returns {string} The former address of the tab; the list's if it is not known. */
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
 * Returns the outcome if this tab has just returned from the provider, and restores its former address.
 *
 * @returns {{problem?: string} | undefined}
 */
export function comeBack() {
  const { isSignedIn, signInProblem } = fragmentOf(location.hash);
  if (!isSignedIn && signInProblem === undefined) return undefined;
  history.replaceState(null, "", formerPlace());
  return { problem: signInProblem };
}
