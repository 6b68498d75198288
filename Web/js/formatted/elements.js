// The elements that show the attributes of a formatted note, and those that are read back from what a browser made of
// them while the user typed. Elements come from a short list; attributes with other values have no effect.

import { safeAddress } from "../links/safeaddress.js";
import { placeIn } from "../links/notelinks.js";
import { fileIn } from "../links/files.js";

/**
 * @typedef {import("./sets.js").AttributeSet} AttributeSet
 * @typedef {{dom: HTMLElement, contentDOM: HTMLElement}} Drawn
 */

/** The kinds of lines, as the values of `block`. */
const headings = new Set(["h1", "h2", "h3", "h4", "h5", "h6"]);
const listKinds = new Set(["bullet", "ordered", "task", "done"]);
const kinds = new Set([...headings, ...listKinds, "quote", "code"]);

/** The sizes and fonts that are drawn. */
const sizes = new Set(["small", "large", "huge"]);
const fonts = new Set(["serif", "monospace"]);
const sides = new Set(["left", "center", "right", "justify"]);
const colour = /^#[0-9a-f]{6}$/i;

/** The deepest indent of a line. */
export const indentMax = 8;

/** @param {AttributeSet} set Of a line. @returns {string} The line's kind; "" for a paragraph and for unknown kinds. */
export const kindOf = ({ block }) => (kinds.has(block) ? block : "");

/** @param {AttributeSet} set Of a line. */
export const isList = (set) => listKinds.has(set.block);

/** @param {AttributeSet} set Of a line. @returns {number} */
export const indentOf = ({ indent }) => (Number.isInteger(indent) && indent > 0 ? Math.min(indent, indentMax) : 0);

/** @param {AttributeSet} set Of a line. @returns {string} The name of its element. */
export function tagOf(set) {
  const kind = kindOf(set);
  return headings.has(kind) ? kind : kind === "quote" ? "blockquote" : "div";
}

/** @param {HTMLElement} element @param {AttributeSet} set Of a line. Sets the classes and the direction. */
export function styleLine(element, set) {
  const kind = kindOf(set);
  const side = sides.has(set.align) ? ` to-${set.align}` : "";
  element.className = `line${kind ? ` is-${kind}` : ""}${isList(set) ? " is-item" : ""} indent-${indentOf(set)}${side}`;
  element.dir = set.direction === "rtl" || set.direction === "ltr" ? set.direction : kind === "code" ? "ltr" : "auto";
}

/** @param {AttributeSet} set Of a line. @returns {Drawn} */
export function domOfLine(set) {
  const dom = document.createElement(tagOf(set));
  styleLine(dom, set);
  return { dom, contentDOM: dom };
}

/** The elements of marks whose value is `true`. */
const tags = new Map([["bold", "strong"], ["italic", "em"], ["underline", "u"], ["strike", "s"], ["code", "code"]]);

/**
 * @param {string} url The value of a link.
 * @returns {string | undefined} Its address for the page; undefined if it must not be followed.
 */
export function addressOf(url) {
  if (typeof url !== "string") return undefined;
  return placeIn(url)?.href ?? (fileIn(url) === undefined ? safeAddress(url) : url);
}

/** @param {unknown} value Of a link. @returns {HTMLElement} */
function linkElement(value) {
  const address = addressOf(/** @type {string} */ (value));
  if (address === undefined) {
    const refused = document.createElement("span");
    refused.className = "is-refused";
    return refused;
  }
  const link = document.createElement("a");
  link.href = address;
  link.rel = "noopener nofollow";
  link.title = String(value);
  return link;
}

/** @param {string} name A mark's. @param {any} value @returns {HTMLElement} */
function elementOfMark(name, value) {
  if (name === "link") return linkElement(value);
  if (name === "script" && (value === "sub" || value === "super")) return document.createElement(value === "sub" ? "sub" : "sup");
  const tag = value === true ? tags.get(name) : undefined;
  const element = document.createElement(tag ?? "span");
  if (name === "mention") {
    element.className = "mention";
    if (typeof value === "string") element.dataset.mention = value;
  }
  if ((name === "color" || name === "background") && colour.test(value)) {
    element.className = `has-${name}`;
    element.style.setProperty(`--${name}`, value);
  } else if (name === "size" && sizes.has(value)) element.className = `size-${value}`;
  else if (name === "font" && fonts.has(value)) element.className = `font-${value}`;
  return element;
}

/** @param {string} name A mark's. @param {any} value @returns {Drawn} */
export function domOfMark(name, value) {
  const dom = elementOfMark(name, value);
  return { dom, contentDOM: dom };
}

/** @type {{[name: string]: any[]}} What is read back from elements that a browser made. Pasted HTML is read elsewhere. */
const rules = {
  bold: ["strong", "b"].map((tag) => ({ tag })),
  italic: ["em", "i"].map((tag) => ({ tag })),
  underline: [{ tag: "u" }],
  strike: ["s", "del", "strike"].map((tag) => ({ tag })),
  code: [{ tag: "code" }],
  script: [{ tag: "sub", attrs: { value: "sub" } }, { tag: "sup", attrs: { value: "super" } }],
  line: ["div", "p", "h1", "h2", "h3", "h4", "h5", "h6", "li", "blockquote"].map((tag) => ({ tag })),
};

/** @param {string} name Of a node or mark. @returns {any[]} */
export const parsedAs = (name) => rules[name] ?? [];
