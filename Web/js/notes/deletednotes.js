// The dialog of deleted notes: when and by which user each was deleted, and a button to restore it.

import { announce, byId, confirm, icon, openDialog, toast } from "../ground/dialogs.js";
import { focusRowAt, keepFocusOn, placeOf } from "../ground/dialogfocus.js";
import { request } from "../client/http.js";
import { dateFormat, t } from "../ground/language.js";
import { untitled } from "../state/newnote.js";
import { when } from "../state/notes.js";
import { messageOf } from "../client/words.js";

/**
 * @typedef {{id: string, title: string, deletedAt: number, deletedBy: string, removedAt: number}} DeletedEntry
 */

const day = dateFormat({ dateStyle: "medium" });
/** The number of notes shown at first, and added by each click on "more". */
const pageSize = 50;

/** @type {DeletedNotes | undefined} The latest request for the list; earlier ones do not open the dialog. */
let latest;

/** @param {DeletedEntry} entry */
function wordsInRow({ title, deletedAt, deletedBy, removedAt }) {
  const words = document.createElement("div");
  words.className = "deleted-words";
  const name = document.createElement("span");
  name.className = "note-title" + (title ? "" : " is-untitled");
  name.dir = "auto";
  name.textContent = title || untitled;
  const detail = document.createElement("span");
  detail.className = "note-when";
  const times = { when: when(deletedAt), day: day.format(removedAt) };
  detail.textContent = deletedBy ? t("deleted.detailBy", { ...times, name: deletedBy }) : t("deleted.detail", times);
  words.append(name, detail);
  return words;
}

/** The list of deleted notes. */
class DeletedNotes {
  #undelete;
  #dialog = /** @type {HTMLDialogElement} */ (byId("deleted"));
  #rows = byId("deleted-list");
  #more = /** @type {HTMLButtonElement} */ (byId("deleted-more"));
  /** @type {string | undefined} The server's cursor for the next page. */
  #next;

  /** @param {{undelete: (id: string) => Promise<boolean>}} actions */
  constructor({ undelete }) {
    this.#undelete = undelete;
  }

  /** Shows the notes until the user closes the dialog. */
  async open() {
    latest = this;
    this.#rows.replaceChildren();
    this.#more.onclick = () => void this.#fetchMore().catch((error) => toast(messageOf(error)));
    await this.#fetchMore();
    if (latest === this) await openDialog(this.#dialog);
  }

  async #fetchMore() {
    this.#more.disabled = true;
    try {
      await this.#addPage();
    } finally {
      this.#more.disabled = false;
    }
  }

  async #addPage() {
    const place = this.#next === undefined ? "" : `&after=${encodeURIComponent(this.#next)}`;
    /** @type {{notes: DeletedEntry[], next?: string}} */
    const answer = await request(`/api/deleted?limit=${pageSize}${place}`);
    if (latest !== this) return;
    this.#rows.append(...answer.notes.map((entry) => this.#row(entry)));
    this.#next = answer.next;
    this.#more.hidden = answer.next === undefined;
    this.#drawHint();
  }

  #drawHint() {
    byId("deleted-hint").textContent = this.#rows.childElementCount ? t("deleted.hint") : t("deleted.none");
  }

  /** @param {DeletedEntry} entry */
  #row(entry) {
    const row = document.createElement("li");
    row.className = "deleted-row";
    row.append(wordsInRow(entry), this.#restoreButton(entry), this.#removeButton(entry, row));
    return row;
  }

  /** @param {DeletedEntry} entry */
  #restoreButton({ id, title }) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button small";
    button.textContent = t("restore");
    button.setAttribute("aria-label", t("deleted.restore", { title: title || untitled }));
    button.addEventListener("click", async () => {
      button.disabled = true;
      if (await this.#undelete(id)) return this.#dialog.close();
      button.disabled = false;
      keepFocusOn(button);
    });
    return button;
  }

  /** @param {DeletedEntry} entry @param {HTMLElement} row */
  #removeButton(entry, row) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "icon-button";
    button.setAttribute("aria-label", t("deleted.forGoodLabel", { title: entry.title || untitled }));
    button.title = t("deleted.forGood");
    button.append(icon("trash"));
    button.addEventListener("click", () => void this.#remove(entry, row));
    return button;
  }

  /**
   * Deletes a note permanently after the user has confirmed it.
   *
   * @param {DeletedEntry} entry
   * @param {HTMLElement} row
   */
  async #remove(entry, row) {
    const title = entry.title || untitled;
    const isSure = await confirm({
      title: t("deleted.forGoodTitle", { title }),
      text: t("deleted.forGoodText"),
      yes: t("deleted.forGood"),
    });
    if (!isSure) return;
    try {
      await request(`/api/deleted/${encodeURIComponent(entry.id)}`, "DELETE");
      const place = placeOf(this.#rows, row);
      row.remove();
      focusRowAt(this.#rows, place);
      this.#drawHint();
      announce(t("deleted.forGoodDone", { title }));
    } catch (error) {
      toast(t("remove.failed", { reason: messageOf(error) }));
    }
  }
}

/**
 * Shows deleted notes until the user closes the dialog.
 *
 * @param {{undelete: (id: string) => Promise<boolean>}} actions
 */
export const showDeletedNotes = (actions) => new DeletedNotes(actions).open();
