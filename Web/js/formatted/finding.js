// Find and replace in the editor of a formatted note: a card over the end of the text, as that of Markdown notes.
//
// Text is found within lines. What is replaced keeps the attributes of its first character.

import { t } from "../ground/language.js";
import { isOfComposition } from "../ground/shortcuts.js";
import { Decoration, DecorationSet, Plugin, TextSelection } from "../prosemirror.js";
import { readCaret } from "./caret.js";
import { schema } from "./schema.js";

/**
 * @typedef {import("../prosemirror.js").EditorView} EditorView
 * @typedef {import("../prosemirror.js").EditorState} EditorState
 * @typedef {import("../prosemirror.js").Node} Node
 * @typedef {{words: string, matchesCase: boolean, isWhole: boolean}} Query
 * @typedef {{from: number, to: number}} Range In the document.
 */

/** The number of found places up to which all of them are shown. */
const shownMax = 2_000;

/** @param {Query} query @returns {RegExp | undefined} */
function patternOf({ words, matchesCase, isWhole }) {
  if (!words) return undefined;
  const escaped = words.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
  const whole = isWhole ? `(?<![\\p{L}\\p{N}_])${escaped}(?![\\p{L}\\p{N}_])` : escaped;
  return new RegExp(whole, matchesCase ? "gu" : "giu");
}

/** @param {Node} line @param {RegExp} pattern @returns {Range[]} In the line. */
function foundInLine(line, pattern) {
  const text = line.textBetween(0, line.content.size, undefined, "\ufffc");
  return Array.from(text.matchAll(pattern), ({ index = 0, 0: words = "" }) => ({ from: index, to: index + words.length }));
}

/**
 * @param {Node} doc
 * @param {RegExp} pattern
 * @param {WeakMap<Node, Range[]>} known What was found in lines. A change of the text makes new lines where it changes them.
 * @returns {Range[]}
 */
function foundIn(doc, pattern, known) {
  /** @type {Range[]} */
  const found = [];
  doc.forEach((line, pos) => {
    const own = known.get(line) ?? foundInLine(line, pattern);
    known.set(line, own);
    for (const { from, to } of own) found.push({ from: pos + 1 + from, to: pos + 1 + to });
  });
  return found;
}

/** @param {string} name @param {string} label @returns {HTMLInputElement} */
function fieldFor(name, label) {
  const field = document.createElement("input");
  Object.assign(field, { name, className: "find-field", placeholder: label, autocomplete: "off" });
  field.setAttribute("aria-label", label);
  field.setAttribute("enterkeyhint", "search");
  return field;
}

/** @param {string} label @param {() => void} run @param {string} [sign] In place of the label on phones. */
function buttonFor(label, run, sign) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "find-button";
  button.textContent = label;
  if (sign) {
    button.dataset.sign = sign;
    button.setAttribute("aria-label", label);
  }
  button.addEventListener("click", run);
  return button;
}

/** @param {string} label @param {() => void} changed */
function boxFor(label, changed) {
  const line = document.createElement("label");
  const box = document.createElement("input");
  box.type = "checkbox";
  box.addEventListener("change", changed);
  line.append(box, label);
  return { line, box };
}

/** The card with its fields. */
class Card {
  element = document.createElement("div");
  words = fieldFor("search", t("find.find"));
  by = fieldFor("replace", t("find.replaceWith"));
  count = document.createElement("span");
  matchesCase;
  isWhole;

  /**
   * @param {object} actions
   * @param {() => void} actions.changed
   * @param {(step: number) => void} actions.go
   * @param {() => void} actions.replace
   * @param {() => void} actions.replaceAll
   * @param {() => void} actions.close
   */
  constructor({ changed, go, replace, replaceAll, close }) {
    this.matchesCase = boxFor(t("find.matchCase"), changed);
    this.isWhole = boxFor(t("find.byWord"), changed);
    this.count.className = "find-count";
    this.count.setAttribute("role", "status");
    this.words.addEventListener("input", changed);
    const shut = buttonFor("×", close);
    shut.className = "find-close";
    shut.setAttribute("aria-label", t("find.close"));
    this.replacing = this.#row(this.by, buttonFor(t("find.replace"), replace), buttonFor(t("find.replaceAll"), replaceAll));
    this.element.className = "find-card";
    this.element.setAttribute("role", "search");
    this.element.setAttribute("aria-label", t("find.find"));
    this.element.append(
      this.#row(this.words, buttonFor(t("find.previous"), () => go(-1), "↑"), buttonFor(t("find.next"), () => go(1), "↓")),
      this.#row(this.matchesCase.line, this.isWhole.line, this.count),
      this.replacing, shut,
    );
    this.element.addEventListener("keydown", (event) => {
      if (isOfComposition(event)) return;
      if (event.key === "Escape") close();
      else if (event.key !== "Enter" || !(event.target instanceof HTMLInputElement) || event.target.type === "checkbox") return;
      else if (event.target === this.by) replace();
      else go(event.shiftKey ? -1 : 1);
      event.preventDefault();
    });
  }

  /** @returns {Query} */
  get query() {
    return { words: this.words.value, matchesCase: this.matchesCase.box.checked, isWhole: this.isWhole.box.checked };
  }

  /** @param {HTMLElement[]} parts */
  #row(...parts) {
    const row = document.createElement("div");
    row.className = "find-row";
    row.append(...parts);
    return row;
  }
}

class Finding {
  /** @type {EditorView | undefined} */
  #view;
  #frame;
  /** @type {Card | undefined} */
  #card;
  /** @type {Range[]} */
  #found = [];
  /** @type {Node | undefined} The document in which they were found. */
  #searched;
  /** @type {RegExp | undefined} */
  #pattern;
  /** @type {WeakMap<Node, Range[]>} */
  #known = new WeakMap();
  #shown = DecorationSet.empty;

  /** @param {HTMLElement} frame The card is shown in it. */
  constructor(frame) {
    this.#frame = frame;
    this.plugin = new Plugin({
      view: (/** @type {EditorView} */ view) => {
        this.#view = view;
        return { update: (/** @type {EditorView} */ now, /** @type {EditorState} */ before) => this.#update(now, before) };
      },
      props: {
        decorations: (/** @type {EditorState} */ { doc }) => (this.#card ? this.#decorations(doc) : null),
        handleKeyDown: (/** @type {EditorView} */ _, /** @type {KeyboardEvent} */ event) => this.#key(event),
      },
    });
  }

  open() {
    const view = this.#view;
    if (!view) return;
    const { doc, selection: { from, to } } = view.state;
    const chosen = doc.textBetween(from, to, "\n");
    this.#card ??= new Card({
      changed: () => this.#search(), go: (step) => this.#go(step), close: () => this.close(),
      replace: () => this.#replace(), replaceAll: () => this.#replaceAll(),
    });
    const { element, words, replacing } = this.#card;
    if (!element.isConnected) this.#frame.append(element);
    replacing.hidden = !view.editable;
    if (chosen && !chosen.includes("\n") && chosen.length <= 200) words.value = chosen;
    this.#search();
    words.focus();
    words.select();
  }

  close() {
    this.#card?.element.remove();
    this.#card = undefined;
    this.#draw();
    this.#view?.focus();
  }

  destroy() {
    this.#card?.element.remove();
  }

  /** @param {KeyboardEvent} event In the text. */
  #key(event) {
    if (isOfComposition(event)) return false;
    const isFind = (event.ctrlKey || event.metaKey) && !event.altKey;
    if (isFind && !event.shiftKey && event.key === "f") this.open();
    else if (event.key === "F3" || (isFind && event.key.toLowerCase() === "g")) {
      if (this.#card) this.#go(event.shiftKey ? -1 : 1);
      else this.open();
    } else if (event.key === "Escape" && this.#card) this.close();
    else return false;
    event.preventDefault();
    return true;
  }

  #search() {
    this.#pattern = this.#card && patternOf(this.#card.query);
    this.#searched = undefined;
    this.#known = new WeakMap();
    this.#draw();
  }

  /** Draws the found places again. */
  #draw() {
    const view = this.#view;
    if (view && !view.isDestroyed) {
      readCaret(view);
      view.dispatch(view.state.tr);
    }
    this.#tell();
  }

  /** @param {EditorView} view @param {EditorState} before */
  #update(view, before) {
    if (!this.#card) return;
    this.#card.replacing.hidden = !view.editable;
    if (before.doc !== view.state.doc || !before.selection.eq(view.state.selection)) this.#tell();
  }

  /** @param {Node} doc @returns {Range[]} */
  #foundNow(doc) {
    if (this.#searched !== doc) {
      this.#searched = doc;
      this.#found = this.#pattern ? foundIn(doc, this.#pattern, this.#known) : [];
      const shown = this.#found.slice(0, shownMax).map(({ from, to }) => Decoration.inline(from, to, { class: "found" }));
      this.#shown = shown.length > 0 ? DecorationSet.create(doc, shown) : DecorationSet.empty;
    }
    return this.#found;
  }

  /** @param {Node} doc */
  #decorations(doc) {
    this.#foundNow(doc);
    return this.#shown;
  }

  /** Shows the number of found places, and that of the selected one. */
  #tell() {
    if (!this.#card || !this.#view) return;
    const { doc, selection } = this.#view.state;
    const found = this.#foundNow(doc);
    const at = found.findIndex(({ from, to }) => from === selection.from && to === selection.to) + 1;
    const words = this.#pattern ? `${at > 0 ? `${at} / ` : ""}${found.length}` : "";
    if (this.#card.count.textContent !== words) this.#card.count.textContent = words;
  }

  /** @param {number} step 1 for the next place after the selection, -1 for the one before it. */
  #go(step) {
    const view = this.#view;
    if (!view) return;
    const { doc, selection } = view.state;
    const found = this.#foundNow(doc);
    const next = step > 0
      ? found.find(({ from, to }) => from >= selection.to || (selection.empty && from >= selection.from && to > from)) ?? found[0]
      : found.filter(({ to }) => to <= selection.from).at(-1) ?? found.at(-1);
    if (next) this.#select(view, next);
  }

  /** @param {EditorView} view @param {Range} range */
  #select(view, { from, to }) {
    view.dispatch(view.state.tr.setSelection(TextSelection.create(view.state.doc, from, to)).scrollIntoView());
    // The editor scrolls only as far as its own edge, which is below the card.
    const place = view.coordsAtPos(to);
    const card = this.#card?.element.getBoundingClientRect();
    const scroller = this.#frame.firstElementChild;
    if (card && scroller && place.bottom > card.top - 8) scroller.scrollTop += place.bottom - card.top + 60;
  }

  /** @param {import("../prosemirror.js").Transaction} tr @param {Range} range @param {string} words */
  #put(tr, { from, to }, words) {
    if (words) tr.replaceWith(from, to, schema.text(words, tr.doc.resolve(from + 1).marks()));
    else tr.delete(from, to);
  }

  /** Replaces the selected place, and selects the next one. */
  #replace() {
    const view = this.#view;
    if (!view?.editable || !this.#card) return;
    const { doc, selection, tr } = view.state;
    const here = this.#foundNow(doc).find(({ from, to }) => from === selection.from && to === selection.to);
    if (here) {
      this.#put(tr, here, this.#card.by.value);
      const end = here.from + this.#card.by.value.length;
      view.dispatch(tr.setSelection(TextSelection.create(tr.doc, end)));
    }
    this.#go(1);
  }

  #replaceAll() {
    const view = this.#view;
    if (!view?.editable || !this.#card) return;
    const { doc, tr } = view.state;
    // From the last to the first, so that the places stay as they were found.
    for (const range of [...this.#foundNow(doc)].reverse()) this.#put(tr, range, this.#card.by.value);
    if (tr.docChanged) view.dispatch(tr);
  }
}

/** @param {HTMLElement} frame */
export const findingIn = (frame) => new Finding(frame);
