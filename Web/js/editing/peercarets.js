// Draws the carets and selections of other people in the editor.
//
// They are computed when CodeMirror measures the text, once in a frame, however many changes the frame contains.

import { EditorSelection, RectangleMarker, StateEffect, layer } from "../codemirror.js";
import { movedPlace } from "../client/places.js";
import { colorOf, inkOn, shownName } from "../state/people.js";

/**
 * @typedef {import("../state/shownnote.js").ShownNote} Note
 * @typedef {import("../client/door.js").TextChange} TextChange
 * @typedef {import("../codemirror.js").EditorView} EditorView
 * @typedef {{key: number, anchor: number, head: number, still: number, name: string, since: number}} Caret
 *   `still`: the head unless its person moves it or types. `since`: the time of the last move.
 * @typedef {{left: number, top: number, height: number}} Place In pixels, relative to the text.
 * @typedef {{offset: number, text: string, lineTop: number, lineHeight: number, place: Place}} Placed A measured caret;
 *   it remains valid while its line does not change.
 */

/** Other people's carets or names have changed. */
const peersMoved = StateEffect.define();

/** The time for which a name is shown next to a caret that has moved, in milliseconds. */
const nameStays = 5_000;
/** The maximum delay before moved carets are drawn if the text does not change, in milliseconds. */
const drawnAfter = 50;
/** The minimum interval of reading carets from the note while the text changes and moves them, in milliseconds. */
const readEvery = 100;

class PeerCaret {
  /**
   * @param {{left: number, top: number, height: number}} place
   * @param {{key: number, name: string, isFresh: boolean, isFlipped: boolean}} peer
   */
  constructor(place, peer) {
    this.place = place;
    this.peer = peer;
  }

  /** @param {PeerCaret} other */
  eq(other) {
    return (
      this.place.left === other.place.left &&
      this.place.top === other.place.top &&
      this.place.height === other.place.height &&
      this.peer.key === other.peer.key &&
      this.peer.name === other.peer.name &&
      this.peer.isFresh === other.peer.isFresh &&
      this.peer.isFlipped === other.peer.isFlipped
    );
  }

  draw() {
    const element = document.createElement("div");
    const label = document.createElement("span");
    label.className = "peer-name";
    label.dir = "auto";
    element.append(label);
    this.#fill(element);
    return element;
  }

  /** @param {HTMLElement} element @param {PeerCaret} previous */
  update(element, previous) {
    if (previous.peer.key !== this.peer.key) return false;
    if (!this.eq(previous)) this.#fill(element);
    return true;
  }

  /** @param {HTMLElement} element */
  #fill(element) {
    const { key, name, isFresh, isFlipped } = this.peer;
    element.className =
      `peer-caret peer-${key}` + (isFresh ? " is-fresh" : "") + (isFlipped ? " is-flipped" : "");
    const { left, top, height } = this.place;
    // Browsers move it without a new layout.
    element.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
    element.style.height = `${height}px`;
    const label = element.firstChild;
    if (label && label.textContent !== name) label.textContent = name;
  }
}

export class PeerCarets {
  #note;
  #inView;
  #sheet = new CSSStyleSheet();
  /** @type {EditorView | undefined} */
  #view;
  /** @type {Caret[]} Positions in the note's text, whose changes move them. */
  #carets = [];
  /** Whether people may have moved their carets or changed their names. */
  #isStale = true;
  /** @type {Map<number, Placed>} */
  #placed = new Map();
  /** @type {Map<number, string>} The colours that have a rule in the sheet. */
  #styled = new Map();
  /** The time at which the carets were last read. */
  #readAt = -Infinity;
  /** Whether the carets will be drawn in the next frame. */
  #isAwaited = false;
  /** @type {any} */
  #drawing;
  /** @type {any} */
  #fading;

  /**
   * @param {Note} note
   * @param {(place: number) => number} inView Maps a position of the note's text to the editor's.
   */
  constructor(note, inView) {
    this.#note = note;
    this.#inView = inView;
    const update = (/** @type {any} */ one) => this.#needsDrawing(one);
    this.extension = [
      layer({ above: false, class: "peer-selections", markers: (view) => this.#selectionMarkers(view), update }),
      layer({ above: true, class: "peer-carets", markers: (view) => this.#caretMarkers(view), update }),
    ];
  }

  /** The style sheet with the people's colours. */
  get sheet() {
    return this.#sheet;
  }

  /** @param {EditorView} view The editor with the extension. */
  drawIn(view) {
    this.#view = view;
    this.renew();
  }

  /** Schedules a redraw, because people may have moved their carets, or changed their names or colours. */
  renew() {
    this.#isStale = true;
    // Another change will probably come first, and draws them.
    const wait = Math.max(drawnAfter, this.#readAt + readEvery - performance.now());
    this.#drawing ??= setTimeout(() => this.#refresh(), wait);
  }

  /** @param {TextChange[]} changes Changes of the note's text, which move all carets. */
  carry(changes) {
    for (const caret of this.#carets) {
      [caret.anchor, caret.head] = [movedPlace(caret.anchor, changes, 1), movedPlace(caret.head, changes, 1)];
      caret.still = movedPlace(caret.still, changes, -1);
    }
  }

  destroy() {
    clearTimeout(this.#drawing);
    clearTimeout(this.#fading);
  }

  #refresh() {
    this.#drawing = undefined;
    if (!this.#isAwaited) this.#view?.dispatch({ effects: peersMoved.of(null) });
  }

  /** @param {any} update */
  #needsDrawing({ docChanged, viewportChanged, geometryChanged, transactions }) {
    if (!docChanged && (viewportChanged || geometryChanged)) this.#placed.clear();
    const isNeeded =
      docChanged ||
      viewportChanged ||
      geometryChanged ||
      transactions.some((/** @type {any} */ { effects }) => effects.some((/** @type {any} */ effect) => effect.is(peersMoved)));
    this.#isAwaited ||= isNeeded;
    return isNeeded;
  }

  /** Reads the carets and their people from the note. */
  #read() {
    this.#isStale = false;
    this.#readAt = performance.now();
    clearTimeout(this.#drawing);
    this.#drawing = undefined;
    const { people } = this.#note;
    this.#style(people);
    const names = new Map(people.map(({ key, name }) => [key, shownName(name)]));
    /** @type {Map<number, Caret[]>} */
    const former = new Map();
    for (const caret of this.#carets) former.set(caret.key, [...(former.get(caret.key) ?? []), caret]);
    const now = performance.now();
    // In a stable order: the elements of carets that swap positions would be created again.
    const selections = this.#note.peerSelections.sort((a, b) => a.key - b.key);
    this.#carets = selections.map(({ key, anchor, head }) => {
      const last = former.get(key)?.shift();
      const hasMoved = !last || last.anchor !== anchor || last.still !== head;
      return { key, anchor, head, still: head, name: names.get(key) ?? "", since: hasMoved ? now : last.since };
    });
    if (this.#carets.length > 0) this.#fading ??= setTimeout(() => this.#fade(), nameStays + 50);
  }

  /** @param {import("../client/note.js").Person[]} people */
  #style(people) {
    for (const person of people) {
      const color = colorOf(person);
      if (this.#styled.get(person.key) === color) continue;
      this.#styled.set(person.key, color);
      const rule = `.peer-${person.key} { --peer: ${color}; --peer-ink: ${inkOn(color)}; }`;
      this.#sheet.insertRule(rule, this.#sheet.cssRules.length);
    }
  }

  /**
   * Returns the carets and selections in the drawn part of the text.
   *
   * @param {EditorView} view
   */
  #shown({ viewport, state }) {
    if (this.#isStale && performance.now() >= this.#readAt + readEvery) this.#read();
    const shown = this.#carets.map((caret) => ({ ...caret, anchor: this.#inView(caret.anchor), head: this.#inView(caret.head) }));
    return shown.filter(({ anchor, head }) => {
      const [from, to] = anchor < head ? [anchor, head] : [head, anchor];
      return to <= state.doc.length && from <= viewport.to && to >= viewport.from;
    });
  }

  /** @param {EditorView} view */
  #selectionMarkers(view) {
    return this.#shown(view).flatMap(({ key, anchor, head }) =>
      anchor === head ? [] : RectangleMarker.forRange(view, `peer-selection peer-${key}`, EditorSelection.range(anchor, head)),
    );
  }

  /** @param {EditorView} view */
  #caretMarkers(view) {
    this.#isAwaited = false;
    const now = performance.now();
    const flippedFrom = view.scrollDOM.clientWidth * 0.75;
    return this.#shown(view).flatMap(({ key, head, name, since }) => {
      const place = this.#placeOf(view, key, head);
      if (!place) return [];
      return [new PeerCaret(place, { key, name, isFresh: now - since < nameStays, isFlipped: place.left > flippedFrom })];
    });
  }

  /**
   * Returns the position of a caret on the screen. Measuring it is the slowest part of drawing.
   *
   * @param {EditorView} view
   * @param {number} key
   * @param {number} head
   * @returns {Place | undefined}
   */
  #placeOf(view, key, head) {
    const { top, height } = view.lineBlockAt(head);
    const { from, text } = view.state.doc.lineAt(head);
    const known = this.#placed.get(key);
    if (known && known.offset === head - from && known.lineHeight === height && known.text === text) {
      return { ...known.place, top: known.place.top + top - known.lineTop };
    }
    const [place] = RectangleMarker.forRange(view, "", EditorSelection.cursor(head));
    if (place) this.#placed.set(key, { offset: head - from, text, lineTop: top, lineHeight: height, place });
    else this.#placed.delete(key);
    return place;
  }

  /** Hides the names that were shown long enough. */
  #fade() {
    this.#fading = undefined;
    const last = Math.max(...this.#carets.map(({ since }) => since));
    const left = last + nameStays - performance.now();
    if (left > 0) this.#fading = setTimeout(() => this.#fade(), left + 50);
    this.#refresh();
  }
}
