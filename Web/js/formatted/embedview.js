// The elements of embeds: pictures and files of the note, rules, formulas. What this page does not know is shown as a
// box, and stays as it is.

import { t } from "../ground/language.js";
import { fileIn, nameOfFile, showFiles } from "../links/files.js";

/** @typedef {import("./sets.js").AttributeSet} AttributeSet */

/** @param {AttributeSet} set Of an embed. @returns {{kind: string, value: any}} */
function embedIn({ embed }) {
  const [kind = "", value] = Object.entries(embed ?? {})[0] ?? [];
  return { kind, value };
}

/** @param {unknown} value @returns {string | undefined} The file of the note, as `showFiles` takes it. */
const fileOf = (value) => (typeof value === "string" ? fileIn(`files/${value}`) : undefined);

/** The widest picture in pixels; a wider one has the width of the text. */
const widthMax = 4_000;

/** @param {AttributeSet} set @param {string} file @returns {HTMLElement} */
function picture({ alt, width }, file) {
  const image = document.createElement("img");
  image.className = "file";
  image.alt = typeof alt === "string" ? alt : nameOfFile(file);
  image.dataset.file = file;
  image.draggable = false;
  if (Number.isInteger(width) && width > 0 && width <= widthMax) image.width = width;
  return image;
}

/** @param {string} file @returns {HTMLElement} */
function fileLink(file) {
  const link = document.createElement("a");
  link.className = "file";
  link.dataset.file = file;
  link.textContent = nameOfFile(file);
  return link;
}

/** @param {string} text @returns {HTMLElement} */
function box(text) {
  const element = document.createElement("span");
  element.className = "embed-box";
  element.textContent = text;
  return element;
}

/** @param {AttributeSet} set Of an embed. @returns {HTMLElement} */
export function embedElement(set) {
  const { kind, value } = embedIn(set);
  const file = kind === "image" || kind === "file" ? fileOf(value) : undefined;
  if (file !== undefined) return kind === "image" ? picture(set, file) : fileLink(file);
  if (kind === "rule") return document.createElement("hr");
  if (kind === "formula" && typeof value === "string") {
    const formula = document.createElement("code");
    formula.className = "formula-source";
    formula.dir = "ltr";
    formula.textContent = value;
    return formula;
  }
  return box(t("formatted.unknown", { kind }));
}

export class EmbedView {
  #set;

  /** @param {import("../prosemirror.js").Node} node @param {string} note The note's id. */
  constructor(node, note) {
    const set = { embed: node.attrs.embed, ...node.attrs.set };
    this.#set = node.attrs.set;
    this.dom = document.createElement("span");
    this.dom.className = `embed is-${embedIn(set).kind.replace(/[^a-z]/g, "")}`;
    this.dom.contentEditable = "false";
    this.dom.append(embedElement(set));
    showFiles(this.dom, note);
  }

  /** @param {import("../prosemirror.js").Node} node */
  update({ attrs }) {
    return attrs.set === this.#set;
  }

  ignoreMutation() {
    return true;
  }
}
