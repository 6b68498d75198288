// The main module of the page: shows the note that the address names, and connects the parts of the page.

import { fragmentOf } from "./state/access.js";
import { offer } from "./state/commands.js";
import { commentHere, leaveComments, mayCommentHere, revealComment } from "./comments/commenting.js";
import { announce, byId, openMenu, toast, withdrawQuestion } from "./ground/dialogs.js";
import { allPending } from "./client/identity.js";
import { importFiles, setUpImportDrop } from "./exchange/importdrop.js";
import { saveCopies, setUpCopies } from "./state/keepingcopies.js";
import { setUpKeyboard } from "./shell/keyboard.js";
import { t } from "./ground/language.js";
import { drawLandmarks } from "./shell/landmarks.js";
import { setUpLanguageMenu } from "./shell/languagemenu.js";
import { blockedLine, drawLine } from "./shell/linestate.js";
import { setUpBell } from "./people/bell.js";
import { drawMe, setUpMe, standApart } from "./people/me.js";
import { scheduleTitle } from "./notes/headingtitle.js";
import { drawKindChoice } from "./notes/kindchoice.js";
import { setUpNewNotes } from "./notes/newnoteview.js";
import {
  copyText, download, moveNoteByDialog, openDeletedNotes, removeNote, shareNote,
} from "./notes/noteactions.js";
import { printNote, setUpPrinting } from "./reading/printing.js";
import { setUpSearching } from "./search/searching.js";
import { drawCrumbs } from "./notes/folderview.js";
import { drawList, setUpNotesList } from "./notes/noteslist.js";
import { drawNotices, notices } from "./ground/notices.js";
import { setUpOffline } from "./shell/offline.js";
import { isSentHere, leaveNote, notes, openNote } from "./state/opennotes.js";
import { page } from "./state/page.js";
import { loadPart } from "./ground/parts.js";
import { goToPast, showPast } from "./history/past.js";
import { closePeople, drawPeople, drawPeopleSoon, setUpPeople } from "./people/peoplebar.js";
import { setUpProfile } from "./people/profile.js";
import { mayCreate, mayManage } from "./account/rights.js";
import { drawReading, isReading, read, readAsAsked, setUpReading } from "./reading/reading.js";
import { go, noteIn } from "./state/routes.js";
import { access, connection, copies, early, inbox, list, newNotes, ownerNow, recent } from "./state/session.js";
import { accessProblem, arrive, setUpSignIn, signIn } from "./account/signin.js";
import { drawStatus } from "./shell/status.js";
import { changeEditor, focusText, loadText, mountEditor, showPlace } from "./shell/textplace.js";
import { setUpThemeSwitch } from "./ground/themeswitch.js";
import { drawTitle, keepTitle, setUpTitle } from "./notes/titlebar.js";
import { showsAuthors, switchAuthors } from "./history/authors.js";
import { drawToolbar, setUpToolbar } from "./editing/toolbar.js";
import { isDrawn, switchDrawn } from "./state/drawn.js";
import { drawCount, scheduleCount } from "./editing/wordcount.js";

/** @type {(() => void)[]} Subscriptions to the shown note. */
let subscriptions = [];

/**
 * Opens the dialog of an invitation, or of a link for a new password.
 *
 * @param {"invite" | "reset"} kind
 * @param {string} token Stays in the address until the code is loaded, so that it survives a reload.
 */
async function takeToken(kind, token) {
  try {
    const { join, reset } = await loadPart(() => import("./account/passwords.js"));
    if (fragmentOf(location.hash)[kind] !== token) return;
    history.replaceState(null, "", location.pathname);
    if (kind === "invite") join(token);
    else reset(token);
  } catch (error) {
    console.error(error);
    toast(t("page.failed"));
  }
}

/**
 * Applies the rights in the address.
 *
 * @param {ReturnType<typeof fragmentOf>} fragment
 * @returns Whether the page reloads, because the address of this tab was changed to another link.
 */
function takeRights({ token, share, key, invite, reset }) {
  if (token) {
    history.replaceState(null, "", location.pathname);
    if (token !== access.token) void signIn({ token });
  } else if (invite) {
    void takeToken("invite", invite);
  } else if (reset) {
    void takeToken("reset", reset);
  } else if ((share && share !== access.token) || (key && key !== access.pass?.key)) {
    location.reload();
    return true;
  }
  return false;
}

/** Closes the view of the shown note, its history included, and leaves the note. */
function leaveShownNote() {
  page.past?.close();
  page.past = undefined;
  const previous = page.current;
  leaveComments();
  page.editor?.destroy();
  page.editor = undefined;
  for (const unsubscribe of subscriptions) unsubscribe();
  subscriptions = [];
  page.current = undefined;
  if (previous) leaveNote(previous);
}

/**
 * Shows and hides the elements of the page for a note, a new note or the list.
 *
 * @param {string | undefined} id The note's id.
 */
function layOut(id) {
  const { newNote } = page;
  const isHome = id === undefined && !newNote;
  if (isHome || early.note !== (id ?? newNote?.place)) early.show(undefined);
  byId("app").dataset.view = isHome ? "home" : "note";
  // A guest who may only read has no other notes.
  byId("app").dataset.list = access.isReader ? "none" : "";
  drawLandmarks();
  byId("welcome").hidden = !isHome;
  byId("note").hidden = isHome;
  // A note that is not created yet can be neither shared nor deleted.
  byId("share").hidden = byId("note-menu").hidden = newNote !== undefined;
  byId("read").hidden = false;
  closePeople();
  notices.clear();
  drawNotices();
}

/**
 * Opens a note and subscribes to its events.
 *
 * @param {string} id
 */
function showNote(id) {
  const note = openNote(id);
  page.current = note;
  if (!access.isLink) recent.open(id);
  subscriptions = [
    note.on("status", drawStatus),
    note.on("status", drawToolbar),
    note.on("people", drawPeopleSoon),
    note.on("reset", () => isReading() && drawReading()),
    note.on("joined", () => page.current && standApart(page.current.people)),
    note.on("title", drawTitle),
    note.on("reset", mountEditor),
    note.on("kind", changeEditor),
    note.on("changes", scheduleCount),
    note.on("edited", scheduleCount),
    note.on("edited", scheduleTitle),
    note.on("edited", drawKindChoice),
    note.on("notice", ({ kind }) => {
      const text = t(`notice.${kind}`);
      notices.set(kind, { text, isBad: kind === "storage" });
      drawNotices();
      announce(text);
    }),
  ];
  if (note.hasText) mountEditor();
}

/** Draws each part of the page that depends on the shown note. */
function drawParts() {
  drawPeople();
  drawTitle();
  drawCrumbs();
  drawStatus();
  drawToolbar();
  drawList();
  drawCount();
  readAsAsked();
  showPast();
}

/** Shows the view that the address names. */
function show() {
  // Before the field is set to another note's title.
  keepTitle();
  const fragment = fragmentOf(location.hash);
  if (takeRights(fragment)) return;
  const { isNew, newKey, heading, comment } = fragment;
  const newNote = isNew ? newNotes.find(newKey) : undefined;
  if (isNew && !newNote) history.replaceState(null, "", location.pathname);
  const isSameNew = newNote !== undefined && newNote === page.newNote;
  const id = noteIn(location.pathname);
  if (id !== undefined && heading !== undefined) showPlace(id, heading);
  if (id !== undefined && comment !== undefined) revealComment(id, comment);
  if (page.current && page.current.documentId === id && page.current.phase !== "deleted") {
    showPast();
    return;
  }
  if (isSameNew) return;
  if (id !== undefined && !connection.isOnline && !notes.has(id) && copies.isUnread(id)) {
    // The text is in this browser: read it, which is faster than the server.
    void copies.read(id).then(show);
    return;
  }
  withdrawQuestion();
  page.newNote = newNote;
  leaveShownNote();
  layOut(id);
  if (id !== undefined) showNote(id);
  drawParts();
}

// Setting up the parts.

setUpNotesList();
setUpImportDrop();
setUpSearching();
setUpNewNotes();
setUpMe();
setUpProfile();
setUpBell();
setUpPeople();
setUpThemeSwitch();
setUpLanguageMenu();
setUpKeyboard();
setUpTitle(focusText);
setUpToolbar();
setUpPrinting();
setUpReading();
early.whenComposed = mountEditor;
early.whenFull = () => {
  notices.set("storage", { text: t("notice.storage"), isBad: true });
  drawNotices();
  announce(t("notice.storage"));
};
list.on("changed", () => {
  drawMe();
  drawStatus();
});
inbox.on("changed", drawList);
page.on("went", show);
page.on("kind", changeEditor);
page.on("sought", ({ id, place }) => showPlace(id, place));
page.on("renewed", () => {
  leaveComments();
  page.editor?.destroy();
  page.editor = undefined;
  page.current = undefined;
  show();
});
page.on("me", () => {
  drawMe();
  drawPeople();
});
page.on("access", () => {
  drawMe();
  drawPeople();
  drawLine();
  drawStatus();
});
connection.on("status", ({ state }) => {
  void blockedLine.take(state);
  drawMe();
  drawLine();
  drawStatus();
});
blockedLine.on("changed", () => {
  drawLine();
  drawStatus();
});
// The sign-in begins after the page has shown why it was rejected.
setUpSignIn();
setUpCopies((id) => notes.get(id)?.phase === "live");

// Actions of the user.

byId("gone-retry").addEventListener("click", () => {
  const trouble = accessProblem();
  if (trouble) trouble.button.run();
  else page.current?.reopen();
});
byId("line-sign-in").addEventListener("click", () => accessProblem()?.button.run());
byId("gone-copy").addEventListener("click", () => void copyText());
byId("retry").addEventListener("click", () => connection.retryNow());
/** The entries of the menu of all notes. */
function listItems() {
  /** @type {import("./ground/dialogs.js").MenuItem[]} */
  const items = [{ label: t("list.download"), icon: "download", run: () => void download("archive") }];
  // Until the server has reported that it stores no deleted notes, assume that it does.
  if (list.deletedAgeMax !== 0) {
    items.unshift({ label: t("deleted.title"), icon: "trash", run: () => void openDeletedNotes() });
  }
  if (mayCreate()) items.push({ label: t("import.menu"), icon: "plus", run: () => void importFiles() });
  return items;
}

byId("list-menu").addEventListener("click", () => openMenu(byId("list-menu"), listItems()));
byId("share").addEventListener("click", () => page.current && void shareNote(page.current.documentId));
/** @returns {import("./ground/dialogs.js").MenuItem[]} The entries for a Markdown note alone. */
const ofMarkdown = () => [
  { label: t(isDrawn() ? "note.showSigns" : "note.hideSigns"), icon: "code", run: switchDrawn },
  { label: t(showsAuthors() ? "note.hideAuthors" : "note.showAuthors"), icon: "changes", run: switchAuthors },
  { label: t("note.beside"), icon: "eye", run: () => void read("beside") },
];

/** @param {"makeFormatted" | "writeMarkdown" | "formatMarkdown"} act */
async function convert(act) {
  try {
    const converting = await loadPart(() => import("./notes/converting.js"));
    await converting[act]();
  } catch (error) {
    console.error(error);
    toast(t("page.failed"));
  }
}

/** @returns {import("./ground/dialogs.js").MenuItem[]} The entry that changes how the shown note is written. */
function kindItems() {
  const { current: note, editor } = page;
  if (!note?.isWritable || !editor || !note.canBeRich) return [];
  const act = note.kind === "plain" ? "makeFormatted" : editor.kind === "rich" ? "writeMarkdown" : "formatMarkdown";
  const labels = { makeFormatted: t("note.toRich"), writeMarkdown: t("note.toMarkdown"), formatMarkdown: t("note.fromMarkdown") };
  return [{ label: labels[act], icon: "changes", run: () => void convert(act) }];
}

/** The entries of the menu of the shown note. */
function noteItems() {
  const id = page.current?.documentId;
  if (id === undefined || byId("note-menu").hidden) return [];
  const isManaged = mayManage(id);
  /** @type {import("./ground/dialogs.js").MenuItem[]} */
  const items = [
    { label: isManaged ? t("note.shareMore") : t("note.copyLink"), icon: "link", run: () => void shareNote(id) },
    { label: t("note.copyText"), icon: "copy", run: () => void copyText() },
    { label: t("note.history"), icon: "history", run: () => page.current?.hasText && goToPast(id) },
    ...(page.editor?.kind === "rich" ? [] : ofMarkdown()),
    ...kindItems(),
    { label: t("note.downloadMarkdown"), icon: "download", run: () => void download("md") },
    { label: t("note.downloadText"), icon: "download", run: () => void download("txt") },
    { label: t("note.downloadHTML"), icon: "download", run: () => void download("html") },
    { label: t("note.print"), icon: "print", run: () => void printNote() },
  ];
  if (mayCommentHere()) items.splice(1, 0, { label: t("comments.onSelection"), icon: "comment", run: commentHere });
  if (page.editor && page.current?.isWritable) {
    items.unshift({ label: t("file.add"), icon: "plus", run: () => byId("file").click() });
  }
  if (access.isReader) items.push({ label: t("me.edit"), icon: "pencil", run: () => byId("me").click() });
  if (isManaged) {
    items.unshift({ label: t("folder.move"), icon: "folder", run: () => void moveNoteByDialog(id) });
    items.unshift({ label: t("rename"), icon: "pencil", run: () => byId("title").focus() });
    items.push({ label: t("delete"), icon: "trash", isDangerous: true, run: () => void removeNote(id) });
  }
  return items;
}

byId("note-menu").addEventListener("click", () => openMenu(byId("note-menu"), noteItems()));
offer(noteItems);
offer(listItems);

byId("file").addEventListener("change", () => {
  const input = /** @type {HTMLInputElement} */ (byId("file"));
  page.editor?.addFiles([...(input.files ?? [])]);
  // Allows the same file to be chosen again.
  input.value = "";
});

document.addEventListener("click", (event) => {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = /** @type {HTMLElement} */ (event.target).closest?.("a[data-link]");
  if (!link) return;
  event.preventDefault();
  const { pathname, hash } = /** @type {HTMLAnchorElement} */ (link);
  go(pathname + hash);
});

// Events of the browser.

/** Stores edits and text that are not on the server, before the page may be closed. */
function keep() {
  early.flush();
  connection.suspend();
  saveCopies(notes.values());
}

addEventListener("popstate", show);
addEventListener("online", () => {
  connection.retryNow();
  connection.probe();
});
addEventListener("offline", () => connection.probe());
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") connection.retryNow();
  else keep();
});
addEventListener("pagehide", () => {
  keepTitle();
  keep();
});
addEventListener("beforeunload", (event) => {
  // The next page restores edits from the storage. Rejected edits, and edits that did not fit there, may be lost.
  if ([...notes.values()].some((note) => note.refusal || note.isKeepFailing)) event.preventDefault();
});

// Start.

drawMe();
for (const record of allPending(ownerNow())) {
  if (isSentHere(record.identity.id)) openNote(record.documentId);
}
// Open the notes that have early text from before a reload, so that it is inserted.
const unmade = new Set(newNotes.all.map(({ place }) => place));
for (const id of early.notes) if (!unmade.has(id)) openNote(id);
show();
// A user who returns from the identity provider needs the token first.
void arrive().then(() => connection.start());
// The files are loaded by now, so that the worker can cache them without requests.
void loadText().then(setUpOffline);
