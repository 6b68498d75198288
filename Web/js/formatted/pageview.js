// A formatted note as a page: its lines as headings, lists and quotes, which are drawn again as the note changes. Boxes
// can be ticked.

import { toast } from "../ground/dialogs.js";
import { t } from "../ground/language.js";
import { followAddress, saveFileHere } from "../links/addresses.js";
import { showFiles } from "../links/files.js";
import { changeOf } from "./difference.js";
import { documentOf } from "./document.js";
import { tickLine } from "./linecommands.js";
import { rememberNames } from "./mentions.js";
import { pageStyles } from "../reading/pagesheet.js";
import { fragmentOf } from "./rendering.js";
import { Transform } from "../prosemirror.js";

/** The maximum time from a change until it is drawn, in milliseconds. */
const drawnWithin = 150;

let areStylesAdopted = false;

/** Adds the styles of notes that are shown as pages. */
export function adoptPageStyles() {
  if (areStylesAdopted) return;
  areStylesAdopted = true;
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  void pageStyles().then((styles) => sheet.replace(styles));
}

export class PageView {
  #host;
  #note;
  /** @type {any} */
  #timer;
  #subscriptions;
  #removals = new AbortController();

  /** @param {HTMLElement} host @param {import("../state/shownnote.js").ShownNote} note */
  constructor(host, note) {
    this.#host = host;
    this.#note = note;
    adoptPageStyles();
    rememberNames(note.people);
    const later = () => void (this.#timer ??= setTimeout(() => this.draw(), drawnWithin));
    this.#subscriptions = [note.on("changes", later), note.on("edited", later), note.on("reset", later), note.on("status", later),
      note.on("people", () => rememberNames(note.people) && later())];
    const { signal } = this.#removals;
    host.addEventListener("change", ({ target }) => target instanceof HTMLInputElement && this.#tick(target), { signal });
    host.addEventListener("click", (event) => this.#click(event), { signal });
    this.draw();
  }

  destroy() {
    clearTimeout(this.#timer);
    this.#removals.abort();
    for (const unsubscribe of this.#subscriptions) unsubscribe();
    this.#host.replaceChildren();
  }

  draw() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { text } = this.#note;
    if (text === undefined) return;
    const top = this.#host.scrollTop;
    this.#host.replaceChildren(fragmentOf(documentOf(text, this.#note.format()), { isPage: true }));
    for (const box of this.#host.querySelectorAll("input")) box.disabled = !this.#note.isWritable;
    showFiles(this.#host, this.#note.documentId);
    this.#host.scrollTop = top;
  }

  /** @param {HTMLInputElement} box */
  #tick(box) {
    const boxes = [...this.#host.querySelectorAll("input")];
    const doc = documentOf(this.#note.text ?? "", this.#note.format());
    const change = tickLine(new Transform(doc), boxes.indexOf(box), box.checked);
    if (!change || !this.#note.isWritable) {
      box.checked = !box.checked;
      return toast(t("note.tickFailed"));
    }
    const { changes, format } = changeOf(doc, change.doc);
    this.#note.endStep();
    this.#note.edit(changes, format);
  }

  /** @param {MouseEvent} event */
  #click(event) {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!(link instanceof HTMLAnchorElement) || event.button !== 0) return;
    if (!link.dataset.file && (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)) return;
    event.preventDefault();
    if (link.dataset.file) void saveFileHere(link.dataset.file);
    else followAddress(link.title);
  }
}
