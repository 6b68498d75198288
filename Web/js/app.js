// Puts the page together: which note is open, what the connection is doing, who is here.

import { Access, channelBetweenTabs, claimsOf, fragmentOf, newPlace, tokenIn } from "./access.js";
import { Connection, accessCodes } from "./connection.js";
import { Core } from "./core.js";
import { announce, byId, confirm, copy, icon, openDialog, openMenu, toast } from "./dialogs.js";
import { EarlyWords } from "./early.js";
import { createEditor, loadMarkdown, wellFormed } from "./editor.js";
import {
  allPending,
  claimIdentity,
  forgetIdentity,
  rememberIdentity,
  removePending,
  savePending,
} from "./identity.js";
import { openHistory } from "./historyview.js";
import { authorise } from "./http.js";
import { hasUsers, logIn, renew } from "./login.js";
import { NewNote, untitled } from "./newnote.js";
import { Note } from "./note.js";
import { NoteList, when } from "./notes.js";
import { avatar, loadProfile, palette, saveProfile } from "./people.js";
import { openSharing } from "./sharing.js";

/** How many faces stand in the bar before "+3". */
const facesMax = 4;
/** "Saving…" shows only when saving takes longer than this; milliseconds. */
const savingShowsAfter = 400;

/** Where words for a note go that is not made yet. No note has an empty id. */
const unmade = "";

const profile = loadProfile();
const access = new Access({ location, storage: sessionStorage, channel: channelBetweenTabs() });
if (fragmentOf(location.hash).token) history.replaceState(null, "", location.pathname);
authorise(() => access.token);
/** Whose unsaved edits these are: a user's, or those of whoever comes by a link, or in a demo. */
const ownerNow = () => (access.isLink ? "" : (access.claims?.sub ?? ""));
const [core, identity, editorSheet, markdown] = await Promise.all([
  Core.load(fetch("/assets/generated/otcore.wasm")),
  claimIdentity(ownerNow()),
  fetch("/assets/css/editor.css")
    .then((response) => response.text())
    .then((text) => new CSSStyleSheet().replace(text)),
  loadMarkdown(),
]);

const scheme = location.protocol === "https:" ? "wss" : "ws";
const connection = new Connection({
  url: `${scheme}://${location.host}/ws`,
  profile: () => profile,
  token: () => access.token,
  identity,
});
const list = new NoteList(connection);
const early = new EarlyWords({ field: byId("early"), storage: sessionStorage });
const newNote = new NewNote({ list, connection, storage: sessionStorage });

// Notes that are open, and those whose edits still have to reach the server.

/** @type {Map<string, Note>} */
const notes = new Map();
/** @type {Note | undefined} */
let current;
/** @type {ReturnType<typeof createEditor> | undefined} */
let editor;
/** @type {ReturnType<typeof openHistory> | undefined} */
let past;
/** @type {(() => void)[]} */
let subscriptions = [];
/** Whether the note is shown that the server has yet to make. */
let isNewShown = false;

const pending = {
  /** @param {Note} note @param {string} clientId @param {string} session */
  save(note, clientId, session) {
    const known = connection.identity;
    if (!known || known.id !== clientId) return true;
    const { documentId, title } = note;
    return savePending({ identity: known, documentId, title, session, owner: ownerNow() });
  },
  /** @param {Note} note @param {string} clientId */
  remove: (note, clientId) => removePending(note.documentId, clientId),
};

/** @param {string} documentId @param {{restored?: string, restoredClientId?: string}} [from] */
function openNote(documentId, from) {
  let note = notes.get(documentId);
  if (!note) {
    const title = list.titleOf(documentId);
    note = new Note({ core, connection, documentId, title, pending, ...from });
    notes.set(documentId, note);
    note.on("status", () => {
      if (note && note !== current) releaseWhenSaved(note);
      drawList();
    });
    note.on("reset", () => {
      if (note && note !== current) putEarlyWords(note);
    });
  }
  return note;
}

/**
 * What was typed into a note before its text came, and then another note was shown.
 *
 * @param {Note} note
 */
function putEarlyWords(note) {
  const words = note.isWritable ? early.take(note.documentId) : undefined;
  if (words) note.edit([{ from: 0, to: 0, insert: wellFormed(words.text) }]);
}

/**
 * A note that is not shown stays joined until its edits are saved.
 *
 * @param {Note} note
 */
function releaseWhenSaved(note) {
  const isNeeded = () =>
    note === current || note.unconfirmedCount > 0 || (!note.hasText && early.text(note.documentId) !== "");
  if (isNeeded()) return;
  // Not from within the note's own event.
  queueMicrotask(() => {
    if (isNeeded() || notes.get(note.documentId) !== note) return;
    notes.delete(note.documentId);
    note.close();
  });
}

// Routing: "/" and "/n/ID", "/n/ID#history" for its past, and "/#new" for a note that the server has yet
// to make. Who came by a shared link keeps the link's token there too.

/** @param {string} path */
function noteIn(path) {
  const match = /^\/n\/([^/]+)$/.exec(path);
  return match ? decodeURIComponent(match[1] ?? "") : undefined;
}

/** @param {string} id @param {string} [place] */
function pathOf(id, place) {
  const fragment = [access.fragment, place].filter(Boolean).join("&");
  return `/n/${encodeURIComponent(id)}${fragment && "#"}${fragment}`;
}

/** @param {string} path */
function go(path) {
  if (path !== location.pathname + location.hash) history.pushState(null, "", path);
  show();
}

function show() {
  // Before the field is another note's.
  keepTitle();
  const { token, share, isNew } = fragmentOf(location.hash);
  if (token) {
    history.replaceState(null, "", location.pathname);
    if (token !== access.token) void signIn({ token });
  } else if (share && share !== access.token) {
    // Another link, put into the address of this tab: with other rights, everything starts anew.
    location.reload();
    return;
  }
  if (isNew && !newNote.isBegun) history.replaceState(null, "", location.pathname);
  isNewShown = isNew && newNote.isBegun;
  const id = noteIn(location.pathname);
  if (current && current.documentId === id && current.phase !== "deleted") {
    showPast();
    return;
  }
  past?.close();
  past = undefined;
  const previous = current;
  editor?.destroy();
  editor = undefined;
  for (const unsubscribe of subscriptions) unsubscribe();
  subscriptions = [];
  current = undefined;
  if (previous) {
    previous.persistNow();
    if (previous.phase === "deleted" || previous.phase === "failed") {
      notes.delete(previous.documentId);
      previous.close();
    } else {
      releaseWhenSaved(previous);
    }
  }
  const isHome = id === undefined && !isNewShown;
  if (isHome || early.note !== (id ?? unmade)) early.show(undefined);
  byId("app").dataset.view = isHome ? "home" : "note";
  byId("welcome").hidden = !isHome;
  byId("note").hidden = isHome;
  closePeople();
  notices.clear();
  drawNotices();
  if (id !== undefined) {
    current = openNote(id);
    subscriptions = [
      current.on("status", drawStatus),
      current.on("people", drawPeople),
      current.on("title", drawTitle),
      current.on("reset", mountEditor),
      current.on("changes", scheduleCount),
      current.on("edited", scheduleCount),
      current.on("notice", ({ kind, text }) => {
        notices.set(kind, { text, isBad: kind === "storage" });
        drawNotices();
        announce(text);
      }),
    ];
    if (current.hasText) mountEditor();
  }
  drawPeople();
  drawTitle();
  drawStatus();
  drawList();
  drawCount();
  showPast();
}

/** The history is open exactly while the address says so. */
function showPast() {
  const isWanted = fragmentOf(location.hash).isHistory && current !== undefined && current.hasText;
  if (isWanted === (past !== undefined)) return;
  if (!isWanted || !current) {
    past?.close();
    past = undefined;
    editor?.focus();
    return;
  }
  closePeople();
  past = openHistory({
    note: current,
    title: () => current?.title || untitled,
    profile: { name: myName(), color: profile.color },
    sheets: [editorSheet],
    markdown,
    leave: leavePast,
  });
}

/** @param {string} id */
const goToPast = (id) => {
  history.pushState({ isOwn: true }, "", pathOf(id, "history"));
  show();
};

function leavePast() {
  if (history.state?.isOwn) history.back();
  else {
    history.replaceState(null, "", current ? pathOf(current.documentId) : location.pathname);
    showPast();
  }
}

function mountEditor() {
  // A word that is being composed is waited for.
  if (!current?.hasText || editor || early.isComposing) return;
  const isAwaited = early.isFocused;
  editor = createEditor({ host: byId("editor"), note: current, sheets: [editorSheet], markdown });
  const words = current.isWritable ? early.take(current.documentId) : undefined;
  if (words) editor.put(words);
  // What is hidden takes no focus.
  drawStatus();
  const isIdle = matchMedia("(hover: hover)").matches && document.activeElement === document.body;
  if (isAwaited || isIdle) editor.focus();
  drawCount();
  showPast();
}

/** Into the text, or to where it will be. */
function focusText() {
  if (editor) editor.focus();
  else early.focus();
}

// The list.

/** @type {string | undefined} The note whose title is being changed in the list. */
let renaming;
let drawnList = "";

/**
 * Edits that cannot be sent at the moment.
 *
 * @param {string} id
 */
const unsavedIn = (id) => (connection.isOnline ? 0 : (notes.get(id)?.unconfirmedCount ?? 0));

function drawList() {
  const box = byId("notes");
  // Nothing may take the field away from under the fingers.
  if (renaming !== undefined && box.querySelector(".rename")) return;
  const filter = /** @type {HTMLInputElement} */ (byId("find")).value.trim().toLocaleLowerCase();
  const all = list.notes ?? [];
  const state = all.map(({ id, title, updatedAt }) => [id, title, when(updatedAt), unsavedIn(id)]);
  const key = JSON.stringify([state, filter, current?.documentId, renaming, list.notes === undefined]);
  // This is called at every keystroke. A row that is taken away under the pointer loses its click.
  if (key === drawnList) return;
  drawnList = key;
  const shown = all.filter(({ title }) => title.toLocaleLowerCase().includes(filter));
  const focused = /** @type {HTMLElement | null} */ (document.activeElement);
  const focusedKey = box.contains(focused) ? focused?.dataset.key : undefined;
  box.replaceChildren(...shown.map(row));
  if (focusedKey) {
    /** @type {HTMLElement | null} */ (box.querySelector(`[data-key="${CSS.escape(focusedKey)}"]`))?.focus();
  }
  byId("find-box").hidden = all.length < 8 && filter === "";
  const empty = byId("notes-empty");
  empty.hidden = shown.length > 0 || list.notes === undefined;
  empty.textContent = filter ? "No title has that in it." : "No notes yet.";
}

/** @param {import("./notes.js").NoteEntry} entry */
function row(entry) {
  const { id, title, updatedAt } = entry;
  const item = document.createElement("li");
  item.className = "note-row" + (id === current?.documentId ? " is-open" : "");
  item.dataset.note = id;
  if (renaming === id) {
    item.append(renameField(entry));
    return item;
  }
  const link = document.createElement("a");
  link.className = "note-link";
  link.href = pathOf(id);
  link.dataset.link = "";
  link.dataset.key = `link ${id}`;
  if (id === current?.documentId) link.setAttribute("aria-current", "page");
  const name = document.createElement("span");
  name.className = "note-title" + (title ? "" : " is-untitled");
  name.textContent = title || untitled;
  const detail = document.createElement("span");
  detail.className = "note-when";
  const unsaved = unsavedIn(id);
  if (unsaved > 0) {
    const mark = document.createElement("span");
    mark.className = "unsaved";
    mark.textContent = countOf(unsaved, "change") + " not yet saved";
    detail.append(mark);
  } else {
    detail.textContent = when(updatedAt);
  }
  link.append(name, detail);
  link.addEventListener("keydown", (event) => {
    if (access.isLink && (event.key === "F2" || event.key === "Delete")) return;
    if (event.key === "F2") startRenaming(id);
    else if (event.key === "Delete") void removeNote(id);
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const next = event.key === "ArrowDown" ? item.nextElementSibling : item.previousElementSibling;
      /** @type {HTMLElement | null | undefined} */ (next?.querySelector(".note-link"))?.focus();
    } else return;
    event.preventDefault();
  });
  const more = document.createElement("button");
  more.type = "button";
  more.className = "icon-button";
  more.dataset.key = `more ${id}`;
  more.setAttribute("aria-label", `More for “${title || untitled}”`);
  more.setAttribute("aria-haspopup", "menu");
  more.setAttribute("aria-expanded", "false");
  more.append(icon("more"));
  more.addEventListener("click", () => {
    const share = { label: access.isLink ? "Copy link" : "Share…", icon: "link", run: () => void shareNote(id) };
    if (access.isLink) openMenu(more, [share]);
    else {
      openMenu(more, [
        { label: "Rename", icon: "pencil", run: () => startRenaming(id) },
        share,
        { label: "Delete…", icon: "trash", isDangerous: true, run: () => void removeNote(id) },
      ]);
    }
  });
  item.append(link, more);
  return item;
}

/** @param {import("./notes.js").NoteEntry} entry */
function renameField({ id, title }) {
  const field = document.createElement("input");
  field.className = "rename";
  field.value = title;
  field.maxLength = 200;
  field.setAttribute("aria-label", "New title");
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
    if (event.key === "Enter" && !event.isComposing) finish(true, true);
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

/** Shows the note at once: who begins one has its title, or its first words, at their fingertips. */
function createNote() {
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
  const isAtTitle = isNewShown && document.activeElement === titleField;
  // Who is still writing the title sets it by leaving the field.
  if (!isAtTitle && title && title !== note.title) void renameNote(note.id, title);
  if (!isNewShown) {
    if (early.text(note.id)) openNote(note.id);
    return;
  }
  titleField.dataset.note = note.id;
  history.replaceState(null, "", pathOf(note.id));
  show();
}

/** @param {string} id @param {string} title */
async function renameNote(id, title) {
  try {
    const isDone = await list.rename(id, title);
    const note = notes.get(id);
    if (!isDone) toast("The title is kept, and set when the server can be reached.");
    else if (note) note.title = title;
  } catch (error) {
    toast(`The title was not changed. ${messageOf(error)}`);
    drawTitle();
  }
}

/** @param {string} id */
async function removeNote(id) {
  const title = list.titleOf(id) || untitled;
  const isSure = await confirm({
    title: `Delete “${title}”?`,
    text: "It goes away for everybody, with its history. This cannot be undone.",
    yes: "Delete note",
  });
  if (!isSure) return;
  try {
    await list.remove(id);
    announce(`“${title}” was deleted.`);
    if (noteIn(location.pathname) === id) go("/");
  } catch (error) {
    toast(`The note was not deleted. ${messageOf(error)}`);
  }
}

/** @param {string} id */
async function shareNote(id) {
  const address = new URL(pathOf(id), location.href).href;
  // Who came by a link can pass that on, and no other.
  if (access.isLink) toast((await copy(address)) ? "Link copied." : address);
  else {
    const title = list.titleOf(id) || untitled;
    await openSharing({ id, title, address, isDemo: connection.welcome?.demo ?? false });
  }
}

/** @param {unknown} error */
const messageOf = (error) => (error instanceof Error ? error.message : "");

/** @param {number} count @param {string} noun */
const countOf = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

// The bar above the note.

const titleField = /** @type {HTMLInputElement} */ (byId("title"));

/** The title of the note that is shown. */
function titleNow() {
  if (isNewShown) return newNote.title;
  if (!current) return "";
  const { documentId, title } = current;
  return list.wantedTitleOf(documentId) ?? (title || list.titleOf(documentId) || "");
}

function drawTitle() {
  const id = current?.documentId ?? unmade;
  const title = titleNow();
  if (document.activeElement !== titleField || titleField.dataset.note !== id) {
    titleField.value = title;
    titleField.dataset.note = id;
  }
  titleField.placeholder = untitled;
  document.title = current || isNewShown ? `${title || untitled} · Parley` : "Parley";
}

/** What stands in the field becomes the note's title. */
function keepTitle() {
  const { note: id } = titleField.dataset;
  if (!current || !id || id !== current.documentId || titleField.disabled) return;
  const value = titleField.value.trim();
  if (value !== titleNow()) void renameNote(id, value);
}

function drawPeople() {
  const others = current?.people ?? [];
  const me = { name: myName(), color: profile.color, isWriting: false };
  // Who writes has a place among the faces.
  const shown = [...others].sort((a, b) => Number(b.isWriting) - Number(a.isWriting)).slice(0, facesMax);
  const faces = [...others.filter((person) => shown.includes(person)), me].map(faceOf);
  if (others.length > facesMax) {
    const more = document.createElement("span");
    more.className = "avatar more";
    more.textContent = `+${others.length - facesMax}`;
    faces.unshift(more);
  }
  byId("people-avatars").replaceChildren(...faces);
  const names = others.map(({ name, isWriting }) => (isWriting ? `${name} (writing)` : name));
  byId("people").setAttribute(
    "aria-label",
    names.length ? `Here with you: ${names.join(", ")}` : "Only you are here",
  );
  byId("people").title = names.length ? names.join(", ") : "Only you are here";
  const writing = others.filter(({ isWriting }) => isWriting).map(({ name }) => name);
  byId("writing").textContent =
    writing.length === 0 ? ""
    : writing.length === 1 ? `${writing[0]} is writing…`
    : writing.length === 2 ? `${writing[0]} and ${writing[1]} are writing…`
    : `${writing.length} people are writing…`;
  byId("people-list").replaceChildren(
    ...[{ ...me, isMe: true }, ...others.map((person) => ({ ...person, isMe: false }))].map((person) => {
      const item = document.createElement("li");
      item.append(faceOf(person), person.name);
      if (person.isWriting) {
        const now = document.createElement("span");
        now.className = "writing";
        now.textContent = "writing…";
        item.append(now);
      }
      if (person.isMe) {
        const you = document.createElement("span");
        you.className = "you";
        you.textContent = "you";
        item.append(you);
      }
      return item;
    }),
  );
}

/** @param {{name: string, color: string, isWriting: boolean}} person */
function faceOf(person) {
  const face = avatar(person, { label: false });
  if (person.isWriting) face.classList.add("is-writing");
  return face;
}

function closePeople() {
  byId("people-panel").hidden = true;
  byId("people").setAttribute("aria-expanded", "false");
}

/**
 * When edits were first seen unsaved; milliseconds.
 *
 * @type {number | undefined}
 */
let unsavedSince;
/** @type {any} */
let statusTimer;

function drawStatus() {
  clearTimeout(statusTimer);
  if (isNewShown) drawNewStatus();
  if (!current) return;
  const count = current.unconfirmedCount;
  if (count === 0) unsavedSince = undefined;
  else unsavedSince ??= performance.now();
  const { state } = connection.status;
  const changes = `${countOf(count, "change")} not yet saved`;

  /** @type {[string, string]} */
  let [kind, text] = ["saved", current.access === "read" ? "Up to date" : "Saved"];
  const trouble = accessTrouble();
  if (current.refusal) {
    [kind, text] = ["refused", changes];
  } else if (trouble) {
    [kind, text] = ["offline", count > 0 ? `${trouble.state} · ${changes}` : trouble.state];
  } else if (state === "stopped" || state === "waiting" || !navigator.onLine && state !== "online") {
    [kind, text] = ["offline", count > 0 ? `Offline · ${changes}` : "Offline"];
  } else if (state === "connecting" || current.phase !== "live") {
    [kind, text] = ["connecting", count > 0 ? `Connecting · ${changes}` : "Connecting…"];
  } else if (unsavedSince !== undefined) {
    const waited = performance.now() - unsavedSince;
    if (waited >= savingShowsAfter) [kind, text] = ["saving", count > 1 ? `Saving ${count} changes…` : "Saving…"];
    else statusTimer = setTimeout(drawStatus, savingShowsAfter - waited + 10);
  }
  const status = byId("status");
  const before = status.dataset.state;
  status.dataset.state = kind;
  status.dataset.unsaved = String(count);
  byId("status-text").textContent = text;
  byId("retry").hidden = state !== "waiting";
  if (kind !== before && kind !== "saving" && !(kind === "saved" && before === "saving")) {
    announce(kind === "saved" ? "Connected. All changes are saved." : text);
  }

  const isGone = current.phase === "deleted" || current.phase === "failed";
  const isShut = trouble !== undefined && !current.hasText && !isGone;
  const { documentId } = current;
  const words = early.text(documentId);
  byId("loading").hidden = editor !== undefined || isGone || isShut;
  early.show(byId("loading").hidden ? undefined : documentId);
  byId("gone").hidden = !isGone && !isShut;
  byId("gone-retry").hidden = !isShut && current.phase !== "failed";
  byId("gone-retry").textContent = isShut ? trouble.button.label : "Try again";
  byId("editor").hidden = editor === undefined;
  byId("gone-copy").hidden = !current.hasText && !words;
  if (isGone) {
    if (past) leavePast();
    const isDeleted = current.phase === "deleted";
    byId("gone-title").textContent = isDeleted ? "This note is not here any more." : "This note cannot be opened.";
    byId("gone-text").textContent = isDeleted
      ? "Somebody deleted it, or the link is not quite right."
      : current.failure;
  } else if (isShut) {
    byId("gone-title").textContent = trouble.title;
    byId("gone-text").textContent = trouble.text;
  }
  byId("access").hidden = current.access !== "read" || isGone || isShut;
  titleField.disabled = isGone || isShut || current.access === "read" || access.isLink;

  if (words && editor && !current.isWritable && current.phase === "live") {
    notices.set("early", {
      title: "You can read this note, but not change it.",
      text: "What you typed before it opened is not in it.",
      buttons: [
        { label: "Copy what I typed", run: () => void copyText(words) },
        { label: "Discard it", run: () => (early.take(documentId), drawStatus()) },
      ],
    });
  } else {
    notices.delete("early");
  }
  if (current.refusal) {
    notices.set("refused", {
      title: "Your latest changes were not accepted.",
      text: `${current.refusal.message || "The server refused them."} They are still here, and only here.`,
      isBad: true,
      buttons: [
        { label: "Try again", run: () => current?.retryRefused() },
        { label: "Copy my text", run: () => void copyText() },
        { label: "Discard my changes", run: () => void discard() },
      ],
    });
  } else {
    notices.delete("refused");
  }
  drawConnectionNotice();
  drawNotices();
}

async function copyText(text = current?.text ?? early.text(current?.documentId ?? unmade)) {
  toast((await copy(text)) ? "Text copied." : "The browser did not allow copying.");
}

/** A note that is begun has no text yet, and nobody else in it. */
function drawNewStatus() {
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

function forgetNewNote() {
  newNote.forget();
  early.take(unmade);
  history.replaceState(null, "", "/");
  show();
}

async function discard() {
  const isSure = await confirm({
    title: "Discard your unsaved changes?",
    text: "The note goes back to what everybody else sees.",
    yes: "Discard them",
  });
  if (!isSure || !current) return;
  editor?.destroy();
  editor = undefined;
  current.discardUnconfirmed();
  drawCount();
}

/** @type {any} */
let countTimer;

/** Soon, and once for many edits. */
function scheduleCount() {
  countTimer ??= setTimeout(drawCount, 200);
}

function drawCount() {
  clearTimeout(countTimer);
  countTimer = undefined;
  const text = editor?.view.state.doc;
  // Counting words of a very long note on every keystroke would be felt.
  if (!text) byId("count").textContent = "";
  else if (text.length > 200_000) byId("count").textContent = `${text.length.toLocaleString()} characters`;
  else {
    const words = text.toString().match(/[\p{L}\p{N}]+(?:['’\-][\p{L}\p{N}]+)*/gu)?.length ?? 0;
    byId("count").textContent = `${words.toLocaleString()} ${words === 1 ? "word" : "words"}`;
  }
}

// Notices.

/**
 * @typedef {{title?: string, text: string, isBad?: boolean,
 *   buttons?: {label: string, run: () => void}[]}} Notice
 * @type {Map<string, Notice>}
 */
const notices = new Map();
let drawnNotices = "";

function drawConnectionNotice() {
  const { state, code, reason } = connection.status;
  const trouble = accessTrouble();
  if (endsAt === undefined || trouble) notices.delete("ending");
  else {
    const time = new Intl.DateTimeFormat(undefined, { timeStyle: "short" }).format(endsAt);
    notices.set("ending", {
      title: access.isLink ? `The link you came by ends at ${time}.` : `Your sign-in ends at ${time}.`,
      text: access.isLink ? "Ask for a new one where you got it." : "Sign in again to go on without a break.",
      buttons: [
        access.isLink
          ? { label: "All right", run: () => ((endsAt = undefined), drawStatus()) }
          : { label: "Sign in", run: () => void askForToken() },
      ],
    });
  }
  if (trouble) {
    // Without a text it stands where the text would.
    if (current?.hasText) notices.set("connection", { ...trouble, isBad: true, buttons: [trouble.button] });
    else notices.delete("connection");
    return;
  }
  if (state !== "stopped") {
    notices.delete("connection");
    return;
  }
  const isReplaced = code === 4505;
  notices.set("connection", {
    title: isReplaced ? "This note went on in another tab." : "The server ended the connection.",
    text: isReplaced ? "This one has stopped, to keep the two apart." : (reason ?? ""),
    isBad: !isReplaced,
    buttons: [
      {
        label: isReplaced ? "Go on here" : "Reload",
        run: () => {
          if (isReplaced) forgetIdentity();
          location.reload();
        },
      },
    ],
  });
}

function drawNotices() {
  const key = JSON.stringify([...notices]);
  if (key === drawnNotices) return;
  drawnNotices = key;
  byId("notices").replaceChildren(
    ...[...notices].map(([kind, { title, text, isBad, buttons = [] }]) => {
      const element = document.createElement("div");
      element.className = "notice" + (isBad ? " bad" : "");
      element.dataset.kind = kind;
      element.setAttribute("role", isBad ? "alert" : "status");
      const words = document.createElement("p");
      if (title) {
        const strong = document.createElement("strong");
        strong.textContent = `${title} `;
        words.append(strong);
      }
      words.append(text);
      const row = document.createElement("div");
      row.className = "notice-buttons";
      const isDismissible = buttons.length === 0;
      const all = isDismissible
        ? [{ label: "All right", run: () => (notices.delete(kind), drawNotices()) }]
        : buttons;
      for (const { label, run } of all) {
        const button = document.createElement("button");
        button.type = "button";
        button.className = "button small";
        button.textContent = label;
        button.addEventListener("click", run);
        row.append(button);
      }
      element.append(words, row);
      return element;
    }),
  );
}

// Me, and what I may do.

/** Whether the server takes the name from the token. */
const isNamed = () => access.token !== undefined && !access.isLink && connection.welcome?.demo !== true;

/** The name that others see. */
function myName() {
  const { name, sub } = access.claims ?? {};
  if (isNamed()) return access.pass?.name || name || sub || profile.name;
  return access.isLink && connection.welcome?.demo === false ? `${profile.name} (guest)` : profile.name;
}

function drawMe() {
  byId("me-avatar").replaceChildren(avatar({ name: myName(), color: profile.color }, { label: false }));
  byId("me-name").textContent = myName();
  byId("me-hint").textContent = isNamed() ? "Signed in" : "Edit name and colour";
  byId("create").hidden = byId("welcome-create").hidden = access.isLink;
  byId("share").querySelector("span")?.replaceChildren(access.isLink ? "Copy link" : "Share");
  byId("share").setAttribute("aria-label", access.isLink ? "Copy link" : "Share");
}

/**
 * When the token ends; milliseconds. Known shortly before.
 *
 * @type {number | undefined}
 */
let endsAt;

/** While a new token is on its way. */
let isRenewing = false;
/** Whether the token at hand was got by the one for getting new ones, and not proved good since. */
let isRenewed = false;

/** @type {any} */
let renewTimer;

/** Gets a new token without asking the person, where that is possible. */
async function renewToken() {
  const refreshToken = access.pass?.refreshToken;
  if (!refreshToken || isRenewing || isRenewed) return false;
  isRenewing = true;
  try {
    const own = await renew(refreshToken);
    isRenewed = true;
    return (await signIn(own)) === undefined;
  } catch {
    return false;
  } finally {
    isRenewing = false;
    drawLine();
    drawStatus();
  }
}

/**
 * Why the server does not let this page in, and what can be done about it.
 *
 * @returns {{state: string, title: string, text: string, button: {label: string, run: () => void}}
 *   | undefined}
 */
function accessTrouble() {
  const { state, code, reason } = connection.status;
  if (isRenewing || state !== "stopped" || !Object.values(accessCodes).some((one) => one === code)) return undefined;
  const button = { label: "Sign in", run: () => void askForToken() };
  if (access.isLink) {
    return {
      state: "Link has ended",
      title: "This link does not work any more.",
      text: "It has ended, or was withdrawn. Ask for a new one where you got it.",
      button: { label: "Go on without the link", run: leaveAccess },
    };
  }
  if (!access.pass) {
    return {
      state: "Not signed in",
      title: "Sign in to go on.",
      text: "This server lets in whom it knows.",
      button,
    };
  }
  if (code === accessCodes.ended || access.hasEnded()) {
    return {
      state: "Signed out",
      title: "Your sign-in has ended.",
      text: "Sign in again to go on. What you wrote in the meantime is kept.",
      button,
    };
  }
  if (code === accessCodes.revoked) {
    return {
      state: "Signed out",
      title: "Your access was taken back.",
      text: "Whoever runs this server can give you a new one.",
      button,
    };
  }
  return { state: "Not signed in", title: "Your token was not accepted.", text: reason ?? "", button };
}

/** Forgets the token, or the link, and starts anew without. */
function leaveAccess() {
  access.forget();
  forgetIdentity();
  // The address may have the link.
  history.replaceState(null, "", location.pathname);
  location.reload();
}

/**
 * @param {import("./access.js").OwnToken} own
 * @returns {Promise<string | undefined>} Why not, if the server said so at once.
 */
async function signIn(own) {
  if (connection.isOnline) {
    const problem = await connection.refresh(own.token);
    if (problem) return problem;
    access.take(own);
    isRenewed = false;
    for (const note of notes.values()) note.reopen();
    void list.refresh();
  } else {
    const isNew = !access.pass;
    access.take(own);
    if (isNew && allPending(ownerNow()).length > 0) {
      // A tab that is gone left edits of this person: the page starts with them.
      location.reload();
      return undefined;
    }
    if (connection.status.state === "waiting") connection.retryNow();
    else connection.start();
  }
  endsAt = undefined;
  drawMe();
  drawPeople();
  drawStatus();
  return undefined;
}

/** Asks the person for a password, where the server has users, or for a token. */
async function askForToken() {
  const dialog = /** @type {HTMLDialogElement} */ (byId("sign-in"));
  if (dialog.open) return;
  const field = /** @type {HTMLTextAreaElement} */ (byId("sign-in-token"));
  const email = /** @type {HTMLInputElement} */ (byId("sign-in-email"));
  const password = /** @type {HTMLInputElement} */ (byId("sign-in-password"));
  const otherwise = byId("sign-in-otherwise");
  const yes = /** @type {HTMLButtonElement} */ (byId("sign-in-yes"));
  const trouble = accessTrouble();
  byId("sign-in-title").textContent = trouble?.title ?? "Sign in again";
  byId("sign-in-text").textContent = trouble?.text ?? "";
  const problem = byId("sign-in-problem");
  let isByToken = false;
  const choose = (/** @type {boolean} */ byToken) => {
    isByToken = byToken;
    byId("sign-in-by-token").hidden = !byToken;
    byId("sign-in-by-password").hidden = byToken;
    field.required = byToken;
    email.required = password.required = !byToken;
    otherwise.textContent = byToken ? "With a password" : "With a token";
    problem.textContent = "";
    (byToken ? field : email.value ? password : email).focus();
  };
  otherwise.onclick = () => choose(!isByToken);
  field.value = password.value = "";
  /** @type {HTMLFormElement} */ (dialog.querySelector("form")).onsubmit = async (event) => {
    event.preventDefault();
    const token = tokenIn(field.value);
    if (isByToken && !claimsOf(token)) {
      problem.textContent = "That is not a token: three parts with a dot between them are expected.";
      field.focus();
      return;
    }
    yes.disabled = true;
    problem.textContent = "";
    try {
      const own = isByToken ? { token } : await logIn(email.value.trim(), password.value);
      problem.textContent = (await signIn(own)) ?? "";
    } catch (error) {
      problem.textContent = messageOf(error);
    } finally {
      yes.disabled = false;
    }
    if (problem.textContent) (isByToken ? field : password).select();
    else dialog.close();
  };
  const canBeByPassword = await hasUsers();
  if (dialog.open || (trouble && !accessTrouble())) return;
  otherwise.hidden = !canBeByPassword;
  void openDialog(dialog);
  choose(!canBeByPassword);
}

function drawLine() {
  const { state } = connection.status;
  const trouble = accessTrouble();
  // Without an open note there is no other place that says so.
  byId("line").hidden = state === "online" || state === "connecting";
  byId("line-text").textContent = trouble?.title ?? (state === "stopped"
    ? "The server ended the connection."
    : "The server cannot be reached. Trying again…");
  byId("line-sign-in").hidden = trouble === undefined;
  byId("line-sign-in").textContent = trouble?.button.label ?? "";
}

async function editProfile() {
  const name = /** @type {HTMLInputElement} */ (byId("profile-name"));
  name.value = isNamed() ? myName() : profile.name;
  name.disabled = isNamed();
  byId("profile-hint").hidden = !isNamed();
  byId("profile-hint").textContent = "Your name is the one that you signed in with.";
  byId("sign-out").hidden = !access.pass;
  byId("sign-out").textContent = access.isLink ? "Leave this link" : "Sign out";
  byId("profile-colors").replaceChildren(
    ...palette.map((color, index) => {
      const label = document.createElement("label");
      label.className = "swatch";
      label.style.setProperty("--person", color);
      const input = document.createElement("input");
      input.type = "radio";
      input.name = "color";
      input.value = color;
      input.checked = color === profile.color;
      input.setAttribute("aria-label", `Colour ${index + 1}`);
      const dot = document.createElement("span");
      label.append(input, dot);
      return label;
    }),
  );
  const dialog = /** @type {HTMLDialogElement} */ (byId("profile"));
  const confirmed = openDialog(dialog);
  if (!name.disabled) name.select();
  if (!(await confirmed)) return;
  const chosen = /** @type {HTMLInputElement | null} */ (dialog.querySelector("input[name=color]:checked"));
  if (!isNamed()) profile.name = name.value.trim() || profile.name;
  profile.color = chosen?.value ?? profile.color;
  saveProfile(profile);
  connection.send("profile", { name: profile.name, color: profile.color });
  drawMe();
  drawPeople();
}

function drawTheme() {
  const chosen = document.documentElement.dataset.theme;
  const label = chosen === "dark" ? "Theme: dark" : chosen === "light" ? "Theme: light" : "Theme: as the system";
  byId("theme").setAttribute("aria-label", label);
  byId("theme").title = label;
}

function nextTheme() {
  const isSystemDark = matchMedia("(prefers-color-scheme: dark)").matches;
  // The first press changes what is seen; the third is back at the system's.
  const order = isSystemDark ? [undefined, "light", "dark"] : [undefined, "dark", "light"];
  const next = order[(order.indexOf(document.documentElement.dataset.theme) + 1) % order.length];
  if (next) document.documentElement.dataset.theme = next;
  else delete document.documentElement.dataset.theme;
  try {
    if (next) localStorage.setItem("parley.theme", next);
    else localStorage.removeItem("parley.theme");
  } catch {
    // It lasts as long as the page then.
  }
  drawTheme();
  announce(byId("theme").title);
}

// What the person does.

byId("create").addEventListener("click", createNote);
byId("welcome-create").addEventListener("click", createNote);
byId("find").addEventListener("input", drawList);
byId("me").addEventListener("click", () => void editProfile());
byId("theme").addEventListener("click", nextTheme);
byId("gone-retry").addEventListener("click", () => {
  const trouble = accessTrouble();
  if (trouble) trouble.button.run();
  else current?.reopen();
});
byId("line-sign-in").addEventListener("click", () => accessTrouble()?.button.run());
byId("sign-out").addEventListener("click", leaveAccess);
byId("gone-copy").addEventListener("click", () => void copyText());
byId("retry").addEventListener("click", () => connection.retryNow());
byId("share").addEventListener("click", () => current && void shareNote(current.documentId));
byId("note-menu").addEventListener("click", () => {
  const id = current?.documentId;
  if (id === undefined) return;
  const isManaged = !access.isLink && current?.access !== "read";
  /** @type {import("./dialogs.js").MenuItem[]} */
  const items = [
    { label: access.isLink ? "Copy link" : "Share…", icon: "link", run: () => void shareNote(id) },
    { label: "Copy text", icon: "copy", run: () => void copyText() },
    { label: "History", icon: "history", run: () => current?.hasText && goToPast(id) },
  ];
  if (isManaged) {
    items.unshift({ label: "Rename", icon: "pencil", run: () => byId("title").focus() });
    items.push({ label: "Delete…", icon: "trash", isDangerous: true, run: () => void removeNote(id) });
  }
  openMenu(byId("note-menu"), items);
});
byId("people").addEventListener("click", () => {
  const panel = byId("people-panel");
  panel.hidden = !panel.hidden;
  byId("people").setAttribute("aria-expanded", String(!panel.hidden));
});
document.addEventListener("pointerdown", (event) => {
  const target = /** @type {Node} */ (event.target);
  if (!byId("people-panel").contains(target) && !byId("people").contains(target)) closePeople();
});

titleField.addEventListener("keydown", (event) => {
  if (event.key === "Escape") titleField.value = titleNow();
  else if (event.key !== "Enter" || event.isComposing) return;
  event.preventDefault();
  focusText();
});
titleField.addEventListener("input", () => {
  if (isNewShown) newNote.title = titleField.value.trim();
});
titleField.addEventListener("blur", () => {
  keepTitle();
  drawTitle();
});
early.whenComposed = mountEditor;
newNote.on("made", takeNewNote);
newNote.on("changed", () => {
  drawStatus();
  if (newNote.problem && !isNewShown) toast(`The new note is not made yet. ${newNote.problem.text}`);
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
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !byId("people-panel").hidden) {
    closePeople();
    byId("people").focus();
    return;
  }
  if (!event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  // By place on the keyboard: with Alt, some layouts give other letters.
  if (event.code === "KeyN") createNote();
  else if (event.code === "KeyL") {
    const open = byId("notes").querySelector(".is-open .note-link, .note-link");
    if (byId("app").dataset.view === "note" && matchMedia("(max-width: 720px)").matches) go("/");
    /** @type {HTMLElement | null} */ (open)?.focus();
  } else if (event.code === "KeyE" && !past) focusText();
  else if (document.querySelector("dialog[open]")) return;
  else if (event.code === "KeyH" && past) leavePast();
  else if (event.code === "KeyH" && current?.hasText) goToPast(current.documentId);
  else return;
  event.preventDefault();
});
document.querySelector(".skip")?.addEventListener("click", (event) => {
  event.preventDefault();
  focusText();
});

// What the surroundings do.

addEventListener("popstate", show);
addEventListener("online", () => {
  connection.retryNow();
  connection.probe();
});
addEventListener("offline", () => connection.probe());
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") connection.retryNow();
  else for (const note of notes.values()) note.persistNow();
});
addEventListener("pagehide", () => {
  for (const note of notes.values()) note.persistNow();
});
addEventListener("beforeunload", (event) => {
  // Edits that are kept in this browser's storage come back by themselves; refused ones may not.
  if ([...notes.values()].some((note) => note.refusal)) event.preventDefault();
});
connection.on("status", ({ state }) => {
  if (state === "stopped") endsAt = undefined;
  drawLine();
  drawStatus();
  drawList();
  if (accessTrouble()) void letIn();
});

/** The server does not let this page in: what can be done without the person is done first. */
async function letIn() {
  if (access.isLink || await renewToken()) return;
  if (!access.pass) access.ask();
  // Over a text, or another dialog, nothing opens by itself.
  if (accessTrouble() && !current?.hasText && !document.querySelector("dialog[open]")) await askForToken();
}

connection.on("welcome", () => {
  if (connection.identity) rememberIdentity(connection.identity);
  endsAt = undefined;
  isRenewed = false;
  /** @type {HTMLDialogElement} */ (byId("sign-in")).close();
  drawMe();
  drawPeople();
});
connection.on("expiring", (time) => {
  const tell = () => {
    endsAt = time;
    drawStatus();
  };
  if (!access.pass?.refreshToken) {
    tell();
    return;
  }
  // In the middle of the time that is left, as far as this clock can be trusted.
  const delay = Math.min(Math.max((time - Date.now()) / 2, 1_000), 30_000);
  clearTimeout(renewTimer);
  renewTimer = setTimeout(async () => {
    if (connection.isOnline && !(await renewToken()) && connection.isOnline) tell();
  }, delay);
});
connection.on("message", ({ type }) => {
  if (type === "accessChanged") void list.refresh();
});
access.on("offered", (own) => {
  if (access.pass || accessTrouble()) void signIn(own);
});
list.on("changed", () => {
  drawList();
  drawTitle();
});
setInterval(drawList, 60_000);

// Off we go.

drawMe();
drawTheme();
for (const { identity: owner, documentId, session } of allPending(ownerNow())) {
  if (owner.id !== identity?.id) continue;
  try {
    openNote(documentId, { restored: session, restoredClientId: owner.id });
  } catch {
    // Written by another version of the page; it stays where it is.
  }
}
// Words that a reload cut off from their note.
for (const id of early.notes) if (id !== unmade) openNote(id);
show();
connection.start();
