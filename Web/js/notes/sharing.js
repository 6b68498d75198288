// The dialog that makes links to a note for others, and withdraws them.

import { at } from "../base.js";
import { announce, byId, confirm, copy, icon, openDialog, toast } from "../shell/dialogs.js";
import { focusRowAt, keepFocusOn, placeOf } from "../shell/dialogfocus.js";
import { request } from "../client/http.js";
import { showPublishing } from "./publishing.js";
import { dateFormat, t } from "../shell/language.js";
import { messageOf } from "../words.js";

/**
 * @typedef {{id: string, path?: string, access: "read" | "comment" | "write", maker: string, expiresAt: number}} ListedLink
 * @typedef {{path: string, token: string, access: "read" | "comment" | "write", expiresAt: number,
 *   isProtected: boolean}} SharedLink
 */

const dayAndTime = dateFormat({ dateStyle: "medium", timeStyle: "short" });

/**
 * @param {object} note
 * @param {string} note.id
 * @param {string} note.title
 * @param {string} note.address For people who may open the note without a link.
 * @param {boolean} note.isDemo Whether every visitor may.
 * @param {boolean} note.isWritable Whether this person may pass on the right to write.
 */
export async function openSharing({ id, title, address, isDemo, isWritable }) {
  const dialog = /** @type {HTMLDialogElement} */ (byId("sharing"));
  const form = /** @type {HTMLFormElement} */ (byId("sharing-form"));
  const make = /** @type {HTMLButtonElement} */ (byId("sharing-make"));
  const link = /** @type {HTMLInputElement} */ (byId("sharing-link"));
  const path = `/api/notes/${encodeURIComponent(id)}/share`;
  byId("sharing-title").textContent = t("sharing.title", { title });
  byId("sharing-address-label").textContent = isDemo
    ? t("sharing.addressForAll")
    : t("sharing.address");
  /** @type {HTMLInputElement} */ (byId("sharing-address")).value = address;
  byId("sharing-hint").textContent = isDemo
    ? t("sharing.hintForAll")
    : t("sharing.hint");
  byId("sharing-result").hidden = true;
  const [reading, commenting, writing] = /** @type {NodeListOf<HTMLInputElement>} */ (form.querySelectorAll("[name=access]"));
  for (const choice of [commenting, writing]) if (choice?.parentElement) choice.parentElement.hidden = !isWritable;
  if (reading && !isWritable) reading.checked = true;
  say("");

  /** @param {string} text */
  function say(text) {
    byId("sharing-problem").textContent = text;
  }

  /** @param {string} text Where the person sees it, also if the dialog is closed or another note's by now. */
  function sayFailed(text) {
    if (isHere() && dialog.open) say(text);
    else toast(text);
  }

  /** @param {{access: string, expiresAt: number}} made */
  function wordsOf({ access, expiresAt }) {
    const time = dayAndTime.format(expiresAt);
    if (access === "comment") return t("sharing.comments", { time });
    return access === "write" ? t("sharing.writes", { time }) : t("sharing.reads", { time });
  }

  /** Whether the dialog is still this note's: another's may be open when an answer comes. */
  const isHere = () => form.onsubmit === submit;
  let draws = 0;

  async function drawLinks() {
    draws += 1;
    const draw = draws;
    try {
      /** @type {{links: ListedLink[]}} */
      const { links } = await request(path);
      if (!isHere() || draw !== draws) return;
      byId("sharing-list").replaceChildren(...links.map(row));
      byId("sharing-made").hidden = links.length === 0;
    } catch (error) {
      if (isHere()) say(t("sharing.listFailed", { reason: messageOf(error) }));
    }
  }

  /** @param {ListedLink} made */
  function row(made) {
    const label = wordsOf(made);
    const item = document.createElement("li");
    item.className = "deleted-row";
    const words = document.createElement("div");
    words.className = "deleted-words";
    const what = document.createElement("span");
    what.textContent = label;
    words.append(what);
    if (made.maker) {
      const maker = document.createElement("span");
      maker.className = "note-when";
      maker.textContent = t("sharing.by", { name: made.maker });
      words.append(maker);
    }
    item.append(words);
    if (made.path !== undefined) {
      const address = new URL(at(made.path), location.href).href;
      item.append(button("copy", t("sharing.copyOne", { link: label }), async () => {
        if (await copy(address, dialog)) toast(t("note.linkCopied"));
        else say(t("sharing.copyByHand"));
      }));
    }
    item.append(button("trash", t("sharing.withdrawOne", { link: label }), async () => {
      const list = byId("sharing-list");
      const place = placeOf(list, item);
      try {
        await request(`${path}/${encodeURIComponent(made.id)}`, "DELETE");
        if (isHere()) byId("sharing-result").hidden = true;
        toast(t("sharing.oneWithdrawn"));
      } catch (error) {
        sayFailed(t("sharing.withdrawFailed", { reason: messageOf(error) }));
      }
      await drawLinks();
      if (isHere()) focusRowAt(list, place);
    }));
    return item;
  }

  /** @param {string} symbol @param {string} label @param {() => Promise<void>} run */
  function button(symbol, label, run) {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "icon-button";
    made.setAttribute("aria-label", label);
    made.title = label;
    made.append(icon(symbol));
    made.addEventListener("click", () => void run());
    return made;
  }

  /** @param {string} from The field's id. */
  async function copyField(from) {
    const field = /** @type {HTMLInputElement} */ (byId(from));
    const isCopied = await copy(field.value, dialog);
    field.focus();
    field.select();
    if (isCopied) toast(t("note.linkCopied"));
    else say(t("sharing.copyByHand"));
  }

  async function makeLink() {
    const fields = new FormData(form);
    const expiresIn = Number(/** @type {HTMLSelectElement} */ (byId("sharing-ends")).value);
    make.disabled = true;
    say("");
    try {
      /** @type {SharedLink} */
      const made = await request(path, "POST", { access: fields.get("access"), expiresIn });
      if (!isHere()) return;
      link.value = new URL(at(made.path), location.href).href;
      byId("sharing-link-label").textContent = wordsOf(made);
      byId("sharing-result").hidden = false;
      byId("sharing-copy-link").focus();
      announce(t("sharing.made", { link: byId("sharing-link-label").textContent ?? "" }));
      await drawLinks();
    } catch (error) {
      sayFailed(t("sharing.makeFailed", { reason: messageOf(error) }));
    } finally {
      if (isHere()) {
        make.disabled = false;
        keepFocusOn(make);
      }
    }
  }

  async function withdraw() {
    const isSure = await confirm({
      title: t("sharing.withdrawTitle"),
      text: t("sharing.withdrawText"),
      yes: t("sharing.withdrawYes"),
      no: t("cancel"),
    });
    if (!isSure) return;
    try {
      await request(path, "DELETE");
      if (isHere()) byId("sharing-result").hidden = true;
      toast(t("sharing.withdrawn"));
      await drawLinks();
    } catch (error) {
      sayFailed(t("sharing.withdrawFailed", { reason: messageOf(error) }));
    }
  }

  /** @param {Event} event */
  function submit(event) {
    event.preventDefault();
    void makeLink();
  }

  form.onsubmit = submit;
  make.disabled = false;
  byId("sharing-copy-address").onclick = () => void copyField("sharing-address");
  byId("sharing-copy-link").onclick = () => void copyField("sharing-link");
  byId("sharing-withdraw").onclick = () => void withdraw();
  link.onfocus = () => link.select();
  byId("sharing-made").hidden = true;
  void drawLinks();
  void showPublishing(id, dialog);
  await openDialog(dialog);
}
