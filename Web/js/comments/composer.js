// A field for a text that is sent to the server. The text stays in the field until the server has confirmed it, even if
// the connection is lost or the server rejects it.

import { t } from "../ground/language.js";
import { isOfComposition } from "../ground/shortcuts.js";

const encoder = new TextEncoder();

/**
 * @param {string} text
 * @param {"submit" | "button"} type
 */
function makeButton(text, type) {
  const button = document.createElement("button");
  button.type = type;
  button.className = "button small";
  button.textContent = text;
  return button;
}

export class Composer {
  element = document.createElement("form");

  #options;
  #area = document.createElement("textarea");
  #problem = document.createElement("p");
  #sendButton;
  #isBusy = false;
  /** Whether it is unknown if the server has the text. */
  #isOpen = false;

  /**
   * @param {object} options
   * @param {string} options.label The field's name for screen readers; its placeholder, too.
   * @param {string} options.send The label of the button.
   * @param {string} [options.text] The initial text.
   * @param {string} [options.original] The stored text that is being edited, which may be discarded; none for a new
   * text.
   * @param {() => number} options.bytesMax
   * @param {(text: string) => Promise<string | undefined>} options.submit Sends the text. Fulfilled with a problem to
   * show, or undefined once the server has the text; rejections are passed to `failed`.
   * @param {(error: unknown) => {problem: string, isOpen: boolean}} options.failed Describes an error. `isOpen`: it is
   * unknown if the server has the text, so the same text must be sent again before it may be changed.
   * @param {() => void} [options.cancel]
   * @param {() => void} [options.changed] Called when the user has changed the text.
   */
  constructor(options) {
    const { label, send, original = "", text = original, cancel, changed } = options;
    this.#options = options;
    const area = this.#area;
    area.setAttribute("aria-label", label);
    area.placeholder = label;
    area.dir = "auto";
    area.rows = 2;
    area.value = text;
    if (changed) area.addEventListener("input", changed);
    this.#problem.className = "problem";
    this.#problem.setAttribute("role", "alert");
    const buttons = document.createElement("p");
    buttons.className = "composer-buttons";
    this.#sendButton = makeButton(send, "submit");
    this.#sendButton.classList.add("primary");
    buttons.append(this.#sendButton);
    if (cancel) {
      const cancelButton = makeButton(t("cancel"), "button");
      cancelButton.addEventListener("click", cancel);
      buttons.append(cancelButton);
    }
    this.element.className = "composer";
    this.element.append(area, this.#problem, buttons);
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#send();
    });
    this.element.addEventListener("keydown", (event) => this.#onKey(event));
  }

  get text() {
    return this.#area.value;
  }

  get isEmpty() {
    return this.text.trim() === "" && !this.#isBusy;
  }

  focus() {
    this.#area.focus();
  }

  /** Called when the connection is restored. */
  retry() {
    if (this.#isOpen) void this.#send();
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (isOfComposition(event)) return;
    const { original = "", cancel } = this.#options;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      void this.#send();
    } else if (event.key === "Escape" && cancel && !this.#isBusy && [original.trim(), ""].includes(this.text.trim())) {
      // Another text is preserved: the key hides the panel, and the field with it.
      event.stopPropagation();
      cancel();
    }
  }

  async #send() {
    if (this.#isBusy) return;
    const { text } = this;
    if (!text.trim()) return this.focus();
    const count = encoder.encode(text).length;
    const max = this.#options.bytesMax();
    if (count > max) {
      this.#problem.textContent = t("comments.tooLong", { count, max });
      return;
    }
    this.#setBusy(true);
    this.#problem.textContent = "";
    try {
      const problem = await this.#options.submit(text);
      this.#isOpen = false;
      this.#problem.textContent = problem ?? "";
      if (problem === undefined) this.#area.value = "";
    } catch (error) {
      const { problem, isOpen } = this.#options.failed(error);
      this.#problem.textContent = problem;
      this.#isOpen = isOpen;
    } finally {
      this.#setBusy(false);
    }
  }

  /** @param {boolean} isBusy */
  #setBusy(isBusy) {
    this.#isBusy = isBusy;
    this.#area.readOnly = isBusy || this.#isOpen;
    if (isBusy) this.#sendButton.setAttribute("aria-disabled", "true");
    else this.#sendButton.removeAttribute("aria-disabled");
  }
}
