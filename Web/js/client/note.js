// One note: passes the client core's actions to the editor and the views, and stores unconfirmed edits in the browser's
// storage.
//
// A note opened with `formats` shows and changes formatting: `edit` takes a format beside the changes, `reset` and
// `changes` have one, and the core contains the history of `undo` and `redo`. Lengths in formats are UTF-16 units, as all
// positions. Inserted text has exactly the attributes that its edit gives it; nothing is inherited. Without `formats`, a
// rich note is only its text, and the server gives inserted text the attributes around it.

import { composed } from "./changes.js";
import { Emitter } from "../ground/emitter.js";

/**
 * @typedef {import("./door.js").Core} Core
 * @typedef {import("./door.js").TextChange} TextChange
 * @typedef {import("./door.js").TextFormat} TextFormat
 * @typedef {import("./door.js").ChangeFormat} ChangeFormat
 * @typedef {import("./door.js").NoteKind} NoteKind
 * @typedef {import("./door.js").NoteAction} NoteAction
 * @typedef {import("./door.js").NoteStatus} NoteStatus
 * @typedef {import("./connection.js").Connection} Connection
 * @typedef {import("./connection.js").ClientIdentity} ClientIdentity
 * @typedef {{clientId: string, name: string, color: string, personId: string, key: number, isWriting: boolean}} Person `personId`: the
 *   same on all devices of one person, in this note; "" without an account
 * @typedef {{key: number, clientId: string, anchor: number, head: number}} PeerSelection
 * @typedef {{code: string}} Refusal
 */

/**
 * Unconfirmed edits, stored in the core's encoding with the client's identity, so that they outlive the page.
 *
 * @typedef {{identity: ClientIdentity, session: string}} Edits
 */

/**
 * The server's text on which unconfirmed edits were made. It is as long as the note and seldom changes, so it is stored
 * apart from the edits. The tag identifies it among the texts of a note.
 *
 * @typedef {{tag: string, read: () => string}} Base
 * @typedef {Edits & {base?: string, title?: string}} Kept Stored edits; `base` is the text of their Base.
 * @typedef {{session: string, text: string, title: string, access: "read" | "write"}} Copied A text of the server,
 * without edits.
 */

/**
 * reset: the editor starts from a new text. changes: changes to apply in the editor, together with their format; with
 * `isOwn`, this user requested them and may undo them; with `selection`, undo or redo has caused them. kind: the note's
 * kind has changed; for a note that is rich from the start, this comes before `reset`. edited: the user edited the
 * text. shownEdit: the edit in positions of the page; only ShownNote emits it. joined: the list of people in the note
 * has arrived. peers: others' carets may have moved. notice: a message for the user.
 *
 * @typedef {{reset: {text: string, format?: TextFormat}, kind: NoteKind, edited: void,
 *   changes: {changes: TextChange[], format?: ChangeFormat, isOwn?: boolean, selection?: {anchor: number, head: number}},
 *   shownEdit: {changes: TextChange[]}, joined: void, peers: void, people: void, status: void, left: void, title: string,
 *   notice: {kind: "rebased" | "storage" | "aside"}}} NoteEvents
 */

/** @type {NoteStatus} */
const unknown = {
  phase: "joining", failure: "", access: "write", unconfirmed: 0, refusal: "", isKeepFailing: false,
};

/** @extends {Emitter<NoteEvents>} */
export class Note extends Emitter {
  documentId;
  title = "";
  /** Whether a text is available; reading `text` itself copies it each time. */
  hasText = false;
  /** @type {NoteKind} "rich" as soon as an own edit makes it so. */
  kind = "plain";

  #core;
  #formats;
  #connection;
  #pending;
  #status = unknown;
  /** @type {NoteStatus["phase"]} The phase at the last event. */
  #toldPhase = "joining";
  #toldAccess = "write";
  /** @type {ReturnType<Core["people"]> | undefined} The people in the note, cached until the next action or edit. */
  #here;
  /** @type {Map<string, number>} A number for each client id that has been present. */
  #keys = new Map();
  /** @type {string | undefined} The client id under which edits are in the browser's storage. */
  #keptUnder;
  /** The revision of a change that this user requested over HTTP. */
  #ownRevision = 0;
  /** @type {NoteAction & {kind: "apply"} | undefined} The last changes that the editor does not show yet. */
  #unshown;
  /** @type {"read" | "write" | undefined} The access stored in the copy, until the note is live. */
  #copiedAccess;

  /**
   * @param {object} options
   * @param {Core} options.core
   * @param {Connection} options.connection
   * @param {string} options.documentId
   * @param {string} [options.title] The title in the list of notes.
   * @param {boolean} [options.formats] Whether formatting is shown and changed.
   * @param {{
   *   save: (note: Note, edits: Edits, base: Base) => boolean,
   *   remove: (note: Note, clientId: string) => void,
   * }} [options.pending] The storage of unconfirmed edits.
   * @param {Kept} [options.restored] Edits from this storage.
   * @param {Copied} [options.copied] The text shown until the server answers; not with `restored`.
   */
  constructor({ core, connection, documentId, title, formats = false, pending, restored, copied }) {
    super();
    this.documentId = documentId;
    this.#formats = formats;
    // The core reports a title only if it differs from its own, so start with the stored one.
    this.title = restored?.title ?? copied?.title ?? title ?? "";
    this.#copiedAccess = copied?.access;
    this.#core = core;
    this.#connection = connection;
    this.#pending = pending;
    this.#keptUnder = restored?.identity.id;
    connection.addNote(documentId, {
      take: (action) => this.#take(action),
      perform: (action) => this.#perform(action),
      isUnconfirmed: () => this.#status.unconfirmed > 0,
    });
    try {
      const restore = formats ? "restoreFormatted" : "restore";
      if (restored) connection.handle(restore, documentId, restored.session, restored.base ?? "");
      else if (copied) connection.handle(restore, documentId, copied.session, copied.text);
      else connection.handle(formats ? "openFormatted" : "open", documentId);
    } catch (error) {
      // Without its edits, the note is not created.
      connection.removeNote(documentId);
      throw error;
    }
  }

  get phase() {
    return this.#status.phase;
  }

  /** The reason of the phase `failed`: an error code of problems.js. */
  get failure() {
    return this.#status.failure;
  }

  get access() {
    return this.#copiedAccess ?? this.#status.access;
  }

  /** @type {Refusal | undefined} The reason why the server rejects the unconfirmed edits. */
  get refusal() {
    return this.#status.refusal ? { code: this.#status.refusal } : undefined;
  }

  /** The number of edits made here that the server has not confirmed. */
  get unconfirmedCount() {
    return this.#status.unconfirmed;
  }

  /** Whether the browser's storage rejected the last unconfirmed edits. */
  get isKeepFailing() {
    return this.#status.isKeepFailing;
  }

  /** The client id under which edits are in the browser's storage. */
  get keptUnder() {
    return this.#keptUnder;
  }

  /** The server's current text, to open the note with later. */
  get copy() {
    const copy = this.hasText ? this.#core.copy(this.documentId) : undefined;
    return copy && { ...copy, id: this.documentId, title: this.title, access: this.access };
  }

  /** The text with all edits made here; undefined until the note has been joined. */
  get text() {
    return this.hasText ? this.#core.text(this.documentId) : undefined;
  }

  /** The attributes of the text with all edits made here; undefined until the note has been joined. */
  format() {
    return this.hasText ? this.#core.format(this.documentId) : undefined;
  }

  /** Whether the server knows formatting; true until it is known. */
  get canBeRich() {
    return this.#core.flags(this.documentId).canBeRich;
  }

  /** Whether there is an edit to undo; only in notes opened with `formats`. */
  get canUndo() {
    return this.#core.flags(this.documentId).canUndo;
  }

  get canRedo() {
    return this.#core.flags(this.documentId).canRedo;
  }

  get revision() {
    return this.#core.revision(this.documentId);
  }

  get isWritable() {
    return this.access !== "read" && (this.phase === "live" || this.phase === "away");
  }

  get #peopleHere() {
    return (this.#here ??= this.#core.people(this.documentId));
  }

  /**
   * The number of other people with the note open; may exceed the length of `people`, which has a limit.
   */
  get othersCount() {
    const { count, all } = this.#peopleHere;
    return Math.max((count ?? 1) - 1, all.length);
  }

  /**
   * The other people with the note open; if they are many, the most recently active ones.
   *
   * @returns {Person[]}
   */
  get people() {
    return this.#peopleHere.all.map(({ clientId, name, color, personId, isWriting }) => ({
      clientId, name, color, personId, isWriting, key: this.#keyOf(clientId),
    }));
  }

  /** @param {string} clientId @returns {number} A number unique to this client. */
  #keyOf(clientId) {
    const known = this.#keys.get(clientId);
    if (known !== undefined) return known;
    this.#keys.set(clientId, this.#keys.size + 1);
    return this.#keys.size;
  }

  /**
   * The other people's carets and selections in the editor's text.
   *
   * @returns {PeerSelection[]}
   */
  get peerSelections() {
    return this.#peopleHere.all.flatMap(({ clientId, selections }) =>
      selections.map((selection) => ({ key: this.#keyOf(clientId), clientId, ...selection })),
    );
  }

  /**
   * Passes an edit that was made in the editor to the core.
   *
   * A note that is not rich accepts a format only with its `kind`; otherwise it takes the text alone and emits `reset`.
   *
   * @param {TextChange[]} changes Sorted, in UTF-16 units of the text before all of them. May be empty with a format.
   * @param {ChangeFormat} [format] Only in notes opened with `formats`.
   */
  edit(changes, format = undefined) {
    if (!this.hasText) throw new Error("edit before the note was joined");
    if (format && !this.#formats) throw new Error("a format in a note that was opened without formats");
    this.#here = undefined;
    this.#unshown = undefined;
    this.#connection.edit(this.documentId, changes, this.#formats ? (JSON.stringify(format) ?? "") : undefined);
    this.emit("edited", undefined);
  }

  /** Undoes this user's newest edit that still has an effect. The editor is changed by `changes`. */
  undo() {
    this.#step("undo");
  }

  redo() {
    this.#step("redo");
  }

  /** @param {"undo" | "redo"} kind */
  #step(kind) {
    if (!this.hasText) return;
    this.#here = undefined;
    this.#connection.handle(kind, this.documentId);
  }

  /** Makes the next edit a step of its own: the user has moved the caret, or pastes. */
  endStep() {
    this.#connection.handle("endStep", this.documentId);
  }

  /**
   * @param {number} anchor UTF-16 units.
   * @param {number} head
   */
  select(anchor, head) {
    if (this.hasText) this.#connection.handle("select", this.documentId, anchor, head);
  }

  /**
   * Requests a change over HTTP. The editor treats it as this user's own: undo reverts it in one step.
   *
   * @param {() => Promise<number>} make Requests the change; returns its revision.
   */
  makeOwn(make) {
    return this.#connection.holding(make, (revision) => (this.#ownRevision = revision));
  }

  /**
   * Holds back others' edits while an input method composes a word: until `end` settles, for ten seconds at most.
   *
   * @param {Promise<unknown>} end
   */
  hold(end) {
    void this.#connection.holding(() => end.catch(() => {}), () => {});
  }

  /** Sends the edits again after a final rejection, together with those made since. */
  retryRefused() {
    this.#connection.handle("retryRefused", this.documentId);
  }

  /** Discards unconfirmed edits and restores the server's text. */
  discardUnconfirmed() {
    this.hasText = false;
    this.#connection.handle("discard", this.documentId);
  }

  /** Opens the note again after a failure, because rights may have changed. */
  reopen() {
    this.#connection.handle("reopen", this.documentId);
  }

  /**
   * Leaves the document. Unconfirmed edits remain in the browser's storage. If it cannot store them, the document is
   * left once the server has confirmed them, and `left` is emitted.
   */
  close() {
    this.#connection.handle("leave", this.documentId);
    this.hasText = false;
  }

  /** Writes unconfirmed edits to the browser's storage, before the page may be closed. */
  persistNow() {
    this.#connection.suspend();
  }

  // The core's actions.

  /** @param {NoteAction} action */
  #take(action) {
    this.#here = undefined;
    if (action.kind === "status") {
      this.#status = action.status;
      if (action.status.phase === "live") this.#copiedAccess = undefined;
    } else if (action.kind === "title") this.title = action.title;
    else if (action.kind === "becomes") this.kind = action.value;
    else if (action.kind === "step") this.#unshown = undefined;
    else if (action.kind === "apply") this.#join(action);
    else if (action.kind === "reset") {
      this.hasText = true;
      this.#unshown = undefined;
    }
  }

  /**
   * Appends changes to earlier ones that are not shown yet, so that the editor shows them together. Changes that this
   * user requested stay separate, because undo reverts them in one step; so do changes with a format.
   *
   * @param {NoteAction & {kind: "apply"}} action
   */
  #join(action) {
    const isSeparate = action.revision === this.#ownRevision || action.format !== undefined;
    if (!this.#unshown || isSeparate) {
      this.#unshown = isSeparate ? undefined : action;
      return;
    }
    this.#unshown.changes = composed(this.#unshown.changes, action.changes);
    action.changes = [];
  }

  /** @param {NoteAction} action */
  #perform(action) {
    switch (action.kind) {
      case "keep":
        this.#keep(action);
        break;
      case "forget":
        this.#forget();
        break;
      case "reset":
        this.emit("reset", action.format ? { text: action.text, format: action.format } : { text: action.text });
        break;
      case "apply":
        if (action === this.#unshown) this.#unshown = undefined;
        if (action.changes.length === 0 && !action.format) break;
        this.#emitChanges(action, { isOwn: action.revision === this.#ownRevision });
        break;
      case "step":
        this.#emitChanges(action, { isOwn: true, selection: action.selection });
        break;
      case "becomes":
        this.emit("kind", action.value);
        break;
      case "status":
        this.#became(action.status);
        break;
      case "people":
        this.emit("people", undefined);
        break;
      case "carets":
        this.emit("peers", undefined);
        break;
      case "title":
        this.#connection.emit("document", { documentId: this.documentId, title: action.title });
        this.emit("title", action.title);
        break;
      case "rebased":
        this.emit("notice", { kind: "rebased" });
        break;
      case "outOfStep":
      case "misfit":
        console.warn(`The note is out of step and joins again: ${action.kind}`);
        break;
    }
  }

  /** @param {NoteAction & {kind: "apply" | "step"}} action @param {Partial<NoteEvents["changes"]>} more */
  #emitChanges({ changes, format }, more) {
    this.emit("changes", { changes, ...(format && { format }), ...more });
  }

  /** @param {NoteStatus} status */
  #became({ phase, access, failure }) {
    const { documentId } = this;
    if (phase === "left") {
      // The note may have been opened again since.
      if (this.phase === "left") this.#connection.removeNote(documentId);
      this.emit("left", undefined);
      return;
    }
    const isNews = phase !== this.#toldPhase;
    this.#toldPhase = phase;
    if (access !== this.#toldAccess || (isNews && failure === "readingLost")) this.#connection.emit("access", documentId);
    this.#toldAccess = access;
    if (isNews && phase === "deleted") this.#connection.emit("document", { documentId, deleted: true });
    if (isNews && phase === "live") this.emit("joined", undefined);
    this.emit("status", undefined);
  }

  /** @param {NoteAction & {kind: "keep"}} action */
  #keep({ isRequired, clientId, tag, edits }) {
    const identity = this.#connection.identityOf(clientId);
    if (!this.#pending || !identity) {
      this.#connection.handle("unkept", this.documentId);
      return;
    }
    const { id } = identity;
    const former = this.#keptUnder;
    const began = performance.now();
    const base = { tag, read: () => this.#core.keptText(this.documentId) };
    let isSaved = this.#pending.save(this, { identity, session: edits }, base);
    if (former !== undefined && former !== id) {
      // A tab that found these edits under both ids would send them twice.
      this.#pending.remove(this, former);
      isSaved ||= this.#pending.save(this, { identity, session: edits }, base);
    }
    this.#keptUnder = id;
    if (isSaved) {
      this.#connection.handle("kept", this.documentId, Math.round(performance.now() - began));
      return;
    }
    // Remove the older stored edits: a tab that restored them would send edits twice.
    if (isRequired) this.#forget();
    this.#connection.handle("keepFailed", this.documentId);
    this.emit("notice", { kind: "storage" });
  }

  #forget() {
    if (this.#keptUnder === undefined) return;
    this.#pending?.remove(this, this.#keptUnder);
    this.#keptUnder = undefined;
  }
}
