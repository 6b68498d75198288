// The folders above the list of notes, and the path of a note's folder above its text.
//
// A list of buttons within lists. A folder's button is pressed while the list shows its notes. A folder with subfolders
// has another button before it that expands or collapses them. Arrow keys move the focus, expand and collapse.

import { byId, icon } from "../ground/dialogs.js";
import { treeOf } from "../state/folders.js";
import { inNumbers, isRight, locale, t } from "../ground/language.js";
import { drawTabStop, keepTabStop } from "../ground/roving.js";
import { page } from "../state/page.js";
import { moveNote } from "./noteactions.js";
import { folders, list, ownerNow, recent } from "../state/session.js";

/** The keys of the entries other than folders. */
export const places = /** @type {const} */ ({ all: "all", recent: "recent" });

const closedPrefix = "parley.closed-folders.";
/** The data type of a dragged note. */
export const noteType = "application/x-parley-note";

const { compare } = new Intl.Collator(locale, { numeric: true });
/** @type {{owner: string, folders: Set<string>} | undefined} Collapsed folders. */
let closed;
let isRecent = false;
let drawn = "";

/** Whether the list shows the recently opened notes. */
export const showsRecent = () => isRecent;

function closedNow() {
  const owner = ownerNow();
  // Another user may have signed in since.
  if (closed?.owner === owner) return closed.folders;
  closed = { owner, folders: new Set() };
  try {
    closed.folders = new Set(JSON.parse(localStorage.getItem(closedPrefix + owner) ?? "[]"));
  } catch {
    // Another version stored the value.
  }
  return closed.folders;
}

/** @param {string} path @param {boolean} isClosed */
function setClosed(path, isClosed) {
  const all = closedNow();
  if (isClosed) all.add(path);
  else all.delete(path);
  try {
    localStorage.setItem(closedPrefix + ownerNow(), JSON.stringify([...all].slice(-500)));
  } catch {
    // The storage is full: the state lasts until the page is reloaded.
  }
  drawFolders();
}

/**
 * Shows a folder's notes, all notes, or the recently opened ones.
 *
 * @param {string | undefined} folder
 */
export function chooseFolder(folder, wantsRecent = false) {
  const wasRecent = isRecent;
  isRecent = wantsRecent;
  folders.choose(wantsRecent ? undefined : folder);
  if (wasRecent !== isRecent) folders.emit("changed", undefined);
}

/** Draws the folders again if they have changed. */
export function drawFolders() {
  const box = byId("folders");
  const tree = treeOf(folders.all, compare);
  const none = folders.all.find(({ folder }) => folder === "")?.notes ?? 0;
  const known = list.notes ?? [];
  // A short list needs no entry for recently opened notes.
  const hasRecent = (tree.length > 0 || known.length >= 8) && recent.of(known).length > 0;
  box.hidden = tree.length === 0 && !hasRecent;
  const chosen = isRecent ? places.recent : folders.chosen === undefined ? places.all : `in ${folders.chosen}`;
  const key = JSON.stringify([tree, none, hasRecent, chosen, [...closedNow()]]);
  if (key === drawn) return;
  drawn = key;
  const focused = /** @type {HTMLElement | null} */ (document.activeElement);
  const focusedKey = box.contains(focused) ? focused?.dataset.key : undefined;
  const entries = [entry({ key: places.all, name: t("list.all"), isChosen: chosen === places.all, run: () => chooseFolder(undefined) })];
  if (hasRecent) {
    entries.push(entry({ key: places.recent, name: t("folder.recent"), isChosen: isRecent, run: () => chooseFolder(undefined, true) }));
  }
  if (tree.length > 0 && none > 0) {
    entries.push(
      entry({ key: "in ", name: t("folder.none"), count: none, isChosen: chosen === "in ", folder: "", run: () => chooseFolder("") }),
    );
  }
  box.replaceChildren(...entries, ...tree.map((node) => branch(node, chosen)));
  if (focusedKey) {
    /** @type {HTMLElement | null} */ (box.querySelector(`[data-key="${CSS.escape(focusedKey)}"]`))?.focus();
  }
  drawTabStop(box);
}

/**
 * @param {import("../state/folders.js").FolderNode} node
 * @param {string} chosen
 */
function branch(node, chosen) {
  const { path, name, notes, children } = node;
  const item = entry({
    key: `in ${path}`, name, count: notes, isChosen: chosen === `in ${path}`, folder: path, run: () => chooseFolder(path),
  });
  if (children.length === 0) return item;
  const isClosed = closedNow().has(path);
  const below = document.createElement("ul");
  below.hidden = isClosed;
  below.append(...children.map((child) => branch(child, chosen)));
  const toggle = document.createElement("button");
  toggle.type = "button";
  toggle.className = "folder-toggle";
  toggle.dataset.key = `toggle ${path}`;
  toggle.setAttribute("aria-expanded", String(!isClosed));
  toggle.setAttribute("aria-label", t("folder.below", { name }));
  toggle.append(icon("chevron"));
  toggle.addEventListener("click", () => setClosed(path, !isClosed));
  item.querySelector(".folder-line")?.prepend(toggle);
  item.dataset.folder = path;
  item.append(below);
  return item;
}

/**
 * @param {{key: string, name: string, count?: number, isChosen: boolean, folder?: string, run: () => void}} options
 */
function entry({ key, name, count, isChosen, folder, run }) {
  const item = document.createElement("li");
  const line = document.createElement("div");
  line.className = "folder-line" + (isChosen ? " is-chosen" : "");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "folder";
  button.dataset.key = key;
  button.setAttribute("aria-pressed", String(isChosen));
  const words = document.createElement("span");
  words.className = "folder-name";
  words.dir = "auto";
  words.textContent = name;
  button.append(words);
  if (count !== undefined) {
    const number = document.createElement("span");
    number.className = "folder-count";
    number.textContent = inNumbers(count);
    number.setAttribute("aria-label", t("folder.count", { count }));
    number.setAttribute("role", "img");
    button.append(number);
  }
  button.addEventListener("click", run);
  line.append(button);
  item.append(line);
  if (folder !== undefined) takeNotes(line, folder);
  return item;
}

/**
 * Lets notes be dropped on a folder.
 *
 * @param {HTMLElement} line
 * @param {string} folder
 */
function takeNotes(line, folder) {
  line.addEventListener("dragover", (event) => {
    if (!event.dataTransfer?.types.includes(noteType)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "move";
    line.classList.add("is-target");
  });
  line.addEventListener("dragleave", () => line.classList.remove("is-target"));
  line.addEventListener("drop", (event) => {
    line.classList.remove("is-target");
    const id = event.dataTransfer?.getData(noteType);
    if (!id) return;
    event.preventDefault();
    void moveNote(id, folder);
  });
}

/** @param {KeyboardEvent} event */
function stepThrough(event) {
  const at = /** @type {HTMLElement} */ (event.target).closest(".folder, .folder-toggle");
  if (!at) return;
  const box = byId("folders");
  const buttons = /** @type {HTMLElement[]} */ ([...box.querySelectorAll(".folder")]).filter((one) => one.offsetParent);
  const own = /** @type {HTMLElement} */ (at.closest("li")?.querySelector(".folder"));
  const index = buttons.indexOf(own);
  const toggle = /** @type {HTMLElement | null} */ (own.parentElement?.querySelector(".folder-toggle"));
  const [opening, closing] = isRight ? ["ArrowLeft", "ArrowRight"] : ["ArrowRight", "ArrowLeft"];
  const isOpen = toggle?.getAttribute("aria-expanded") === "true";
  if (event.key === "ArrowDown") buttons[index + 1]?.focus();
  else if (event.key === "ArrowUp") buttons[index - 1]?.focus();
  else if (event.key === "Home") buttons[0]?.focus();
  else if (event.key === "End") buttons[buttons.length - 1]?.focus();
  else if (event.key === opening && toggle && !isOpen) toggle.click();
  else if (event.key === closing && toggle && isOpen) toggle.click();
  else if (event.key === closing) {
    /** @type {HTMLElement | null | undefined} */ (own.closest("ul")?.closest("li")?.querySelector(".folder"))?.focus();
  } else return;
  event.preventDefault();
}

/** Draws the path of the shown note's folder. */
export function drawCrumbs() {
  const crumbs = byId("crumbs");
  const id = page.current?.documentId;
  const folder = id === undefined ? "" : (list.folderOf(id) ?? "");
  crumbs.hidden = folder === "";
  const key = JSON.stringify([id, folder]);
  if (crumbs.dataset.drawn === key) return;
  crumbs.dataset.drawn = key;
  const names = folder === "" ? [] : folder.split("/");
  const steps = names.map((name, index) => {
    const item = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "crumb";
    button.dir = "auto";
    button.textContent = name;
    button.addEventListener("click", () => {
      chooseFolder(names.slice(0, index + 1).join("/"));
      // On a phone the list is a page of its own: return to it.
      const isBeside = byId("folders").offsetParent !== null;
      if (!isBeside) byId("back").click();
    });
    item.append(button);
    return item;
  });
  byId("crumbs-list").replaceChildren(...steps);
}

/** Draws the folders now and whenever they may have changed. */
export function setUpFolders() {
  byId("folders").addEventListener("keydown", stepThrough);
  keepTabStop(byId("folders"));
  folders.on("changed", drawFolders);
  recent.on("changed", drawFolders);
  list.on("changed", drawCrumbs);
  drawFolders();
}
