// The toolbar below the text on phones, for commands that an on-screen keyboard has no keys for.

import { byId, icon } from "../ground/dialogs.js";
import { offer } from "../state/commands.js";
import { page } from "../state/page.js";

/** @type {unknown} The editor whose commands are in the toolbar. */
let drawnFor;

const isWritable = () => page.editor !== undefined && page.current?.isWritable === true;

/** Shows the toolbar while there is a writable text. */
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

/** @param {KeyboardEvent} event Tab reaches one button, arrows the others. */
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

/** Ends the page above the keyboard, on systems that lay it over the page. */
function makeRoom() {
  const seen = window.visualViewport;
  if (!seen) return;
  // If the user has zoomed in, a part of the page is visible although there is no keyboard.
  const isHidden = seen.scale === 1 && innerHeight - seen.height > 100;
  document.documentElement.style.setProperty("--seen", isHidden ? `${Math.round(seen.height)}px` : "100dvh");
  if (isHidden) scrollTo(0, 0);
}

/** Sets up the toolbar. */
export function setUpToolbar() {
  const bar = byId("tools");
  bar.addEventListener("keydown", move);
  // The text keeps the focus, so the keyboard remains.
  bar.addEventListener("pointerdown", (event) => event.preventDefault());
  bar.addEventListener("mousedown", (event) => event.preventDefault());
  window.visualViewport?.addEventListener("resize", makeRoom);
  offer(() => (isWritable() ? (page.editor?.commands ?? []) : []));
}
