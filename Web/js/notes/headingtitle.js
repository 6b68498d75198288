// Gives an untitled note the heading in the first line of its text as its title.

import { untitled } from "../state/newnote.js";
import { renameNote } from "./noteactions.js";
import { oneLine } from "../ground/oneline.js";
import { page } from "../state/page.js";
import { mayManage } from "../account/rights.js";
import { list } from "../state/session.js";
import { wellFormed } from "../ground/wellformed.js";

/** Milliseconds after the last edit before the heading becomes the title. */
const afterEdit = 1_000;
/** Maximum UTF-16 units of a title, as in its field. */
const lengthMax = 200;

/** @type {any} */
let timer;
/** @type {{id: string, title: string} | undefined} The last title from a heading, until a user changes the title. */
let given;

/**
 * Returns the text of a heading in the first line, without its marks.
 *
 * @param {string} text
 * @returns {string} Empty if the first line is not a heading.
 */
export function headingTitle(text) {
  const end = text.indexOf("\n");
  const line = text.slice(0, end < 0 ? undefined : end).slice(0, 1_000);
  const words = /^ {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$/.exec(line)?.[1] ?? "";
  const plain = words.replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/(\*\*|__|~~|[*`])(?=\S)(.*?\S)\1/g, "$2");
  return wellFormed(oneLine(plain).slice(0, lengthMax)).trim();
}

/** @param {import("../state/shownnote.js").ShownNote} note @returns {string} */
function headingOf(note) {
  if (note.kind !== "rich") return headingTitle(note.text ?? "");
  const words = page.editor?.kind === "rich" ? page.editor.firstHeading : "";
  return wellFormed(oneLine(words).slice(0, lengthMax)).trim();
}

function giveTitle() {
  const note = page.current;
  if (!note?.hasText || !mayManage(note.documentId) || page.typedTitle) return;
  const { documentId: id } = note;
  const title = list.titleOfOpen(note);
  // The server may confirm an older title after a newer one was set here, so check both.
  const isFree = [title, list.titleFromHere(id) ?? ""].every(
    (known) => known === "" || known === untitled || (given?.id === id && given.title === known),
  );
  const heading = isFree ? headingOf(note) : "";
  if (!heading || heading === title) return;
  given = { id, title: heading };
  void renameNote(id, heading);
}

/** Schedules an update of the title after an edit of the shown note. */
export function scheduleTitle() {
  clearTimeout(timer);
  timer = setTimeout(giveTitle, afterEdit);
}
