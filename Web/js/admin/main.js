// The operator's page: signs in with an API key, then shows figures and lists, and polls the server for both.

import { announce, byId, openDialog, toast } from "../ground/dialogs.js";
import { RequestError, authorise, request } from "../client/http.js";
import { setUpThemeSwitch } from "../ground/themeswitch.js";
import { messageOf } from "../client/words.js";
import { Charts } from "./charts.js";
import { duration } from "./figures.js";
import { drawList, makeLists, nameOf, totalOf } from "./lists.js";

/** Time between a response and the next request; milliseconds. */
const askEvery = 2_000;
const keyName = "parley.operator";

/** @type {string | undefined} The API key: stored for this tab alone, and never part of an address. */
let key = stored();
/** @type {any} */
let timer;
/** Counts the rounds of requests; responses to an older round are dropped. */
let round = 0;
/** How far the server's clock is ahead of this one, in milliseconds. */
let ahead = 0;

authorise(() => key);
setUpThemeSwitch();
const charts = new Charts(byId("charts"));
const lists = makeLists({
  hostOf: byId,
  disconnect: (connection) => void disconnect(connection),
  now: () => Date.now() + ahead,
});
/** @type {Map<string, {items: any[], total: number}>} */
const answers = new Map();
let open = "connections";
const filterField = /** @type {HTMLInputElement} */ (byId("filter"));
const keyField = /** @type {HTMLInputElement} */ (byId("key"));
const enter = /** @type {HTMLButtonElement} */ (byId("enter"));

// Signing in.

function stored() {
  try {
    return sessionStorage.getItem(keyName) ?? undefined;
  } catch {
    return undefined;
  }
}

/** @param {string | undefined} value */
function keep(value) {
  key = value;
  try {
    if (value === undefined) sessionStorage.removeItem(keyName);
    else sessionStorage.setItem(keyName, value);
  } catch {
    // The storage is full: the key lasts as long as the page.
  }
}

/** @param {string} [problem] */
function signOut(problem = "") {
  keep(undefined);
  round += 1;
  clearTimeout(timer);
  byId("main").hidden = true;
  byId("state").hidden = true;
  byId("sign-out").hidden = true;
  byId("server").textContent = "";
  byId("entry").hidden = false;
  byId("entry-problem").textContent = problem;
  keyField.focus();
}

function showMain() {
  byId("entry").hidden = true;
  byId("main").hidden = false;
  byId("state").hidden = false;
  byId("sign-out").hidden = false;
}

/** @param {unknown} error */
function refusalOf(error) {
  if (!(error instanceof RequestError)) return undefined;
  if (error.status === 401) return "The server does not know this key.";
  if (error.status === 403) return "This key is not an operator's. Make one that says “operator”.";
  if (error.status === 404) return "Operators are not answered at this address. The server may have another for them.";
  return undefined;
}

byId("entry-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const value = keyField.value.trim();
  // A header cannot contain other characters, and neither does any key.
  if (!/^[\x21-\x7e]+$/.test(value)) {
    byId("entry-problem").textContent = "That is no API key: one begins with pk_ and has no spaces.";
    keyField.select();
    return;
  }
  byId("entry-problem").textContent = "";
  enter.disabled = true;
  key = value;
  try {
    const stats = await request("/api/stats");
    keep(value);
    keyField.value = "";
    showMain();
    take(stats);
    void ask();
  } catch (error) {
    key = undefined;
    byId("entry-problem").textContent = refusalOf(error) ?? messageOf(error);
    keyField.select();
  } finally {
    enter.disabled = false;
  }
});
byId("sign-out").addEventListener("click", () => signOut());

// Polling.

/** @param {import("./charts.js").Stats} stats */
function take(stats) {
  ahead = stats.time - Date.now();
  charts.add(stats);
  byId("rooms-total").textContent = stats.rooms.occupied.toLocaleString();
  byId("nodes-total").textContent = stats.nodes.length.toLocaleString();
  byId("server").textContent = [
    `Parley ${stats.version}`,
    `up ${duration(stats.uptimeMilliseconds)}`,
    ...(stats.isDemo ? ["open demo"] : []),
  ].join(" · ");
  say(stats.isReady ? "saved" : "refused", stats.isReady ? "Serving" : "Cannot store changes now");
}

/** @param {string} state One of the states of the note's page. @param {string} text */
function say(state, text) {
  byId("state").dataset.state = state;
  if (byId("state-text").textContent !== text) byId("state-text").textContent = text;
  byId("main").classList.toggle("is-stale", state === "offline");
}

/** Requests the figures and the open list once, and schedules the next round. */
async function ask() {
  clearTimeout(timer);
  const mine = (round += 1);
  const list = lists.find(({ id }) => id === open);
  try {
    const [stats, answer] = await Promise.all([
      request("/api/stats"),
      list?.fetch(filterField.value.trim()),
    ]);
    if (mine !== round) return;
    take(stats);
    if (list && answer) {
      answers.set(list.id, answer);
      draw();
    }
  } catch (error) {
    if (mine !== round) return;
    const refusal = refusalOf(error);
    if (refusal) {
      signOut(refusal);
      return;
    }
    say("offline", "The server cannot be reached. Trying again…");
  }
  if (document.visibilityState === "visible") timer = setTimeout(ask, askEvery);
}

function draw() {
  for (const list of lists) {
    const answer = answers.get(list.id);
    if (!answer) continue;
    byId(`${list.id}-total`).textContent = totalOf(answer);
    if (list.id === open) drawList(list, answer, filterField.value.trim());
  }
}

document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible" && key !== undefined) void ask();
});

// Lists.

const tabs = lists.map(({ id }) => byId(`tab-${id}`));

/** @param {string} id */
function openList(id) {
  open = id;
  for (const list of lists) {
    const isOpen = list.id === id;
    byId(list.id).hidden = !isOpen;
    byId(`tab-${list.id}`).setAttribute("aria-selected", String(isOpen));
    byId(`tab-${list.id}`).tabIndex = isOpen ? 0 : -1;
  }
  draw();
  void ask();
}

tabs.forEach((tab, index) => {
  tab.addEventListener("click", () => openList(tab.id.slice("tab-".length)));
  tab.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = tabs[(index + step + tabs.length) % tabs.length];
    next?.focus();
    next?.click();
    event.preventDefault();
  });
});
filterField.addEventListener("input", draw);
filterField.addEventListener("change", () => void ask());

/** @param {import("./lists.js").ConnectionEntry} connection */
async function disconnect(connection) {
  const name = nameOf(connection);
  const comesBack = /** @type {HTMLInputElement} */ (byId("disconnect-return"));
  byId("disconnect-title").textContent = `Disconnect ${name}?`;
  comesBack.checked = false;
  if (!(await openDialog(/** @type {HTMLDialogElement} */ (byId("disconnect"))))) return;
  try {
    await request(`/api/connections/${encodeURIComponent(connection.id)}/disconnect`, "POST", {
      reconnect: comesBack.checked,
    });
    toast(`${name} was disconnected.`);
  } catch (error) {
    const isGone = error instanceof RequestError && error.status === 404;
    toast(isGone ? `${name} is gone already.` : `${name} is still connected. ${messageOf(error)}`);
  }
  void ask();
}

// Start.

if (key === undefined) signOut();
else {
  showMain();
  say("connecting", "Connecting…");
  void ask();
}
announce(document.title);
