// The commands of an editor, for its keys, the toolbar on phones, and the command search.

import { followAddress } from "../links/addresses.js";
import { redo, undo } from "../codemirror.js";
import { toast } from "../ground/dialogs.js";
import { t } from "../ground/language.js";
import { openSearch } from "../search/searching.js";
import { isApple } from "../ground/shortcuts.js";
import { addressAt, linkToNote, textCommands } from "./textcommands.js";

/**
 * @typedef {import("../codemirror.js").EditorView} EditorView
 * @typedef {import("../state/commands.js").Command & {name: string}} EditorCommand
 */

/** The keys of some commands, with CodeMirror's names. */
const keys = { bold: "Mod-b", italic: "Mod-i", tick: "Mod-Enter" };

/** @param {EditorView} view @param {import("./textcommands.js").TextCommand} command */
function run(view, command) {
  if (view.state.readOnly) return false;
  const change = command(view.state);
  if (change) view.dispatch({ ...change, scrollIntoView: true, userEvent: "input" });
  return change !== undefined;
}

/** The bindings for the editor's keymap. */
export const commandKeymap = /** @type {(keyof typeof keys)[]} */ (Object.keys(keys)).map((name) => ({
  key: keys[name],
  run: (/** @type {EditorView} */ view) => run(view, textCommands[name]),
}));

const modifier = isApple(navigator) ? "⌘" : "Ctrl";

/** @param {string} key A key by CodeMirror's name. */
const printed = (key) => key.replace("Mod-", `${modifier} `).replace(/ ([a-z])$/, (_, letter) => ` ${letter.toUpperCase()}`);

/**
 * @param {EditorView} view
 * @param {() => void} chooseFiles
 * @returns {EditorCommand[]} The commands in the order of the toolbar.
 */
export function commandsOf(view, chooseFiles) {
  /**
   * @param {keyof typeof textCommands} name
   * @param {string} label
   * @param {string} icon
   * @param {string} [otherwise] The message if the command has nothing to do.
   * @returns {EditorCommand}
   */
  const ofText = (name, label, icon, otherwise) => ({
    name,
    label,
    icon,
    keys: name in keys ? printed(keys[/** @type {keyof typeof keys} */ (name)]) : undefined,
    run: () => {
      if (!run(view, textCommands[name]) && otherwise) toast(otherwise);
      view.focus();
    },
  });
  return [
    ofText("boxes", t("edit.boxes"), "box"),
    ofText("tick", t("edit.tick"), "check", t("edit.noBox")),
    ofText("bullets", t("edit.bullets"), "list"),
    ofText("heading", t("edit.heading"), "heading"),
    ofText("bold", t("edit.bold"), "bold"),
    ofText("italic", t("edit.italic"), "italic"),
    ofText("link", t("edit.link"), "link"),
    {
      name: "noteLink",
      label: t("edit.noteLink"),
      icon: "search",
      run: () =>
        void openSearch("", (note) => {
          if (!view.state.readOnly) view.dispatch({ ...linkToNote(note)(view.state), userEvent: "input" });
          view.focus();
        }),
    },
    { name: "file", label: t("file.add"), icon: "picture", run: chooseFiles },
    ofText("table", t("edit.table"), "table"),
    ofText("alignTable", t("edit.alignTable"), "align", t("edit.noTable")),
    ofText("code", t("edit.code"), "code"),
    ofText("quote", t("edit.quote"), "quote"),
    ofText("numbers", t("edit.numbers"), "numbers"),
    {
      name: "follow",
      label: t("edit.follow"),
      icon: "forward",
      run: () => {
        const address = addressAt(view.state, view.state.selection.main.head);
        if (address) followAddress(address);
        else toast(t("edit.noLink"));
      },
    },
    { name: "undo", label: t("edit.undo"), icon: "restore", keys: `${modifier} Z`, run: () => (undo(view), view.focus()) },
    { name: "redo", label: t("edit.redo"), icon: "redo", run: () => (redo(view), view.focus()) },
  ];
}
