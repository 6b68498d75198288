// A timer makes the caret blink. CodeMirror uses an animation, and while one runs, browsers draw at every refresh of
// the screen: changes by others would wait for the next refresh, and an open note would use power all the time.

import { ViewPlugin, drawSelection } from "../codemirror.js";

/** The time for which the caret is shown, and then hidden, in milliseconds. */
const phase = 600;
const withoutMotion = matchMedia("(prefers-reduced-motion: reduce)");

class Blinking {
  #view;
  #isHidden = false;
  /** @type {any} */
  #timer;

  /** @param {import("../codemirror.js").EditorView} view */
  constructor(view) {
    this.#view = view;
    this.#begin();
  }

  /** @param {import("../codemirror.js").ViewUpdate} update */
  update({ focusChanged, selectionSet }) {
    if (focusChanged || selectionSet) this.#begin();
  }

  /** Shows the caret, and hides it one phase later. */
  #begin() {
    this.destroy();
    this.#show(true);
    if (this.#view.hasFocus) this.#timer = setInterval(() => this.#show(this.#isHidden || withoutMotion.matches), phase);
  }

  /** @param {boolean} isShown */
  #show(isShown) {
    if (this.#isHidden !== isShown) return;
    this.#isHidden = !isShown;
    const carets = /** @type {HTMLElement | null} */ (this.#view.scrollDOM.querySelector(".cm-cursorLayer"));
    if (carets) carets.style.opacity = isShown ? "" : "0";
  }

  destroy() {
    clearInterval(this.#timer);
  }
}

/** Selections and carets, drawn by the editor. */
export const drawnSelection = [drawSelection({ cursorBlinkRate: 0 }), ViewPlugin.fromClass(Blinking)];
