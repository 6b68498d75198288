// Markdown as a page: the tree that the editor's parser reads, as elements.
//
// Nothing of a note's text is ever read as HTML. Elements are made one by one, from the names below and no
// others; what the text says goes into text nodes and into the few attributes that are checked here. HTML in
// a note is shown as it was typed.

import { safeAddress } from "../editing/addresses.js";
import { bounded } from "../editing/boundedmarkdown.js";
import { nameOfLanguage } from "../editing/codelanguages.js";
import { entriesIn, frontMatter } from "../editing/frontmatter.js";
import { markdownLanguage } from "../codemirror.js";
import { fileIn, nameOfFile } from "../editing/files.js";
import { footnotes, nameOfFootnote, numberFootnotes } from "./footnotes.js";
import { anchorOf, nameHeadings } from "./headings.js";
import { t } from "../shell/language.js";
import { placeIn } from "./notelinks.js";
import { directionIn } from "../texts.js";

export { colourCode } from "../editing/codecolours.js";

const { parser } = markdownLanguage;
const boundedParser = parser.configure([bounded, footnotes, frontMatter]);

/** UTF-16 units that are shown as a page, at most. */
export const renderedMax = 1_000_000;
/** Quotes and lists within each other that are shown as such, at most. */
const depthMax = 60;

/**
 * @typedef {{name: string, from: number, to: number, firstChild: Node | null, nextSibling: Node | null}} Node
 * @typedef {{text: string, references: Map<string, {url: string, title: string}>, base: number, isInTable?: boolean}} Source
 *   `base` is where the block begins that is being shown.
 */

/** @type {Record<string, string>} What an inline mark becomes. */
const inlineTags = {
  Emphasis: "em",
  StrongEmphasis: "strong",
  Strikethrough: "s",
  Subscript: "sub",
  Superscript: "sup",
};

/** Signs that say what is around them, and are not shown. */
const marks = new Set([
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
]);

/** @param {Node} node */
function* childrenOf(node) {
  for (let child = node.firstChild; child; child = child.nextSibling) yield child;
}

/** @param {Node} node @param {string} name */
function childOf(node, name) {
  for (const child of childrenOf(node)) if (child.name === name) return child;
  return undefined;
}

/** @param {string} label As references compare them. */
const labelled = (label) => label.replace(/^\[|\]$/g, "").trim().replace(/\s+/g, " ").toLowerCase();

const entities = new DOMParser();

/** @param {string} entity “&amp;”. Returned as it is if HTML has no such entity. */
function decoded(entity) {
  if (!/^&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z]\w*);$/i.test(entity)) return entity;
  // Nothing runs in a document that is only parsed, and only its text is taken.
  const text = entities.parseFromString(entity, "text/html").documentElement.textContent ?? entity;
  // HTML reads the beginning of an unknown name, as "&not" in "&notit;", and leaves the rest.
  return text.endsWith(";") && entity !== "&semi;" && entity !== "&#59;" && !/^&#x0*3b;$/i.test(entity) ? entity : text;
}

/** @param {string} text Of an address or a title, where escapes and entities are read, and nothing else is. */
const unescaped = (text) =>
  text.replace(/\\([!-/:-@[-`{-~])|&#?\w{1,40};/g, (found, sign) => sign ?? decoded(found));

/** @param {string} tag @param {string} [className] */
function make(tag, className) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  return element;
}

/** @param {HTMLElement} parent @param {string} text Between marks: its line ends are kept, indents are not. */
function addText(parent, text) {
  const lines = text.split("\n");
  lines.forEach((line, index) => {
    if (index > 0) parent.append(make("br"));
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

/**
 * @param {HTMLElement} parent @param {Node} node @param {Source} source @param {number} depth
 */
function addLink(parent, node, source, depth) {
  const { text, references } = source;
  const parts = [...childrenOf(node)];
  const [open, close] = parts.filter(({ name }) => name === "LinkMark");
  if (!open || !close) return addText(parent, text.slice(node.from, node.to));
  const url = childOf(node, "URL");
  const title = childOf(node, "LinkTitle");
  const label = childOf(node, "LinkLabel");
  let target = url && {
    url: unescaped(text.slice(url.from, url.to)),
    title: title ? unescaped(text.slice(title.from + 1, title.to - 1)) : "",
  };
  if (!url && !(close.to < node.to && text[close.to] === "(")) {
    const own = text.slice(open.to, close.from);
    const given = label ? text.slice(label.from, label.to) : "";
    target = references.get(labelled(given.length > 2 ? given : own));
  }
  // Brackets alone are no link.
  if (!target) return addInline(parent, node, source, depth, new Set(["LinkMark"]));
  const isImage = node.name === "Image";
  const file = fileIn(target.url);
  if (file !== undefined) return addFile(parent, node, parts, source, open.to, close.from, depth, file);
  const link = linkIn(parent, target.url, target.title);
  if (isImage) link.className = `${link.className} picture`.trim();
  addChildren(link, parts, source, open.to, close.from, depth);
  if (!link.textContent) link.append(isImage ? "picture" : target.url);
}

/**
 * A file of the note: what it is for, files.js fills in.
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
 * @param {number} depth @param {Set<string>} [shown] Marks that are text here.
 */
function addChildren(parent, nodes, source, from, to, depth, shown) {
  const { text } = source;
  let place = from;
  for (const node of nodes) {
    if (node.from < place || node.to > to) continue;
    if (node.from > place) addText(parent, text.slice(place, node.from));
    place = node.to;
    addNode(parent, node, source, depth, shown);
    // The blank behind a mark at the start of a line.
    if (node.name === "QuoteMark" || node.name === "HeaderMark") while (text[place] === " " && place < to) place += 1;
  }
  if (place < to) addText(parent, text.slice(place, to));
}

/**
 * @param {HTMLElement} parent @param {Node} node @param {Source} source @param {number} depth
 * @param {Set<string>} [shown]
 */
function addInline(parent, node, source, depth, shown) {
  addChildren(parent, [...childrenOf(node)], source, node.from, node.to, depth, shown);
}

/**
 * @param {HTMLElement} parent @param {Node} node @param {Source} source @param {number} depth
 * @param {Set<string>} [shown]
 */
function addNode(parent, node, source, depth, shown) {
  const { name } = node;
  const words = () => source.text.slice(node.from, node.to);
  const tag = inlineTags[name];
  if (depth > depthMax) addText(parent, words());
  else if (tag) {
    const element = make(tag);
    addInline(element, node, source, depth + 1);
    parent.append(element);
  } else if (marks.has(name)) {
    if (shown?.has(name)) addText(parent, words());
  } else if (name === "Escape") parent.append(words().slice(1));
  else if (name === "Entity") parent.append(decoded(words()));
  else if (name === "HardBreak") parent.append(make("br"));
  else if (name === "InlineCode") {
    const element = make("code");
    let inner = words().replace(/^`+|`+$/g, "").replace(/\n/g, " ");
    // A bar in a table's cell is escaped even in code, where nothing else is.
    if (source.isInTable) inner = inner.replaceAll("\\|", "|");
    element.append(/^ .*[^ ].* $/.test(inner) ? inner.slice(1, -1) : inner);
    parent.append(element);
  } else if (name === "Link" || name === "Image") addLink(parent, node, source, depth + 1);
  else if (name === "FootnoteReference") addFootnoteMark(parent, words());
  else if (name === "URL") linkIn(parent, words().includes("@") && !words().includes(":") ? `mailto:${words()}` : words()).append(words());
  else if (name === "Autolink") {
    const url = words().slice(1, -1);
    linkIn(parent, url.includes("@") && !url.includes(":") ? `mailto:${url}` : url).append(url);
  } else if (blocks[name]) addBlock(parent, node, source, depth + 1);
  else addText(parent, words());
}

/** @type {Record<string, (parent: HTMLElement, node: Node, source: Source, depth: number) => void>} */
const blocks = {
  Paragraph: (parent, node, source, depth) => {
    const element = make("p");
    element.dir = "auto";
    addInline(element, node, source, depth);
    parent.append(element);
  },
  HorizontalRule: (parent) => parent.append(make("hr")),
  Blockquote: (parent, node, source, depth) => {
    const element = make("blockquote");
    addBlocks(element, node, source, depth);
    parent.append(element);
  },
  BulletList: (parent, node, source, depth) => addList(parent, node, source, depth, "ul"),
  OrderedList: (parent, node, source, depth) => addList(parent, node, source, depth, "ol"),
  FencedCode: (parent, node, source) => addCode(parent, node, source),
  CodeBlock: (parent, node, source) => addCode(parent, node, source),
  Table: (parent, node, source, depth) => addTable(parent, node, source, depth),
  FrontMatter: (parent, node, source) => addFrontMatter(parent, node, source),
  LinkReference: () => {},
  CommentBlock: () => {},
  HTMLBlock: (parent, node, { text }) => addPlain(parent, text.slice(node.from, node.to)),
  ProcessingInstructionBlock: (parent, node, { text }) => addPlain(parent, text.slice(node.from, node.to)),
};

for (let level = 1; level <= 6; level += 1) {
  for (const name of [`ATXHeading${level}`, `SetextHeading${level}`]) {
    blocks[name] = (parent, node, source, depth) => {
      // The page itself has the first level.
      const element = make(`h${Math.min(level + 1, 6)}`, `level-${level}`);
      element.dir = "auto";
      const mark = childOf(node, "HeaderMark");
      const children = [...childrenOf(node)].filter(({ name }) => name !== "HeaderMark");
      const isSetext = name.startsWith("Setext");
      const { text } = source;
      const last = [...childrenOf(node)].reverse().find(({ name }) => name === "HeaderMark");
      let from = isSetext || !mark ? node.from : mark.to;
      let to = isSetext && mark ? mark.from : last && last !== mark && last.from > from ? last.from : node.to;
      while (from < to && /\s/.test(text[from] ?? "")) from += 1;
      while (to > from && /\s/.test(text[to - 1] ?? "")) to -= 1;
      addChildren(element, children, source, from, to, depth);
      parent.append(element);
    };
  }
}

/** @param {HTMLElement} parent @param {string} text */
function addPlain(parent, text) {
  const element = make("p", "typed");
  element.append(text);
  parent.append(element);
}

/** @param {HTMLElement} parent @param {Node} node @param {Source} source @param {number} depth */
function addBlock(parent, node, source, depth) {
  const add = blocks[node.name];
  if (add && depth <= depthMax) add(parent, node, source, depth);
  else addPlain(parent, source.text.slice(node.from, node.to));
}

/** @param {HTMLElement} parent @param {Node} node @param {Source} source @param {number} depth */
function addBlocks(parent, node, source, depth) {
  for (const child of childrenOf(node)) if (!marks.has(child.name)) addBlock(parent, child, source, depth + 1);
}

/**
 * @param {HTMLElement} parent @param {Node} node @param {Source} source @param {number} depth @param {"ul" | "ol"} tag
 */
function addList(parent, node, source, depth, tag) {
  const { text, base } = source;
  const list = make(tag);
  if (tag === "ol") {
    const first = childOf(node, "ListItem");
    const number = first ? parseInt(text.slice(first.from, first.to), 10) : 1;
    if (number !== 1 && Number.isSafeInteger(number)) /** @type {HTMLOListElement} */ (list).start = number;
  }
  if (!/\n[ \t]*\n/.test(text.slice(node.from, node.to))) list.className = "is-tight";
  for (const item of childrenOf(node)) {
    if (item.name !== "ListItem") continue;
    const element = make("li");
    element.dir = "auto";
    for (const child of childrenOf(item)) {
      if (child.name !== "Task") {
        if (!marks.has(child.name)) addBlock(element, child, source, depth + 1);
        continue;
      }
      const marker = childOf(child, "TaskMarker");
      if (!marker) continue;
      element.className = "task";
      const box = /** @type {HTMLInputElement} */ (make("input"));
      box.type = "checkbox";
      box.checked = /x/i.test(text.slice(marker.from, marker.to));
      // From the beginning of its block: text before that moves it along.
      box.dataset.at = String(marker.from - base);
      const words = make("span");
      let from = marker.to;
      while (text[from] === " ") from += 1;
      addChildren(words, [...childrenOf(child)], source, Math.min(from, child.to), child.to, depth + 1);
      box.setAttribute("aria-label", words.textContent ?? "");
      element.append(box, words);
    }
    list.append(element);
  }
  parent.append(list);
}

/** @param {HTMLElement} parent @param {string} text “[^name]”: its number it gets when all are known. */
function addFootnoteMark(parent, text) {
  const link = make("a", "footnote");
  link.dataset.footnote = nameOfFootnote(text);
  const raised = make("sup");
  raised.append(link);
  parent.append(raised);
}

/** @param {HTMLElement} parent @param {Node} node @param {Source} source */
function addCode(parent, node, { text }) {
  const element = make("pre");
  const code = make("code");
  const info = childOf(node, "CodeInfo");
  const language = info && nameOfLanguage(text.slice(info.from, info.to));
  if (language !== undefined) code.dataset.language = language;
  element.tabIndex = 0;
  const lines = [];
  for (const child of childrenOf(node)) if (child.name === "CodeText") lines.push(text.slice(child.from, child.to));
  // Line ends are among the parts.
  code.append(lines.join(""));
  element.append(code);
  parent.append(element);
}

/** @param {HTMLElement} parent @param {Node} node @param {Source} source */
function addFrontMatter(parent, node, { text }) {
  const [open, close] = [...childrenOf(node)];
  // Without its end it is what CommonMark says: a rule, and text.
  if (!open || !close) {
    parent.append(make("hr"));
    const rest = make("p");
    addText(rest, text.slice(node.from, node.to).replace(/^---[ \t]*\n/, ""));
    parent.append(rest);
    return;
  }
  const frame = make("div", "table front-matter");
  frame.tabIndex = 0;
  const table = make("table");
  for (const { key, value } of entriesIn(text.slice(open.to, close.from))) {
    const row = make("tr");
    const head = make("th");
    head.setAttribute("scope", "row");
    head.append(key);
    const cell = make("td");
    cell.dir = "auto";
    cell.append(value);
    row.append(head, cell);
    table.append(row);
  }
  frame.append(table);
  parent.append(frame);
}

/** @param {HTMLElement} parent @param {Node} node @param {Source} source @param {number} depth */
function addTable(parent, node, source, depth) {
  const { text } = source;
  const rule = childOf(node, "TableDelimiter");
  const aligned = (rule ? text.slice(rule.from, rule.to) : "")
    .trim()
    .replace(/^\||\|$/g, "")
    .split("|")
    .map((cell) => (cell.trim().endsWith(":") ? (cell.trim().startsWith(":") ? "center" : "right") : "left"));
  // A table that is wider than the page is moved within it.
  const frame = make("div", "table");
  frame.tabIndex = 0;
  const table = make("table");
  let columns = 0;
  for (const child of childrenOf(node)) {
    if (child.name !== "TableHeader" && child.name !== "TableRow") continue;
    const isHead = child.name === "TableHeader";
    const row = make("tr");
    let column = 0;
    /** @param {Node} [cell] */
    const add = (cell) => {
      const element = make(isHead ? "th" : "td", `to-${aligned[column] ?? "left"}`);
      element.dir = "auto";
      if (cell) addInline(element, cell, { ...source, isInTable: true }, depth + 1);
      row.append(element);
      column += 1;
    };
    // An empty cell has no node: two marks follow each other.
    let isOpen = false;
    for (const part of childrenOf(child)) {
      if (part.name === "TableCell") {
        add(part);
        isOpen = false;
      } else {
        if (isOpen) add();
        isOpen = true;
      }
    }
    // As many cells as the head has: GFM leaves out what is more, and fills up what is less.
    if (isHead) columns = column;
    while (!isHead && column < columns) add();
    while (!isHead && column > columns) {
      row.lastElementChild?.remove();
      column -= 1;
    }
    const place = isHead ? make("thead") : (table.querySelector("tbody") ?? make("tbody"));
    place.append(row);
    table.append(place);
  }
  frame.append(table);
  parent.append(frame);
}

/** @param {HTMLElement} block Gets the direction of its text: a list has its marks, a table its first column there. */
function directed(block) {
  const direction = directionIn(block.textContent ?? "");
  if (direction) block.dir = direction;
  return block;
}

/** Blocks that definitions of links can be in. */
const containers = new Set(["Blockquote", "BulletList", "OrderedList", "ListItem", "FootnoteDefinition"]);

/**
 * Collects what references mean. The first definition of a label counts.
 *
 * @param {Node} node @param {string} text @param {Source["references"]} references @param {number} depth
 */
function collectReferences(node, text, references, depth) {
  if (containers.has(node.name) && depth <= depthMax) {
    for (const child of childrenOf(node)) collectReferences(child, text, references, depth + 1);
  }
  if (node.name !== "LinkReference") return;
  const [label, url, title] = ["LinkLabel", "URL", "LinkTitle"].map((name) => childOf(node, name));
  const name = label ? labelled(text.slice(label.from, label.to)) : "";
  if (!url || !name || references.has(name)) return;
  references.set(name, {
    url: unescaped(text.slice(url.from, url.to)),
    title: title ? unescaped(text.slice(title.from + 1, title.to - 1)) : "",
  });
}

/** @typedef {{key: string, from: number, draw: () => HTMLElement}} Drawn */

/**
 * A text's blocks, each with what it is made of, so that those that stay as they are need not be made anew; and
 * what references mean in all of them. Footnotes are apart, by name.
 *
 * @param {string} text
 * @returns {{blocks: Drawn[], notes: Map<string, {key: string, draw: () => HTMLElement}>, meaning: string}}
 */
function blocksOf(text) {
  const shown = text.slice(0, renderedMax);
  const tree = boundedParser.parse(shown);
  /** @type {Source["references"]} */
  const references = new Map();
  const found = [];
  /** @type {Map<string, Node>} */
  const notes = new Map();
  const top = /** @type {Node} */ (tree.topNode);
  for (const node of childrenOf(top)) {
    collectReferences(node, shown, references, 0);
    if (node.name === "FootnoteDefinition") {
      const mark = childOf(node, "FootnoteMark");
      const name = mark ? nameOfFootnote(shown.slice(mark.from, mark.to)) : "";
      if (!notes.has(name)) notes.set(name, node);
    } else if (node.name !== "CommentBlock" && node.name !== "LinkReference") found.push(node);
  }
  // What a reference means may stand anywhere.
  const meaning = JSON.stringify([...references]);
  const drawn = found.map((node) => ({
    key: `${node.name} ${shown.slice(node.from, node.to)}`,
    from: node.from,
    draw() {
      const block = make("div", "block");
      addBlock(block, node, { text: shown, references, base: node.from }, 0);
      return directed(block);
    },
  }));
  const drawnNotes = [...notes].map(([name, node]) => {
    const draw = () => {
      const item = make("li", "block");
      item.dataset.from = String(node.from);
      addBlocks(item, node, { text: shown, references, base: node.from }, 0);
      return directed(item);
    };
    return /** @type {const} */ ([name, { key: `${node.from} ${shown.slice(node.from, node.to)}`, draw }]);
  });
  return { blocks: drawn, notes: new Map(drawnNotes), meaning };
}

/**
 * The footnotes that a page names, at its end.
 *
 * @param {string[]} named Their names.
 * @param {ReturnType<typeof blocksOf>["notes"]} notes
 */
function drawFootnotes(named, notes) {
  const section = make("section", "footnotes");
  section.setAttribute("aria-label", t("note.footnotes"));
  const items = make("ol");
  // A footnote may name others: they follow, and each stands there once. A set goes on to what is put in meanwhile.
  const order = new Set(named);
  let number = 0;
  for (const name of order) {
    const item = notes.get(name)?.draw() ?? make("li");
    for (const { dataset } of /** @type {NodeListOf<HTMLElement>} */ (item.querySelectorAll("a.footnote"))) {
      if (notes.has(dataset.footnote ?? "")) order.add(dataset.footnote ?? "");
    }
    number += 1;
    item.id = `footnote-${number}`;
    const back = /** @type {HTMLAnchorElement} */ (make("a", "footnote-back"));
    back.href = `#footnote-of-${number}`;
    back.setAttribute("aria-label", t("note.footnoteBack"));
    back.append("↩\ufe0e");
    const last = item.lastElementChild;
    (last?.tagName === "P" ? last : item).append(" ", back);
    items.append(item);
  }
  section.append(items);
  return section;
}

/**
 * Shows a text in an element, and leaves there what has not changed.
 *
 * @param {HTMLElement} page
 * @param {string} text
 * @param {(headings: ReturnType<typeof nameHeadings>) => HTMLElement | undefined} [leadBy] What stands before all.
 * @returns {ReturnType<typeof nameHeadings>} Its headings.
 */
export function renderInto(page, text, leadBy) {
  /** @type {Map<string, HTMLElement[]>} */
  const known = new Map();
  const { blocks: drawn, notes, meaning } = blocksOf(text);
  if (meanings.get(page) === meaning) {
    // From the last, so that the first of several alike is taken first.
    for (const child of /** @type {HTMLElement[]} */ ([...page.children].reverse())) {
      const key = keys.get(child);
      if (key === undefined) continue;
      const alike = known.get(key);
      if (alike) alike.push(child);
      else known.set(key, [child]);
    }
  }
  meanings.set(page, meaning);
  const wanted = drawn.map(({ key, from, draw }) => {
    const block = known.get(key)?.pop() ?? draw();
    keys.set(block, key);
    block.dataset.from = String(from);
    return block;
  });
  const defined = new Set(notes.keys());
  const order = numberFootnotes(wanted, defined);
  if (order.length > 0) {
    const key = `FootnoteDefinition ${JSON.stringify([order, [...notes.values()].map((note) => note.key)])}`;
    const section = known.get(key)?.pop() ?? drawFootnotes(order, notes);
    keys.set(section, key);
    wanted.push(section);
    numberFootnotes(wanted, defined);
  }
  const headings = nameHeadings(wanted);
  if (text.length > renderedMax) {
    const end = make("p", "block hint");
    end.append(t("note.restTooLong"));
    wanted.push(end);
  }
  const lead = leadBy?.(headings);
  if (lead) wanted.unshift(lead);
  // In place, so that a block that stays keeps its focus and its selection.
  let next = page.firstElementChild;
  for (const block of wanted) {
    if (block === next) next = next.nextElementSibling;
    else page.insertBefore(block, next);
  }
  while (next) {
    const gone = next;
    next = next.nextElementSibling;
    gone.remove();
  }
  return headings;
}

/**
 * Where in a text a heading stands.
 *
 * @param {string} text
 * @param {string} slug
 * @returns {number | undefined} In UTF-16 units.
 */
export function placeOfSlug(text, slug) {
  const drawn = blocksOf(text).blocks.filter(({ key }) => /^(?:ATX|Setext)Heading/.test(key));
  const blocks = drawn.map((block) => block.draw());
  const heading = nameHeadings(blocks).find((one) => one.slug === slug)?.heading.parentElement;
  return heading ? drawn[blocks.indexOf(heading)]?.from : undefined;
}

/** @type {WeakMap<HTMLElement, string>} What each block was made of. */
const keys = new WeakMap();
/** @type {WeakMap<HTMLElement, string>} What references meant on a page. */
const meanings = new WeakMap();
