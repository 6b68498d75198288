// The field for a link's address, beside the linked text.

import { byId, toast } from "../ground/dialogs.js";
import { t } from "../ground/language.js";
import { isOfComposition } from "../ground/shortcuts.js";
import { addressOf } from "./elements.js";
import { linkHere, linkTo } from "./textmarks.js";

/** @typedef {import("../prosemirror.js").EditorView} EditorView */

/** @type {(() => void) | undefined} */
let closeOpen;

/** @param {string} name @param {Partial<HTMLElement> & Record<string, any>} properties @returns {any} */
const element = (name, properties) => Object.assign(document.createElement(name), properties);

/** @param {string} typed @returns {string} The address as it is stored. */
export function addressIn(typed) {
  const text = typed.trim();
  if (/^[^\s@/:]+@[^\s@/:]+\.[^\s@/:]+$/.test(text)) return `mailto:${text}`;
  return /^[\w-]+(?:\.[\w-]+)+(?:[/?#:]|$)/.test(text) && !/^\w+:/.test(text.replace(/^[^/?#]*:\d+/, "")) ? `https://${text}` : text;
}

/** @param {EditorView} view Asks for the address of a link on the selection, or changes the one at the caret. */
export function askForLink(view) {
  closeOpen?.();
  if (!view.editable) return toast(t("note.readOnlyHint"));
  const here = linkHere(view.state);
  const box = element("form", { className: "link-box", noValidate: true });
  const field = element("input", { type: "text", value: here?.value ?? "", placeholder: "https://", dir: "ltr", autocomplete: "off", spellcheck: false });
  field.setAttribute("aria-label", t("formatted.address"));
  field.setAttribute("inputmode", "url");
  const apply = element("button", { type: "submit", className: "button small primary", textContent: t("formatted.linkIt") });
  const remove = element("button", { type: "button", className: "button small", textContent: t("formatted.unlink"), hidden: !here });
  box.append(field, apply, remove);
  byId("editor").after(box);
  const close = () => {
    closeOpen = undefined;
    document.removeEventListener("pointerdown", outside, true);
    box.remove();
  };
  const act = (/** @type {string | null} */ url) => {
    close();
    const transaction = linkTo(url)(view.state);
    if (transaction) view.dispatch(transaction);
    view.focus();
  };
  const outside = (/** @type {Event} */ event) => void (box.contains(/** @type {Node} */ (event.target)) || close());
  box.addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    const url = addressIn(field.value);
    if (url === "") return here ? act(null) : close();
    if (addressOf(url) === undefined) return toast(t("note.linkRefused"));
    act(url);
  });
  box.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape" || isOfComposition(event)) return;
    event.stopPropagation();
    close();
    view.focus();
  });
  remove.addEventListener("click", () => act(null));
  document.addEventListener("pointerdown", outside, true);
  closeOpen = close;
  place(box, view);
  field.focus();
  field.select();
}

/** @param {HTMLElement} box @param {EditorView} view */
function place(box, view) {
  const paper = byId("paper").getBoundingClientRect();
  const at = view.coordsAtPos(view.state.selection.from);
  const { width, height } = box.getBoundingClientRect();
  const below = at.bottom - paper.top + 6;
  box.style.left = `${Math.max(8, Math.min(at.left - paper.left, paper.width - width - 8))}px`;
  box.style.top = `${below + height > paper.height ? Math.max(8, at.top - paper.top - height - 6) : below}px`;
}
