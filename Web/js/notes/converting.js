// Makes a Markdown note a formatted one, and writes a formatted note's text as Markdown. Each is one change.

import { confirm, toast } from "../ground/dialogs.js";
import { t } from "../ground/language.js";
import { loadPart } from "../ground/parts.js";
import { showAsMarkdown } from "../state/notekinds.js";
import { untitled } from "../state/newnote.js";
import { page } from "../state/page.js";
import { messageOf } from "../client/words.js";

/** @typedef {import("../state/shownnote.js").ShownNote} Note */

/** @param {string} text @returns {import("../client/door.js").TextChange[]} The changes that leave "\n" alone at line ends. */
const withoutReturns = (text) =>
  [...text.matchAll(/\r\n?/g)].map(({ 0: end, index = 0 }) => ({ from: index, to: index + 1, insert: end === "\r" ? "\n" : "" }));

/** @param {Note} note Formats its Markdown, and makes it a formatted note if it is none. */
async function format(note) {
  try {
    const { fromMarkdown } = await loadPart(() => import("../formatted/frommarkdown.js"));
    if (note !== page.current || !note.isWritable || !note.hasText) return;
    const own = note.ownText;
    if (own.includes("\r")) note.editOwn(withoutReturns(own));
    const { changes, format: given } = fromMarkdown(note.ownText);
    const isRich = note.kind === "rich";
    note.endStep();
    showAsMarkdown(note.documentId, false);
    note.editOwn(changes, isRich ? { ...given, kind: undefined } : given);
    note.endStep();
    page.emit("kind", undefined);
  } catch (error) {
    console.error(error);
    toast(t("note.kindFailed", { reason: messageOf(error) }));
  }
}

/** Asks, and makes the shown note a formatted one. */
export async function makeFormatted() {
  const note = page.current;
  const isSure = await confirm({
    title: t("note.toRichTitle", { title: note?.title || untitled }),
    text: t("note.toRichText"),
    yes: t("note.toRichYes"),
    isDangerous: false,
  });
  if (isSure && note && note === page.current) await format(note);
}

/** Formats the Markdown of a formatted note. */
export async function formatMarkdown() {
  if (page.current) await format(page.current);
}

/** Writes the shown note's text as Markdown, and shows it so. */
export async function writeMarkdown() {
  const note = page.current;
  const editor = page.editor;
  try {
    const [{ toMarkdown }, { changesBetween }] = await loadPart(() =>
      Promise.all([import("../formatted/tomarkdown.js"), import("../formatted/formatted.js")]),
    );
    if (!note || note !== page.current || editor?.kind !== "rich" || !note.isWritable) return;
    const change = changesBetween(editor.document, toMarkdown(editor.document));
    note.endStep();
    showAsMarkdown(note.documentId, true);
    note.editOwn(change.changes, change.format);
    note.endStep();
    page.emit("kind", undefined);
  } catch (error) {
    console.error(error);
    toast(t("note.kindFailed", { reason: messageOf(error) }));
  }
}
