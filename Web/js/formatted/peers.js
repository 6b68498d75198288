// The carets and selections of other people over a formatted note. They are elements of a layer beside the text, so that
// a composition is never disturbed; they are measured once in a frame.

import { movedPlace } from "../client/places.js";
import { colorOf, inkOn, shownName } from "../state/people.js";
import { toDocument } from "./document.js";

/**
 * @typedef {import("../state/shownnote.js").ShownNote} Note
 * @typedef {import("../client/door.js").TextChange} TextChange
 * @typedef {{key: number, anchor: number, head: number, name: string, since: number}} Caret Places in the note's text.
 */

/** The time for which a name is shown next to a caret that has moved, in milliseconds. */
const nameStays = 5_000;
/** The most rectangles of one selection. */
const partsMax = 200;

export class Peers {
  layer = document.createElement("div");
  sheet = new CSSStyleSheet();
  #note;
  #view;
  #inView;
  /** @type {Caret[]} */
  #carets = [];
  #isStale = true;
  #frame = 0;
  /** @type {any} */
  #fading;
  /** @type {Map<number, string>} */
  #styled = new Map();
  #resizing = new ResizeObserver(() => this.draw());

  /**
   * @param {Note} note
   * @param {() => import("../prosemirror.js").EditorView} view
   * @param {(place: number) => number} inView Maps a place of the note's text to the shown one.
   */
  constructor(note, view, inView) {
    this.#note = note;
    this.#view = view;
    this.#inView = inView;
    this.layer.className = "peer-layer";
    this.layer.setAttribute("aria-hidden", "true");
  }

  /** Starts to follow the size of the text. */
  begin() {
    this.#resizing.observe(this.#view().dom);
    this.renew();
  }

  destroy() {
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#fading);
    this.#resizing.disconnect();
    this.layer.remove();
  }

  /** Reads the carets again, because people may have moved them. */
  renew() {
    this.#isStale = true;
    this.draw();
  }

  /** @param {TextChange[]} changes Changes of the note's text, which move all carets. */
  carry(changes) {
    for (const caret of this.#carets) {
      caret.anchor = movedPlace(caret.anchor, changes, 1);
      caret.head = movedPlace(caret.head, changes, 1);
    }
    this.draw();
  }

  /** Schedules drawing. */
  draw() {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#drawNow());
  }

  #read() {
    this.#isStale = false;
    const { people } = this.#note;
    for (const person of people) this.#style(person.key, colorOf(person));
    const names = new Map(people.map(({ key, name }) => [key, shownName(name)]));
    const former = new Map(this.#carets.map((caret) => [caret.key, caret]));
    const now = performance.now();
    this.#carets = this.#note.peerSelections.map(({ key, anchor, head }) => {
      const last = former.get(key);
      const hasMoved = !last || last.anchor !== anchor || last.head !== head;
      return { key, anchor, head, name: names.get(key) ?? "", since: hasMoved ? now : last.since };
    });
    clearTimeout(this.#fading);
    if (this.#carets.length > 0) this.#fading = setTimeout(() => this.draw(), nameStays + 50);
  }

  /** @param {number} key @param {string} color */
  #style(key, color) {
    if (this.#styled.get(key) === color) return;
    this.#styled.set(key, color);
    this.sheet.insertRule(`.peer-${key} { --peer: ${color}; --peer-ink: ${inkOn(color)}; }`, this.sheet.cssRules.length);
  }

  #drawNow() {
    this.#frame = 0;
    const view = this.#view();
    if (view.isDestroyed) return;
    if (this.#isStale) this.#read();
    const origin = this.layer.getBoundingClientRect();
    const now = performance.now();
    const { doc } = view.state;
    this.layer.replaceChildren(
      ...this.#carets.flatMap((caret) => {
        const [anchor, head] = [caret.anchor, caret.head].map((place) => toDocument(doc, this.#inView(place)));
        if (anchor === undefined || head === undefined) return [];
        return [...this.#selection(caret.key, anchor, head, origin), ...this.#caret(caret, head, origin, now)];
      }),
    );
  }

  /** @param {number} key @param {number} anchor @param {number} head @param {DOMRect} origin @returns {HTMLElement[]} */
  #selection(key, anchor, head, origin) {
    if (anchor === head) return [];
    const view = this.#view();
    const range = document.createRange();
    const [start, end] = [Math.min(anchor, head), Math.max(anchor, head)].map((pos, at) => view.domAtPos(pos, at ? -1 : 1));
    if (!start || !end) return [];
    range.setStart(start.node, start.offset);
    range.setEnd(end.node, end.offset);
    return [...range.getClientRects()].filter(({ width }) => width > 0).slice(0, partsMax).map((part) => {
      const element = document.createElement("div");
      element.className = `peer-selection peer-${key}`;
      place(element, part.left - origin.left, part.top - origin.top);
      element.style.width = `${part.width}px`;
      element.style.height = `${part.height}px`;
      return element;
    });
  }

  /** @param {Caret} caret @param {number} pos @param {DOMRect} origin @param {number} now @returns {HTMLElement[]} */
  #caret({ key, name, since }, pos, origin, now) {
    /** @type {{left: number, top: number, bottom: number}} */
    let at;
    try {
      at = this.#view().coordsAtPos(pos);
    } catch {
      return [];
    }
    const element = document.createElement("div");
    const left = at.left - origin.left;
    const isFlipped = left > origin.width * 0.75;
    element.className = `peer-caret peer-${key}${now - since < nameStays ? " is-fresh" : ""}${isFlipped ? " is-flipped" : ""}`;
    place(element, left, at.top - origin.top);
    element.style.height = `${at.bottom - at.top}px`;
    const label = document.createElement("span");
    label.className = "peer-name";
    label.dir = "auto";
    label.textContent = name;
    element.append(label);
    return [element];
  }
}

/** @param {HTMLElement} element @param {number} left @param {number} top */
const place = (element, left, top) => void (element.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`);
