// Elements above the page: menu, confirmation, toast, and announcements for screen readers.

import { iconAddress } from "./assets.js";
import { isRight, t } from "./language.js";

/**
 * @template {HTMLElement} [Kind=HTMLElement]
 * @param {string} id
 * @returns {Kind}
 */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no element “${id}”`);
  return /** @type {Kind} */ (element);
}

/** @param {string} name A symbol of icons.svg. */
export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", iconAddress(name));
  svg.setAttribute("aria-hidden", "true");
  svg.append(use);
  return svg;
}

/**
 * Asks the user to confirm something that cannot be undone, or that all users will see.
 *
 * @param {{title: string, text: string, yes: string, no?: string, isDangerous?: boolean}} question
 * @returns {Promise<boolean>} False also if another question is open.
 */
export function confirm({ title, text, yes, no = t("remove.no"), isDangerous = true }) {
  const dialog = /** @type {HTMLDialogElement} */ (byId("confirm"));
  if (dialog.open) return Promise.resolve(false);
  byId("confirm-title").textContent = title;
  byId("confirm-text").textContent = text;
  byId("confirm-yes").textContent = yes;
  byId("confirm-yes").className = `button ${isDangerous ? "danger" : "primary"}`;
  byId("confirm-no").textContent = no;
  return openDialog(dialog);
}

/** Answers an open question with no, because another view is shown and the question is about the former one. */
export function withdrawQuestion() {
  const dialog = /** @type {HTMLDialogElement} */ (byId("confirm"));
  if (!dialog.open) return;
  dialog.close();
  takers.get(dialog)?.();
}

/** @type {HTMLDialogElement[]} Opened modal dialogs; the last one that is still open is the topmost. */
let opened = [];

/** Moves toast and announcements to the topmost dialog: outside it they are covered, and screen readers ignore them. */
function followDialogs() {
  opened = opened.filter(({ open }) => open);
  const top = opened.at(-1) ?? document.body;
  for (const element of [byId("toast"), byId("live")]) if (element.parentElement !== top) top.append(element);
}

/**
 * Lets Tab begin at the page's first element if no element had the focus before the dialog opened.
 *
 * @param {HTMLDialogElement} closed
 */
function beginAtTop(closed) {
  const focused = document.activeElement;
  if (opened.length > 0 || (focused !== document.body && !closed.contains(focused))) return;
  // A browser continues from where the focus was last.
  const start = document.createElement("span");
  start.tabIndex = -1;
  document.body.prepend(start);
  start.focus({ preventScroll: true });
  start.remove();
}

/** @param {Event} event */
function followClosing({ currentTarget }) {
  followDialogs();
  beginAtTop(/** @type {HTMLDialogElement} */ (currentTarget));
}

/** @param {HTMLDialogElement} dialog Opened above all others. */
export function showModal(dialog) {
  dialog.showModal();
  opened.push(dialog);
  followDialogs();
  dialog.addEventListener("close", followClosing);
}

/** @type {WeakMap<HTMLDialogElement, () => void>} Functions that resolve the promises of open dialogs. */
const takers = new WeakMap();

/** @param {HTMLDialogElement} dialog @returns {Promise<boolean>} Whether it was confirmed. */
export function openDialog(dialog) {
  // The browser fires `close` in a later task, and the dialog may be opened again before that.
  takers.get(dialog)?.();
  dialog.returnValue = "";
  showModal(dialog);
  // These are not submit buttons, because Enter in a field presses the first submit button.
  for (const button of dialog.querySelectorAll("[data-close]")) {
    /** @type {HTMLElement} */ (button).onclick = () => dialog.close();
  }
  return new Promise((resolve) => {
    const take = () => {
      dialog.removeEventListener("close", whenClosed);
      takers.delete(dialog);
      resolve(dialog.returnValue === "confirm");
    };
    const whenClosed = () => dialog.open || take();
    dialog.addEventListener("close", whenClosed);
    takers.set(dialog, take);
  });
}

/**
 * `isChosen`: whether a radio item is the chosen one. `language`: the label's language, if it is not the page's.
 *
 * @typedef {{label: string, icon?: string, isDangerous?: boolean, isChosen?: boolean, language?: string,
 *   run: () => void}} MenuItem
 */

let closeOpenMenu = () => {};

/**
 * Positions a menu at its button, inside the window.
 *
 * @param {HTMLElement} menu @param {HTMLElement} button
 */
function placeMenu(menu, button) {
  const anchor = button.getBoundingClientRect();
  const { width, height } = menu.getBoundingClientRect();
  const left = Math.min(Math.max(8, isRight ? anchor.left : anchor.right - width), innerWidth - width - 8);
  const below = anchor.bottom + 4;
  menu.style.left = `${left}px`;
  // Above the button if there is no room below; over it if there is none above either.
  const top = below + height <= innerHeight - 8 ? below : Math.max(8, anchor.top - height - 4);
  menu.style.top = `${Math.min(top, Math.max(8, innerHeight - height - 8))}px`;
}

/**
 * @param {HTMLElement} button The menu is placed at it, and the focus returns to it.
 * @param {MenuItem[]} items
 */
export function openMenu(button, items) {
  const menu = byId("menu");
  // Inside a landmark, where a screen reader looks for it.
  (button.closest(".sidebar, main") ?? document.body).append(menu);
  const wasMine = button.getAttribute("aria-expanded") === "true";
  closeOpenMenu();
  if (wasMine) return;

  menu.replaceChildren(
    ...items.map((item) => {
      const entry = document.createElement("button");
      entry.type = "button";
      entry.setAttribute("role", item.isChosen === undefined ? "menuitem" : "menuitemradio");
      if (item.isChosen !== undefined) entry.setAttribute("aria-checked", String(item.isChosen));
      entry.tabIndex = -1;
      if (item.isDangerous) entry.className = "danger";
      if (item.language) entry.lang = item.language;
      entry.append(icon(item.icon ?? "check"), item.label);
      entry.addEventListener("click", () => {
        close();
        // A dialog that opens now returns the focus to the button.
        button.focus();
        item.run();
      });
      return entry;
    }),
  );
  const entries = /** @type {HTMLElement[]} */ ([...menu.children]);
  const close = () => {
    menu.hidden = true;
    button.setAttribute("aria-expanded", "false");
    menu.onkeydown = null;
    document.removeEventListener("pointerdown", outside, true);
    removeEventListener("resize", place);
    closeOpenMenu = () => {};
  };
  const place = () => placeMenu(menu, button);
  const outside = (/** @type {Event} */ event) => {
    const target = /** @type {Node} */ (event.target);
    if (!menu.contains(target) && !button.contains(target)) close();
  };
  menu.onkeydown = (event) => {
    const index = entries.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) entries[(index + step + entries.length) % entries.length]?.focus();
    else if (event.key === "Home") entries[0]?.focus();
    else if (event.key === "End") entries[entries.length - 1]?.focus();
    else if (event.key === "Escape" || event.key === "Tab") {
      close();
      button.focus();
      if (event.key === "Tab") return;
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  document.addEventListener("pointerdown", outside, true);
  addEventListener("resize", place);
  closeOpenMenu = close;

  menu.hidden = false;
  button.setAttribute("aria-expanded", "true");
  place();
  entries[0]?.focus();
}

/** @type {any} */
let toastTimer;

/**
 * Shows a short message.
 *
 * @param {string} text
 * @param {{label: string, run: () => void}} [action] A button that is shown with it.
 */
export function toast(text, action) {
  const element = byId("toast");
  element.textContent = text;
  if (action) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "retry";
    button.textContent = action.label;
    button.addEventListener("click", () => {
      element.hidden = true;
      action.run();
    });
    element.append(" ", button);
  }
  element.hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => (element.hidden = true), action ? 12_000 : 3_500);
}

/** Hides the short message, because it is no longer true. */
export function hideToast() {
  byId("toast").hidden = true;
}

/**
 * Announces a text to screen readers.
 *
 * @param {string} text
 */
export function announce(text) {
  const live = byId("live");
  if (live.textContent !== text) live.textContent = text;
}

/**
 * @param {string} text
 * @param {HTMLElement} [inside] An open dialog: only text inside it can be selected.
 * @returns {Promise<boolean>}
 */
export async function copy(text, inside = document.body) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // No permission, or the page was loaded over plain HTTP from another host.
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "visually-hidden";
    inside.append(area);
    area.select();
    const isCopied = document.execCommand("copy");
    area.remove();
    return isCopied;
  }
}
