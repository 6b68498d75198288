// The menu at the caret: parts of a text after "/", people after "@", notes after "[[", emoji after ":".

import { announce } from "../ground/dialogs.js";
import { isRight, t } from "../ground/language.js";
import { isOfComposition } from "../ground/shortcuts.js";
import { kindOf } from "./elements.js";
import { embedSign } from "./schema.js";

/**
 * @typedef {import("../prosemirror.js").EditorView} EditorView
 * @typedef {"part" | "person" | "note" | "emoji"} Kind
 * @typedef {{label: string, hint?: string, words?: string, take: (view: EditorView, from: number, to: number) => void}} Choice
 *   `take` replaces the typed range.
 */

/** Text before the caret with which a menu may begin. */
const useful = /[/@:[]/;
/** The UTF-16 units before the caret that are searched. */
const lookedAtMax = 80;

export class ChoiceList {
  #list = document.createElement("ul");
  #offer;
  /** @type {EditorView | undefined} */
  #view;
  /** @type {HTMLElement | undefined} */
  #frame;
  /** @type {{kind: Kind, from: number, choices: Choice[], index: number} | undefined} */
  #open;
  /** @type {number | undefined} The place at which the user closed a menu. */
  #closedAt;
  /** @type {typeof import("../editing/writing/choices.js") | undefined} */
  #words;

  /** @param {(kind: Kind) => Choice[]} offer */
  constructor(offer) {
    this.#offer = offer;
    const list = this.#list;
    list.id = "choices";
    list.className = "choices";
    list.setAttribute("role", "listbox");
    list.hidden = true;
    list.addEventListener("mousedown", (event) => event.preventDefault());
    list.addEventListener("click", ({ target }) => {
      const item = target instanceof Element ? target.closest("li") : null;
      const index = item ? [...list.children].indexOf(item) : -1;
      if (index >= 0) this.#take(index);
    });
  }

  /** @param {EditorView} view @param {HTMLElement} frame The element in which the list is placed. */
  begin(view, frame) {
    this.#view = view;
    this.#frame = frame;
    frame.append(this.#list);
    view.dom.addEventListener("blur", () => this.#close());
  }

  destroy() {
    this.#list.remove();
  }

  /** @param {boolean} isTyped Whether text was typed, so that a menu may open. */
  async look(isTyped) {
    const view = this.#view;
    if (!view || (!isTyped && !this.#open && this.#closedAt === undefined)) return;
    const before = this.#before(view);
    if (before === undefined || !useful.test(before)) return this.#end();
    if (!this.#words) {
      this.#words = await import("../editing/writing/choices.js").catch(() => undefined);
      if (!this.#words || view.isDestroyed) return;
    }
    const now = this.#before(view);
    const wanted = now === undefined ? undefined : this.#words.wantedAt(now);
    if (!wanted) return this.#end();
    const from = view.state.selection.from - wanted.length;
    if (from === this.#closedAt || (!this.#open && !isTyped)) return;
    const choices = this.#words.matching(this.#offer(wanted.kind), wanted.query);
    if (choices.length === 0) return this.#close();
    const isNew = this.#open?.from !== from || this.#open.kind !== wanted.kind;
    this.#open = { kind: wanted.kind, from, choices: /** @type {any} */ (choices), index: 0 };
    this.#draw();
    if (isNew) announce(t("insert.label"));
  }

  /** @param {EditorView} view @returns {string | undefined} The text before the caret; undefined if no menu may open. */
  #before(view) {
    const { selection, storedMarks } = view.state;
    const { $from } = selection;
    if (!selection.empty || $from.depth === 0 || !view.editable || !view.hasFocus()) return undefined;
    if (kindOf($from.parent.attrs.set) === "code" || (storedMarks ?? $from.marks()).some(({ type }) => type.name === "code")) return undefined;
    return $from.parent.textBetween(Math.max(0, $from.parentOffset - lookedAtMax), $from.parentOffset, "", embedSign);
  }

  #end() {
    this.#closedAt = undefined;
    this.#close();
  }

  #close() {
    if (!this.#open) return;
    this.#open = undefined;
    this.#list.hidden = true;
    for (const name of ["aria-activedescendant", "aria-controls", "aria-haspopup", "aria-autocomplete"]) this.#view?.dom.removeAttribute(name);
  }

  #draw() {
    const open = this.#open;
    const view = this.#view;
    if (!open || !view) return;
    this.#list.setAttribute("aria-label", t("insert.label"));
    this.#list.replaceChildren(...open.choices.map((choice, index) => itemFor(choice, index, index === open.index)));
    this.#list.hidden = false;
    view.dom.setAttribute("aria-autocomplete", "list");
    view.dom.setAttribute("aria-haspopup", "listbox");
    view.dom.setAttribute("aria-controls", "choices");
    view.dom.setAttribute("aria-activedescendant", `choice-${open.index}`);
    this.#list.children[open.index]?.scrollIntoView({ block: "nearest" });
    this.#place(view, open.from);
  }

  /** @param {EditorView} view @param {number} from */
  #place(view, from) {
    const at = view.coordsAtPos(Math.min(from, view.state.doc.content.size - 1));
    const whole = this.#frame?.getBoundingClientRect();
    const own = this.#list.getBoundingClientRect();
    if (!whole) return;
    const left = at.left - whole.left - (isRight ? own.width : 0);
    const isBelow = at.bottom + own.height + 8 < whole.bottom || at.top - whole.top < own.height + 8;
    this.#list.style.left = `${Math.max(8, Math.min(left, whole.width - own.width - 8))}px`;
    this.#list.style.top = `${isBelow ? at.bottom - whole.top + 4 : at.top - whole.top - own.height - 4}px`;
  }

  /** @param {KeyboardEvent} event @returns {boolean} Whether the menu has used the key. */
  key(event) {
    const open = this.#open;
    if (!open || isOfComposition(event)) return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      open.index = (open.index + step + open.choices.length) % open.choices.length;
      this.#draw();
    } else if (event.key === "Enter" || (event.key === "Tab" && !event.shiftKey)) this.#take(open.index);
    else if (event.key === "Escape") {
      this.#closedAt = open.from;
      this.#close();
    } else return false;
    return true;
  }

  /** @param {number} index */
  #take(index) {
    const open = this.#open;
    const view = this.#view;
    const choice = open?.choices[index];
    if (!open || !view || !choice) return;
    this.#close();
    choice.take(view, open.from, view.state.selection.from);
    view.focus();
  }
}

/** @param {Choice} choice @param {number} index @param {boolean} isChosen */
function itemFor({ label, hint }, index, isChosen) {
  const item = document.createElement("li");
  item.id = `choice-${index}`;
  item.setAttribute("role", "option");
  item.setAttribute("aria-selected", String(isChosen));
  const words = document.createElement("span");
  words.dir = "auto";
  words.textContent = label;
  item.append(words);
  if (hint) {
    const sign = document.createElement("code");
    sign.dir = "ltr";
    sign.setAttribute("aria-hidden", "true");
    sign.textContent = hint;
    item.append(sign);
  }
  return item;
}
