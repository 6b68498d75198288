// The elements of lines in the editor. A line is a heading, a quote or a paragraph; a line of a list is an item for
// screen readers, with its level and its place in the list, and a task has a box.

import { isRight, t } from "../ground/language.js";
import { indentOf, isList, kindOf, styleLine, tagOf } from "./elements.js";

/**
 * @typedef {import("../prosemirror.js").Node} Node
 * @typedef {import("../prosemirror.js").EditorView} EditorView
 */

/** @param {any} set Of a line. @returns {boolean | undefined} Whether its box is ticked; undefined without a box. */
const boxOf = (set) => (kindOf(set) === "task" ? false : kindOf(set) === "done" ? true : undefined);

export class LineView {
  #tag;
  #isList;
  /** @type {HTMLElement | undefined} */
  #box;
  /** @type {HTMLElement | undefined} The item in the list. */
  #item;

  /**
   * @param {Node} line
   * @param {(view: LineView) => void} tick Called when the box was pressed.
   */
  constructor(line, tick) {
    const { set } = line.attrs;
    this.#tag = tagOf(set);
    this.#isList = isList(set);
    this.dom = document.createElement(this.#tag);
    this.contentDOM = this.dom;
    if (this.#isList) {
      this.dom.setAttribute("role", "list");
      this.#item = this.dom.appendChild(document.createElement("div"));
      this.#item.className = "item";
      this.#item.setAttribute("role", "listitem");
      this.contentDOM = this.#item;
    }
    if (this.#item && boxOf(set) !== undefined) {
      this.#box = boxElement(() => tick(this));
      this.contentDOM = document.createElement("div");
      this.contentDOM.className = "words";
      this.#item.append(this.#box, this.contentDOM);
    }
    this.#draw(line);
  }

  /** @param {Node} line @returns {boolean} Whether the elements can show it. */
  update(line) {
    const { set } = line.attrs ?? {};
    if (!set || tagOf(set) !== this.#tag || isList(set) !== this.#isList || (boxOf(set) !== undefined) !== Boolean(this.#box)) return false;
    this.#draw(line);
    return true;
  }

  /** @param {Node} line */
  #draw({ attrs: { set }, textContent }) {
    styleLine(this.dom, set);
    // A line without letters has the page's direction.
    if (isRight && this.dom.dir === "auto" && !/\p{L}/u.test(textContent)) this.dom.dir = "rtl";
    this.#item?.setAttribute("aria-level", String(indentOf(set) + 1));
    const box = this.#box;
    if (!box) return;
    box.setAttribute("aria-checked", String(boxOf(set)));
    box.setAttribute("aria-label", textContent.trim().slice(0, 80) || t("edit.boxes"));
  }

  /** @param {{type: string, target: globalThis.Node}} mutation @returns {boolean} Whether the text did not change. */
  ignoreMutation({ type, target }) {
    if (type === "selection") return false;
    return type === "attributes" ? target === this.dom || target === this.#item || target === this.contentDOM : !this.contentDOM.contains(target);
  }

  /** @param {Event} event @returns {boolean} Whether the editor does not handle it. */
  stopEvent({ target }) {
    return this.#box !== undefined && target === this.#box;
  }
}

/** @param {() => void} tick @returns {HTMLElement} */
function boxElement(tick) {
  const box = document.createElement("span");
  box.className = "tick";
  box.contentEditable = "false";
  box.setAttribute("role", "checkbox");
  // The caret stays in the text.
  box.addEventListener("mousedown", (event) => event.preventDefault());
  box.addEventListener("click", tick);
  return box;
}

/**
 * Tells screen readers the place of each item in its list. A list ends with a line that is no item, and for items of a
 * level with an item above it.
 *
 * @param {Node} doc
 * @param {(index: number) => Element | null | undefined} itemAt The element of a line's item.
 */
export function numberItems(doc, itemAt) {
  /** @type {Element[][]} The items of the lists that are open, by level. */
  const open = [];
  const close = (/** @type {number} */ level) => {
    for (const items of open.splice(level)) {
      items?.forEach((item, index) => {
        setIfNew(item, "aria-posinset", String(index + 1));
        setIfNew(item, "aria-setsize", String(items.length));
      });
    }
  };
  doc.forEach(({ attrs: { set } }, _, index) => {
    if (!isList(set)) return close(0);
    const level = indentOf(set);
    close(level + 1);
    const item = itemAt(index);
    if (item) (open[level] ??= []).push(item);
  });
  close(0);
}

/** @param {Element} element @param {string} name @param {string} value */
function setIfNew(element, name, value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}
