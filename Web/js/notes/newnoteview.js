// Shows a new note until the server has created it.

import { announce, byId, toast } from "../ground/dialogs.js";
import { t } from "../ground/language.js";
import { untitled } from "../state/newnote.js";
import { renameNote, copyText } from "./noteactions.js";
import { drawNotices, notices } from "../ground/notices.js";
import { openNote } from "../state/opennotes.js";
import { page } from "../state/page.js";
import { go, home, pathOf, pathOfNew } from "../state/routes.js";
import { mayCreate } from "../account/rights.js";
import { connection, early, folders, newNotes } from "../state/session.js";
import { newKind } from "../state/notekinds.js";
import { drawKindChoice, followNewNote, setUpKindChoice } from "./kindchoice.js";
import { titleField } from "./titlebar.js";

/** Shows a new note immediately, so that its title or first words can be typed. */
export function createNote() {
  if (!mayCreate()) return;
  // A new note without any text is shown again instead of a second one.
  const inFolder = folders.forNewNote ?? "";
  const blank = newNotes.all.find(
    ({ title, place, folder }) => title === untitled && folder === inFolder && !early.text(place),
  );
  if (!blank && newNotes.isFull) {
    toast(t("new.tooMany"));
    return;
  }
  const { key } = blank ?? newNotes.begin(inFolder, newKind());
  go(pathOfNew(key));
  titleField.focus();
  titleField.select();
}

/**
 * Opens the created note; the user may have entered a title and text since.
 *
 * @param {{newNote: import("../state/newnote.js").NewNote, note: import("../state/notes.js").NoteEntry}} made
 */
function takeNewNote({ newNote, note }) {
  followNewNote(newNote.place, note.id);
  early.move(newNote.place, note.id);
  if (newNote.title && newNote.title !== note.title) void renameNote(note.id, newNote.title);
  if (newNote !== page.newNote) {
    if (early.text(note.id)) openNote(note.id);
    return;
  }
  titleField.dataset.note = note.id;
  history.replaceState(null, "", pathOf(note.id));
  page.emit("went", undefined);
}

/** @param {import("../state/newnote.js").NewNote} newNote */
function forgetNewNote(newNote) {
  newNotes.forget(newNote);
  early.take(newNote.place);
  history.replaceState(null, "", home);
  page.emit("went", undefined);
}

/**
 * Draws the status of a note that is not created yet: it has no synchronised text and no other people.
 *
 * @param {import("../state/newnote.js").NewNote} newNote
 */
export function drawNewStatus(newNote) {
  const { problem, isKept } = newNote;
  const status = byId("status");
  const text = problem ? t("list.notMade") : t("list.making");
  if (status.dataset.state !== "offline" && problem) announce(text);
  status.dataset.state = problem ? "offline" : "connecting";
  status.dataset.unsaved = "0";
  byId("status-text").textContent = text;
  status.hidden = byId("people").hidden = false;
  byId("retry").hidden = connection.status.state !== "waiting";
  byId("editor").hidden = true;
  byId("gone").hidden = true;
  byId("access").hidden = true;
  // Nothing is being fetched.
  byId("loading").hidden = true;
  titleField.disabled = false;
  drawKindChoice();
  early.show(newNote.place);
  if (problem) {
    const hope = isKept ? t("new.hope") : t("notice.storage");
    notices.set("new", {
      title: t("new.problem"),
      text: problem.isFinal ? problem.text : t("withReason", { text: problem.text, reason: hope }),
      isBad: problem.isFinal || !isKept,
      buttons: [
        { label: t("tryAgain"), run: () => void newNotes.retry(newNote) },
        { label: t("notice.copyMine"), run: () => void copyText() },
        { label: t("discard"), run: () => forgetNewNote(newNote) },
      ],
    });
  } else {
    notices.delete("new");
  }
  drawNotices();
}

/** Listens to the events of new notes. */
export function setUpNewNotes() {
  setUpKindChoice();
  newNotes.on("made", takeNewNote);
  newNotes.on("changed", (newNote) => {
    if (newNote === page.newNote) drawNewStatus(newNote);
    else if (newNote.problem?.isFinal) toast(t("new.failed", { reason: newNote.problem.text }));
    page.emit("notes", undefined);
  });
  byId("create").addEventListener("click", createNote);
  byId("welcome-create").addEventListener("click", createNote);
}
