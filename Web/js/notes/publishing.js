// The part of the sharing dialog that publishes a note under a readable name, and withdraws the name.

import { at } from "../ground/base.js";
import { RequestError, request } from "../client/http.js";
import { announce, confirm, copy, toast } from "../ground/dialogs.js";
import { dateFormat, t } from "../ground/language.js";
import { messageOf } from "../client/words.js";

/** @typedef {{name?: string, path?: string}} Publication Empty if the note is not published. */

const day = dateFormat({ dateStyle: "long" });

/**
 * Returns why the note was not published, for the user who chose the name.
 *
 * @param {unknown} error
 * @returns {string}
 */
export function problemWith(error) {
  if (!(error instanceof RequestError)) return messageOf(error);
  if (error.status === 400) return t("publish.invalid");
  if (error.code !== "idTaken") return messageOf(error);
  return error.until === undefined ? t("publish.taken") : t("publish.resting", { time: day.format(error.until) });
}

/**
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Partial<HTMLElementTagNameMap[Name]>} properties
 * @param {(Node | string)[]} children
 */
const made = (name, properties, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};

/** Creates the controls. Those of a published note are hidden until a name is drawn. */
function controls() {
  const address = made("input", { id: "publish-address", readOnly: true });
  const copyButton = made("button", { type: "button", className: "button" }, t("copy"));
  const withdraw = made("button", { type: "button", className: "button plain-danger" }, t("publish.withdraw"));
  const result = made(
    "div",
    { className: "field" },
    made("label", { htmlFor: "publish-address" }, t("publish.address")),
    made("div", { className: "copy-field" }, address, copyButton),
  );
  const name = made("input", {
    id: "publish-name", required: true, maxLength: 200, autocomplete: "off", autocapitalize: "none", spellcheck: false, dir: "auto",
  });
  const submit = made("button", { type: "submit", className: "button" });
  const form = made(
    "form",
    { className: "field" },
    made("label", { htmlFor: "publish-name" }, t("publish.name")),
    made("div", { className: "copy-field" }, name, submit),
  );
  const problem = made("p", { className: "problem" });
  problem.setAttribute("role", "alert");
  const end = made("div", { className: "sharing-choices" }, withdraw);
  return { address, copyButton, withdraw, end, result, name, submit, form, problem };
}

/** @type {object | undefined} The part shown last. */
let latest;

/**
 * Shows the part for a note if the server supports publishing.
 *
 * @param {string} id The note's id.
 * @param {HTMLDialogElement} dialog
 */
export async function showPublishing(id, dialog) {
  const section = dialog.querySelector("section.publishing") ?? made("section", { className: "publishing" });
  const part = controls();
  latest = part;
  const path = `/api/notes/${encodeURIComponent(id)}/name`;
  section.remove();
  section.replaceChildren(
    made("h3", {}, t("publish.make")), made("p", { className: "hint" }, t("publish.hint")), part.result, part.form, part.problem, part.end,
  );
  /** Whether the dialog still shows this note; another's may be open when the answer arrives. */
  const isHere = () => part.form.isConnected && latest === part;

  /** @param {Publication} publication */
  function draw(publication) {
    part.result.hidden = part.withdraw.hidden = publication.path === undefined;
    part.address.value = publication.path ? decodeURI(new URL(at(publication.path), location.href).href) : "";
    if (publication.name !== undefined) part.name.value = publication.name;
    part.submit.textContent = t(publication.path ? "rename" : "publish.make");
  }

  /** @param {() => Promise<void>} work @param {(error: unknown) => string} words */
  async function run(work, words) {
    part.problem.textContent = "";
    part.submit.disabled = part.withdraw.disabled = true;
    try {
      await work();
    } catch (error) {
      if (isHere() && dialog.open) part.problem.textContent = words(error);
      else toast(words(error));
    } finally {
      part.submit.disabled = part.withdraw.disabled = false;
    }
  }

  part.form.onsubmit = (event) => {
    event.preventDefault();
    void run(async () => {
      draw(await request(path, "PUT", { name: part.name.value.trim() }));
      part.copyButton.focus();
      announce(t("publish.address"));
    }, problemWith);
  };
  part.copyButton.onclick = async () => {
    if (await copy(part.address.value, dialog)) toast(t("note.linkCopied"));
    else part.problem.textContent = t("sharing.copyByHand");
    part.address.select();
  };
  part.withdraw.onclick = async () => {
    const name = part.name.value;
    const isSure = await confirm({
      title: t("publish.withdrawTitle"), text: t("publish.withdrawText"), yes: t("publish.withdraw"), no: t("cancel"),
    });
    if (!isSure) return;
    await run(async () => {
      await request(path, "DELETE");
      draw({ name });
      part.name.focus();
      toast(t("publish.withdrawn"));
    }, messageOf);
  };
  try {
    draw(await request(path));
    // Another note's dialog may be open now.
    if (latest === part) dialog.querySelector(":scope > .dialog-buttons")?.before(section);
  } catch {
    // The server does not support publishing, or does not answer.
  }
}
