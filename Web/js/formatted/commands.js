// The commands of a formatted note's editor, for its bars, the toolbar on phones, and the command search.

import { byId, toast } from "../ground/dialogs.js";
import { t } from "../ground/language.js";
import { isApple } from "../ground/shortcuts.js";
import { followAddress } from "../links/addresses.js";
import { openSearch } from "../search/searching.js";
import { isOfKind, indent, linesOf, nextHeading, tick, toggleKind } from "./linecommands.js";
import { askForLink } from "./linkbox.js";
import { embedType } from "./schema.js";
import { setOf } from "./sets.js";
import { clearMarks, linkHere, linkTo, toggleMark, valueHere } from "./textmarks.js";
import { keys } from "./typing.js";

/**
 * @typedef {import("../prosemirror.js").EditorView} EditorView
 * @typedef {import("./linecommands.js").Command} Command
 * @typedef {import("../state/commands.js").Command & {name: string, isOn?: () => boolean}} EditorCommand `isOn`: whether
 *   the selected text has what the command gives it.
 */

const modifier = isApple(navigator) ? "⌘" : "Ctrl";

/** @param {string} key A key by ProseMirror's name. */
const printed = (key) => key.replace("Mod-", `${modifier} `).replace(/ ([a-z])$/, (_, letter) => ` ${letter.toUpperCase()}`);

/**
 * @param {EditorView} view
 * @param {Command} command
 * @param {string} [otherwise] The message if the command has nothing to do.
 */
export function run(view, command, otherwise) {
  const transaction = view.editable ? command(view.state) : undefined;
  if (transaction) view.dispatch(transaction.scrollIntoView());
  else if (otherwise) toast(otherwise);
  view.focus();
}

/** @type {Command} A line across the page, on a line of its own. */
export function insertRule(state) {
  const { tr } = state;
  if (!state.selection.empty) tr.delete(state.selection.from, state.selection.to);
  if (tr.selection.$from.parentOffset > 0) tr.split(tr.selection.from, 1);
  tr.insert(tr.selection.from, embedType.create({ embed: setOf([["rule", true]]) }));
  return tr.split(tr.selection.from, 1);
}

/**
 * @param {EditorView} view
 * @param {import("../state/shownnote.js").ShownNote} note
 * @returns {EditorCommand[]} The commands in the order of the toolbar.
 */
export function commandsOf(view, note) {
  /**
   * @param {string} name
   * @param {Command} command
   * @param {{label: string, icon: string, isOn?: () => boolean, otherwise?: string}} more
   * @returns {EditorCommand}
   */
  const of = (name, command, { label, icon, isOn, otherwise }) => ({
    name, label, icon, isOn,
    keys: name in keys ? printed(keys[/** @type {keyof typeof keys} */ (name)]) : undefined,
    run: () => run(view, command, otherwise),
  });
  const mark = (/** @type {string} */ name, /** @type {string} */ label, /** @type {string} */ icon = name) =>
    of(name, toggleMark(name), { label, icon, isOn: () => valueHere(view.state, name) === true });
  const kind = (/** @type {string} */ name, /** @type {string} */ value, /** @type {string} */ label, /** @type {string} */ icon) =>
    of(name, toggleKind(value), {
      label, icon, isOn: () => linesOf(view.state).every(({ line }) => isOfKind(line.attrs.set, value)),
    });
  return [
    mark("bold", t("edit.bold")),
    mark("italic", t("edit.italic")),
    mark("underline", t("formatted.underline")),
    mark("strike", t("formatted.strike")),
    of("heading", nextHeading, { label: t("edit.heading"), icon: "heading", isOn: () => isHeading(view) }),
    kind("bullets", "bullet", t("edit.bullets"), "list"),
    kind("numbers", "ordered", t("edit.numbers"), "numbers"),
    kind("boxes", "task", t("edit.boxes"), "box"),
    of("tick", tick, { label: t("edit.tick"), icon: "check", otherwise: t("edit.noBox") }),
    { name: "link", label: t("edit.link"), icon: "link", isOn: () => linkHere(view.state) !== undefined, run: () => askForLink(view) },
    { name: "noteLink", label: t("edit.noteLink"), icon: "search", run: () => linkToNote(view) },
    { name: "file", label: t("file.add"), icon: "picture", run: () => byId("file").click() },
    kind("quote", "quote", t("edit.quote"), "quote"),
    mark("code", t("edit.code")),
    kind("codeBlock", "code", t("formatted.codeBlock"), "codeblock"),
    of("indent", indent(1), { label: t("formatted.indent"), icon: "indent", otherwise: t("formatted.noItem") }),
    of("outdent", indent(-1), { label: t("formatted.outdent"), icon: "outdent", otherwise: t("formatted.noItem") }),
    of("rule", insertRule, { label: t("formatted.rule"), icon: "rule" }),
    of("clear", clearMarks, { label: t("formatted.clear"), icon: "clear" }),
    { name: "follow", label: t("edit.follow"), icon: "forward", run: () => follow(view) },
    { name: "undo", label: t("edit.undo"), icon: "restore", keys: `${modifier} Z`, run: () => (note.undo(), view.focus()) },
    { name: "redo", label: t("edit.redo"), icon: "redo", run: () => (note.redo(), view.focus()) },
  ];
}

/** @param {EditorView} view */
const isHeading = (view) => linesOf(view.state).every(({ line }) => /^h[1-6]$/.test(line.attrs.set.block ?? ""));

/** @param {EditorView} view */
function linkToNote(view) {
  void openSearch("", ({ id, title }) => run(view, linkTo(`/n/${encodeURIComponent(id)}`, title || id)));
}

/** @param {EditorView} view */
function follow(view) {
  const link = linkHere(view.state);
  if (link) followAddress(link.value);
  else toast(t("edit.noLink"));
}
