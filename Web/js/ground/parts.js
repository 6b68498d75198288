// Loads parts of the page on demand.
//
// A server that was upgraded after this page was opened may no longer have them. The page then reloads itself: typed
// text is stored in the browser, and the address names the view.

import { at } from "./base.js";

/** Minimum time between reloads, in case a server has two builds at once; milliseconds. */
const reloadEvery = 60_000;
/** If the page still exists after this time, the user has cancelled the reload; milliseconds. */
const stayedAfter = 5_000;
const reloadKey = "parley.reloaded";

/** Whether the page is reloading. A navigation within it would cancel the reload. */
let isReloading = false;

/** @param {string} html @returns {string | undefined} The build of a page; a page served from source has none. */
export const buildIn = (html) => /<meta name="build" content="([^"]+)"/.exec(html)?.[1];

/**
 * Returns whether the server's page is of another build than this one; false if the server does not answer.
 *
 * @param {string | undefined} build This page's build.
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

/** Returns whether the page may reload itself. After true, returns false for `reloadEvery`. */
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
 * Loads a part that the user waits for; reloads the page if the server no longer has the part. A part that the page can
 * do without is imported directly instead, because text typed during a reload is lost.
 *
 * @template Part
 * @param {() => Promise<Part>} load An `import`.
 * @returns {Promise<Part>} Rejects if the part cannot be loaded.
 */
export async function loadPart(load) {
  try {
    return await load();
  } catch (error) {
    const build = document.querySelector('meta[name="build"]')?.getAttribute("content") ?? undefined;
    if (isReloading || ((await isOutdated(build)) && mayReload())) {
      isReloading = true;
      location.reload();
      // The page closes now, unless the browser asks the user, and the user stays.
      await new Promise((resolve) => setTimeout(resolve, stayedAfter));
      isReloading = false;
    }
    throw error;
  }
}
