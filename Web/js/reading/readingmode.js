// How notes are shown: stored for the tab and for the user, and part of the address.

import { noteIn } from "../state/routes.js";
import { ownerNow } from "../state/session.js";
import { lastingStore, tabStore } from "../ground/storage.js";

/** @typedef {"" | "instead" | "beside"} Reading */

const prefix = "parley.reading.";
const tabKey = "parley.reading";
/** The field in the fragment of the address. */
const place = "view=beside";

/** @returns {Reading | undefined} The mode before a reload of this tab; in a new tab, the user's last one. */
export function keptReading() {
  const inTab = tabStore().getItem(tabKey);
  if (inTab === "" || inTab === "instead" || inTab === "beside") return inTab;
  return lastingStore().getItem(prefix + ownerNow()) === "beside" ? "beside" : undefined;
}

/** @param {Reading} reading */
export function keepReading(reading) {
  try {
    tabStore().setItem(tabKey, reading);
    if (reading === "beside") lastingStore().setItem(prefix + ownerNow(), reading);
    else lastingStore().removeItem(prefix + ownerNow());
  } catch {
    // The storage is full: the mode lasts until the page is reloaded.
  }
}

/** @returns {Reading | undefined} The mode in the address. */
export const askedReading = () => (location.hash.slice(1).split("&").includes(place) ? "beside" : undefined);

/**
 * Writes the mode into the address of the shown note.
 *
 * @param {Reading} reading
 */
export function tellAddress(reading) {
  const fields = location.hash.slice(1).split("&").filter((field) => field !== "" && field !== place);
  // The history of a note has an address of its own.
  if (noteIn(location.pathname) === undefined || fields.includes("history")) return;
  if (reading === "beside") fields.push(place);
  const hash = fields.length > 0 ? `#${fields.join("&")}` : "";
  if (hash !== location.hash) history.replaceState(history.state, "", location.pathname + hash);
}
