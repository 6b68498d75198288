// The dialog that creates links to a note for other people, and withdraws them.

import { at } from "../ground/base.js";
import { announce, byId, confirm, copy, icon, openDialog, toast } from "../ground/dialogs.js";
import { focusRowAt, keepFocusOn, placeOf } from "../ground/dialogfocus.js";
import { request } from "../client/http.js";
import { showPublishing } from "./publishing.js";
import { dateFormat, t } from "../ground/language.js";
import { messageOf } from "../client/words.js";

/**
 * @typedef {{id: string, path?: string, access: "read" | "comment" | "write", maker: string, expiresAt: number}} ListedLink
 * @typedef {{path: string, token: string, access: "read" | "comment" | "write", expiresAt: number,
 *   isProtected: boolean}} SharedLink
 *
 * @typedef {object} SharedNote
 * @property {string} id
 * @property {string} title
 * @property {string} address The note's address, for users who may open the note without a link.
 * @property {boolean} isDemo Whether every visitor may open the note.
 * @property {boolean} isWritable Whether this user may grant write access.
 */

const dayAndTime = dateFormat({ dateStyle: "medium", timeStyle: "short" });

/**
 * Describes the access and the expiry of a link.
 *
 * @param {{access: string, expiresAt: number}} link
 */
function wordsOf({ access, expiresAt }) {
  const time = dayAndTime.format(expiresAt);
  if (access === "comment") return t("sharing.comments", { time });
  return access === "write" ? t("sharing.writes", { time }) : t("sharing.reads", { time });
}

/** @param {string} symbol @param {string} label @param {() => Promise<void>} run */
function iconButton(symbol, label, run) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "icon-button";
  button.setAttribute("aria-label", label);
  button.title = label;
  button.append(icon(symbol));
  button.addEventListener("click", () => void run());
  return button;
}

/** @param {string} label The link's description. @param {string} maker Empty if the server does not name one. */
function wordsInRow(label, maker) {
  const words = document.createElement("div");
  words.className = "deleted-words";
  const what = document.createElement("span");
  what.textContent = label;
  words.append(what);
  if (maker) {
    const by = document.createElement("span");
    by.className = "note-when";
    by.textContent = t("sharing.by", { name: maker });
    words.append(by);
  }
  return words;
}

/** @type {Sharing | undefined} The last instance that opened the dialog. */
let shown;

/** The dialog for one note. */
class Sharing {
  #note;
  /** The path of the API for the note's links. */
  #path;
  /** Counts requests for the list; only the last one's answer is drawn. */
  #draws = 0;
  #dialog = /** @type {HTMLDialogElement} */ (byId("sharing"));
  #form = /** @type {HTMLFormElement} */ (byId("sharing-form"));
  #make = /** @type {HTMLButtonElement} */ (byId("sharing-make"));
  #link = /** @type {HTMLInputElement} */ (byId("sharing-link"));
  #list = byId("sharing-list");

  /** @param {SharedNote} note */
  constructor(note) {
    this.#note = note;
    this.#path = `/api/notes/${encodeURIComponent(note.id)}/share`;
  }

  /** Shows the dialog until the user closes it. */
  async open() {
    shown = this;
    this.#drawNote();
    this.#listen();
    byId("sharing-made").hidden = true;
    void this.#drawLinks();
    void showPublishing(this.#note.id, this.#dialog);
    await openDialog(this.#dialog);
  }

  /** Whether the dialog still shows this note; another's may be open when an answer arrives. */
  get #isHere() {
    return shown === this;
  }

  #drawNote() {
    const { title, address, isDemo, isWritable } = this.#note;
    byId("sharing-title").textContent = t("sharing.title", { title });
    byId("sharing-address-label").textContent = isDemo ? t("sharing.addressForAll") : t("sharing.address");
    /** @type {HTMLInputElement} */ (byId("sharing-address")).value = address;
    byId("sharing-hint").textContent = isDemo ? t("sharing.hintForAll") : t("sharing.hint");
    byId("sharing-result").hidden = true;
    const choices = /** @type {NodeListOf<HTMLInputElement>} */ (this.#form.querySelectorAll("[name=access]"));
    const [reading, commenting, writing] = choices;
    for (const choice of [commenting, writing]) if (choice?.parentElement) choice.parentElement.hidden = !isWritable;
    if (reading && !isWritable) reading.checked = true;
    this.#make.disabled = false;
    this.#say("");
  }

  #listen() {
    this.#form.onsubmit = (event) => {
      event.preventDefault();
      void this.#makeLink();
    };
    byId("sharing-copy-address").onclick = () => void this.#copyField("sharing-address");
    byId("sharing-copy-link").onclick = () => void this.#copyField("sharing-link");
    byId("sharing-withdraw").onclick = () => void this.#withdrawAll();
    this.#link.onfocus = () => this.#link.select();
  }

  /** @param {string} text */
  #say(text) {
    byId("sharing-problem").textContent = text;
  }

  /**
   * Shows an error in this note's dialog, or as a toast if the dialog is closed.
   *
   * @param {string} text
   */
  #sayFailed(text) {
    if (this.#isHere && this.#dialog.open) this.#say(text);
    else toast(text);
  }

  async #drawLinks() {
    this.#draws += 1;
    const draw = this.#draws;
    try {
      /** @type {{links: ListedLink[]}} */
      const { links } = await request(this.#path);
      if (!this.#isHere || draw !== this.#draws) return;
      this.#list.replaceChildren(...links.map((link) => this.#row(link)));
      byId("sharing-made").hidden = links.length === 0;
    } catch (error) {
      if (this.#isHere) this.#say(t("sharing.listFailed", { reason: messageOf(error) }));
    }
  }

  /** @param {ListedLink} link */
  #row(link) {
    const label = wordsOf(link);
    const row = document.createElement("li");
    row.className = "deleted-row";
    row.append(wordsInRow(label, link.maker));
    if (link.path !== undefined) {
      const address = new URL(at(link.path), location.href).href;
      const copyAddress = async () => this.#sayCopied(await copy(address, this.#dialog));
      row.append(iconButton("copy", t("sharing.copyOne", { link: label }), copyAddress));
    }
    row.append(iconButton("trash", t("sharing.withdrawOne", { link: label }), () => this.#withdraw(link.id, row)));
    return row;
  }

  /** @param {boolean} isCopied */
  #sayCopied(isCopied) {
    if (isCopied) toast(t("note.linkCopied"));
    else this.#say(t("sharing.copyByHand"));
  }

  /** @param {string} from The field's id. */
  async #copyField(from) {
    const field = /** @type {HTMLInputElement} */ (byId(from));
    const isCopied = await copy(field.value, this.#dialog);
    field.focus();
    field.select();
    this.#sayCopied(isCopied);
  }

  async #makeLink() {
    const make = this.#make;
    const access = new FormData(this.#form).get("access");
    const expiresIn = Number(/** @type {HTMLSelectElement} */ (byId("sharing-ends")).value);
    make.disabled = true;
    this.#say("");
    try {
      /** @type {SharedLink} */
      const made = await request(this.#path, "POST", { access, expiresIn });
      if (!this.#isHere) return;
      this.#showMade(made);
      await this.#drawLinks();
    } catch (error) {
      this.#sayFailed(t("sharing.makeFailed", { reason: messageOf(error) }));
    } finally {
      if (this.#isHere) {
        make.disabled = false;
        keepFocusOn(make);
      }
    }
  }

  /** @param {SharedLink} made */
  #showMade(made) {
    const label = wordsOf(made);
    this.#link.value = new URL(at(made.path), location.href).href;
    byId("sharing-link-label").textContent = label;
    byId("sharing-result").hidden = false;
    byId("sharing-copy-link").focus();
    announce(t("sharing.made", { link: label }));
  }

  /** @param {string} id The link's id. @param {HTMLElement} row */
  async #withdraw(id, row) {
    const place = placeOf(this.#list, row);
    try {
      await request(`${this.#path}/${encodeURIComponent(id)}`, "DELETE");
      if (this.#isHere) byId("sharing-result").hidden = true;
      toast(t("sharing.oneWithdrawn"));
    } catch (error) {
      this.#sayFailed(t("sharing.withdrawFailed", { reason: messageOf(error) }));
    }
    await this.#drawLinks();
    if (this.#isHere) focusRowAt(this.#list, place);
  }

  async #withdrawAll() {
    const isSure = await confirm({
      title: t("sharing.withdrawTitle"),
      text: t("sharing.withdrawText"),
      yes: t("sharing.withdrawYes"),
      no: t("cancel"),
    });
    if (!isSure) return;
    try {
      await request(this.#path, "DELETE");
      if (this.#isHere) byId("sharing-result").hidden = true;
      toast(t("sharing.withdrawn"));
      await this.#drawLinks();
    } catch (error) {
      this.#sayFailed(t("sharing.withdrawFailed", { reason: messageOf(error) }));
    }
  }
}

/** @param {SharedNote} note */
export const openSharing = (note) => new Sharing(note).open();
