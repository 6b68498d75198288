// A menu at the caret: a list box that the text controls. The focus remains in the text; arrows choose, Enter accepts.

import { EditorSelection, Prec, ViewPlugin, keymap, syntaxTree } from "../../codemirror.js";
import { announce } from "../../ground/dialogs.js";
import { isRight, t } from "../../ground/language.js";
import { matching, wantedAt } from "./choices.js";

/** @typedef {import("../../codemirror.js").EditorView} EditorView */
/** @typedef {import("./choices.js").Choice} Choice */
/** @typedef {import("./choices.js").Kind} Kind */

/** The maximum UTF-16 units before the caret that are searched. */
const lookedAtMax = 120;

const codes = new Set(["FencedCode", "CodeBlock", "InlineCode"]);

/** @param {import("../../codemirror.js").EditorState} state @param {number} place */
function isInCode(state, place) {
  for (let node = /** @type {any} */ (syntaxTree(state)).resolveInner(place, -1); node; node = node.parent) {
    if (codes.has(node.name)) return true;
  }
  return false;
}

/**
 * Returns the transaction that accepts a choice: it replaces the text that was typed to find it.
 *
 * @param {string} insert The text, with "¦" at the caret's position.
 * @param {number} from
 * @param {number} to
 * @param {string} indent The indent of further lines.
 */
export function taking(insert, from, to, indent) {
  const whole = insert.replace(/\n/g, `\n${indent}`);
  const caret = whole.indexOf("¦");
  const text = whole.replace("¦", "");
  return { changes: { from, to, insert: text }, selection: EditorSelection.cursor(from + (caret < 0 ? text.length : caret)) };
}

class ChoiceMenu {
  /** @type {{kind: Kind, from: number, choices: Choice[], index: number} | undefined} */
  #open;
  /** @type {number | undefined} The position of a menu that the user has closed. */
  #closedAt;
  #view;
  #offer;
  #list = document.createElement("ul");

  /** @param {EditorView} view @param {(kind: Kind) => Choice[]} offer */
  constructor(view, offer) {
    this.#view = view;
    this.#offer = offer;
    const list = this.#list;
    list.className = "choices";
    list.id = "choices";
    list.setAttribute("role", "listbox");
    list.hidden = true;
    // The list scrolls. While it is open, Tab accepts a choice.
    list.tabIndex = 0;
    // The text keeps the focus.
    list.addEventListener("pointerdown", (event) => event.preventDefault());
    list.addEventListener("mousedown", (event) => event.preventDefault());
    list.addEventListener("click", ({ target }) => {
      const at = target instanceof Element ? [...list.children].indexOf(/** @type {Element} */ (target.closest("li"))) : -1;
      if (at >= 0) this.#take(at);
    });
    view.dom.append(list);
    queueMicrotask(() => this.#look(true));
  }

  destroy() {
    this.#close();
    this.#list.remove();
  }

  /** @param {import("../../codemirror.js").ViewUpdate} update */
  update(update) {
    if (update.docChanged) {
      if (this.#closedAt !== undefined) this.#closedAt = update.changes.mapPos(this.#closedAt, -1);
      const isTyped = update.transactions.some((one) => one.isUserEvent("input.type") || one.isUserEvent("delete"));
      queueMicrotask(() => this.#look(isTyped));
    } else if (update.selectionSet || update.focusChanged) queueMicrotask(() => this.#look(false));
  }

  /** @param {boolean} isTyped Whether text was typed, so that a menu may open. */
  #look(isTyped) {
    if (!isTyped && !this.#open && this.#closedAt === undefined) return;
    const { state } = this.#view;
    const { empty, head } = state.selection.main;
    const line = state.doc.lineAt(head);
    const start = Math.max(line.from, head - lookedAtMax);
    const wanted = empty && this.#view.hasFocus && !state.readOnly ? wantedAt(state.doc.sliceString(start, head)) : undefined;
    const from = wanted ? head - wanted.length : -1;
    if (!wanted || isInCode(state, head)) {
      this.#closedAt = undefined;
      return this.#close();
    }
    if (from === this.#closedAt || (!this.#open && !isTyped)) return;
    const choices = matching(this.#offer(wanted.kind), wanted.query);
    if (choices.length === 0) return this.#close();
    const isNew = this.#open?.from !== from || this.#open.kind !== wanted.kind;
    this.#open = { kind: wanted.kind, from, choices, index: 0 };
    this.#draw();
    if (isNew) announce(t("insert.label"));
  }

  #close() {
    if (!this.#open) return;
    this.#open = undefined;
    this.#list.hidden = true;
    const { contentDOM } = this.#view;
    for (const name of ["aria-activedescendant", "aria-controls", "aria-haspopup", "aria-autocomplete"]) contentDOM.removeAttribute(name);
  }

  #draw() {
    const open = this.#open;
    if (!open) return;
    this.#list.setAttribute("aria-label", t("insert.label"));
    this.#list.replaceChildren(
      ...open.choices.map(({ label, hint }, index) => {
        const item = document.createElement("li");
        item.id = `choice-${index}`;
        item.setAttribute("role", "option");
        item.setAttribute("aria-selected", String(index === open.index));
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
      }),
    );
    this.#list.hidden = false;
    const { contentDOM } = this.#view;
    contentDOM.setAttribute("aria-autocomplete", "list");
    contentDOM.setAttribute("aria-haspopup", "listbox");
    contentDOM.setAttribute("aria-controls", "choices");
    contentDOM.setAttribute("aria-activedescendant", `choice-${open.index}`);
    this.#list.children[open.index]?.scrollIntoView({ block: "nearest" });
    this.#view.requestMeasure({
      read: () => ({
        place: this.#view.coordsAtPos(Math.min(open.from, this.#view.state.doc.length)),
        whole: this.#view.dom.getBoundingClientRect(),
        own: this.#list.getBoundingClientRect(),
      }),
      write: ({ place, whole, own }) => {
        if (!place) return;
        const left = place.left - whole.left - (isRight ? own.width : 0);
        const isBelow = place.bottom + own.height + 8 < whole.bottom || place.top - whole.top < own.height + 8;
        this.#list.style.left = `${Math.max(8, Math.min(left, whole.width - own.width - 8))}px`;
        this.#list.style.top = `${isBelow ? place.bottom - whole.top + 4 : place.top - whole.top - own.height - 4}px`;
      },
    });
  }

  /** @param {number} step @returns {boolean} Whether a menu is open. */
  move(step) {
    const open = this.#open;
    if (!open) return false;
    open.index = (open.index + step + open.choices.length) % open.choices.length;
    this.#draw();
    return true;
  }

  /** @returns {boolean} */
  takeChosen() {
    return this.#open !== undefined && this.#take(this.#open.index);
  }

  /** @returns {boolean} */
  dismiss() {
    if (!this.#open) return false;
    this.#closedAt = this.#open.from;
    this.#close();
    return true;
  }

  /** @param {number} index */
  #take(index) {
    const open = this.#open;
    const choice = open?.choices[index];
    if (!open || !choice) return false;
    const { state } = this.#view;
    const { head } = state.selection.main;
    const line = state.doc.lineAt(open.from);
    const before = state.doc.sliceString(line.from, open.from);
    this.#close();
    this.#view.dispatch({
      // A box or a number does not follow another list mark.
      ...taking(choice.insert ?? "", open.from, head, open.kind === "part" ? before.replace(/[^\s>]/g, " ") : ""),
      userEvent: "input.complete",
      scrollIntoView: true,
    });
    choice.run?.();
    return true;
  }
}

/** @param {(kind: Kind) => Choice[]} offer @returns {any} An extension. */
export function choiceMenu(offer) {
  const plugin = ViewPlugin.define((view) => new ChoiceMenu(view, offer));
  const on = (/** @type {(menu: ChoiceMenu) => boolean} */ act) => (/** @type {EditorView} */ view) => {
    const menu = view.plugin(plugin);
    return menu ? act(menu) : false;
  };
  return [
    plugin,
    Prec.highest(
      keymap.of([
        { key: "ArrowDown", run: on((menu) => menu.move(1)) },
        { key: "ArrowUp", run: on((menu) => menu.move(-1)) },
        { key: "Enter", run: on((menu) => menu.takeChosen()) },
        { key: "Tab", run: on((menu) => menu.takeChosen()) },
        { key: "Escape", run: on((menu) => menu.dismiss()) },
      ]),
    ),
  ];
}
