// The bar below the text on phones: what a keyboard on a screen has no keys for.

import { byId, icon } from "../ground/dialogs.js";
import { offer } from "../state/commands.js";
import { page } from "../state/page.js";

/** @type {unknown} The editor whose commands the bar has. */
let drawnFor;

const isWritable = () => page.editor !== undefined && page.current?.isWritable === true;

/** Shows the bar while there is a text to write in. */
export function drawToolbar() {
  const bar = byId("tools");
  bar.hidden = !isWritable();
  if (bar.hidden || !page.editor || drawnFor === page.editor) return;
  drawnFor = page.editor;
  bar.replaceChildren(
    ...page.editor.commands.map(({ label, icon: name = "check", run }, index) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "icon-button";
      button.tabIndex = index === 0 ? 0 : -1;
      button.setAttribute("aria-label", label);
      button.title = label;
      button.append(icon(name));
      button.addEventListener("click", run);
      return button;
    }),
  );
}

/** @param {KeyboardEvent} event One button is reached by Tab, the others from there by arrows. */
function move(event) {
  const buttons = /** @type {HTMLElement[]} */ ([...byId("tools").children]);
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const at = buttons.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  if (!step || at < 0) return;
  const sign = document.dir === "rtl" ? -1 : 1;
  const next = buttons[(at + sign * step + buttons.length) % buttons.length];
  for (const button of buttons) button.tabIndex = button === next ? 0 : -1;
  next?.focus();
  event.preventDefault();
}

/** On systems that lay the keyboard over the page, the page ends above it. */
function makeRoom() {
  const seen = window.visualViewport;
  if (!seen) return;
  // Enlarged by two fingers, a part of the page is seen, and no keyboard hides the rest.
  const isHidden = seen.scale === 1 && innerHeight - seen.height > 100;
  document.documentElement.style.setProperty("--seen", isHidden ? `${Math.round(seen.height)}px` : "100dvh");
  if (isHidden) scrollTo(0, 0);
}

/** Makes the bar work. */
export function setUpToolbar() {
  const bar = byId("tools");
  bar.addEventListener("keydown", move);
  // The text keeps the focus, and the keyboard stays.
  bar.addEventListener("pointerdown", (event) => event.preventDefault());
  bar.addEventListener("mousedown", (event) => event.preventDefault());
  window.visualViewport?.addEventListener("resize", makeRoom);
  offer(() => (isWritable() ? (page.editor?.commands ?? []) : []));
}
