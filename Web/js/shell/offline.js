// Registers the worker that caches the page (worker.js), and shows a message when a newer version is available.
//
// Called after the page has loaded, because the browser then has the files that the worker caches. If the server does
// not offer the worker, everything cached is removed.

import { home } from "../ground/base.js";
import { announce } from "../ground/dialogs.js";
import { endCopying, refusedText, startCopying } from "../state/keepingcopies.js";
import { language, t } from "../ground/language.js";
import { withLimit } from "../ground/limit.js";
import { tellNews } from "../ground/news.js";
import { notes } from "../state/opennotes.js";
import { connection } from "../state/session.js";

const workerAddress = `${home}worker.js`;

/** Maximum time for a worker to answer or to take over; milliseconds. */
const answerWithin = 3_000;

const build = document.querySelector('meta[name="build"]')?.getAttribute("content") ?? undefined;

const newsText = t("page.newVersion");

/** @param {ServiceWorker} worker @returns {Promise<string | undefined>} The build that it caches. */
function buildOf(worker) {
  const { port1, port2 } = new MessageChannel();
  const answer = new Promise((resolve) => port1.addEventListener("message", ({ data }) => resolve(data)));
  port1.start();
  worker.postMessage("build", [port2]);
  return withLimit(answer, answerWithin, undefined);
}

/** @param {ServiceWorker} worker */
function takeOver(worker) {
  const isDone = new Promise((resolve) => {
    navigator.serviceWorker.addEventListener("controllerchange", resolve, { once: true });
  });
  worker.postMessage("take over");
  return withLimit(isDone, answerWithin, undefined);
}

/** @param {ServiceWorker} worker A worker with another build than the active one. */
async function meet(worker) {
  // This page is already of the newest build, so the worker takes over now.
  if ((await buildOf(worker)) === build) {
    await takeOver(worker);
    return;
  }
  const reload = () => void takeOver(worker).then(() => location.reload());
  tellNews("update", { text: newsText, button: { label: t("reload"), run: reload } });
  announce(newsText);
}

/** @param {ServiceWorkerRegistration} registration */
function watch(registration) {
  const { installing, waiting } = registration;
  if (waiting) void meet(waiting);
  installing?.addEventListener("statechange", () => {
    if (installing.state === "installed" && registration.active) void meet(installing);
    else if (installing.state === "activated") {
      keepInUse(installing);
      startCopying(notes.values());
    } else if (installing.state === "redundant" && !registration.active) void refused();
  });
}

/** @type {Set<string>} The parts of the page in use that are cached only once they were used. */
const partsInUse = new Set();

/** @param {ServiceWorker | null | undefined} worker The worker that is to cache the language and the parts in use. */
function keepInUse(worker) {
  worker?.postMessage({ language });
  for (const part of partsInUse) worker?.postMessage({ part });
}

/** @param {"formatted"} part Caches a part that this page uses. */
export function keepPart(part) {
  if (partsInUse.has(part)) return;
  partsInUse.add(part);
  globalThis.navigator?.serviceWorker?.controller?.postMessage({ part });
}

/** Called if the worker could not be registered: the server does not offer it, or the browser rejected it. */
async function refused() {
  const status = await fetch(workerAddress, { method: "HEAD", cache: "no-store" }).then(({ status }) => status, () => 0);
  if (status === 404) await end();
  else if (status === 200) tellNews("copies", { text: refusedText, isOnce: true });
}

/** Removes everything cached. */
async function end() {
  const registration = await navigator.serviceWorker.getRegistration(home);
  await registration?.unregister();
  for (const name of await caches.keys()) if (name.startsWith(`parley.page ${home} `)) await caches.delete(name);
  await endCopying();
}

export async function setUpOffline() {
  const workers = globalThis.navigator?.serviceWorker;
  if (!workers || build === undefined) return;
  // The manifest is offered from the second visit on, to keep the first one short.
  if (workers.controller) {
    const link = document.createElement("link");
    link.rel = "manifest";
    link.href = `${home}assets/app.webmanifest`;
    document.head.append(link);
  }
  /** @type {ServiceWorkerRegistration} */
  let registration;
  try {
    registration = await workers.register(workerAddress, { scope: home, updateViaCache: "none" });
  } catch {
    await refused();
    return;
  }
  if (registration.active) startCopying(notes.values());
  keepInUse(registration.active);
  watch(registration);
  registration.addEventListener("updatefound", () => watch(registration));
  // After an outage, the server may run another version.
  const look = () => {
    if (registration.active) void registration.update().catch(() => refused());
  };
  connection.on("welcome", look);
  if (connection.isOnline) look();
}
