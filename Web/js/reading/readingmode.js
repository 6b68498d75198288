// The way in which notes are shown: kept by the tab and for each person, and named by the address.

import { noteIn } from "../state/routes.js";
import { ownerNow } from "../state/session.js";
import { lastingStore, tabStore } from "../ground/storage.js";

/** @typedef {"" | "instead" | "beside"} Reading */

const prefix = "parley.reading.";
const tabKey = "parley.reading";
/** In the address behind "#". */
const place = "view=beside";

/** @returns {Reading | undefined} As it was in this tab before a reload, or else in this person's last one. */
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
    // It is known as long as the page is there.
  }
}

/** @returns {Reading | undefined} The way that the address names. */
export const askedReading = () => (location.hash.slice(1).split("&").includes(place) ? "beside" : undefined);

/** @param {Reading} reading The way that the address of the shown note names from now on. */
export function tellAddress(reading) {
  const fields = location.hash.slice(1).split("&").filter((field) => field !== "" && field !== place);
  // The past has an address of its own.
  if (noteIn(location.pathname) === undefined || fields.includes("history")) return;
  if (reading === "beside") fields.push(place);
  const hash = fields.length > 0 ? `#${fields.join("&")}` : "";
  if (hash !== location.hash) history.replaceState(history.state, "", location.pathname + hash);
}
