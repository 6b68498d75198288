// A note that is begun, as the page shows it until the server has made it.

import { newPlace } from "./access.js";
import { announce, byId, toast } from "./dialogs.js";
import { renameNote, copyText } from "./noteactions.js";
import { drawNotices, notices } from "./notices.js";
import { openNote } from "./opennotes.js";
import { page } from "./page.js";
import { go, pathOf } from "./routes.js";
import { access, connection, early, newNote, unmade } from "./session.js";
import { titleField } from "./titlebar.js";

/** Shows the note at once: who begins one has its title, or its first words, at their fingertips. */
export function createNote() {
  if (access.isLink) return;
  newNote.begin();
  go(`/#${newPlace}`);
  titleField.focus();
  titleField.select();
}

/**
 * The note that was begun is there; title and text may have been written meanwhile.
 *
 * @param {{note: import("./notes.js").NoteEntry, title: string}} made
 */
function takeNewNote({ note, title }) {
  early.move(unmade, note.id);
  const isAtTitle = page.isNewShown && document.activeElement === titleField;
  // Who is still writing the title sets it by leaving the field.
  if (!isAtTitle && title && title !== note.title) void renameNote(note.id, title);
  if (!page.isNewShown) {
    if (early.text(note.id)) openNote(note.id);
    return;
  }
  titleField.dataset.note = note.id;
  history.replaceState(null, "", pathOf(note.id));
  page.emit("went", undefined);
}

function forgetNewNote() {
  newNote.forget();
  early.take(unmade);
  history.replaceState(null, "", "/");
  page.emit("went", undefined);
}

/** A note that is begun has no text yet, and nobody else in it. */
export function drawNewStatus() {
  const { problem } = newNote;
  const status = byId("status");
  const text = problem ? "Not made yet" : "Making the note…";
  if (status.dataset.state !== "offline" && problem) announce(text);
  status.dataset.state = problem ? "offline" : "connecting";
  status.dataset.unsaved = "0";
  byId("status-text").textContent = text;
  byId("retry").hidden = connection.status.state !== "waiting";
  byId("editor").hidden = true;
  byId("gone").hidden = true;
  byId("access").hidden = true;
  byId("loading").hidden = false;
  titleField.disabled = false;
  early.show(unmade);
  if (problem) {
    notices.set("new", {
      title: "The note is not made yet.",
      text: problem.isFinal
        ? problem.text
        : `${problem.text} What you write is kept, and the note is made when that is possible.`,
      isBad: problem.isFinal,
      buttons: [
        { label: "Try again", run: () => void newNote.retry() },
        { label: "Copy my text", run: () => void copyText() },
        { label: "Discard it", run: forgetNewNote },
      ],
    });
  } else {
    notices.delete("new");
  }
  drawNotices();
}

/** Watches over the note that is begun. */
export function setUpNewNote() {
  newNote.on("made", takeNewNote);
  newNote.on("changed", () => {
    if (page.isNewShown) drawNewStatus();
    else if (newNote.problem) toast(`The new note is not made yet. ${newNote.problem.text}`);
  });
  byId("create").addEventListener("click", createNote);
  byId("welcome-create").addEventListener("click", createNote);
}
