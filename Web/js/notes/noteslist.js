// The list of notes beside the text, from which notes are opened, renamed, deleted and shared.

import { byId, icon, openMenu, toast } from "../ground/dialogs.js";
import { t } from "../ground/language.js";
import { isOfComposition } from "../ground/shortcuts.js";
import { untitled } from "../state/newnote.js";
import { noteType, setUpFolders, showsRecent } from "./folderview.js";
import { moveNoteByDialog, removeNote, renameNote, shareNote } from "./noteactions.js";
import { when } from "../state/notes.js";
import { notes, unsavedIn } from "../state/opennotes.js";
import { page } from "../state/page.js";
import { Pins } from "./pins.js";
import { pathOf, pathOfNew } from "../state/routes.js";
import { mayManage } from "../account/rights.js";
import { connection, folders, inbox, list, newNotes, ownerNow, recent, tags } from "../state/session.js";
import { lastingStore } from "../ground/storage.js";
import { setUpTags } from "./tagview.js";
import { messageOf } from "../client/words.js";

const pins = new Pins({ storage: lastingStore(), owner: ownerNow, window });

/** @type {string | undefined} The note whose title is being changed in the list. */
let renaming;
let drawnList = "";

/** The number of rows drawn at first, and added by each click on "more". */
const rowsStep = 200;
let rowsMax = rowsStep;
/** The folder and filters of the drawn rows; after a change, the list starts with `rowsStep` rows again. */
let rowsOf = "";

/**
 * Returns the number of unconfirmed edits of a note while the page is offline; otherwise 0.
 *
 * @param {string} id
 */
const unsavedOf = (id) => {
  const note = connection.isOnline ? undefined : notes.get(id);
  return note ? unsavedIn(note) : 0;
};

/** Draws the list if it has changed; cheap if it has not. */
export function drawList() {
  const box = byId("notes");
  // The field must not be removed while the user types in it.
  if (renaming !== undefined && box.querySelector(".rename")) return;
  const filter = /** @type {HTMLInputElement} */ (byId("find")).value.trim().toLocaleLowerCase();
  const isRecent = showsRecent();
  const known = tags.filtered(isRecent ? recent.of(list.notes ?? []) : pins.sorted(folders.notes));
  const typed = page.typedTitle;
  const all = typed ? known.map((entry) => (entry.id === typed.id ? { ...entry, title: typed.title } : entry)) : known;
  // A folder, and the recently opened notes, omit other notes on purpose.
  const isTagCut = tags.areMissing(all, list.isCut && !isRecent && folders.chosen === undefined);
  const place = JSON.stringify([folders.chosen, isRecent, filter, tags.chosen]);
  if (place !== rowsOf) rowsMax = rowsStep;
  rowsOf = place;
  const isFound = (/** @type {{title: string}} */ { title }) => title.toLocaleLowerCase().includes(filter);
  const found = filter === "" ? all : all.filter(isFound);
  const shown = found.slice(0, rowsMax);
  const isCut = found.length > shown.length || (folders.hasMore && !isRecent);
  const state = shown.map(({ id, title, updatedAt }) => [id, title, when(updatedAt), unsavedOf(id), pins.has(id), inbox.unreadOf(id)]);
  const begun = newNotes.all.filter(
    (note) => isFound(note) && !isRecent && tags.chosen === undefined && (folders.chosen === undefined || folders.chosen === note.folder),
  );
  const beginnings = begun.map(({ key, title, problem }) => [key, title, problem !== undefined]);
  const key = JSON.stringify([state, beginnings, place, isCut, isTagCut, page.place, renaming, list.notes === undefined]);
  // Called at each keystroke: do not replace rows needlessly, since a row replaced under the pointer loses its click.
  if (key === drawnList) return;
  drawnList = key;
  const focused = /** @type {HTMLElement | null} */ (document.activeElement);
  const focusedKey = box.contains(focused) ? focused?.dataset.key : undefined;
  const index = [...box.children].findIndex((item) => item.contains(focused));
  box.replaceChildren(...begun.map(newRow), ...shown.map(row));
  byId("notes-more").hidden = !isCut;
  byId("notes-cut").hidden = !isTagCut;
  byId("notes-cut").textContent = isTagCut ? t("tag.cut", { words: `tag:${tags.chosen}` }) : "";
  if (focusedKey) {
    // If the note is gone, the next row gets the focus.
    const row = box.children[Math.min(index, box.childElementCount - 1)];
    const same = box.querySelector(`[data-key="${CSS.escape(focusedKey)}"]`);
    /** @type {HTMLElement | null | undefined} */ (same ?? row?.querySelector(".note-link"))?.focus();
  }
  byId("find-box").hidden = (list.notes?.length ?? 0) < 8 && filter === "";
  const empty = byId("notes-empty");
  empty.hidden = shown.length + begun.length > 0 || list.notes === undefined || (isTagCut && filter === "");
  empty.textContent = filter
    ? t("list.nothingFound")
    : folders.chosen === undefined && tags.chosen === undefined
      ? t("list.empty")
      : t("folder.empty");
}

/**
 * A row for a note that the server has not created yet.
 *
 * @param {import("../state/newnote.js").NewNote} newNote
 */
function newRow(newNote) {
  const { key, title, problem } = newNote;
  const item = document.createElement("li");
  item.className = "note-row" + (newNote === page.newNote ? " is-open" : "");
  const link = linkTo(pathOfNew(key), title, newNote === page.newNote);
  link.dataset.key = `new ${key}`;
  const detail = document.createElement("span");
  detail.className = "note-when";
  const mark = document.createElement("span");
  mark.className = "unsaved";
  mark.textContent = t("list.notMade");
  detail.append(problem ? mark : t("list.making"));
  link.append(detail);
  link.addEventListener("keydown", (event) => stepThrough(event, item));
  item.append(link);
  return item;
}

/** @param {string} href @param {string} title @param {boolean} isOpen */
function linkTo(href, title, isOpen) {
  const link = document.createElement("a");
  link.className = "note-link";
  link.href = href;
  link.dataset.link = "";
  if (isOpen) link.setAttribute("aria-current", "page");
  const name = document.createElement("span");
  name.className = "note-title" + (title ? "" : " is-untitled");
  name.dir = "auto";
  name.textContent = title || untitled;
  link.append(name);
  return link;
}

/**
 * Moves the focus up or down in the list.
 *
 * @param {KeyboardEvent} event
 * @param {HTMLElement} item
 */
function stepThrough(event, item) {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  const next = event.key === "ArrowDown" ? item.nextElementSibling : item.previousElementSibling;
  /** @type {HTMLElement | null | undefined} */ (next?.querySelector(".note-link"))?.focus();
  event.preventDefault();
}

/** @param {number} count */
function unreadMark(count) {
  const mark = document.createElement("span");
  mark.className = "unread-mark";
  mark.setAttribute("role", "img");
  mark.setAttribute("aria-label", t("inbox.openUnread", { count }));
  return mark;
}

/** @param {import("../state/notes.js").NoteEntry} entry */
function row(entry) {
  const { id, title, updatedAt } = entry;
  const item = document.createElement("li");
  item.className = "note-row" + (id === page.current?.documentId ? " is-open" : "");
  item.dataset.note = id;
  if (mayManage(id)) {
    item.draggable = true;
    item.addEventListener("dragstart", (event) => {
      event.dataTransfer?.setData(noteType, id);
      if (event.dataTransfer) event.dataTransfer.effectAllowed = "copyMove";
    });
  }
  if (renaming === id) {
    item.append(renameField(entry));
    return item;
  }
  const link = linkTo(pathOf(id), title, id === page.current?.documentId);
  link.dataset.key = `link ${id}`;
  const detail = document.createElement("span");
  detail.className = "note-when";
  const unsaved = unsavedOf(id);
  if (unsaved > 0) {
    const mark = document.createElement("span");
    mark.className = "unsaved";
    mark.textContent = t("count.unsaved", { count: unsaved });
    detail.append(mark);
  } else {
    detail.textContent = when(updatedAt);
  }
  if (pins.has(id)) detail.prepend(pinMark());
  const unread = inbox.unreadOf(id);
  if (unread > 0) detail.prepend(unreadMark(unread));
  link.append(detail);
  link.addEventListener("keydown", (event) => {
    if ((event.key === "F2" || event.key === "Delete") && !mayManage(id)) return;
    if (event.key === "F2") startRenaming(id);
    else if (event.key === "Delete") void removeNote(id);
    else {
      stepThrough(event, item);
      return;
    }
    event.preventDefault();
  });
  const more = document.createElement("button");
  more.type = "button";
  more.className = "icon-button";
  more.dataset.key = `more ${id}`;
  more.setAttribute("aria-label", t("list.moreFor", { title: title || untitled }));
  more.setAttribute("aria-haspopup", "menu");
  more.setAttribute("aria-expanded", "false");
  more.append(icon("more"));
  more.addEventListener("click", () => {
    const isManaged = mayManage(id);
    const share = { label: isManaged ? t("note.shareMore") : t("note.copyLink"), icon: "link", run: () => void shareNote(id) };
    const pin = { label: t(pins.has(id) ? "list.unpin" : "list.pin"), icon: "pin", run: () => pins.toggle(id) };
    if (!isManaged) openMenu(more, [pin, share]);
    else {
      openMenu(more, [
        pin,
        { label: t("rename"), icon: "pencil", run: () => startRenaming(id) },
        { label: t("folder.move"), icon: "folder", run: () => void moveNoteByDialog(id) },
        share,
        { label: t("delete"), icon: "trash", isDangerous: true, run: () => void removeNote(id) },
      ]);
    }
  });
  item.append(link, more);
  return item;
}

/** The mark of a pinned note. */
function pinMark() {
  const mark = document.createElement("span");
  mark.className = "pinned";
  mark.setAttribute("role", "img");
  mark.setAttribute("aria-label", t("list.pinned"));
  mark.append(icon("pin"));
  return mark;
}

/** @param {import("../state/notes.js").NoteEntry} entry */
function renameField({ id, title }) {
  const field = document.createElement("input");
  field.className = "rename";
  field.dir = "auto";
  field.value = title;
  field.maxLength = 200;
  field.setAttribute("aria-label", t("list.newTitle"));
  let isDone = false;
  const finish = (/** @type {boolean} */ isKept, /** @type {boolean} */ isByKey) => {
    if (isDone) return;
    isDone = true;
    renaming = undefined;
    drawnList = "";
    const value = field.value.trim();
    field.remove();
    if (isKept && value !== title) void renameNote(id, value);
    drawList();
    if (isByKey) {
      /** @type {HTMLElement | null} */ (
        byId("notes").querySelector(`[data-key="${CSS.escape(`link ${id}`)}"]`)
      )?.focus();
    }
  };
  field.addEventListener("keydown", (event) => {
    if (isOfComposition(event)) return;
    if (event.key === "Enter") finish(true, true);
    else if (event.key === "Escape") finish(false, true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  field.addEventListener("blur", () => finish(true, false));
  return field;
}

/** @param {string} id */
function startRenaming(id) {
  renaming = id;
  byId("notes").replaceChildren();
  drawnList = "";
  drawList();
  const field = /** @type {HTMLInputElement | null} */ (byId("notes").querySelector(".rename"));
  field?.focus();
  field?.select();
}

/** Draws the list now and whenever it may have changed. */
export function setUpNotesList() {
  setUpFolders();
  setUpTags();
  tags.on("changed", drawList);
  byId("notes-more").addEventListener("click", () => {
    const first = byId("notes").childElementCount;
    rowsMax += rowsStep;
    if (folders.hasMore) folders.fetchMore().catch((error) => toast(messageOf(error)));
    drawList();
    // The button may be hidden now, so move the focus to the first new row for keyboard users.
    /** @type {HTMLElement | null | undefined} */ (byId("notes").children[first]?.querySelector(".note-link"))?.focus();
  });
  folders.on("changed", drawList);
  byId("find").addEventListener("input", drawList);
  page.on("notes", drawList);
  list.on("changed", drawList);
  pins.on("changed", drawList);
  connection.on("status", drawList);
  setInterval(drawList, 60_000);
}
