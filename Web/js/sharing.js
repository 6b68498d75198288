// The dialog that makes links to a note for others, and withdraws them.

import { at } from "./base.js";
import { announce, byId, confirm, copy, openDialog, toast } from "./dialogs.js";
import { request } from "./http.js";
import { messageOf, quoted } from "./words.js";

/**
 * @typedef {{path: string, token: string, access: "read" | "write", expiresAt: number,
 *   isProtected: boolean}} SharedLink
 */

const dayAndTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/**
 * @param {object} note
 * @param {string} note.id
 * @param {string} note.title
 * @param {string} note.address Where those find it who may open it anyway.
 * @param {boolean} note.isDemo Whether that is everybody.
 * @param {boolean} note.isWritable Whether this person may pass on the right to write.
 */
export async function openSharing({ id, title, address, isDemo, isWritable }) {
  const dialog = /** @type {HTMLDialogElement} */ (byId("sharing"));
  const form = /** @type {HTMLFormElement} */ (byId("sharing-form"));
  const make = /** @type {HTMLButtonElement} */ (byId("sharing-make"));
  const link = /** @type {HTMLInputElement} */ (byId("sharing-link"));
  const path = `/api/notes/${encodeURIComponent(id)}/share`;
  byId("sharing-title").textContent = `Share ${quoted(title)}`;
  byId("sharing-address-label").textContent = isDemo
    ? "Everybody who can reach this server opens it here"
    : "Who may open it already finds it here";
  /** @type {HTMLInputElement} */ (byId("sharing-address")).value = address;
  byId("sharing-hint").textContent = isDemo
    ? "A link can hold its visitors to reading. Mind that this server is open: they can come without it, too."
    : "Whoever has it can open this note, and no other, without signing in.";
  byId("sharing-result").hidden = true;
  const [reading, writing] = /** @type {NodeListOf<HTMLInputElement>} */ (form.querySelectorAll("[name=access]"));
  if (writing?.parentElement) writing.parentElement.hidden = !isWritable;
  if (reading && !isWritable) reading.checked = true;
  say("");

  /** @param {string} text */
  function say(text) {
    byId("sharing-problem").textContent = text;
  }

  /** @param {string} from The field's id. */
  async function copyField(from) {
    const field = /** @type {HTMLInputElement} */ (byId(from));
    const isCopied = await copy(field.value, dialog);
    field.focus();
    field.select();
    if (isCopied) toast("Link copied.");
    else say("The browser did not allow copying. The link is selected: copy it by hand.");
  }

  async function makeLink() {
    const fields = new FormData(form);
    const expiresIn = Number(/** @type {HTMLSelectElement} */ (byId("sharing-ends")).value);
    make.disabled = true;
    say("");
    try {
      /** @type {SharedLink} */
      const made = await request(path, "POST", { access: fields.get("access"), expiresIn });
      link.value = new URL(at(made.path), location.href).href;
      const what = made.access === "write" ? "Reads and writes" : "Reads";
      byId("sharing-link-label").textContent = `${what}, until ${dayAndTime.format(made.expiresAt)}`;
      byId("sharing-result").hidden = false;
      byId("sharing-copy-link").focus();
      announce(`The link is made. ${byId("sharing-link-label").textContent}.`);
    } catch (error) {
      say(`No link was made. ${messageOf(error)}`);
    } finally {
      make.disabled = false;
    }
  }

  async function withdraw() {
    const isSure = await confirm({
      title: "Withdraw all links of this note?",
      text:
        "Everyone using one of these links is disconnected immediately. People who can open the note " +
        "without a link are not affected.",
      yes: "Withdraw them",
      no: "Cancel",
    });
    if (!isSure) return;
    try {
      await request(path, "DELETE");
      byId("sharing-result").hidden = true;
      toast("All links were withdrawn.");
    } catch (error) {
      say(`The links still work. ${messageOf(error)}`);
    }
  }

  form.onsubmit = (event) => {
    event.preventDefault();
    void makeLink();
  };
  byId("sharing-copy-address").onclick = () => void copyField("sharing-address");
  byId("sharing-copy-link").onclick = () => void copyField("sharing-link");
  byId("sharing-withdraw").onclick = () => void withdraw();
  link.onfocus = () => link.select();
  await openDialog(dialog);
}
