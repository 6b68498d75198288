// Draws Markdown's marks while the user writes: hidden, or as boxes, bullets and pictures. The selected lines show the
// marks themselves. The text and its positions do not change.

import { Decoration, EditorView, ViewPlugin, WidgetType, syntaxTree } from "../../codemirror.js";
import { page } from "../../state/page.js";
import { t } from "../../ground/language.js";
import { isDrawn } from "../../state/drawn.js";
import { fileIn, showFiles } from "../../links/files.js";
import { widthOf } from "../../markdown/tables.js";
import { segmentsOf } from "./tablekeys.js";

/**
 * @typedef {{name: string, from: number, to: number, firstChild: Node | null, nextSibling: Node | null, parent: Node | null,
 *   getChild(name: string): Node | null, getChildren(name: string): Node[]}} Node
 * @typedef {{from: number, to: number}} Range
 * @typedef {import("../../codemirror.js").Text} Text
 */

/** The maximum UTF-16 units of a table that is aligned, and its maximum lines. */
const tableMax = 50_000;
const rowsMax = 300;
/** The maximum UTF-16 units of an item that are its box's label. */
const labelMax = 80;

/** A mark that is drawn as another character. */
class SignWidget extends WidgetType {
  /** @param {string} name A CSS class. @param {string} [text] */
  constructor(name, text = "") {
    super();
    this.name = name;
    this.text = text;
  }

  /** @param {SignWidget} other */
  eq(other) {
    return other.name === this.name && other.text === this.text;
  }

  toDOM() {
    const element = document.createElement("span");
    element.className = this.name;
    element.textContent = this.text;
    element.setAttribute("aria-hidden", "true");
    return element;
  }

  ignoreEvent() {
    return false;
  }
}

class BoxWidget extends WidgetType {
  /** @param {boolean} isTicked @param {string} label */
  constructor(isTicked, label) {
    super();
    this.isTicked = isTicked;
    this.label = label;
  }

  /** @param {BoxWidget} other */
  eq(other) {
    return other.isTicked === this.isTicked && other.label === this.label;
  }

  toDOM() {
    const element = document.createElement("span");
    element.className = "box is-drawn";
    element.setAttribute("role", "checkbox");
    this.updateDOM(element);
    return element;
  }

  /** @param {HTMLElement} element The element of another box, reused while its item is edited. */
  updateDOM(element) {
    if (!element.classList.contains("box")) return false;
    element.setAttribute("aria-checked", String(this.isTicked));
    element.setAttribute("aria-label", this.label);
    const text = this.isTicked ? "✓" : "\u2007";
    if (element.textContent !== text) element.textContent = text;
    return true;
  }

  ignoreEvent() {
    return false;
  }
}

class PaddingWidget extends WidgetType {
  /** @param {number} width In characters of the monospaced font. */
  constructor(width) {
    super();
    this.width = width;
  }

  /** @param {PaddingWidget} other */
  eq(other) {
    return other.width === this.width;
  }

  toDOM() {
    const element = document.createElement("span");
    element.className = "table-room";
    element.style.width = `${this.width}ch`;
    return element;
  }
}

class PictureWidget extends WidgetType {
  /** @param {string} note @param {string} file @param {string} alt */
  constructor(note, file, alt) {
    super();
    this.note = note;
    this.file = file;
    this.alt = alt;
  }

  /** @param {PictureWidget} other */
  eq(other) {
    return other.note === this.note && other.file === this.file && other.alt === this.alt;
  }

  /** @param {EditorView} view */
  toDOM(view) {
    const element = document.createElement("span");
    element.className = "drawn-picture";
    const image = document.createElement("img");
    image.alt = this.alt;
    image.dataset.file = this.file;
    // A loaded picture moves the lines below it.
    image.addEventListener("load", () => view.requestMeasure());
    element.append(image);
    showFiles(element, this.note);
    return element;
  }

  ignoreEvent() {
    return false;
  }
}

const hidden = Decoration.replace({});
const bullet = Decoration.replace({ widget: new SignWidget("bullet", "•") });
const bar = Decoration.replace({ widget: new SignWidget("quote-bar") });
const rule = Decoration.replace({ widget: new SignWidget("drawn-rule") });

/** Nodes whose marks are always shown. */
const plain = new Set(["FencedCode", "CodeBlock", "HTMLBlock", "FrontMatter", "LinkReference"]);
const signs = new Set(["EmphasisMark", "StrikethroughMark", "SubscriptMark", "SuperscriptMark"]);

/** Collects the decorations of one view. */
class Drawing {
  /** @type {any[]} */
  marks = [];

  /**
   * @param {EditorView} view
   * @param {string} note
   * @param {Range | undefined} bare The lines that show their marks.
   * @param {number} columns
   */
  constructor(view, note, bare, columns) {
    this.doc = view.state.doc;
    this.selection = view.state.selection.main;
    this.note = note;
    this.bare = bare;
    this.columns = columns;
  }

  /** @param {any} decoration @param {number} from @param {number} to */
  add(decoration, from, to) {
    if (from < to) this.marks.push(decoration.range(from, to));
  }

  /** @param {Range} node */
  isBare({ from, to }) {
    return this.bare !== undefined && to >= this.bare.from && from <= this.bare.to;
  }

  /** @param {number} place @returns {number} The position after the spaces. */
  afterSpace(place) {
    return place + (/^ +/.exec(this.doc.sliceString(place, place + 4))?.[0]?.length ?? 0);
  }

  /** @param {Node} node @returns {boolean | undefined} False if its children are skipped. */
  enter(node) {
    const { name, from, to } = node;
    if (plain.has(name)) return false;
    if (name === "Table") {
      this.table(node);
      return false;
    }
    if (name === "Image") {
      this.picture(node);
      return false;
    }
    if (name === "TaskMarker") this.box(node);
    else if (this.isBare(node)) return undefined;
    else if (signs.has(name) || (name === "CodeMark" && node.parent?.name === "InlineCode")) this.add(hidden, from, to);
    else if (name === "HeaderMark" && node.parent?.name.startsWith("ATX")) {
      if (from === node.parent.from) this.add(hidden, from, this.afterSpace(to));
    } else if (name === "QuoteMark") this.add(bar, from, this.afterSpace(to));
    else if (name === "ListMark" && node.parent?.parent?.name === "BulletList") {
      const isTask = /^ +\[[ xX]\] /.test(this.doc.sliceString(to, to + 9));
      this.add(isTask ? hidden : bullet, from, isTask ? this.afterSpace(to) : to);
    } else if (name === "HorizontalRule") this.add(rule, from, to);
    else if (name === "Escape") this.add(hidden, from, from + 1);
    else if (name === "Link") this.link(node);
    return undefined;
  }

  /** @param {Node} node */
  box({ from, to }) {
    const { selection } = this;
    if (this.bare && selection.to >= from && selection.from <= to) return;
    const words = this.doc.sliceString(to, Math.min(this.doc.lineAt(to).to, to + labelMax)).trim();
    const widget = new BoxWidget(this.doc.sliceString(from + 1, from + 2) !== " ", words || t("edit.boxes"));
    this.add(Decoration.replace({ widget }), from, to);
  }

  /** @param {Node} node */
  link(node) {
    const [start, end] = node.getChildren("LinkMark");
    if (!start || !end || !node.getChild("URL") || end.from === start.to) return;
    // A link across two lines shows its marks.
    if (this.doc.lineAt(node.from).to < node.to) return;
    this.add(hidden, start.from, start.to);
    this.add(hidden, end.from, node.to);
  }

  /** @param {Node} node */
  picture(node) {
    const url = node.getChild("URL");
    const file = url ? fileIn(this.doc.sliceString(url.from, url.to)) : undefined;
    if (file === undefined || this.doc.lineAt(node.from).to < node.to) return;
    const [start, end] = node.getChildren("LinkMark");
    const alt = start && end ? this.doc.sliceString(start.to, end.from) : "";
    const widget = new PictureWidget(this.note, file, alt);
    if (this.isBare(node)) this.marks.push(Decoration.widget({ widget, side: 1 }).range(node.to));
    else this.add(Decoration.replace({ widget }), node.from, node.to);
  }

  /** @param {Node} node Widens its cells, so that its columns are aligned. */
  table({ from, to }) {
    if (to - from > tableMax) return;
    const rows = [];
    for (let line = this.doc.lineAt(from); rows.length < rowsMax; line = this.doc.lineAt(line.to + 1)) {
      rows.push(segmentsOf(line.text).map((part) => ({ end: line.from + part.to, width: widthOf(line.text.slice(part.from, part.to)) })));
      if (line.to >= to || line.to >= this.doc.length) break;
    }
    /** @type {number[]} */
    const widths = [];
    for (const row of rows) row.forEach(({ width }, column) => (widths[column] = Math.max(widths[column] ?? 0, width)));
    if (widths.reduce((sum, width) => sum + width + 1, 1) > this.columns) return;
    for (const row of rows) {
      row.forEach(({ end, width }, column) => {
        const room = (widths[column] ?? 0) - width;
        if (room > 0) this.marks.push(Decoration.widget({ widget: new PaddingWidget(room), side: -1 }).range(end));
      });
    }
  }
}

class DrawnMarks {
  decorations = Decoration.none;
  #view;
  #note;
  #columns = 60;
  /** @type {any} */
  #tree;
  #isPressed = false;
  #isStale = false;
  #removals = new AbortController();
  #unsubscribe;

  /** @param {EditorView} view @param {string} note */
  constructor(view, note) {
    this.#view = view;
    this.#note = note;
    const { signal } = this.#removals;
    this.#unsubscribe = page.on("drawn", () => this.#again());
    // The text does not move while the user selects.
    view.contentDOM.addEventListener("pointerdown", ({ pointerType }) => (this.#isPressed = pointerType === "mouse"), { signal });
    const release = () => {
      if (!this.#isPressed) return;
      this.#isPressed = false;
      this.#again();
    };
    for (const name of ["pointerup", "pointercancel", "blur"]) addEventListener(name, release, { signal });
    view.contentDOM.addEventListener("compositionend", () => setTimeout(() => this.#again()), { signal });
    this.#draw();
    this.#measure();
  }

  destroy() {
    this.#removals.abort();
    this.#unsubscribe();
  }

  /** @param {import("../../codemirror.js").ViewUpdate} update */
  update(update) {
    if (update.geometryChanged) this.#measure();
    // Other people's carets move often, and change nothing here.
    this.#isStale ||= update.docChanged || update.selectionSet || update.viewportChanged || update.focusChanged;
    if (!this.#isStale && syntaxTree(update.state) === this.#tree) return;
    // A browser ends a composition if something next to it is redrawn.
    if (this.#view.composing || this.#isPressed) this.decorations = this.decorations.map(update.changes);
    else this.#draw();
  }

  /** Redraws after the current update. */
  #again() {
    this.#isStale = true;
    queueMicrotask(() => this.#removals.signal.aborted || this.#view.dispatch({}));
  }

  #measure() {
    this.#view.requestMeasure({
      key: this,
      read: () => this.#view.contentDOM.clientWidth / Math.max(1, this.#view.defaultCharacterWidth) - 8,
      write: (columns) => {
        if (Math.abs(columns - this.#columns) < 1) return;
        this.#columns = columns;
        this.#again();
      },
    });
  }

  #draw() {
    const { state, hasFocus, visibleRanges } = this.#view;
    this.#isStale = false;
    this.#tree = syntaxTree(state);
    if (!isDrawn()) return void (this.decorations = Decoration.none);
    const { from, to } = state.selection.main;
    const bare = hasFocus ? { from: state.doc.lineAt(from).from, to: state.doc.lineAt(to).to } : undefined;
    const drawing = new Drawing(this.#view, this.#note, bare, this.#columns);
    for (const range of visibleRanges) {
      this.#tree.iterate({ ...range, enter: (/** @type {{node: Node}} */ { node }) => drawing.enter(node) });
    }
    this.decorations = Decoration.set(drawing.marks, true);
  }
}

/** @param {string} note @returns {any} An extension. */
export const drawnMarks = (note) =>
  ViewPlugin.define((view) => new DrawnMarks(view, note), { decorations: (/** @type {DrawnMarks} */ plugin) => plugin.decorations });
