// The bar above a selection made with a mouse: marks, links, headings, lists. Alt F10 moves the focus into it.

import { ViewPlugin } from "../../codemirror.js";
import { byId, icon } from "../../ground/dialogs.js";
import { isInSight } from "../../ground/insight.js";
import { t } from "../../ground/language.js";

/** The names of the bar's commands. */
const names = ["bold", "italic", "code", "link", "heading", "bullets", "boxes", "quote"];

const isWanted = () => matchMedia("(min-width: 721px) and (hover: hover) and (pointer: fine)").matches;

class SelectionBar {
  #view;
  #bar = document.createElement("div");
  #isPressed = false;
  #removals = new AbortController();

  /**
   * @param {import("../../codemirror.js").EditorView} view
   * @param {import("../editorcommands.js").EditorCommand[]} commands
   */
  constructor(view, commands) {
    this.#view = view;
    const { signal } = this.#removals;
    const bar = this.#bar;
    bar.className = "selection-bar";
    bar.setAttribute("role", "toolbar");
    bar.setAttribute("aria-label", t("edit.label"));
    bar.hidden = true;
    bar.append(
      ...names.flatMap((name, index) => {
        const command = commands.find((one) => one.name === name);
        if (!command) return [];
        const button = document.createElement("button");
        button.type = "button";
        button.className = "icon-button";
        button.tabIndex = index === 0 ? 0 : -1;
        button.setAttribute("aria-label", command.label);
        button.title = command.keys ? `${command.label} (${command.keys})` : command.label;
        button.append(icon(command.icon ?? "check"));
        button.addEventListener("click", command.run);
        return [button];
      }),
    );
    bar.addEventListener("mousedown", (event) => event.preventDefault());
    bar.addEventListener("keydown", (event) => this.#key(event));
    byId("editor").after(bar);
    // The bar is hidden while the user selects.
    view.contentDOM.addEventListener("pointerdown", () => (this.#isPressed = true), { signal });
    addEventListener("pointerup", () => ((this.#isPressed = false), this.#draw()), { signal });
    // Not only the user scrolls: the first visible line stays where it is while others write above it.
    view.scrollDOM.addEventListener("scroll", () => this.#draw(), { signal });
    view.contentDOM.addEventListener(
      "keydown",
      (event) => {
        if (event.key === "Escape") this.#hide();
        if (event.key !== "F10" || !event.altKey || bar.hidden) return;
        event.preventDefault();
        /** @type {HTMLElement | null} */ (bar.firstElementChild)?.focus();
      },
      { signal },
    );
    queueMicrotask(() => this.#draw());
  }

  destroy() {
    this.#removals.abort();
    this.#bar.remove();
  }

  /** @param {import("../../codemirror.js").ViewUpdate} update */
  update({ selectionSet, docChanged, focusChanged }) {
    if (selectionSet || docChanged || focusChanged) queueMicrotask(() => this.#draw());
  }

  #hide() {
    if (!this.#bar.contains(document.activeElement)) this.#bar.hidden = true;
  }

  #draw() {
    const { state, hasFocus } = this.#view;
    const { empty, from, to } = state.selection.main;
    const isInBar = this.#bar.contains(document.activeElement);
    if (empty || state.readOnly || (!hasFocus && !isInBar) || this.#isPressed || !isWanted()) return void (this.#bar.hidden = true);
    this.#view.requestMeasure({
      key: this,
      read: () => ({ start: this.#view.coordsAtPos(from, 1), end: this.#view.coordsAtPos(to, -1), paper: byId("paper").getBoundingClientRect() }),
      write: ({ start, end, paper }) => {
        const place = start ?? end;
        if (this.#view.state.selection.main.empty) return;
        if (!place || !isInSight(this.#view, start, end)) return this.#hide();
        this.#bar.hidden = false;
        const { width, height } = this.#bar.getBoundingClientRect();
        const above = (start ?? { top: paper.top }).top - paper.top - height - 8;
        // Below the selection, the comment button comes first.
        const top = above >= 4 ? above : Math.min((end ?? place).bottom - paper.top + 48, paper.height - height - 8);
        this.#bar.style.left = `${Math.max(8, Math.min(place.left - paper.left, paper.width - width - 8))}px`;
        this.#bar.style.top = `${top}px`;
      },
    });
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const buttons = /** @type {HTMLElement[]} */ ([...this.#bar.children]);
    const at = buttons.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.key === "Escape") this.#view.focus();
    else if (step && at >= 0) {
      const sign = document.dir === "rtl" ? -1 : 1;
      const next = buttons[(at + sign * step + buttons.length) % buttons.length];
      for (const button of buttons) button.tabIndex = button === next ? 0 : -1;
      next?.focus();
    } else return;
    event.preventDefault();
  }
}

/** @param {typeof import("../editorcommands.js").commandsOf} commandsOf @returns {any} An extension. */
export const selectionBar = (commandsOf) => ViewPlugin.define((view) => new SelectionBar(view, commandsOf(view, () => {})));
