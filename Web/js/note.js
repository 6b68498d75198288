// One note as this client sees it: joins its document, keeps the synchroniser (OTCore, in
// WebAssembly) in step with the server, and tells the editor what to do.
//
// The exactly-once rule, seen from here: a change is sent once, and after a loss of the line sent
// again as the same bytes, at the same base revision, with the same sequence number. The server
// knows (client, sequence) and answers with the first acknowledgement. The synchroniser remembers
// those bytes; this module only decides when they go out.

import { CoreError } from "./core.js";
import { Emitter } from "./emitter.js";

/**
 * @typedef {import("./core.js").Core} Core
 * @typedef {import("./core.js").Session} Session
 * @typedef {import("./core.js").TextChange} TextChange
 * @typedef {import("./core.js").OutgoingChange} OutgoingChange
 * @typedef {import("./connection.js").Connection} Connection
 * @typedef {import("./connection.js").Message} Message
 * @typedef {import("./connection.js").ClientIdentity} ClientIdentity
 * @typedef {{clientId: string, name: string, color: string, key: number, isWriting: boolean}} Person
 * @typedef {{key: number, clientId: string, anchor: number, head: number}} PeerSelection
 * @typedef {{code: string}} Refusal
 */

/**
 * The change that made a revision, and when the server took it.
 *
 * @typedef {{clientId: string, sequence: number, time?: number}} HeadChange
 */

/**
 * Unconfirmed edits as they outlive the page: an exported session, what made its revision, and whose
 * changes these are to the server.
 *
 * @typedef {{identity: ClientIdentity, session: string, change?: HeadChange}} Edits
 */

/**
 * The server's text that they stand on: it is as long as the note, and stays the same for many edits. The
 * tag tells one such text of a note from others.
 *
 * @typedef {{tag: string, read: () => string}} Base
 * @typedef {Edits & {base?: string}} Kept The text as `base`.
 */

/** What a change's message has beside its operation, at most. */
const envelopeBytes = 2_000;

/**
 * @param {string} text
 * @param {number} bytes
 */
const isLonger = (text, bytes) =>
  text.length > bytes || (text.length * 3 > bytes && new TextEncoder().encode(text).length > bytes);

/** Refusals that joining again may cure. */
const rejoinCodes = new Set([
  "epochChanged", "historyGone", "futureRevision", "lengthMismatch", "notJoined", "sequenceGap",
]);
/** How often that is tried without a change getting through. */
const rejoinsMax = 3;

/**
 * What a note is up to. joining: no text yet. live: in step with the server. away: the text is here,
 * the line is not.
 *
 * @typedef {"joining" | "live" | "away" | "failed" | "deleted"} Phase
 */

/** Milliseconds. */
const timing = {
  /** A selection is sent at most so often. */
  selectEvery: 80,
  /** Edits unconfirmed for longer than this are written to the browser's storage. */
  persistAfter: 150,
  /** … or later, if that takes long: so many times as long as it took, … */
  persistShare: 20,
  /** … but not later than this. */
  persistWithin: 3_000,
  /** How long to wait before a retryable refusal is tried again, unless the server says. */
  retryAfter: 1_000,
  /** … for at most so long. */
  holdWithin: 10_000,
  /** Somebody counts as writing for so long after each of their edits. */
  writingStays: 3_000,
};

/** Messages that wait for the revision of a change that was asked for over HTTP, at most. */
const heldMax = 500;

/**
 * reset: the editor starts from a new text. changes: to be made in it; `isOwn` says that this person asked
 * for them, and may undo them. edited: it has made some. joined: it is known who is here. peers: others' carets may have moved. notice: to be told to the person.
 *
 * @typedef {{reset: {text: string}, changes: {changes: TextChange[], isOwn?: boolean}, edited: void, joined: void, peers: void,
 *   people: void, status: void, title: string,
 *   notice: {kind: "rebased" | "storage", text: string}}} NoteEvents
 */

/** @extends {Emitter<NoteEvents>} */
export class Note extends Emitter {
  documentId;
  title = "";
  /** @type {Phase} */
  phase = "joining";
  /** @type {"write" | "read" | string} */
  access = "write";
  /** @type {Refusal | undefined} Why the server does not take the edits at hand. */
  refusal;
  /** @type {string} Why the note could not be opened, for the phase `failed`: a code of problems.js. */
  failure = "";

  #core;
  #connection;
  #pending;
  /** @type {Session | undefined} */
  #session;
  /** @type {Map<string, Person>} By client id. */
  #people = new Map();
  /** @type {Map<number, Person>} */
  #peopleByKey = new Map();
  /** @type {number | undefined} How many people are here, this one included, if not all are named. */
  #peopleCount;
  #keyCount = 0;
  /** @type {ClientIdentity | undefined} As whom the edits at hand were sent. */
  #identity;
  /** @type {{anchor: number, head: number} | undefined} In UTF-16 units of the editor's text. */
  #selection;
  #selectionIsNews = false;
  /** @type {any} */
  #selectTimer;
  /** @type {any} */
  #persistTimer;
  #persistDelay = timing.persistAfter;
  /** @type {any} */
  #retryTimer;
  /** @type {Map<string, any>} By client id: until they count as writing no longer. */
  #writingTimers = new Map();
  /** @type {HeadChange | undefined} */
  #headChange;
  /** @type {string | undefined} The client id under which edits are in the browser's storage. */
  #keptUnder;
  /** Whether it goes on from what was kept, and has not sent anything since. */
  #isRestored = false;
  #rejoinCount = 0;
  /** @type {Message[] | undefined} Messages that wait for `#ownRevision`. */
  #held;
  /** The revision of a change that this person asked for over HTTP. */
  #ownRevision = 0;
  /** Whether the change in flight was refused, and goes out as a new one after the next join. */
  #isRefused = false;
  /** @type {(() => void)[]} */
  #subscriptions;

  /**
   * @param {object} options
   * @param {Core} options.core
   * @param {Connection} options.connection
   * @param {string} options.documentId
   * @param {string} [options.title] As the list of notes knows it.
   * @param {{
   *   save: (note: Note, edits: Edits, base: Base) => boolean,
   *   remove: (note: Note, clientId: string) => void,
   * }} [options.pending] Where unconfirmed edits outlive the page.
   * @param {Kept} [options.restored] From there.
   */
  constructor({ core, connection, documentId, title, pending, restored }) {
    super();
    this.documentId = documentId;
    this.title = title ?? "";
    this.#core = core;
    this.#connection = connection;
    this.#pending = pending;
    if (restored !== undefined) {
      this.#session = core.restoreSession(restored.session, restored.base);
      this.#identity = restored.identity;
      this.#headChange = restored.change;
      this.#keptUnder = restored.identity.id;
      this.#isRestored = true;
      this.phase = "away";
    }
    // Not before: what cannot be restored makes no note.
    this.#subscriptions = [
      connection.on("welcome", () => this.#join()),
      connection.on("lost", () => {
        this.#release();
        this.#lost();
      }),
      connection.on("message", (message) => this.#receive(message)),
    ];
    if (connection.isOnline) this.#join();
  }

  /** The text with all edits made here; undefined until the note was joined once. */
  get text() {
    return this.#session?.text();
  }

  /** Whether there is a text to show; `text` itself has to be copied each time. */
  get hasText() {
    return this.#session !== undefined;
  }

  /** Edits made here that the server has not confirmed to be stored. */
  get unconfirmedCount() {
    return this.#session?.unconfirmedCount ?? 0;
  }

  get revision() {
    return this.#session?.revision ?? 0;
  }

  get isWritable() {
    return this.access !== "read" && (this.phase === "live" || this.phase === "away");
  }

  /**
   * How many others have the note open; more than `people` where too many are here to name them all.
   */
  get othersCount() {
    return Math.max((this.#peopleCount ?? 1) - 1, this.#people.size);
  }

  /** The others who have the note open; of a crowd, those who acted last. */
  get people() {
    return [...this.#people.values()];
  }

  /**
   * Where the others' carets and selections stand in the editor's text.
   *
   * @returns {PeerSelection[]}
   */
  get peerSelections() {
    const selections = [];
    for (const { key, anchor, head } of this.#session?.peers() ?? []) {
      const person = this.#peopleByKey.get(key);
      if (person) selections.push({ key, clientId: person.clientId, anchor, head });
    }
    return selections;
  }

  /** @param {number} key */
  personWithKey(key) {
    return this.#peopleByKey.get(key);
  }

  /**
   * Takes an edit that was just made in the editor.
   *
   * @param {TextChange[]} changes Ascending, in UTF-16 units of the text before all of them.
   */
  edit(changes) {
    const session = this.#session;
    if (!session) throw new Error("edit before the note was joined");
    this.#transmit(session.edit(changes));
    this.#selectionIsNews = true;
    this.#unconfirmedMoved();
    this.emit("edited", undefined);
  }

  /**
   * @param {number} anchor UTF-16 units.
   * @param {number} head
   */
  select(anchor, head) {
    if (this.#selection?.anchor === anchor && this.#selection.head === head) return;
    this.#selection = { anchor, head };
    this.#selectionIsNews = true;
    this.#scheduleSelect();
  }

  /**
   * Has a change made over HTTP that counts as this person's own when it comes by: it is one step to undo.
   *
   * @param {() => Promise<number>} make Asks for it; the revision that it made.
   */
  async makeOwn(make) {
    // The change may come before the answer that says which one it is.
    this.#held ??= [];
    const timer = setTimeout(() => this.#release(), timing.holdWithin);
    try {
      this.#ownRevision = await make();
    } finally {
      clearTimeout(timer);
      this.#release();
    }
  }

  /** Handles the messages that were held back. */
  #release() {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const message of held) this.#receive(message);
  }

  /** After a final refusal: sends the edits again, together with those made since. */
  retryRefused() {
    if (!this.refusal) return;
    this.refusal = undefined;
    this.#transmit(this.#session?.release());
    this.emit("status", undefined);
  }

  /** Gives up the edits that are not confirmed, and takes the server's text. */
  discardUnconfirmed() {
    this.refusal = undefined;
    this.#forgetPersisted();
    this.#dropSession();
    this.phase = "joining";
    this.emit("status", undefined);
    if (this.#connection.isOnline) this.#join();
  }

  /** After a failure, when rights may be others: tries to open the note again. */
  reopen() {
    if (this.phase !== "failed" && this.phase !== "deleted") return;
    this.phase = this.#session ? "away" : "joining";
    this.failure = "";
    this.#rejoinCount = 0;
    this.emit("status", undefined);
    if (this.#connection.isOnline) this.#join();
  }

  /** Leaves the document. Unconfirmed edits stay in the browser's storage. */
  close() {
    this.persistNow();
    clearTimeout(this.#selectTimer);
    clearTimeout(this.#persistTimer);
    clearTimeout(this.#retryTimer);
    this.#nobodyWrites();
    for (const unsubscribe of this.#subscriptions) unsubscribe();
    this.#subscriptions = [];
    if (this.phase === "live") this.#connection.send("leave", { documentId: this.documentId });
    this.#dropSession();
  }

  /** Writes unconfirmed edits to the browser's storage, before the page may go away. */
  persistNow() {
    clearTimeout(this.#persistTimer);
    this.#persistTimer = undefined;
    const session = this.#session;
    const identity = this.#identity;
    if (!session || !identity || !this.#pending) return;
    if (session.unconfirmedCount === 0) {
      this.#forgetPersisted();
      return;
    }
    const former = this.#keptUnder;
    const began = performance.now();
    const record = { identity, session: session.exportEdits(), change: this.#headChange };
    const base = { tag: `${session.revision} ${session.epoch}`, read: () => session.serverText() };
    let isSaved = this.#pending.save(this, record, base);
    this.#keptUnder = identity.id;
    if (former !== undefined && former !== identity.id) {
      // Whoever finds these edits under both ids would send them twice.
      this.#pending.remove(this, former);
      isSaved ||= this.#pending.save(this, record, base);
    }
    // However long the note: most of the time is the person's.
    const share = (performance.now() - began) * timing.persistShare;
    this.#persistDelay = Math.min(Math.max(timing.persistAfter, share), timing.persistWithin);
    if (!isSaved) {
      const text = "This browser has no room to keep your unsaved changes. Leave this page open.";
      this.emit("notice", { kind: "storage", text });
    }
  }

  // Joining and coming back.

  /** @param {{isFresh?: boolean}} [options] Whether the whole text is wanted. */
  #join(options) {
    // Whatever was to be tried again: the answer brings it about.
    clearTimeout(this.#retryTimer);
    const session = this.#session;
    /** @type {Record<string, unknown>} */
    const request = { documentId: this.documentId };
    if (session && !options?.isFresh) {
      request.resume = { epoch: session.epoch, revision: session.revision, change: this.#headChange };
    }
    this.phase = session ? "away" : "joining";
    this.#connection.send("join", request, (reply) => {
      if (reply.type === "error") this.#failed(reply.data);
    });
    this.emit("status", undefined);
  }

  #lost() {
    clearTimeout(this.#selectTimer);
    clearTimeout(this.#retryTimer);
    this.#selectTimer = undefined;
    if (this.phase === "live") this.phase = "away";
    this.#session?.disconnect();
    this.#nobodyWrites();
    this.#people.clear();
    this.#peopleByKey.clear();
    this.#peopleCount = undefined;
    this.#session?.removeAllPeers();
    this.emit("people", undefined);
    this.emit("peers", undefined);
    this.emit("status", undefined);
  }

  /** @param {Message} message */
  #receive(message) {
    if (message.data.documentId !== this.documentId || this.phase === "failed") return;
    if (this.#held) {
      this.#held.push(message);
      if (this.#held.length > heldMax) this.#release();
      return;
    }
    try {
      this.#handle(message);
    } catch (error) {
      if (!(error instanceof CoreError)) throw error;
      this.#recover(error);
    }
  }

  /**
   * What the server said does not fit to what is here: a message got lost, or one side is wrong.
   * Joining again brings what was missed; the second time, the whole text.
   *
   * @param {CoreError} error
   */
  #recover(error) {
    console.warn(`The note fell out of step and joins again: ${error.message}`);
    this.#session?.disconnect();
    this.#rejoinCount += 1;
    if (this.#rejoinCount <= rejoinsMax) {
      this.#join({ isFresh: this.#rejoinCount > 1 });
      return;
    }
    this.phase = "failed";
    this.failure = "disagreement";
    this.persistNow();
    this.emit("status", undefined);
  }

  /** @param {Message} message */
  #handle({ type, data }) {
    switch (type) {
      case "joined":
        this.#joined(data);
        break;
      case "changes":
        this.#changes(data.revision, data.changes, data.time);
        break;
      case "acknowledged":
        this.#acknowledged(data);
        break;
      case "refused":
        this.#refused(data);
        break;
      case "resync":
        this.#resync(data);
        break;
      case "selections":
        this.#placePeer(data.clientId, data.selections);
        this.emit("peers", undefined);
        break;
      case "presence":
        this.#presence(data);
        break;
      case "accessChanged":
        this.#accessChanged(data.access);
        break;
      case "documentChanged":
        this.#documentChanged(data);
        break;
    }
  }

  /** @param {any} data */
  #joined(data) {
    const identity = this.#connection.identity;
    this.access = data.access ?? "write";
    this.#retitle(data.title);
    const session = this.#session;
    if (data.text !== undefined) this.#headChange = data.change;
    if (!session) {
      this.#identity = identity;
      this.#session = this.#core.openSession(data);
      this.phase = "live";
      this.emit("reset", { text: data.text });
    } else if (data.text === undefined) {
      this.phase = "live";
      this.#resume(session, identity, data);
    } else {
      this.phase = "live";
      this.#identity = identity;
      this.#rebase(session, data, false);
    }
    this.#people.clear();
    this.#peopleByKey.clear();
    this.#session?.removeAllPeers();
    this.#presence({ joined: data.presence ?? [], people: data.people });
    this.#selectionIsNews = true;
    this.#scheduleSelect();
    this.emit("people", undefined);
    this.emit("joined", undefined);
    this.#unconfirmedMoved();
  }

  /**
   * The line is back and the server still has everything since: take what was missed, in order;
   * what of it is our own is an acknowledgement. What is still in flight then goes out again.
   *
   * @param {Session} session
   * @param {ClientIdentity | undefined} identity
   * @param {any} data
   */
  #resume(session, identity, data) {
    const missed = data.changes ?? [];
    this.#changes(data.revision - missed.length + 1, missed, data.change?.time);
    // The server did not know this client any more. What of its edits had been stored has just come
    // by under the old id, so the rest is safe to send under the new one, from the number it expects.
    // So it is with what it refused: as the same bytes it would be refused again.
    const isSent = identity?.id === this.#identity?.id && !this.#isRefused;
    this.#identity = identity;
    this.#isRefused = false;
    this.refusal = undefined;
    const outgoing = session.reconnect(isSent ? undefined : data.lastSequence);
    this.#keepBeforeSending();
    this.#transmit(outgoing);
  }

  /**
   * Too much has happened since, or the history is another one: the whole text has come. Edits at
   * hand are carried over to it, and the person is told.
   *
   * @param {Session} session
   * @param {any} data
   * @param {boolean} isSameConnection
   */
  #rebase(session, data, isSameConnection) {
    const count = session.unconfirmedCount;
    const { changes, outgoing } = session.rebase(data, { isSameConnection });
    this.#isRefused = false;
    this.refusal = undefined;
    this.#apply(changes);
    this.#keepBeforeSending();
    this.#transmit(outgoing);
    if (count > 0 && session.unconfirmedCount > 0) {
      const text =
        "This note has moved on a long way while you were away. Your changes were kept and placed " +
        "into the new text: please look them over.";
      this.emit("notice", { kind: "rebased", text });
    }
  }

  /** @param {any} data */
  #resync(data) {
    const session = this.#session;
    if (!session || this.phase !== "live") return;
    this.#headChange = data.change;
    this.#rebase(session, data, true);
    this.#unconfirmedMoved();
    this.emit("peers", undefined);
  }

  /** @param {any} data An `error` in reply to the join. */
  #failed(data) {
    if (data.retryable) {
      clearTimeout(this.#retryTimer);
      this.#retryTimer = setTimeout(
        () => this.#connection.isOnline && this.#join(),
        data.retryAfter ?? timing.retryAfter,
      );
      return;
    }
    this.phase = data.code === "unknownDocument" || data.code === "deleted" ? "deleted" : "failed";
    this.failure = String(data.code ?? "");
    this.emit("status", undefined);
  }

  // Changes.

  /**
   * @param {number} firstRevision
   * @param {{clientId: string, sequence: number, operation: (number | string)[]}[]} changes
   * @param {number} [time] When the server took the last of them.
   */
  #changes(firstRevision, changes, time) {
    const session = this.#session;
    if (!session || this.phase !== "live") return;
    changes.forEach(({ clientId, sequence, operation }, index) => {
      const revision = firstRevision + index;
      if (clientId === this.#identity?.id) {
        if (session.inFlight?.sequence === sequence) {
          this.#rejoinCount = 0;
          this.#transmit(session.acknowledge(sequence, revision));
        } else {
          this.#apply(session.supersede(JSON.stringify(operation), sequence, revision));
        }
      } else {
        const author = this.#people.get(clientId)?.key ?? 0;
        this.#writes(clientId);
        this.#apply(session.receive(JSON.stringify(operation), revision, author), revision === this.#ownRevision);
      }
      const isLast = index === changes.length - 1;
      if (revision === session.revision) {
        this.#headChange = { clientId, sequence, time: isLast ? time : undefined };
      }
    });
    this.#unconfirmedMoved();
    this.emit("peers", undefined);
  }

  /** @param {TextChange[]} changes @param {boolean} [isOwn] */
  #apply(changes, isOwn = false) {
    if (changes.length > 0) this.emit("changes", { changes, isOwn });
  }

  /** @param {{sequence: number, revision: number, time?: number}} data */
  #acknowledged({ sequence, revision, time }) {
    const session = this.#session;
    if (!session || this.phase !== "live") return;
    // The answer to a change that was sent again may come after the change itself came by.
    if (session.inFlight?.sequence !== sequence || revision <= session.revision) return;
    this.#rejoinCount = 0;
    const next = session.acknowledge(sequence, revision);
    this.#headChange = { clientId: this.#identity?.id ?? "", sequence, time };
    this.#transmit(next);
    this.#unconfirmedMoved();
  }

  /** @param {any} data */
  #refused(data) {
    const session = this.#session;
    // What is refused while it joins goes out once more after that.
    if (!session || this.phase !== "live" || session.inFlight?.sequence !== data.sequence) return;
    // What was overtaken is not sent again as it was, so there is nothing to wait for but its turn.
    const mustWait = session.isOvertaken ? data.code === "tooFast" : data.retryable;
    if (mustWait) {
      clearTimeout(this.#retryTimer);
      this.#retryTimer = setTimeout(() => this.#resend(), data.retryAfter ?? timing.retryAfter);
      return;
    }
    if ((session.isOvertaken || rejoinCodes.has(data.code)) && this.#rejoinCount < rejoinsMax) {
      // The server and this client see the document differently. Joining again settles that.
      this.#rejoinCount += 1;
      this.#rejoin(session);
      return;
    }
    session.refuse(data.sequence);
    this.refusal = { code: data.code };
    this.persistNow();
    this.emit("status", undefined);
  }

  #resend() {
    const session = this.#session;
    if (!session || this.phase !== "live") return;
    if (session.isOvertaken) {
      // It was made on a text that is no more; joining again makes it a change of the new one.
      this.#rejoin(session);
    } else {
      this.#transmit(session.inFlight);
    }
  }

  /** @param {Session} session */
  #rejoin(session) {
    this.#isRefused = true;
    session.disconnect();
    this.#join();
  }

  /** @param {OutgoingChange | undefined} change */
  #transmit(change) {
    const session = this.#session;
    if (!change || !session || this.phase !== "live") return;
    const { sequence, revision, operation } = change;
    const limit = this.#connection.welcome?.limits?.messageBytesMax;
    if (limit && isLonger(operation, limit - envelopeBytes)) {
      // The server would end the connection over it.
      this.#refused({ sequence, code: "messageTooLarge", retryable: false });
      return;
    }
    this.#connection.sendEncoded(
      "change",
      `{"documentId":${JSON.stringify(this.documentId)},"epoch":${JSON.stringify(session.epoch)},` +
        `"revision":${revision},"sequence":${sequence},"operation":${operation}}`,
      (reply) => {
        if (reply.type === "error") this.#refused({ ...reply.data, sequence });
      },
    );
  }

  #unconfirmedMoved() {
    const count = this.unconfirmedCount;
    if (count === 0) {
      clearTimeout(this.#persistTimer);
      this.#persistTimer = undefined;
      this.#forgetPersisted();
      if (this.#selectionIsNews) this.#scheduleSelect();
    } else {
      this.#persistTimer ??= setTimeout(() => this.persistNow(), this.#persistDelay);
    }
    this.emit("status", undefined);
  }

  /**
   * Before edits go out under a new client id, what is kept of them has to be under it. And what was
   * typed into a restored note is kept apart until here, as not sent: from here on it may have been.
   */
  #keepBeforeSending() {
    const isMoved = this.#keptUnder !== undefined && this.#keptUnder !== this.#identity?.id;
    if (isMoved || this.#isRestored) this.persistNow();
    this.#isRestored = false;
  }

  #forgetPersisted() {
    if (this.#keptUnder === undefined) return;
    this.#pending?.remove(this, this.#keptUnder);
    this.#keptUnder = undefined;
  }

  #dropSession() {
    this.#session?.close();
    this.#session = undefined;
    this.#isRefused = false;
  }

  // People.

  /** @param {number} [delay] Milliseconds. */
  #scheduleSelect(delay = timing.selectEvery) {
    this.#selectTimer ??= setTimeout(() => {
      this.#selectTimer = undefined;
      this.#sendSelection();
    }, delay);
  }

  #sendSelection() {
    const session = this.#session;
    if (!session || !this.#selection || !this.#selectionIsNews || this.phase !== "live") return;
    // Positions count in the server's text. While edits are on their way the others move this caret
    // by the edits themselves; when the last one is confirmed, this is called again.
    if (session.unconfirmedCount > 0) return;
    this.#selectionIsNews = false;
    const { anchor, head } = session.scalarSelection(this.#selection.anchor, this.#selection.head);
    const request = { documentId: this.documentId, revision: session.revision, selections: [[anchor, head]] };
    this.#connection.send("select", request, ({ type, data }) => {
      if (type !== "error" || !data.retryable) return;
      this.#selectionIsNews = true;
      this.#scheduleSelect(data.retryAfter ?? timing.retryAfter);
    });
  }

  /** @param {any} data */
  #presence({ joined = [], updated = [], left = [], people }) {
    this.#peopleCount = Number.isInteger(people) ? people : undefined;
    // Who comes again has no carets from before.
    for (const { clientId } of joined) {
      const known = this.#people.get(clientId);
      if (known) this.#session?.removePeer(known.key);
    }
    for (const entry of [...joined, ...updated]) {
      const { clientId, name, color, selections } = entry;
      if (typeof clientId !== "string" || clientId === this.#connection.identity?.id) continue;
      const known = this.#people.get(clientId);
      const person = {
        clientId,
        name: String(name ?? known?.name ?? ""),
        color: String(color ?? known?.color ?? ""),
        key: known?.key ?? ++this.#keyCount,
        isWriting: known?.isWriting ?? false,
      };
      this.#people.set(clientId, person);
      this.#peopleByKey.set(person.key, person);
      if (selections) this.#placePeer(clientId, selections);
    }
    for (const clientId of left) {
      const person = this.#people.get(clientId);
      if (!person) continue;
      clearTimeout(this.#writingTimers.get(clientId));
      this.#writingTimers.delete(clientId);
      this.#people.delete(clientId);
      this.#peopleByKey.delete(person.key);
      this.#session?.removePeer(person.key);
    }
    this.emit("people", undefined);
    this.emit("peers", undefined);
  }

  /** @param {string} clientId @param {unknown} selections Pairs of scalars, in the server's text. */
  #placePeer(clientId, selections) {
    const person = this.#people.get(clientId);
    if (!person || !Array.isArray(selections)) return;
    this.#session?.placePeer(person.key, selections);
  }

  /**
   * Their edits say that they are writing; for a while.
   *
   * @param {string} clientId
   */
  #writes(clientId) {
    const person = this.#people.get(clientId);
    if (!person) return;
    clearTimeout(this.#writingTimers.get(clientId));
    this.#writingTimers.set(
      clientId,
      setTimeout(() => {
        this.#writingTimers.delete(clientId);
        const still = this.#people.get(clientId);
        if (still) this.#setWriting(still, false);
      }, timing.writingStays),
    );
    this.#setWriting(person, true);
  }

  /** @param {Person} person @param {boolean} isWriting */
  #setWriting(person, isWriting) {
    if (person.isWriting === isWriting) return;
    person.isWriting = isWriting;
    this.emit("people", undefined);
  }

  #nobodyWrites() {
    for (const timer of this.#writingTimers.values()) clearTimeout(timer);
    this.#writingTimers.clear();
  }

  // The document itself.

  /** @param {"none" | "read" | "write"} access What this person may do with it from now on. */
  #accessChanged(access) {
    if (access === "none") {
      this.persistNow();
      this.#lost();
      this.phase = "failed";
      this.failure = "readingLost";
    } else {
      this.access = access;
    }
    this.emit("status", undefined);
  }

  /** @param {any} data */
  #documentChanged(data) {
    if (data.deleted) {
      this.phase = "deleted";
      this.emit("status", undefined);
    } else {
      this.#retitle(data.title);
    }
  }

  /** @param {unknown} title */
  #retitle(title) {
    if (typeof title !== "string" || title === this.title) return;
    this.title = title;
    this.emit("title", title);
  }
}
