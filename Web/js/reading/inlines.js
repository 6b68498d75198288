// Creates the elements of a block's text: emphasis, links, code.

import { fileIn, nameOfFile } from "../links/files.js";
import { safeAddress } from "../links/safeaddress.js";
import { t } from "../ground/language.js";
import { labelled, urlIn } from "./dialect.js";
import { decoded, unescaped } from "./entities.js";
import { nameOfFootnote } from "./footnotes.js";
import { anchorOf } from "./headings.js";
import { placeIn } from "../links/notelinks.js";
import { childrenOf, depthMax, make, textIn } from "./tree.js";

/**
 * @typedef {import("./tree.js").Node} Node
 * @typedef {import("./tree.js").Source} Source
 * @typedef {(parent: HTMLElement, node: Node, source: Source, depth: number) => void} Add
 */

/** Syntax marks, which are not shown. */
export const marks = new Set([
  "EmphasisMark",
  "StrikethroughMark",
  "SubscriptMark",
  "SuperscriptMark",
  "LinkMark",
  "CodeMark",
  "HeaderMark",
  "QuoteMark",
  "ListMark",
  "TaskMarker",
  "TableDelimiter",
  "FootnoteMark",
  "FormulaMark",
]);

/** @param {HTMLElement} parent @param {string} text The text between marks; line ends are shown, indents are not. */
export function addText(parent, text) {
  const lines = text.split("\n");
  lines.forEach((line, index) => {
    if (index > 0) parent.append(make("br", "soft"));
    const shown = index > 0 ? line.replace(/^[ \t]+/, "") : line;
    if (shown) parent.append(shown);
  });
}

/** @param {HTMLElement} parent @param {string} url @param {string} [title] */
function linkIn(parent, url, title) {
  const place = placeIn(url);
  const address = place?.href ?? safeAddress(url);
  const link = /** @type {HTMLAnchorElement} */ (make("a"));
  if (place) {
    link.href = place.note === undefined ? anchorOf(place.heading ?? "") : place.href;
    link.className = "within";
    if (place.note !== undefined) link.dataset.note = place.note;
    if (place.heading !== undefined) link.dataset.heading = place.heading;
    if (title) link.title = title;
  } else if (address !== undefined) {
    link.href = address;
    link.target = "_blank";
    link.rel = "noopener noreferrer nofollow";
    if (title) link.title = title;
  } else {
    link.className = "is-refused";
    link.title = t("note.linkRefused");
  }
  parent.append(link);
  return link;
}

/** @param {HTMLElement} element @param {string} name */
const addClass = (element, name) => void (element.className = `${element.className} ${name}`.trim());

/**
 * Returns the target of a link, if it is defined.
 *
 * @param {Node} node @param {Source} source @param {string} own The text between its brackets.
 */
function targetOf(node, { text, references }, own) {
  // An address within the link's text is not its target.
  const behind = [...childrenOf(node)].filter(({ from }) => from > node.from + own.length);
  const [url, title, label] = ["URL", "LinkTitle", "LinkLabel"].map((kind) => behind.find(({ name }) => name === kind));
  // Empty parentheses link to the page itself.
  if (url || (!label && text[node.to - 1] === ")")) {
    return {
      url: url ? urlIn(textIn(node, text, url.from, url.to)) : "",
      title: title ? unescaped(textIn(node, text, title.from + 1, title.to - 1)) : "",
    };
  }
  const given = label ? text.slice(label.from + 1, label.to - 1) : "";
  return references.get(labelled(given.trim() ? given : own));
}

/** @type {Add} */
function addLink(parent, node, source, depth) {
  const parts = [...childrenOf(node)];
  const [open, close] = parts.filter(({ name }) => name === "LinkMark");
  if (!open || !close) return addText(parent, textIn(node, source.text));
  const target = targetOf(node, source, source.text.slice(open.to, close.from));
  // Brackets without a definition are text.
  if (!target) return addChildren(parent, parts, source, node.from, node.to, depth, new Set(["LinkMark"]));
  const isImage = node.name === "Image";
  const file = fileIn(target.url);
  if (file !== undefined) return addFile(parent, node, parts, source, open.to, close.from, depth, file);
  const link = linkIn(parent, target.url, target.title);
  if (isImage) addClass(link, "picture");
  addChildren(link, parts, { ...source, isInLink: true }, open.to, close.from, depth);
  if (link.textContent) return;
  addClass(link, "is-unnamed");
  link.append(isImage ? t("note.picture") : target.url);
}

/**
 * Adds a file of the note, for files.js to fetch.
 *
 * @param {HTMLElement} parent @param {Node} node @param {Node[]} parts @param {Source} source @param {number} from
 * @param {number} to @param {number} depth @param {string} file
 */
function addFile(parent, node, parts, source, from, to, depth, file) {
  const words = make("a", "file");
  addChildren(words, parts, source, from, to, depth);
  if (!words.textContent) words.append(nameOfFile(file));
  const element = node.name === "Image" ? make("img", "file") : words;
  if (element instanceof HTMLImageElement) element.alt = words.textContent ?? "";
  element.dataset.file = file;
  parent.append(element);
}

/**
 * @param {HTMLElement} parent @param {Node[]} nodes @param {Source} source @param {number} from @param {number} to
 * @param {number} depth @param {Set<string>} [shown] Marks to show as text.
 */
export function addChildren(parent, nodes, source, from, to, depth, shown) {
  const { text } = source;
  let place = from;
  for (const node of nodes) {
    if (node.from < place || node.to > to) continue;
    if (node.from > place) addText(parent, text.slice(place, node.from));
    place = node.to;
    addNode(parent, node, source, depth, shown);
    // Skip the spaces after a mark at the start of a line.
    if (node.name === "QuoteMark" || node.name === "HeaderMark") while (text[place] === " " && place < to) place += 1;
  }
  if (place < to) addText(parent, text.slice(place, to));
}

/** @type {Add} */
export const addInline = (parent, node, source, depth) =>
  addChildren(parent, [...childrenOf(node)], source, node.from, node.to, depth);

/** @param {string} tag @returns {Add} */
const element = (tag) => (parent, node, source, depth) => {
  const made = make(tag);
  addInline(made, node, source, depth + 1);
  parent.append(made);
};

/** @type {Add} Adds HTML, which is shown as typed. */
function addTyped(parent, node, { text }) {
  const typed = make("span", "typed");
  typed.append(textIn(node, text));
  parent.append(typed);
}

/** @type {Add} */
function addInlineCode(parent, node, { text, isInTable }) {
  const code = make("code");
  let inner = textIn(node, text).replace(/^`+|`+$/g, "").replace(/\n/g, " ");
  // In a table's cell a bar is escaped even in code, where nothing else is.
  if (isInTable) inner = inner.replaceAll("\\|", "|");
  code.append(/^ .*[^ ].* $/.test(inner) ? inner.slice(1, -1) : inner);
  parent.append(code);
}

/**
 * Creates a formula, which shows its source until it is drawn (drawing.js).
 *
 * @param {"span" | "div"} tag @param {string} source @param {boolean} isDisplay
 */
export function formula(tag, source, isDisplay) {
  const element = make(tag, isDisplay ? "formula is-display" : "formula");
  element.dataset.formula = source.trim();
  const code = make("code");
  code.append(source.trim());
  element.append(code);
  return element;
}

/** @param {string} text An address as it is typed. */
const withScheme = (text) => (text.includes("@") && !/^[a-z][a-z\d+.-]*:/i.test(text) ? `mailto:${text}` : text);

/** @type {Record<string, Add>} Functions that add each kind of node. */
const inlines = {
  Emphasis: element("em"),
  StrongEmphasis: element("strong"),
  Strikethrough: element("s"),
  Subscript: element("sub"),
  Superscript: element("sup"),
  Escape: (parent, node, { text }) => parent.append(text.slice(node.from + 1, node.to)),
  Entity: (parent, node, { text }) => parent.append(decoded(text.slice(node.from, node.to))),
  HardBreak: (parent) => parent.append(make("br")),
  InlineCode: addInlineCode,
  HTMLTag: addTyped,
  ProcessingInstruction: addTyped,
  Comment: () => {},
  Formula(parent, node, { text }) {
    const isDisplay = text.startsWith("$$", node.from);
    const length = isDisplay ? 2 : 1;
    parent.append(formula("span", textIn(node, text, node.from + length, node.to - length), isDisplay));
  },
  Link: (parent, node, source, depth) => addLink(parent, node, source, depth + 1),
  Image: (parent, node, source, depth) => addLink(parent, node, source, depth + 1),
  FootnoteReference(parent, node, { text }) {
    // The number is set when all footnotes are known.
    const link = make("a", "footnote");
    link.dataset.footnote = nameOfFootnote(text.slice(node.from, node.to));
    const raised = make("sup");
    raised.append(link);
    parent.append(raised);
  },
  URL(parent, node, { text, isInLink }) {
    const typed = text.slice(node.from, node.to);
    if (isInLink) return parent.append(typed);
    // A quotation mark after an address is not part of it.
    const url = typed.replace(/["']+$/, "");
    const link = linkIn(parent, withScheme(url));
    addClass(link, "bare");
    link.append(url);
    parent.append(typed.slice(url.length));
  },
  Autolink(parent, node, { text, isInLink }) {
    const url = text.slice(node.from + 1, node.to - 1);
    (isInLink ? parent : linkIn(parent, withScheme(url))).append(url);
  },
};

/**
 * @param {HTMLElement} parent @param {Node} node @param {Source} source @param {number} depth
 * @param {Set<string>} [shown] Marks to show as text.
 */
function addNode(parent, node, source, depth, shown) {
  const add = depth <= depthMax ? inlines[node.name] : undefined;
  if (add) add(parent, node, source, depth);
  else if (depth > depthMax || !marks.has(node.name) || shown?.has(node.name)) addText(parent, textIn(node, source.text));
}
