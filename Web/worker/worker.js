// The page's service worker: without a server, a reload shows the page instead of the browser's error.
//
// It caches the files of one build, and nothing else: no answer of the API, no text of a note, no address. A page is
// cached under the worker's own address, not the requested one, whose fragment may contain a link's token. Beside
// English, it caches the languages in which its pages were shown, and parts that a page has used.
//
//   page     from the network, with a time limit; then from the cache
//   files    from the cache first, because their names contain a hash of their content
//   others   are not handled
//
// The worker of a new build waits until a page of this build asks it to take over, or all pages of the former one are
// closed.

/** The build, as in the page's HTML; and its files, below assets/. Scripts/build-page.py inserts both. */
const build = "@build";
/** @type {string[]} */
const files = ["@files"];
/** @type {Record<string, string>} The files of the languages, by language. */
const languages = { "@languages": "" };
/** @type {Record<string, string[]>} The files of parts that not everybody needs, by part. */
const parts = { "@parts": [] };

/** Maximum time to wait for a page from the network; milliseconds. */
const patience = 3_000;

const scope = self.registration.scope;
// Another gateway may have the same origin, with another path.
const ownCaches = `parley.page ${new URL(scope).pathname} `;
const cacheName = ownCaches + build;

const addressOf = (file) => new URL(`assets/${file}`, scope).href;
const below = new URL("n/", scope).href;
const published = new URL("p/", scope).href;

/** The page for addresses below n/, where links begin one folder higher; and the reverse. */
const lowered = (html) => html.replaceAll('="assets/', '="../assets/').replaceAll('="./"', '="../"');
const raised = (html) => html.replaceAll('="../assets/', '="assets/').replaceAll('="../"', '="./"');

/** Fetches the page of this build: from the browser's cache if possible, otherwise from the server. */
async function fetchPage() {
  const open = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const shown = open.map(({ url }) => url.replace(/[?#].*/, "")).filter((url) => isPage(url) && !url.startsWith(published));
  for (const [address, cache] of [...shown.slice(0, 1), scope].map((url) => [url, "force-cache"]).concat([[scope, "reload"]])) {
    const response = await fetch(address, { cache, credentials: "same-origin" });
    const html = response.ok ? raised(await response.text()) : "";
    if (html.includes(`name="build" content="${build}"`)) return { html, headers: response.headers };
  }
  throw new Error("the server's page is of another build");
}

async function fill() {
  const cache = await caches.open(cacheName);
  const { html, headers } = await fetchPage();
  // The body is no longer compressed; the policy for scripts is retained.
  const kept = new Headers(headers);
  for (const name of ["content-encoding", "content-length", "etag", "vary"]) kept.delete(name);
  await cache.put(scope, new Response(html, { headers: kept }));
  await cache.put(below, new Response(lowered(html), { headers: kept }));
  await Promise.all(
    files.map(async (file) => {
      const response = await fetch(addressOf(file));
      if (!response.ok) throw new Error(`${file} is not there: ${response.status}`);
      await cache.put(addressOf(file), response);
    }),
  );
  await keepFormer();
}

/** @param {string} language The language whose texts are to be cached; English is part of the page. */
async function keepLanguage(language) {
  if (Object.hasOwn(languages, language)) await keepFile(languages[language]);
}

/** @param {string} part A part that a page has used. */
async function keepPart(part) {
  if (Object.hasOwn(parts, part)) await Promise.all(parts[part].map(keepFile));
}

/** @param {string} file */
async function keepFile(file) {
  const address = addressOf(file);
  const cache = await caches.open(cacheName);
  if (await cache.match(address, { ignoreVary: true })) return;
  const response = await fetch(address);
  if (response.ok) await cache.put(address, response);
}

/**
 * Caches the languages and parts that the worker of the former build has cached. Without them, the page would be in
 * English, and would not show all notes.
 */
async function keepFormer() {
  for (const name of await caches.keys()) {
    if (!name.startsWith(ownCaches)) continue;
    for (const { url } of await (await caches.open(name)).keys()) {
      const [, language] = /\/languages-(\w+)-\w+\.js$/.exec(url) ?? [];
      if (language) await keepLanguage(language).catch(() => {});
      const [, part] = /\/immutable\/(\w+)-\w+\.js$/.exec(url) ?? [];
      if (part) await keepPart(part).catch(() => {});
    }
  }
}

async function removeFormer() {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name.startsWith(ownCaches) && name !== cacheName).map((name) => caches.delete(name)));
  await self.clients.claim();
}

/** Whether an address without query and fragment is a page: the list, a note or a published note. */
function isPage(url) {
  return url === scope || [below, published].some((one) => url.startsWith(one) && !url.slice(one.length).includes("/"));
}

/** @param {string} url */
async function keptPage(url) {
  const cache = await caches.open(cacheName);
  return cache.match(url === scope ? scope : below);
}

/** @param {Request} request @param {string} url */
async function page(request, url) {
  const kept = await keptPage(url);
  if (!kept) return fetch(request);
  const late = new Promise((resolve) => setTimeout(() => resolve(undefined), patience));
  const fetched = fetch(request).catch(() => undefined);
  const response = await Promise.race([fetched, late]);
  // A proxy returns 5xx if the server is down.
  return response && response.status < 500 ? response : kept;
}

/** @param {Request} request @param {string} url */
async function file(request, url) {
  const cache = await caches.open(cacheName);
  // The cache has one uncompressed form of each file, so `Vary` is ignored.
  return (await cache.match(url, { ignoreVary: true })) ?? fetch(request);
}

self.addEventListener("install", (event) => event.waitUntil(fill()));
self.addEventListener("activate", (event) => event.waitUntil(removeFormer()));

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET") return;
  const url = request.url.replace(/[?#].*/, "");
  if (request.mode === "navigate") {
    if (isPage(url)) event.respondWith(page(request, url));
  } else if (url.startsWith(addressOf("immutable/"))) {
    event.respondWith(file(request, url));
  }
});

self.addEventListener("message", (event) => {
  if (event.data === "build") event.ports[0]?.postMessage(build);
  else if (event.data === "take over") void self.skipWaiting();
  else if (typeof event.data?.language === "string") event.waitUntil(keepLanguage(event.data.language).catch(() => {}));
  else if (typeof event.data?.part === "string") event.waitUntil(keepPart(event.data.part).catch(() => {}));
});
