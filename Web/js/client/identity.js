// This tab's identity at the server, and its unconfirmed edits.
//
// The server mints a client id with a resume token; with both, a change that is sent again is
// recognised and stored once. So the identity must live as long as the unconfirmed edits do:
//
// - in `sessionStorage`, for a reload of the tab;
// - beside the unconfirmed edits in `localStorage`, for a tab that was closed or crashed. A new tab
//   adopts such an identity, with its edits, once the lock that its owner held has gone.
//
// Edits that a signed-in user left are for the same user alone (`owner`; "" if no user was signed in).
//
// One identity has one tab: "duplicate tab" copies `sessionStorage`, so the lock decides.

import { lastingStore, tabStore } from "../ground/storage.js";

/**
 * @typedef {import("./connection.js").ClientIdentity} ClientIdentity
 * @typedef {import("./note.js").Edits & {documentId: string, title: string, owner?: string}} PendingRecord
 */

/**
 * The form in storage: with the place of the server's text under the edits.
 *
 * @typedef {PendingRecord & {slot?: "a" | "b", tag?: string}} StoredRecord
 */

/** How long a browser may take to say whether a lock is free; milliseconds. */
const lockAnswerMax = 3_000;

/** @type {WeakSet<LockManager>} Browsers that took longer, which are not waited for again. */
const silent = new WeakSet();

/**
 * Holds a lock until the tab goes away.
 *
 * @param {string} name
 * @param {boolean} [whenSilent] The result if the browser does not answer. After a false, a lock that
 *   comes late is released.
 * @param {Promise<void>} [end] Releases it earlier.
 * @returns {Promise<boolean>} Whether it was free; true if the browser has no locks.
 */
export function hold(name, whenSilent = true, end = new Promise(() => {})) {
  const locks = globalThis.navigator?.locks;
  if (!locks) return Promise.resolve(true);
  return new Promise((resolve) => {
    let isLate = false;
    const giveUp = () => {
      isLate = true;
      silent.add(locks);
      resolve(whenSilent);
    };
    const timer = setTimeout(giveUp, silent.has(locks) ? 0 : lockAnswerMax);
    locks
      .request(name, { ifAvailable: true }, (lock) => {
        clearTimeout(timer);
        silent.delete(locks);
        resolve(lock !== null);
        return lock === null || (isLate && !whenSilent) ? undefined : end;
      })
      .catch(() => {
        clearTimeout(timer);
        resolve(true);
      });
  });
}

/**
 * @param {Pick<Storage, "getItem">} storage
 * @param {string} key
 * @returns {any}
 */
function read(storage, key) {
  try {
    return JSON.parse(storage.getItem(key) ?? "null");
  } catch {
    return null;
  }
}

/** @param {any} value @returns {value is ClientIdentity} */
const isIdentity = (value) =>
  typeof value?.id === "string" && typeof value?.resumeToken === "string";

/** @param {ClientIdentity} identity */
const isOfServer = ({ resumeToken }) => resumeToken !== "";

/** Makes a random, unique id; without `crypto.randomUUID`, which pages over plain HTTP do not have. */
export const randomId = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/**
 * @param {any} value
 * @param {string} owner
 * @returns {value is PendingRecord}
 */
const isPendingOf = (value, owner) =>
  isIdentity(value?.identity) && typeof value.session === "string" && (value.owner ?? "") === owner;

/**
 * Stores a text, and then the edits on it. The text goes beside a former one, or in its place if there is no room for
 * both. If there is no room for the new text alone, or for the edits on it, the former text stays.
 *
 * @param {string | undefined} formerKey
 * @param {string} key
 * @param {string} text
 * @param {() => void} then Stores the edits on the text. Throws if there is no room.
 */
function putInPlaceOf(formerKey, key, text, then) {
  let former;
  try {
    try {
      lastingStore().setItem(key, text);
    } catch (error) {
      former = formerKey && lastingStore().getItem(formerKey);
      if (!formerKey || typeof former !== "string") throw error;
      lastingStore().removeItem(formerKey);
      lastingStore().setItem(key, text);
    }
    then();
  } catch (error) {
    // Nothing is read with this text. It would take the room of those that are.
    lastingStore().removeItem(key);
    if (formerKey && typeof former === "string") lastingStore().setItem(formerKey, former);
    throw error;
  }
  if (formerKey) lastingStore().removeItem(formerKey);
}

/** @param {string} key */
function storedBase(key) {
  /** @type {StoredRecord | null} */
  const record = read(lastingStore(), key);
  const { slot, tag } = record ?? {};
  return slot !== undefined && tag !== undefined ? { slot, tag } : undefined;
}

/** @param {string} from @param {string} to @returns {boolean} */
function move(from, to) {
  const value = lastingStore().getItem(from);
  if (value === null) return true;
  // Remove it first, for there may be room for only one of both.
  lastingStore().removeItem(from);
  try {
    lastingStore().setItem(to, value);
    return true;
  } catch {
    lastingStore().setItem(from, value);
    return false;
  }
}

/** @param {any} value @returns {string | undefined} Whose a stored identity is. */
const ownerOf = (value) => value.owner;

/**
 * Identities and unsaved edits in this browser's storage, under names of their own.
 */
export class EditStorage {
  #identityKey;
  #pendingPrefix;
  /** Of the server's texts under unconfirmed edits. */
  #basePrefix;
  /** Of edits that this page could not read, and of their texts. */
  #asidePrefix;
  #lockPrefix;
  /**
   * The slots of stored texts, by the keys of their edits.
   *
   * @type {Map<string, {slot: "a" | "b", tag: string}>}
   */
  #bases = new Map();
  /** Identities of tabs that are gone, which this one has taken over, by id. @type {Map<string, ClientIdentity>} */
  #adopted = new Map();
  /** @type {() => void} */
  #end = () => {};
  /** @type {Promise<void>} */
  #ended = new Promise((resolve) => (this.#end = resolve));

  /** @param {string} name What keys and locks begin with: one for each gateway that pages of an origin use. */
  constructor(name) {
    this.#identityKey = `${name}.client`;
    this.#pendingPrefix = `${name}.pending.`;
    this.#basePrefix = `${name}.base.`;
    this.#asidePrefix = `${name}.aside.`;
    this.#lockPrefix = `${name}.client.`;
  }

  /** @param {string} clientId */
  #lockName(clientId) {
    return `${this.#lockPrefix}${clientId}`;
  }

  /**
   * Returns the identity for `hello`: this tab's own, or that of a closed tab which left edits behind.
   *
   * @param {string} owner Who this is.
   * @returns {Promise<ClientIdentity | undefined>}
   */
  async claimIdentity(owner) {
    const own = read(tabStore(), this.#identityKey);
    // Another user may have signed in in this tab.
    if (isIdentity(own) && (ownerOf(own) ?? owner) === owner) {
      if (await this.#hold(own.id, true)) return { id: own.id, resumeToken: own.resumeToken };
      tabStore().removeItem(this.#identityKey);
    }
    // Without locks a closed tab cannot be told from a sleeping one: leave its edits to it.
    if (!globalThis.navigator?.locks) return undefined;
    for (const { identity } of this.allPending(owner)) {
      // The server does not know the identity of edits that were never sent.
      if (isOfServer(identity) && (await this.#hold(identity.id, false))) {
        this.#write(identity, owner);
        return identity;
      }
    }
    return undefined;
  }

  /** @param {string} id @param {boolean} whenSilent */
  #hold(id, whenSilent) {
    return hold(this.#lockName(id), whenSilent, this.#ended);
  }

  /**
   * Takes over the identities of all tabs that are gone and have left edits: they can be sent under them.
   *
   * @param {string} owner
   */
  async adoptLeftBehind(owner) {
    if (!globalThis.navigator?.locks) return;
    for (const { identity } of this.allPending(owner)) {
      if (await this.#hold(identity.id, false)) this.#adopted.set(identity.id, identity);
    }
  }

  /**
   * Returns the other identities with edits of a note that this tab may send.
   *
   * @param {string} documentId
   * @param {string | undefined} atHand The client id of edits that are being sent.
   */
  othersOf(documentId, atHand) {
    return this.adopted.filter(
      ({ id }) => id !== atHand && lastingStore().getItem(this.#pendingKey(documentId, id)) !== null,
    );
  }

  /** The identities taken over. */
  get adopted() {
    return [...this.#adopted.values()];
  }

  /** Releases the identities that are held, so that another client of this browser may take them. */
  close() {
    this.#end();
  }

  /** @param {ClientIdentity} identity @param {string} [owner] */
  #write(identity, owner) {
    try {
      tabStore().setItem(this.#identityKey, JSON.stringify(owner ? { ...identity, owner } : identity));
    } catch {
      // Without room, the identity lasts as long as the page.
    }
  }

  /**
   * @param {ClientIdentity} identity As the server's welcome gave it.
   * @param {string} [owner]
   */
  rememberIdentity(identity, owner) {
    const known = read(tabStore(), this.#identityKey);
    this.#write(identity, owner);
    if (known?.id !== identity.id) void this.#hold(identity.id, true);
  }

  /** @param {string} owner @returns {PendingRecord[]} */
  allPending(owner) {
    const records = [];
    const store = lastingStore();
    for (let index = 0; index < store.length; index += 1) {
      const key = store.key(index);
      if (!key?.startsWith(this.#pendingPrefix)) continue;
      const record = read(store, key);
      if (isPendingOf(record, owner)) records.push(record);
    }
    return records;
  }

  /** @param {string} documentId @param {string} clientId */
  #pendingKey(documentId, clientId) {
    return `${this.#pendingPrefix}${clientId}.${documentId}`;
  }

  /** @param {string} documentId @param {string} clientId @param {"a" | "b"} slot */
  #baseKey(documentId, clientId, slot) {
    return `${this.#basePrefix}${slot}.${clientId}.${documentId}`;
  }

  /**
   * Returns a note's edits under a client id, with the server's text that they were made on.
   *
   * @param {string} documentId
   * @param {string} clientId
   * @param {string} owner
   * @returns {(PendingRecord & {base?: string}) | undefined}
   */
  pendingOf(documentId, clientId, owner) {
    /** @type {StoredRecord} */
    const record = read(lastingStore(), this.#pendingKey(documentId, clientId));
    if (!isPendingOf(record, owner)) return undefined;
    const { slot, tag: _, ...edits } = record;
    const base = slot && lastingStore().getItem(this.#baseKey(documentId, clientId, slot));
    return { ...edits, base: base ?? undefined };
  }

  /**
   * @param {PendingRecord} record
   * @param {import("./note.js").Base} base Is stored when it is another one than before.
   * @returns {boolean} False when the browser has no room for it.
   */
  savePending(record, base) {
    const { documentId, identity: { id } } = record;
    const key = this.#pendingKey(documentId, id);
    const known = this.#bases.get(key) ?? storedBase(key);
    /** @param {"a" | "b"} slot */
    const save = (slot) => {
      lastingStore().setItem(key, JSON.stringify({ ...record, slot, tag: base.tag }));
      this.#bases.set(key, { slot, tag: base.tag });
    };
    try {
      // Storage may have been cleared meanwhile.
      if (known?.tag === base.tag && lastingStore().getItem(this.#baseKey(documentId, id, known.slot)) !== null) {
        save(known.slot);
        return true;
      }
      // The edits that are stored stay readable until the new ones are: their text is not overwritten.
      const slot = known?.slot === "a" ? "b" : "a";
      const formerKey = known && this.#baseKey(documentId, id, known.slot);
      putInPlaceOf(formerKey, this.#baseKey(documentId, id, slot), base.read(), () => save(slot));
      return true;
    } catch {
      return false;
    }
  }

  /** @param {string} documentId @param {string} clientId */
  removePending(documentId, clientId) {
    const key = this.#pendingKey(documentId, clientId);
    lastingStore().removeItem(key);
    for (const slot of /** @type {const} */ (["a", "b"])) {
      lastingStore().removeItem(this.#baseKey(documentId, clientId, slot));
    }
    this.#bases.delete(key);
  }

  /**
   * Moves edits that this page cannot read, with their text, to keys that no other edits overwrite.
   *
   * @param {string} documentId
   * @param {string} clientId
   * @returns {boolean} False when the browser has no room for it; then they are where they were.
   */
  setPendingAside(documentId, clientId) {
    let number = 1;
    while (lastingStore().getItem(`${this.#asidePrefix}${number}.${clientId}.${documentId}`) !== null) number += 1;
    const aside = `${this.#asidePrefix}${number}`;
    const key = this.#pendingKey(documentId, clientId);
    this.#bases.delete(key);
    /** @type {[string, string][]} */
    const moves = [
      [this.#baseKey(documentId, clientId, "a"), `${aside}.a.${clientId}.${documentId}`],
      [this.#baseKey(documentId, clientId, "b"), `${aside}.b.${clientId}.${documentId}`],
      [key, `${aside}.${clientId}.${documentId}`],
    ];
    for (const [index, [from, to]] of moves.entries()) {
      if (move(from, to)) continue;
      for (const [former, place] of moves.slice(0, index)) move(place, former);
      return false;
    }
    return true;
  }
}

/** The page's own. The client for other pages has its own, and leaves this out. */
const pageName = "parley";
const own = /* @__PURE__ */ new EditStorage(pageName);

function makeUnsent() {
  const identity = { id: `unsent-${randomId()}`, resumeToken: "" };
  void hold(`${pageName}.client.${identity.id}`);
  return identity;
}

/** @type {EditStorage["claimIdentity"]} */
export const claimIdentity = (owner) => own.claimIdentity(owner);
/** @type {EditStorage["adoptLeftBehind"]} */
export const adoptLeftBehind = (owner) => own.adoptLeftBehind(owner);
export const adoptedIdentities = () => own.adopted;
/** For edits of this tab that are kept before the server has given it an identity. @type {ClientIdentity} */
export const unsentIdentity = /* @__PURE__ */ makeUnsent();
/** @type {EditStorage["othersOf"]} */
export const othersOf = (...parts) => own.othersOf(...parts);
/** @type {EditStorage["rememberIdentity"]} */
export const rememberIdentity = (...parts) => own.rememberIdentity(...parts);
export const forgetIdentity = () => tabStore().removeItem(`${pageName}.client`);
/** @type {EditStorage["allPending"]} */
export const allPending = (owner) => own.allPending(owner);
/** @type {EditStorage["pendingOf"]} */
export const pendingOf = (...parts) => own.pendingOf(...parts);
/** @type {EditStorage["savePending"]} */
export const savePending = (...parts) => own.savePending(...parts);
/** @type {EditStorage["removePending"]} */
export const removePending = (...parts) => own.removePending(...parts);
/** @type {EditStorage["setPendingAside"]} */
export const setPendingAside = (...parts) => own.setPendingAside(...parts);
