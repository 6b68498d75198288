// This tab's identity at the server, and its unconfirmed edits.
//
// The server issues a client id and a resume token. With both, it recognises a change that is sent again and stores it
// once. So the identity must be stored as long as its unconfirmed edits:
//
// - in `sessionStorage`, for a reload of the tab;
// - beside the unconfirmed edits in `localStorage`, for a tab that was closed or crashed. A new tab adopts the identity
// and its edits once the former tab's lock is free.
//
// Unconfirmed edits are sent only for the user who made them (`owner`; "" if no user was signed in).
//
// One identity belongs to one tab. "Duplicate tab" copies `sessionStorage`, so a lock decides which tab owns it.

import { lastingStore, tabStore } from "../ground/storage.js";

/**
 * @typedef {import("./connection.js").ClientIdentity} ClientIdentity
 * @typedef {import("./note.js").Edits & {documentId: string, title: string, owner?: string}} PendingRecord
 */

/**
 * The stored form. `slot` and `tag` identify the server's text on which the edits were made.
 *
 * @typedef {PendingRecord & {slot?: "a" | "b", tag?: string}} StoredRecord
 */

/** Maximum time for a browser to report whether a lock is free; milliseconds. */
const lockAnswerMax = 3_000;

/** @type {WeakSet<LockManager>} Lock managers that exceeded this time. Until one answers, its requests wait 0 ms. */
const silent = new WeakSet();

/**
 * Holds a lock until the tab closes.
 *
 * @param {string} name
 * @param {boolean} [whenSilent] The result if the browser does not answer. If it is false, a lock that is granted later
 * is released.
 * @param {Promise<void>} [end] Releases the lock earlier.
 * @returns {Promise<boolean>} Whether the lock was free; true if the browser has no locks or the request fails.
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

/** Returns a random, unique id, without `crypto.randomUUID`, which pages over plain HTTP do not provide. */
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
 * Stores a text and then the edits on it, and removes the former text. If there is no room for both texts, the former
 * one is removed first; it is restored if the new text or its edits do not fit.
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
    // No stored edits refer to the new text, and it would take room from texts in use.
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
  // Remove it first: there may be no room for both.
  lastingStore().removeItem(from);
  try {
    lastingStore().setItem(to, value);
    return true;
  } catch {
    lastingStore().setItem(from, value);
    return false;
  }
}

/** @param {any} value @returns {string | undefined} The owner of a stored identity. */
const ownerOf = (value) => value.owner;

/**
 * Identities and unconfirmed edits in this browser's storage, under a common prefix of keys.
 */
export class EditStorage {
  #identityKey;
  #pendingPrefix;
  /** The key prefix of the server's texts on which unconfirmed edits were made. */
  #basePrefix;
  /** The key prefix of edits that this page could not read, and of their texts. */
  #asidePrefix;
  #lockPrefix;
  /**
   * The slots of stored texts, by the keys of their edits.
   *
   * @type {Map<string, {slot: "a" | "b", tag: string}>}
   */
  #bases = new Map();
  /**
   * Identities of closed tabs that this tab has adopted, by id.
   *
   * @type {Map<string, ClientIdentity>}
   */
  #adopted = new Map();
  /** @type {() => void} */
  #end = () => {};
  /** @type {Promise<void>} */
  #ended = new Promise((resolve) => (this.#end = resolve));

  /** @param {string} name The prefix of keys and locks: one for each gateway that pages of an origin use. */
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
   * Returns the identity for `hello`: this tab's own, or one of a closed tab that left edits.
   *
   * @param {string} owner The user; "" if not signed in.
   * @returns {Promise<ClientIdentity | undefined>}
   */
  async claimIdentity(owner) {
    const own = read(tabStore(), this.#identityKey);
    // Another user may have signed in since, in this tab.
    if (isIdentity(own) && (ownerOf(own) ?? owner) === owner) {
      if (await this.#hold(own.id, true)) return { id: own.id, resumeToken: own.resumeToken };
      tabStore().removeItem(this.#identityKey);
    }
    // Without locks a closed tab cannot be distinguished from a suspended one, which will send its edits itself.
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
   * Adopts the identities of all closed tabs that left edits, so that this tab can send the edits under them.
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
   * Returns the adopted identities, other than `atHand`, that have stored edits of a note.
   *
   * @param {string} documentId
   * @param {string | undefined} atHand The client id whose edits are being sent.
   */
  othersOf(documentId, atHand) {
    return this.adopted.filter(
      ({ id }) => id !== atHand && lastingStore().getItem(this.#pendingKey(documentId, id)) !== null,
    );
  }

  /** The adopted identities. */
  get adopted() {
    return [...this.#adopted.values()];
  }

  /** Releases the locks of all identities, so that another client of this browser may adopt them. */
  close() {
    this.#end();
  }

  /** @param {ClientIdentity} identity @param {string} [owner] */
  #write(identity, owner) {
    try {
      tabStore().setItem(this.#identityKey, JSON.stringify(owner ? { ...identity, owner } : identity));
    } catch {
      // If the storage is full, the identity lasts as long as the page.
    }
  }

  /**
   * @param {ClientIdentity} identity The identity in the server's welcome.
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
   * Returns the edits of a note stored under a client id, with the server's text on which they were made.
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
   * @param {import("./note.js").Base} base Stored only if its tag differs from that of the stored text.
   * @returns {boolean} False if the storage is full.
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
      // Storage may have been cleared since.
      if (known?.tag === base.tag && lastingStore().getItem(this.#baseKey(documentId, id, known.slot)) !== null) {
        save(known.slot);
        return true;
      }
      // The stored edits must stay readable until the new ones are stored, so their text is not overwritten.
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
   * @returns {boolean} False if the storage is full; nothing is moved then.
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

/** The prefix of this page. The client for other pages (Web/sdk) has its own; its bundle omits this one. */
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
/**
 * The identity of edits that this tab stores before the server has issued one.
 *
 * @type {ClientIdentity}
 */
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
