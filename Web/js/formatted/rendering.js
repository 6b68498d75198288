// Lines of a formatted note as a page: lists within each other, quotes and code as blocks. For reading, printing, the
// history and clipboards.

import { t } from "../ground/language.js";
import { directionIn } from "../ground/texts.js";
import { domOfMark, indentOf, isList, kindOf } from "./elements.js";
import { embedElement } from "./embedview.js";
import { currentText, mentionsIn } from "./mentions.js";
import { controlType, embedType } from "./schema.js";

/**
 * @typedef {import("../prosemirror.js").Node} Node
 * @typedef {{forEach: (visit: (node: Node) => void) => void}} Lines
 * @typedef {object} Options
 * @property {boolean} [isPage] Whether it is shown on the page, below its title, rather than given to other programs.
 */

/** @param {string} name @param {string} [className] */
function element(name, className) {
  const made = document.createElement(name);
  if (className) made.className = className;
  return made;
}

/** @param {Node} node @param {string} [name] Shown in place of its text. @returns {globalThis.Node} */
function inlineOf(node, name = node.text) {
  /** @type {globalThis.Node} */
  let made = document.createTextNode(name ?? "");
  if (node.type === embedType) made = embedElement({ embed: node.attrs.embed, ...node.attrs.set });
  else if (node.type === controlType) made = document.createTextNode("");
  for (const mark of [...node.marks].reverse()) {
    if (mark.type.name === "other") continue;
    const { dom } = domOfMark(mark.type.name, mark.attrs.value);
    dom.append(made);
    made = dom;
  }
  return made;
}

/** @param {HTMLElement} parent @param {Node} line */
function fill(parent, line) {
  const mentions = mentionsIn(line);
  line.forEach((node, offset) => {
    const mention = mentions.find(({ from, to }) => from <= offset && offset < to);
    const name = mention && currentText(mention.id);
    // The current name is in the place of the first part of a mention.
    parent.append(inlineOf(node, name === undefined ? undefined : offset === mention?.from ? name : ""));
  });
  if (line.content.size === 0) parent.append(element("br"));
}

/** @param {HTMLElement} made @param {any} set Of a line. */
function direct(made, { direction, align }) {
  made.dir = direction === "rtl" || direction === "ltr" ? direction : "auto";
  if (align === "right" || align === "center") made.classList.add(`to-${align}`);
}

/** Writes lines into a fragment. */
class Writer {
  fragment = document.createDocumentFragment();
  #isPage;
  /** @type {HTMLElement[]} The lists that are open, by level. */
  #lists = [];
  /** @type {HTMLElement | undefined} The open quote or code. */
  #block;
  #kind = "";

  /** @param {Options} options */
  constructor({ isPage = false }) {
    this.#isPage = isPage;
  }

  /** @param {Node} line */
  add(line) {
    const { set } = line.attrs;
    const kind = kindOf(set);
    if (isList(set)) return this.#item(line);
    this.#lists = [];
    if (kind === "quote" || kind === "code") return this.#inBlock(line, kind);
    this.#end();
    const level = Number(/^h([1-6])$/.exec(kind)?.[1] ?? 0);
    // On the page, the note's title is the first heading.
    const made = element(level === 0 ? "p" : `h${this.#isPage ? Math.min(6, level + 1) : level}`, level > 0 && this.#isPage ? `level-${level}` : "");
    direct(made, set);
    fill(made, line);
    this.fragment.append(made);
  }

  #end() {
    this.#block = undefined;
    this.#kind = "";
  }

  /** @param {Node} line @param {string} kind */
  #inBlock(line, kind) {
    const isNew = this.#kind !== kind || !this.#block;
    if (isNew) {
      const outer = element(kind === "quote" ? "blockquote" : "pre");
      this.#block = kind === "quote" ? outer : element("code");
      if (kind === "code") {
        const { language } = line.attrs.set;
        if (typeof language === "string" && /^[\w+#-]+$/.test(language)) this.#block.className = `language-${language}`;
        outer.append(this.#block);
      }
      this.#kind = kind;
      this.fragment.append(outer);
    }
    const block = /** @type {HTMLElement} */ (this.#block);
    if (kind === "code") return block.append(document.createTextNode((isNew ? "" : "\n") + line.textContent));
    const made = element("p");
    direct(made, line.attrs.set);
    fill(made, line);
    block.append(made);
  }

  /** @param {Node} line */
  #item(line) {
    this.#end();
    const { set } = line.attrs;
    const kind = kindOf(set);
    const level = indentOf(set);
    this.#lists.length = Math.min(this.#lists.length, level + 1);
    const name = kind === "ordered" ? "OL" : "UL";
    if (this.#lists[level] && this.#lists[level]?.nodeName !== name) this.#lists.length = level;
    while (this.#lists.length <= level) {
      const list = element(this.#lists.length === level ? name : "ul");
      const outer = this.#lists[this.#lists.length - 1];
      if (!outer) this.fragment.append(list);
      else {
        if (!outer.lastElementChild) outer.append(element("li"));
        outer.lastElementChild?.append(list);
      }
      this.#lists.push(list);
    }
    const item = element("li", kind === "task" || kind === "done" ? "task" : "");
    direct(item, set);
    if (item.className) item.append(boxFor(kind === "done", line.textContent.trim().slice(0, 80) || t("edit.boxes")), " ");
    fill(item, line);
    this.#lists[level]?.append(item);
  }
}

/** @param {boolean} isTicked @param {string} label */
function boxFor(isTicked, label) {
  const box = document.createElement("input");
  box.type = "checkbox";
  // An attribute, which a copy of the element keeps.
  box.toggleAttribute("checked", isTicked);
  box.setAttribute("aria-label", label);
  box.disabled = true;
  return box;
}

/**
 * @param {Lines} lines
 * @param {Options} options
 * @returns {DocumentFragment}
 */
export function fragmentOf(lines, options) {
  const writer = new Writer(options);
  lines.forEach((line) => writer.add(line));
  if (options.isPage) for (const child of [...writer.fragment.children]) blockAround(/** @type {HTMLElement} */ (child));
  return writer.fragment;
}

/** @param {HTMLElement} element Put into a block of a page, whose direction is that of its text. */
function blockAround(element) {
  const block = document.createElement("div");
  block.className = "block";
  const direction = directionIn(element.textContent ?? "");
  if (direction) block.dir = direction;
  element.before(block);
  block.append(element);
}
