// The bars of a formatted note: one above the text, and one at a selection made with a mouse.

import { byId, icon, openMenu } from "../ground/dialogs.js";
import { isInSight } from "../ground/insight.js";
import { t } from "../ground/language.js";
import { kindOf } from "./elements.js";
import { linesOf, ofKind } from "./linecommands.js";
import { openColours } from "./colours.js";

/**
 * @typedef {import("./commands.js").EditorCommand} EditorCommand
 * @typedef {import("../prosemirror.js").EditorView} EditorView
 */

/** The commands of the bar above the text, in groups. */
const groups = [["undo", "redo"], ["bold", "italic", "underline", "code"], ["link", "file"], ["bullets", "numbers", "boxes"], ["quote"]];
/** The commands of the menu at its end. */
const further = ["strike", "codeBlock", "indent", "outdent", "rule", "clear"];
/** The commands of the bar at a selection. */
const atSelection = ["bold", "italic", "underline", "code", "link", "heading", "bullets", "boxes", "quote"];

/** The kinds of lines in the menu of styles. */
const styles = ["", "h1", "h2", "h3"];
/** @param {string} kind */
const nameOf = (kind) => (kind === "" ? t("formatted.paragraph") : t("insert.heading", { level: Number(kind[1]) }));

const isWide = () => matchMedia("(min-width: 721px) and (hover: hover) and (pointer: fine)").matches;

/** @param {EditorCommand} command @returns {HTMLButtonElement} */
function buttonFor({ label, icon: name = "check", keys, run, isOn }) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "icon-button";
  button.setAttribute("aria-label", label);
  if (isOn) button.setAttribute("aria-pressed", "false");
  button.title = keys ? `${label} (${keys})` : label;
  button.append(icon(name));
  button.addEventListener("click", run);
  return button;
}

/** @param {HTMLElement} bar Tab reaches one button, arrows the others. @param {() => void} leave Called for Escape. */
function moveWithin(bar, leave) {
  const buttons = () => /** @type {HTMLElement[]} */ ([...bar.querySelectorAll("button")]).filter((one) => !one.hidden);
  const stop = (/** @type {HTMLElement | undefined} */ wanted) => buttons().forEach((one) => (one.tabIndex = one === wanted ? 0 : -1));
  bar.addEventListener("keydown", (event) => {
    const all = buttons();
    const at = all.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    if (event.key === "Escape") leave();
    else if (at < 0) return;
    else {
      const sign = document.dir === "rtl" ? -1 : 1;
      const step = { ArrowRight: sign, ArrowLeft: -sign }[event.key];
      const next = step ? all[(at + step + all.length) % all.length] : { Home: all[0], End: all.at(-1) }[event.key];
      if (!next) return;
      stop(next);
      next.focus();
    }
    event.preventDefault();
  });
  stop(buttons()[0]);
}

/** Draws which commands are on. */
class Pressed {
  /** @type {[HTMLElement, () => boolean][]} */
  #buttons = [];

  /** @param {EditorCommand} command @param {HTMLElement} button */
  add({ isOn }, button) {
    if (isOn) this.#buttons.push([button, isOn]);
  }

  draw() {
    for (const [button, isOn] of this.#buttons) {
      const pressed = String(isOn());
      if (button.getAttribute("aria-pressed") !== pressed) button.setAttribute("aria-pressed", pressed);
    }
  }
}

/** The bar above the text. Phones have one below it instead. */
export class FormatBar {
  #view;
  #bar = document.createElement("div");
  #style = document.createElement("button");
  #pressed = new Pressed();

  /** @param {EditorView} view @param {EditorCommand[]} commands */
  constructor(view, commands) {
    this.#view = view;
    const bar = this.#bar;
    bar.className = "format-bar";
    bar.setAttribute("role", "toolbar");
    bar.setAttribute("aria-label", t("edit.label"));
    for (const names of groups) {
      const group = document.createElement("div");
      group.className = "format-group";
      for (const name of names) {
        const command = commands.find((one) => one.name === name);
        if (!command) continue;
        const button = buttonFor(command);
        this.#pressed.add(command, button);
        group.append(button);
      }
      bar.append(group);
      if (names.includes("redo")) bar.append(this.#styleMenu());
      if (names.includes("bold")) group.append(this.#colours());
      if (names.includes("quote")) group.append(this.#further(commands));
    }
    // The text keeps the focus and the selection.
    bar.addEventListener("mousedown", (event) => event.preventDefault());
    moveWithin(bar, () => view.focus());
    document.querySelector(".sheet-head")?.append(bar);
    this.draw();
  }

  destroy() {
    this.#bar.remove();
  }

  draw() {
    this.#bar.hidden = !this.#view.editable;
    if (this.#bar.hidden) return;
    this.#pressed.draw();
    const kinds = new Set(linesOf(this.#view.state).map(({ line }) => kindOf(line.attrs.set)));
    const [kind = ""] = kinds;
    const name = kinds.size === 1 && styles.includes(kind) ? nameOf(kind) : t("formatted.style");
    const words = this.#style.firstElementChild;
    if (words && words.textContent !== name) words.textContent = name;
  }

  /** Moves the focus into the bar. */
  focus() {
    if (!this.#bar.hidden) /** @type {HTMLElement | null} */ (this.#bar.querySelector("button[tabindex='0']"))?.focus();
  }

  #styleMenu() {
    const button = this.#style;
    button.type = "button";
    button.className = "format-style";
    button.setAttribute("aria-haspopup", "menu");
    button.setAttribute("aria-expanded", "false");
    button.title = t("formatted.style");
    button.append(document.createElement("span"), icon("chevron"));
    button.addEventListener("click", () =>
      openMenu(button, styles.map((kind) => ({
        label: nameOf(kind), icon: "check", isChosen: linesOf(this.#view.state).every(({ line }) => kindOf(line.attrs.set) === kind),
        run: () => this.#set(kind),
      }))));
    return button;
  }

  /** @param {string} kind */
  #set(kind) {
    const { tr } = this.#view.state;
    for (const { line, pos } of linesOf(this.#view.state)) tr.setNodeAttribute(pos, "set", ofKind(line.attrs.set, kind));
    if (tr.docChanged) this.#view.dispatch(tr);
    this.#view.focus();
  }

  /** @param {EditorCommand[]} commands */
  #further(commands) {
    const items = further.flatMap((name) => commands.find((one) => one.name === name) ?? []);
    /** @type {HTMLButtonElement} */
    const button = buttonFor({ name: "more", label: t("formatted.more"), icon: "more", run: () => openMenu(button, items) });
    button.setAttribute("aria-haspopup", "menu");
    button.setAttribute("aria-expanded", "false");
    return button;
  }

  #colours() {
    /** @type {HTMLButtonElement} */
    const button = buttonFor({ name: "colour", label: t("formatted.colour"), icon: "colour", run: () => openColours(button, this.#view) });
    button.setAttribute("aria-haspopup", "dialog");
    button.setAttribute("aria-expanded", "false");
    return button;
  }
}

/** The bar at a selection. Alt F10 moves the focus into it. */
export class SelectionBar {
  #view;
  #surface;
  #bar = document.createElement("div");
  #pressed = new Pressed();
  #isPressed = false;
  #removals = new AbortController();
  #frame = 0;

  /**
   * @param {EditorView} view
   * @param {import("./surface.js").TextSurface} surface
   * @param {EditorCommand[]} commands
   */
  constructor(view, surface, commands) {
    this.#view = view;
    this.#surface = surface;
    const { signal } = this.#removals;
    const bar = this.#bar;
    bar.className = "selection-bar";
    bar.setAttribute("role", "toolbar");
    bar.setAttribute("aria-label", t("formatted.selected"));
    bar.hidden = true;
    for (const name of atSelection) {
      const command = commands.find((one) => one.name === name);
      if (!command) continue;
      const button = buttonFor(command);
      this.#pressed.add(command, button);
      bar.append(button);
    }
    bar.addEventListener("mousedown", (event) => event.preventDefault());
    moveWithin(bar, () => view.focus());
    byId("editor").after(bar);
    // The bar is hidden while the user selects.
    view.dom.addEventListener("pointerdown", () => (this.#isPressed = true), { signal });
    addEventListener("pointerup", () => ((this.#isPressed = false), this.draw()), { signal });
    view.dom.addEventListener("blur", () => this.draw(), { signal });
    surface.scrollDOM.addEventListener("scroll", () => this.draw(), { signal, passive: true });
    view.dom.addEventListener("keydown", (event) => event.key === "Escape" && this.#hide(), { signal });
  }

  /** @returns {boolean} Whether the focus moved into the bar. */
  focus() {
    if (this.#bar.hidden) return false;
    /** @type {HTMLElement | null} */ (this.#bar.querySelector("button[tabindex='0']"))?.focus();
    return true;
  }

  destroy() {
    cancelAnimationFrame(this.#frame);
    this.#removals.abort();
    this.#bar.remove();
  }

  #hide() {
    if (!this.#bar.contains(document.activeElement)) this.#bar.hidden = true;
  }

  draw() {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#drawNow());
  }

  #drawNow() {
    this.#frame = 0;
    const { empty, from, to } = this.#view.state.selection;
    const isInBar = this.#bar.contains(document.activeElement);
    if (empty || !this.#view.editable || (!this.#view.hasFocus() && !isInBar) || this.#isPressed || !isWide()) {
      this.#bar.hidden = true;
      return;
    }
    const [start, end] = [this.#view.coordsAtPos(from, 1), this.#view.coordsAtPos(to, -1)];
    if (!isInSight(/** @type {any} */ (this.#surface), start, end)) return this.#hide();
    this.#pressed.draw();
    this.#bar.hidden = false;
    const paper = byId("paper").getBoundingClientRect();
    const { width, height } = this.#bar.getBoundingClientRect();
    const above = start.top - paper.top - height - 8;
    // Below the selection, the comment button comes first.
    const top = above >= 4 ? above : Math.min(end.bottom - paper.top + 48, paper.height - height - 8);
    this.#bar.style.left = `${Math.max(8, Math.min(start.left - paper.left, paper.width - width - 8))}px`;
    this.#bar.style.top = `${top}px`;
  }
}
