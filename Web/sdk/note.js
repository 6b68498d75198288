// A shared note, for an app's own editor. Positions count UTF-16 units, as strings and editors of browsers do.

import { CoreError } from "../js/client/door.js";
import { Emitter } from "../js/ground/emitter.js";
import { Note } from "../js/client/note.js";
import { wellFormed } from "../js/ground/wellformed.js";
import { changeOf, deltaOf, deltaOfChange, formattingOf } from "./delta.js";
import { ParleyError } from "./errors.js";

/**
 * @typedef {import("../js/client/door.js").TextChange} TextChange
 * @typedef {import("../js/client/door.js").ChangeFormat} ChangeFormat
 * @typedef {import("../js/client/identity.js").EditStorage} EditStorage
 * @typedef {import("./delta.js").Delta} Delta
 */

/**
 * opening: no text yet. live: synchronised with the gateway. away: the text is available and may be edited, but the
 * gateway cannot be reached. failed: it cannot be opened, for `failure`; edits are retained. deleted: a user deleted
 * it.
 *
 * @typedef {"opening" | "live" | "away" | "failed" | "deleted" | "closed"} NoteState
 */

/**
 * Another person with the note open. Selections are from `anchor` to `head`; the caret is at `head`.
 * `personId` is the same on all devices of one person, in this note alone: the value of the attribute `mention`; "" for
 * people without an account.
 *
 * @typedef {{key: number, name: string, color: string, personId: string, isWriting: boolean,
 *   selections: {anchor: number, head: number}[]}} Person
 */

/**
 * Edits, sorted, all in the text before any of them. `source`: the argument of `edit`; undefined for edits of others.
 *
 * @typedef {{changes: TextChange[], isOwn: boolean, source: unknown}} Changes
 */

/**
 * Edits with their formatting: `format` in the form of the protocol, with lengths in UTF-16 units; `delta` has the edits
 * and the formatting as Quill's `updateContents` takes them. `selection`: after an undone or redone edit.
 *
 * @typedef {Changes & {format: ChangeFormat | undefined, selection: {anchor: number, head: number} | undefined,
 *   delta: Delta}} Formats
 */

/**
 * text: the whole text was replaced, at first and after a long absence. changes: edits of the text were made. formats:
 * edits were made in a note opened with formats, of text or formatting. state: one of state, kind, access, unsaved,
 * failure, refusal or title has changed. people: others have joined, left or moved their carets.
 * moved: edits made while away were merged into a text that others had changed a lot; the user should check them.
 * unkept: the browser has no room for unsaved edits. aside: edits that were left in the browser could not be read, and
 * were moved aside in its storage.
 *
 * @typedef {{text: string, changes: Changes, formats: Formats, state: void, people: void, moved: void, unkept: void,
 *   aside: void}} SharedNoteEvents
 */

const unknown = "unknownDocument";

/** @extends {Emitter<SharedNoteEvents>} */
export class SharedNote extends Emitter {
  /** The note's id. */
  id;
  /** Whether the note was opened with formats: its formatting is shown and changed. */
  hasFormats;
  /** @type {Note} */
  #note;
  #core;
  #connection;
  #owner;
  #storage;
  #isClosed = false;
  #told;
  #waits;
  /** @type {Promise<string>} */
  #ready;
  /**
   * Client ids whose stored edits were opened, or could not be opened.
   *
   * @type {Set<string>}
   */
  #taken = new Set();

  /**
   * Created by `Parley.note`.
   *
   * @param {{core: import("../js/client/door.js").Core, connection: import("../js/client/connection.js").Connection, id: string,
   *   formats: boolean, owner: string, storage: EditStorage | undefined, waits: import("./waits.js").Waits,
   *   changed: () => void, closed: () => void, left: () => void}} parts
   */
  constructor({ core, connection, id, formats, owner, storage, waits, changed, closed, left }) {
    super();
    this.id = id;
    this.hasFormats = formats;
    this.#core = core;
    this.#connection = connection;
    this.#owner = owner;
    this.#storage = storage;
    this.#waits = waits;
    this.#told = { changed, closed, left };
    this.#note = this.#open();
    this.#ready = new Promise((resolve, reject) => {
      // Stored edits include their text.
      if (this.text !== undefined) resolve(this.text);
      this.on("text", resolve);
      this.on("state", () => {
        if (this.#isClosed) reject(new ParleyError("invalid", "the note was closed before it had a text"));
        else if (this.state === "failed" && this.failure === unknown) {
          reject(new ParleyError("refused", "no note has this id; create it first", unknown));
        } else if (this.state === "deleted") reject(new ParleyError("refused", "the note was deleted"));
        else if (this.state === "failed" && !this.#note.hasText) {
          reject(new ParleyError("refused", `the note cannot be opened: ${this.failure}`, this.failure));
        }
      });
    });
    // Prevents an unhandled rejection in pages that do not wait for `ready`.
    this.#ready.catch(() => {});
  }

  /**
   * Resolves with the text once there is one. Rejects if the note is closed before or cannot be opened, and if the
   * gateway gives no answer; read it again to wait again.
   *
   * @returns {Promise<string>}
   */
  get ready() {
    return this.#waits.limited(this.#ready);
  }

  /** Opens the note with edits that were left in the browser, if there are any. */
  #open() {
    const { note, isAside } = open({
      core: this.#core, connection: this.#connection, documentId: this.id, formats: this.hasFormats,
    }, this.#owner, this.#storage, this.#taken);
    note.on("reset", ({ text }) => this.emit("text", text));
    note.on("changes", ({ changes, format, isOwn = false, selection }) =>
      this.#tellChanges({ changes, format, isOwn: isOwn && selection !== undefined, selection, source: undefined }));
    for (const news of /** @type {const} */ (["status", "title", "edited", "kind"])) {
      note.on(news, () => {
        this.#told.changed();
        if (this.#isClosed) return;
        if (note.phase === "live") this.#takeLeftBehind(note);
        this.emit("state", undefined);
      });
    }
    note.on("left", () => {
      if (note === this.#note) this.#told.left();
    });
    for (const news of /** @type {const} */ (["people", "peers"])) note.on(news, () => this.emit("people", undefined));
    note.on("notice", ({ kind }) => {
      if (kind === "rebased") this.emit("moved", undefined);
      else if (kind === "storage") this.emit("unkept", undefined);
    });
    if (isAside) queueMicrotask(() => this.emit("aside", undefined));
    return note;
  }

  /** @param {Omit<Formats, "delta">} formats */
  #tellChanges({ format, selection, ...changes }) {
    if (changes.changes.length > 0) this.emit("changes", changes);
    if (!this.hasFormats) return;
    const delta = () => deltaOfChange(changes.changes, format);
    this.emit("formats", { ...changes, format, selection, get delta() { return delta(); } });
  }

  /** The number of closed tabs whose edits of this note have not been sent. */
  get #leftBehind() {
    const others = this.#storage?.othersOf(this.id, this.#note.keptUnder) ?? [];
    return others.filter(({ id }) => !this.#taken.has(id)).length;
  }

  /**
   * Sends the edits of the next closed tab once the current ones are saved: several tabs may have left edits.
   *
   * @param {Note} note
   */
  #takeLeftBehind(note) {
    const isTurn = () =>
      this.#note === note && !this.#isClosed && note.phase === "live" && note.unconfirmedCount === 0
      && this.#leftBehind > 0;
    // Later, because the note must not be replaced within its own event.
    if (isTurn()) queueMicrotask(() => {
      if (!isTurn()) return;
      note.close();
      this.#note = this.#open();
      this.#told.changed();
      this.emit("text", this.text ?? "");
      this.emit("state", undefined);
    });
  }

  /** @returns {NoteState} */
  get state() {
    if (this.#isClosed) return "closed";
    const { phase } = this.#note;
    if (this.#isUnknown) return "failed";
    return phase === "joining" ? "opening" : phase === "left" || phase === "leaving" ? "closed" : phase;
  }

  /** The reason of the state `failed`: an error code of the protocol. */
  get failure() {
    return this.#isUnknown ? unknown : this.#note.failure;
  }

  /** Whether the gateway knows no note of this id: none was created, or it was deleted before it was opened here. */
  get #isUnknown() {
    return this.#note.phase === "deleted" && !this.#note.hasText;
  }

  /** The reason why the gateway rejects the unsaved edits: an error code of the protocol, or "". */
  get refusal() {
    return this.#note.refusal?.code ?? "";
  }

  get title() {
    return this.#note.title;
  }

  /**
   * "read" if this user may not edit.
   *
   * @returns {"read" | "write"}
   */
  get access() {
    return this.#note.access === "read" ? "read" : "write";
  }

  /** Whether edits are accepted now: the note has a text, and this user may write. */
  get isWritable() {
    return !this.#isClosed && this.#note.hasText && this.#note.isWritable;
  }

  /** The number of edits that the gateway has not confirmed. Each closed tab with unsent edits counts as one. */
  get unsaved() {
    if (this.#isClosed) return this.#note.phase === "leaving" ? this.#note.unconfirmedCount : 0;
    return this.#note.unconfirmedCount + this.#leftBehind;
  }

  /** Whether unsaved edits outlive the tab: false if the browser provides no storage, or has no room. */
  get isKept() {
    return this.#storage !== undefined && !this.#note.isKeepFailing;
  }

  /** The text with all edits made here; undefined until it is available. It is copied at each access. */
  get text() {
    return this.#isClosed ? undefined : this.#note.text;
  }

  /**
   * "rich" for a note with formatting. A plain note becomes rich by the first edit with formatting.
   *
   * @returns {"plain" | "rich"}
   */
  get kind() {
    return this.#note.kind;
  }

  /** Whether the gateway has rich notes; true until it has answered. */
  get canBeRich() {
    return this.#note.canBeRich;
  }

  /**
   * The text with its formatting, as `Quill.setContents` takes it; undefined until it is available. Without formatting
   * if the note was not opened with formats.
   *
   * @returns {Delta | undefined}
   */
  get delta() {
    const { text } = this;
    return text === undefined ? undefined : deltaOf(text, this.#note.format());
  }

  /** The formatting of the text, in the form of the protocol with lengths in UTF-16 units. */
  get runs() {
    return this.#isClosed ? undefined : this.#note.format();
  }

  /**
   * The other people with the note open; if they are many, the most recently active ones.
   *
   * @returns {Person[]}
   */
  get people() {
    /** @type {Map<number, {anchor: number, head: number}[]>} */
    const selections = new Map();
    for (const { key, anchor, head } of this.#note.peerSelections) {
      selections.set(key, [...(selections.get(key) ?? []), { anchor, head }]);
    }
    return this.#note.people.map(({ key, name, color, personId, isWriting }) => ({
      key, name, color, personId, isWriting, selections: selections.get(key) ?? [],
    }));
  }

  /** The number of other people with the note open; may exceed the length of `people`, which has a limit. */
  get othersCount() {
    return this.#note.othersCount;
  }

  /**
   * Passes edits that were made in an editor, which shows this note's text, to the note.
   *
   * Inserted text has the formatting that `format` gives it, and no other.
   *
   * @param {TextChange[]} changes Sorted, not overlapping, all in the text before any of them.
   * @param {unknown} [source] The editor that made the edits, which ignores the event about them.
   * @param {ChangeFormat} [format] In the form of the protocol, with lengths in UTF-16 units.
   * @throws {ParleyError} invalid
   */
  edit(changes, source, format) {
    if (!this.isWritable) {
      const why = this.access === "read" ? "may be read alone" : `is ${this.state}`;
      throw new ParleyError("invalid", `expected a note that may be edited, got one that ${why}`);
    }
    // A bound editor's positions are correct; another caller's are checked.
    check(changes, source === undefined ? (this.text ?? "") : undefined);
    if (format && !this.hasFormats) {
      throw new ParleyError("invalid", "expected a note opened with { formats: true }, got one without");
    }
    if (changes.length === 0 && !format) return;
    const sound = changes.map(({ from, to, insert }) => ({ from, to, insert: wellFormed(insert) }));
    const isFirst = format && this.kind === "plain" && this.canBeRich;
    try {
      this.#note.edit(sound, isFirst ? { ...format, kind: "rich" } : format);
    } catch (error) {
      if (!(error instanceof CoreError)) throw error;
      throw new ParleyError("invalid", "expected formatting that fits the edits and the text");
    }
    // Emit others' edits first that the core has already applied, because these were made after them.
    this.#connection.afterwards(() =>
      this.#tellChanges({ changes: sound, format, isOwn: true, source, selection: undefined }));
  }

  /**
   * Changes the formatting of a part of the text. Attributes of lines, such as `header`, apply to all lines that the
   * range touches.
   *
   * @param {number} from
   * @param {number} to
   * @param {Record<string, any>} attributes As in a Delta: `{ bold: true }`; null removes one.
   * @throws {ParleyError} invalid
   */
  format(from, to, attributes) {
    const { changes, format } = formattingOf(this.text ?? "", () => this.#note.format(), from, to, attributes);
    this.edit(changes, undefined, format);
  }

  /**
   * Makes the edits that a Delta describes, as `Quill.updateContents` does. Inserted text has the Delta's formatting, and
   * no other.
   *
   * @param {Delta} delta Lengths count UTF-16 units.
   * @param {unknown} [source] As for `edit`.
   * @throws {ParleyError} invalid
   */
  update({ ops }, source) {
    const { changes, format } = changeOf(ops, this.text ?? "", () => this.#note.format());
    this.edit(changes, source, format);
  }

  /** Undoes this user's newest edit that still has an effect; only in notes opened with formats. */
  undo() {
    if (this.isWritable) this.#note.undo();
  }

  redo() {
    if (this.isWritable) this.#note.redo();
  }

  /**
   * Replaces a part of the text.
   *
   * @param {number} from
   * @param {number} to
   * @param {string} text
   */
  replace(from, to, text) {
    this.edit([{ from, to, insert: text }]);
  }

  /** @param {string} text The text to append. */
  append(text) {
    const end = this.text?.length ?? 0;
    this.replace(end, end, text);
  }

  /**
   * Sends this user's caret or selection to the other people.
   *
   * @param {number} anchor
   * @param {number} [head]
   */
  select(anchor, head = anchor) {
    if (!this.#isClosed) this.#note.select(anchor, head);
  }

  /** Tries again to open the note, or to save its edits, after a failure or a rejection. */
  retry() {
    if (this.state === "failed") this.#note.reopen();
    else this.#note.retryRefused();
  }

  /** Discards unsaved edits, and restores the gateway's text. */
  discardUnsaved() {
    this.#note.discardUnconfirmed();
  }

  /**
   * Holds back others' edits while an input method composes a word: until `end` settles, for ten seconds at most.
   *
   * @param {Promise<unknown>} end
   */
  hold(end) {
    this.#note.hold(end);
  }

  /**
   * Returns an error for bindings that are loaded beside this module.
   *
   * @param {string} message
   */
  error(message) {
    return new ParleyError("invalid", message);
  }

  /**
   * Closes the note. Unsaved edits stay in the browser, and are sent when the note is opened again. If the browser
   * cannot store them, they are sent now, and count as unsaved until they are confirmed.
   */
  close() {
    if (this.#isClosed) return;
    this.#note.close();
    this.#isClosed = true;
    this.#told.closed();
    this.#told.changed();
    this.emit("state", undefined);
  }
}

/**
 * @param {TextChange[]} changes
 * @param {string} [text] The text before the edits, to check them against.
 * @throws {ParleyError} invalid
 */
function check(changes, text) {
  const splits = (/** @type {number} */ place) =>
    text !== undefined && isLow(text.charCodeAt(place)) && isHigh(text.charCodeAt(place - 1));
  const end = text?.length ?? Infinity;
  let last = 0;
  for (const { from, to } of changes) {
    const isWithin = Number.isInteger(from) && Number.isInteger(to) && last <= from && from <= to && to <= end;
    if (!isWithin || splits(from) || splits(to)) {
      const expected = `expected ascending edits within ${end} units, none of them within a surrogate pair`;
      throw new ParleyError("invalid", `${expected}, got one from ${from} to ${to}`);
    }
    last = to;
  }
}

const isHigh = (/** @type {number} */ unit) => unit >= 0xd800 && unit < 0xdc00;
const isLow = (/** @type {number} */ unit) => unit >= 0xdc00 && unit < 0xe000;

/**
 * Opens a note with the edits that this client has left in the browser.
 *
 * @param {{core: import("../js/client/door.js").Core, connection: import("../js/client/connection.js").Connection,
 *   documentId: string, formats: boolean}} parts
 * @param {string} owner
 * @param {EditStorage | undefined} storage
 * @param {Set<string>} taken Client ids whose edits are already open; the id of the edits found here is added.
 */
function open(parts, owner, storage, taken) {
  if (!storage) return { note: new Note(parts), isAside: false };
  const { connection, documentId } = parts;
  const pending = {
    /** @type {(note: Note, edits: import("../js/client/note.js").Edits, base: import("../js/client/note.js").Base) => boolean} */
    save: ({ title }, edits, base) => storage.savePending({ ...edits, documentId, title, owner }, base),
    /** @type {(note: Note, clientId: string) => void} */
    remove: (_, clientId) => storage.removePending(documentId, clientId),
  };
  const options = { ...parts, pending };
  const own = connection.identity;
  for (const identity of own ? [own, ...storage.adopted] : storage.adopted) {
    const kept = storage.pendingOf(documentId, identity.id, owner);
    if (!kept || taken.has(identity.id)) continue;
    taken.add(identity.id);
    try {
      connection.addIdentity(identity);
      return { note: new Note({ ...options, restored: kept }), isAside: false };
    } catch (error) {
      if (!(error instanceof CoreError)) throw error;
      // Another version of this SDK wrote the edits. If they cannot be moved aside, other edits must not overwrite
      // them.
      const isMoved = storage.setPendingAside(documentId, identity.id);
      return { note: new Note(isMoved ? options : parts), isAside: true };
    }
  }
  return { note: new Note(options), isAside: false };
}
