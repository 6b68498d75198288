// Parts of the page that are fetched when they are needed.
//
// A server that has been upgraded since this page was opened may have them no longer. Then the page reloads
// itself: what was typed is kept in the browser, and the address says what was shown.

import { at } from "./base.js";

/** The least time between reloads, should a server have two builds at once; milliseconds. */
const reloadEvery = 60_000;
/** A page that is still there after so long does not reload; milliseconds. */
const stayedAfter = 5_000;
const reloadKey = "parley.reloaded";

/** Whether the page has begun to reload itself. A step to another address within it would cancel the reload. */
let isReloading = false;

/** @param {string} html @returns {string | undefined} The build that a page is of; one that is served as it was written has none. */
export const buildIn = (html) => /<meta name="build" content="([^"]+)"/.exec(html)?.[1];

/**
 * Returns whether the server's page is of another build than this one; false if the server does not answer.
 *
 * @param {string | undefined} build This page's.
 */
async function isOutdated(build) {
  if (build === undefined) return false;
  try {
    const response = await fetch(at("/"), { cache: "no-cache" });
    const newest = response.ok ? buildIn(await response.text()) : undefined;
    return newest !== undefined && newest !== build;
  } catch {
    return false;
  }
}

/** Returns whether the page may reload itself; from then on, not for a while. */
function mayReload() {
  try {
    const last = Number(sessionStorage.getItem(reloadKey) ?? 0);
    if (Math.abs(Date.now() - last) < reloadEvery) return false;
    sessionStorage.setItem(reloadKey, String(Date.now()));
    return true;
  } catch {
    return false;
  }
}

/**
 * Loads a part that a person waits for; reloads the page if the server no longer has the part. A part that they can
 * do without is imported directly instead, since what is typed during a reload is lost.
 *
 * @template Part
 * @param {() => Promise<Part>} load An `import`.
 * @returns {Promise<Part>} Fails where the part cannot be fetched.
 */
export async function loadPart(load) {
  try {
    return await load();
  } catch (error) {
    const build = document.querySelector('meta[name="build"]')?.getAttribute("content") ?? undefined;
    if (isReloading || ((await isOutdated(build)) && mayReload())) {
      isReloading = true;
      location.reload();
      // The page goes away now, unless the browser asks the person, who stays.
      await new Promise((resolve) => setTimeout(resolve, stayedAfter));
      isReloading = false;
    }
    throw error;
  }
}
