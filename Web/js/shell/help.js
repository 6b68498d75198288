// The dialog that lists the keyboard shortcuts.

import { openDialog } from "../ground/dialogs.js";
import { t } from "../ground/language.js";
import { isApple } from "../ground/shortcuts.js";

const isMac = isApple(navigator);
const alt = isMac ? ["Control", "Option"] : ["Alt"];
const mod = isMac ? ["⌘"] : ["Ctrl"];

/** @typedef {[string[], string]} Row Keys to hold together, and their action. */

/** @returns {[string, Row[]][]} */
const groups = () => [
  [t("help.everywhere"), [
    [[...alt, "N"], t("keys.new")],
    [[...alt, "L"], t("keys.list")],
    [[...mod, "K"], t("keys.search")],
    [[...mod, "K", ">"], t("help.commands")],
    [[...alt, "E"], t("keys.text")],
    [[...alt, "H"], t("keys.history")],
    [[...alt, "M"], t("keys.comment")],
    [["F1"], t("help.this")],
  ]],
  [t("help.inText"), [
    [[...mod, "Enter"], t("help.tick")],
    [[...mod, t("help.click")], t("help.follow")],
    [[...mod, "B"], t("edit.bold")],
    [[...mod, "I"], t("edit.italic")],
    [[...mod, "F"], t("help.find")],
    [[...mod, "Z"], t("edit.undo")],
    [[...alt, "M"], t("comments.onSelection")],
    [["Tab"], t("help.leave")],
  ]],
  [t("help.inList"), [[["F2"], t("help.rename")], [["Delete"], t("help.remove")]]],
  [t("help.inHistory"), [[["Page Up"], t("help.laterTurn")], [["Page Down"], t("help.earlierTurn")], [["Esc"], t("history.back")]]],
];

/** @param {string} tag @param {...(Node | string)} children */
function make(tag, ...children) {
  const element = document.createElement(tag);
  element.append(...children);
  return element;
}

/** Shows the shortcuts until the user closes the dialog. */
export async function showHelp() {
  const dialog = /** @type {HTMLDialogElement} */ (make("dialog"));
  dialog.className = "dialog wide help";
  dialog.setAttribute("aria-labelledby", "help-title");
  const title = make("h2", t("help.title"));
  title.id = "help-title";
  // The focused title keeps the dialog scrolled to its top.
  title.tabIndex = -1;
  title.autofocus = true;
  const parts = groups().flatMap(([name, rows]) => [
    make("h3", name),
    make("dl", ...rows.map(([keys, text]) =>
      make("div", make("dt", ...keys.flatMap((key, at) => (at ? [" ", make("kbd", key)] : [make("kbd", key)]))), make("dd", text)))),
  ]);
  const close = /** @type {HTMLButtonElement} */ (make("button", t("close")));
  close.type = "button";
  close.className = "button";
  close.dataset.close = "";
  const buttons = make("div", close);
  buttons.className = "dialog-buttons";
  dialog.append(title, ...parts, buttons);
  document.body.append(dialog);
  await openDialog(dialog);
  dialog.remove();
}
