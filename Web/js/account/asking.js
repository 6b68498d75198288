// A dialog that asks for names and passwords. Loaded on demand.

import { openDialog, toast } from "../ground/dialogs.js";
import { keepFocusOn } from "../ground/dialogfocus.js";
import { t } from "../ground/language.js";
import { messageOf } from "../client/words.js";

/** Minimum length of a password on the server. */
const lengthMin = 8;

/**
 * @typedef {{name: string, label: string, type?: string, autocomplete: string, isOptional?: boolean,
 *   value?: string, typed?: string}} Field A field with a value is hidden; it is for the browser's password store.
 *   `typed`: what is in the field at first.
 */

/** @param {Field} field */
function inputFor({ name, type = "text", autocomplete, isOptional = false, value, typed }) {
  const input = document.createElement("input");
  Object.assign(input, { name, type, autocomplete, required: !isOptional, spellcheck: false, maxLength: 200 });
  if (type === "text") input.dir = "auto";
  if (name === "email") input.setAttribute("autocapitalize", "off");
  if (autocomplete === "new-password") input.minLength = lengthMin;
  if (typed) input.value = typed;
  if (value !== undefined) Object.assign(input, { value, readOnly: true, hidden: true });
  return input;
}

/**
 * Asks for the fields in a dialog.
 *
 * @param {object} question
 * @param {string} question.title
 * @param {string} question.text
 * @param {Field[]} question.fields
 * @param {string} question.yes
 * @param {(values: Record<string, string>, isGivenUp: () => boolean) => Promise<string | undefined>} question.submit
 * Returns the error to show; undefined closes the dialog. The user may close it before.
 */
export function ask({ title, text, fields, yes, submit }) {
  const dialog = document.createElement("dialog");
  dialog.className = "dialog";
  const form = document.createElement("form");
  form.method = "dialog";
  const heading = document.createElement("h2");
  heading.id = "password-title";
  heading.textContent = title;
  dialog.setAttribute("aria-labelledby", heading.id);
  const words = document.createElement("p");
  words.textContent = text;
  const problem = document.createElement("p");
  problem.className = "problem";
  problem.id = "password-problem";
  problem.setAttribute("role", "alert");
  const inputs = fields.map(inputFor);
  const rows = fields.map(({ label, value }, index) => {
    const input = /** @type {HTMLInputElement} */ (inputs[index]);
    if (value !== undefined) return input;
    input.setAttribute("aria-describedby", problem.id);
    const row = document.createElement("label");
    row.className = "field";
    const caption = document.createElement("span");
    caption.textContent = label;
    row.append(caption, input);
    return row;
  });
  const no = document.createElement("button");
  Object.assign(no, { className: "button", type: "button", textContent: t("cancel") });
  no.dataset.close = "";
  const confirm = document.createElement("button");
  Object.assign(confirm, { className: "button primary", type: "submit", textContent: yes });
  const buttons = document.createElement("div");
  buttons.className = "dialog-buttons";
  buttons.append(no, confirm);
  form.append(heading, words, ...rows, problem, buttons);
  dialog.append(form);
  document.body.append(dialog);
  form.onsubmit = async (event) => {
    event.preventDefault();
    confirm.disabled = true;
    problem.textContent = "";
    const values = Object.fromEntries(inputs.map((input) => [input.name, input.value]));
    const wrong = await submit(values, () => !dialog.open).catch(messageOf);
    confirm.disabled = false;
    if (!wrong) dialog.close("confirm");
    else if (dialog.open) {
      problem.textContent = wrong;
      keepFocusOn(confirm);
    } else {
      // The user has closed the dialog, and expects that the change was made.
      toast(`${title} – ${wrong}`);
    }
  };
  void openDialog(dialog).finally(() => dialog.remove());
}
