// The choice of colours for text and for its background.

import { t } from "../ground/language.js";
import { setMark, valueHere } from "./textmarks.js";

/** @typedef {import("../prosemirror.js").EditorView} EditorView */

/** @typedef {"formatted.grey" | "formatted.red" | "formatted.orange" | "formatted.green" | "formatted.blue" | "formatted.purple"} Colour The key of its name. */

/** @type {[Colour, string][]} Colours that can be read on white; the style sheet lightens them in the dark. */
const inks = [
  ["formatted.grey", "#5b6268"], ["formatted.red", "#b3261e"], ["formatted.orange", "#9a4a00"], ["formatted.green", "#1e6b3c"], ["formatted.blue", "#1a5fb4"], ["formatted.purple", "#7446a8"],
];
/** @type {[Colour, string][]} */
const papers = [
  ["formatted.grey", "#e6e4dd"], ["formatted.red", "#fbd9d5"], ["formatted.orange", "#fde2bd"], ["formatted.green", "#d3efd9"], ["formatted.blue", "#d5e6fb"], ["formatted.purple", "#e8dcf7"],
];

/** @type {(() => void) | undefined} */
let closeOpen;

/** @param {HTMLElement} button @param {EditorView} view */
export function openColours(button, view) {
  const wasOpen = button.getAttribute("aria-expanded") === "true";
  closeOpen?.();
  if (wasOpen) return;
  const box = document.createElement("div");
  box.className = "colour-box";
  box.setAttribute("role", "dialog");
  box.setAttribute("aria-label", t("formatted.colour"));
  const close = () => {
    closeOpen = undefined;
    button.setAttribute("aria-expanded", "false");
    document.removeEventListener("pointerdown", outside, true);
    removeEventListener("resize", place);
    box.remove();
  };
  const place = () => {
    const at = button.getBoundingClientRect();
    box.style.left = `${Math.max(8, Math.min(at.left, innerWidth - box.offsetWidth - 8))}px`;
    box.style.top = `${Math.max(8, at.bottom + 4)}px`;
  };
  const choose = (/** @type {string} */ key, /** @type {string | null} */ value) => {
    close();
    const transaction = setMark(key, value)(view.state);
    if (transaction) view.dispatch(transaction);
    view.focus();
  };
  const outside = (/** @type {Event} */ event) => {
    const target = /** @type {Node} */ (event.target);
    if (!box.contains(target) && !button.contains(target)) close();
  };
  box.append(
    row(t("formatted.ink"), inks, valueHere(view.state, "color"), (value) => choose("color", value)),
    row(t("formatted.background"), papers, valueHere(view.state, "background"), (value) => choose("background", value)),
  );
  box.addEventListener("mousedown", (event) => event.preventDefault());
  box.addEventListener("keydown", (event) => move(event, box, () => (close(), button.focus())));
  document.addEventListener("pointerdown", outside, true);
  closeOpen = close;
  (button.closest("main") ?? document.body).append(box);
  button.setAttribute("aria-expanded", "true");
  addEventListener("resize", place);
  place();
  /** @type {HTMLElement | null} */ (box.querySelector("button[aria-pressed='true'], button"))?.focus();
}

/**
 * @param {string} label
 * @param {[Colour, string][]} colours
 * @param {unknown} chosen
 * @param {(value: string | null) => void} choose
 */
function row(label, colours, chosen, choose) {
  const group = document.createElement("div");
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", label);
  const title = document.createElement("p");
  title.textContent = label;
  group.append(title);
  const add = (/** @type {string} */ name, /** @type {string | null} */ value) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = value === null ? "colour is-none" : "colour";
    button.setAttribute("aria-label", name);
    button.title = name;
    button.setAttribute("aria-pressed", String((chosen ?? null) === value));
    if (value !== null) button.style.setProperty("--colour", value);
    button.addEventListener("click", () => choose(value));
    group.append(button);
  };
  add(t("formatted.noColour"), null);
  for (const [name, value] of colours) add(t(name), value);
  return group;
}

/** @param {KeyboardEvent} event @param {HTMLElement} box @param {() => void} leave */
function move(event, box, leave) {
  const buttons = /** @type {HTMLElement[]} */ ([...box.querySelectorAll("button")]);
  const at = buttons.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  const sign = document.dir === "rtl" ? -1 : 1;
  const rowLength = inks.length + 1;
  const step = { ArrowRight: sign, ArrowLeft: -sign, ArrowDown: rowLength, ArrowUp: -rowLength }[event.key];
  if (event.key === "Escape" || event.key === "Tab") leave();
  else if (step) buttons[Math.max(0, Math.min(buttons.length - 1, at + step))]?.focus();
  else return;
  event.preventDefault();
  event.stopPropagation();
}
