// Binds a note to a <textarea>, or to an element that is edited as plain text: typed text becomes edits, and others'
// edits are applied in place, preserving the selection.

import { ComposedLine } from "../js/editing/composedline.js";
import { endsInHalf } from "../js/ground/halves.js";
import { difference, movedSelection } from "./difference.js";
import { ParleyError } from "./errors.js";
import { applied, changesIn, placeIn, shownOf } from "./lines.js";

/**
 * @typedef {import("./note.js").SharedNote} SharedNote
 * @typedef {import("../js/client/door.js").TextChange} TextChange
 */

/**
 * An editable element. Its text has "\n" for each line end.
 *
 * @typedef {object} Field
 * @property {HTMLElement} element
 * @property {() => string} read
 * @property {(text: string) => void} write Replaces the whole text.
 * @property {(change: TextChange) => void} replace
 * @property {() => {anchor: number, head: number} | undefined} selection Undefined if it is outside the element.
 * @property {(selection: {anchor: number, head: number}) => void} select
 * @property {(isEditable: boolean) => void} allow
 * @property {() => void} giveBack Restores whether the element was editable.
 */

/** @param {HTMLTextAreaElement} area @returns {Field} */
function areaField(area) {
  const before = area.readOnly;
  return {
    element: area,
    read: () => area.value,
    write: (text) => void (area.value = text),
    replace: ({ from, to, insert }) => area.setRangeText(insert, from, to, "preserve"),
    selection: () => {
      const root = /** @type {Document | ShadowRoot} */ (area.getRootNode());
      if (root.activeElement !== area) return undefined;
      const isBackward = area.selectionDirection === "backward";
      const [start, end] = [area.selectionStart, area.selectionEnd];
      return isBackward ? { anchor: end, head: start } : { anchor: start, head: end };
    },
    select: ({ anchor, head }) =>
      area.setSelectionRange(Math.min(anchor, head), Math.max(anchor, head), head < anchor ? "backward" : "forward"),
    allow: (isEditable) => void (area.readOnly = !isEditable),
    giveBack: () => void (area.readOnly = before),
  };
}

/** @param {HTMLElement} element @returns {Field} */
function plainField(element) {
  const before = element.contentEditable;
  try {
    element.contentEditable = "plaintext-only";
  } catch {
    throw new ParleyError("unsupported", "this browser does not edit elements as plain text: bind a <textarea>");
  }
  element.style.whiteSpace = "pre-wrap";
  /** Returns the selection of the document or shadow root that contains the element. */
  const selectionHere = () => {
    const root = /** @type {any} */ (element.getRootNode());
    return /** @type {Selection | null} */ (root.getSelection?.() ?? element.ownerDocument.getSelection());
  };
  const read = () => {
    let text = "";
    for (const node of element.childNodes) text += node.nodeName === "BR" ? "\n" : (node.textContent ?? "");
    // A browser shows an empty last line only if another line end follows it.
    return text.endsWith("\n") ? text.slice(0, -1) : text;
  };
  const write = (/** @type {string} */ text) => void (element.textContent = text === "" ? "" : `${text}\n`);
  /** @param {Node} node @param {number} offset */
  const placeOf = (node, offset) => {
    const range = element.ownerDocument.createRange();
    range.setStart(element, 0);
    range.setEnd(node, offset);
    let place = range.toString().length;
    // A <br> has no text in a range.
    place += range.cloneContents().querySelectorAll("br").length;
    return Math.min(place, read().length);
  };
  return {
    element,
    read,
    write,
    replace: ({ from, to, insert }) => {
      const text = read();
      write(text.slice(0, from) + insert + text.slice(to));
    },
    selection: () => {
      const selection = selectionHere();
      const { anchorNode, focusNode } = selection ?? {};
      if (!selection || !anchorNode || !focusNode) return undefined;
      if (!element.contains(anchorNode) || !element.contains(focusNode)) return undefined;
      return { anchor: placeOf(anchorNode, selection.anchorOffset), head: placeOf(focusNode, selection.focusOffset) };
    },
    select: ({ anchor, head }) => {
      const node = element.firstChild ?? element;
      const last = node.nodeType === 3 ? (node.textContent ?? "").length : 0;
      selectionHere()?.setBaseAndExtent(node, Math.min(anchor, last), node, Math.min(head, last));
    },
    allow: (isEditable) => {
      element.contentEditable = isEditable ? "plaintext-only" : "false";
    },
    giveBack: () => void (element.contentEditable = before),
  };
}

/** A field that shows a note. */
class FieldBinding {
  #note;
  #field;
  #stops;
  #removals = new AbortController();
  /** The text last read from the field or written to it. */
  #shown;
  /** The note's text that corresponds to `#shown`. */
  #text = "";
  #hasText = false;
  /** Whether the field shows the first half of a character, which the note does not have. */
  #isHalf = false;
  /** @type {ComposedLine} */
  #composed;

  /** @param {SharedNote} note @param {Field} field */
  constructor(note, field) {
    const { element } = field;
    this.#note = note;
    this.#field = field;
    this.#shown = field.read();
    this.#composed = new ComposedLine({
      element,
      selection: field.selection,
      slice: (from, to) => this.#shown.slice(from, to),
      // The field is one text for the browser, and replacing it ends a composition, so all lines count as one.
      lineAt: () => ({ from: 0, to: Infinity }),
      make: (changes) => this.#make(changes),
      focus: () => element.focus({ preventScroll: true }),
    });
    const allow = () => field.allow(note.isWritable);
    this.#stops = [
      note.on("text", (text) => this.#show(text)),
      note.on("changes", (news) => this.#takeChanges(news)),
      note.on("state", allow),
    ];
    const { signal } = this.#removals;
    const tellSelection = () => this.#tellSelection();
    element.addEventListener("input", () => this.#takeTyped(), { signal });
    element.ownerDocument.addEventListener("selectionchange", tellSelection, { signal });
    element.addEventListener("select", tellSelection, { signal });
    // The other half will not follow.
    element.addEventListener("blur", () => this.#isHalf && this.#takeTyped(), { signal });
    allow();
    if (note.text !== undefined) this.#show(note.text);
  }

  unbind() {
    this.#takeTyped();
    if (this.#isHalf) this.#takeTyped();
    this.#composed.catchUp();
    this.#composed.destroy();
    this.#removals.abort();
    for (const stop of this.#stops) stop();
    this.#field.giveBack();
  }

  /** @param {TextChange[]} changes Afterwards the field shows the note's text. */
  #make(changes) {
    const field = this.#field;
    const selection = field.selection();
    for (const change of [...changes].reverse()) field.replace(change);
    this.#shown = shownOf(this.#text);
    if (field.read() !== this.#shown) field.write(this.#shown);
    if (selection) field.select(movedSelection(selection, changes));
  }

  /** @param {string} text The note's text. */
  #show(text) {
    this.#hasText = true;
    this.#text = text;
    const change = difference(applied(this.#shown, this.#composed.waiting), shownOf(text));
    if (change) this.#composed.take([change]);
  }

  /** Sends the text that was typed since the last event. */
  #takeTyped() {
    if (!this.#hasText || !this.#note.isWritable) return;
    const [field, composed] = [this.#field, this.#composed];
    const now = field.read();
    const caret = field.selection()?.head;
    if (!composed.isComposing && now.length > this.#shown.length && endsInHalf(now, caret)) {
      this.#isHalf = true;
      composed.begin();
      return;
    }
    const change = difference(this.#shown, now, caret);
    this.#shown = now;
    if (change) {
      const own = changesIn(this.#text, composed.follow([change]));
      // Set before the event, so that its listeners find a consistent state.
      this.#text = applied(this.#text, own);
      this.#note.edit(own, field);
    }
    if (this.#isHalf) {
      this.#isHalf = false;
      composed.catchUp();
    }
    // Lone surrogates are shown as they are stored.
    if (shownOf(this.#text) !== applied(this.#shown, composed.waiting)) this.#show(this.#text);
  }

  /** @param {import("./note.js").Changes} news */
  #takeChanges({ changes, source }) {
    if (source === this.#field || !this.#hasText) return;
    const before = this.#text;
    this.#text = applied(before, changes);
    if ((before + this.#text).includes("\r")) this.#show(this.#text);
    else this.#composed.take(changes);
  }

  #tellSelection() {
    const selection = this.#hasText && !this.#isHalf ? this.#field.selection() : undefined;
    const place = (/** @type {number} */ shown) => placeIn(this.#text, this.#composed.inNote(shown));
    if (selection) this.#note.select(place(selection.anchor), place(selection.head));
  }
}

/**
 * Functions that unbind elements.
 *
 * @type {WeakMap<HTMLElement, () => void>}
 */
const bound = new WeakMap();

/**
 * Shows a note's text in a field, and sends what is typed there, until the returned function is called or the field is
 * bound again. A script that changes the field's text must dispatch an `input` event.
 *
 * @param {SharedNote} note
 * @param {HTMLTextAreaElement | HTMLElement} element A `<textarea>`, or an element to be edited as plain text.
 * @returns {() => void} Unbinds them.
 */
export function bind(note, element) {
  bound.get(element)?.();
  const field = element instanceof HTMLTextAreaElement ? areaField(element) : plainField(element);
  const binding = new FieldBinding(note, field);
  const unbind = () => {
    if (bound.get(element) !== unbind) return;
    bound.delete(element);
    binding.unbind();
  };
  bound.set(element, unbind);
  return unbind;
}
