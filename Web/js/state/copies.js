// Copies of the list and of the recently opened notes, in this browser, for reading and writing without a server. They
// contain no unconfirmed edits: these are stored separately (identity.js), and sent once.
//
// Copies belong to one user. They are removed when the user signs out, when another user signs in, when the server
// reports that a note is gone or no longer readable, and when they expire. Visitors with a link have none.
//
//   notes   a small entry for each copy (owner, note, size, time of opening); all are read at the start
//   states  the client core's state and the text of each note
//   lists   each user's list of notes, and other answers that the server need not send again

/** @typedef {{id: string, title: string, access: "read" | "write", session: string, text: string}} Copy */
/** @typedef {{owner: string, id: string, units: number, usedAt: number}} Entry */
/**
 * @typedef {{notes: import("./notes.js").NoteEntry[], mayCreate: boolean}} FormerListCopy
 * @typedef {import("./noteparts.js").HeldList | FormerListCopy} ListCopy
 * @typedef {{path: string, tag: string, answer: any}} StoredResponse The answer to the latest request of its path.
 */

/** Maximum notes of a user, UTF-16 units of text in all of them, and milliseconds without being opened. */
export const bounds = { notes: 50, units: 5_000_000, age: 30 * 24 * 60 * 60 * 1000 };

/**
 * Returns the least recently used entries, whose removal leaves the others within the bounds.
 *
 * @param {Entry[]} entries Entries of one user.
 * @returns {Entry[]}
 */
export function surplus(entries, limits = bounds) {
  const latest = [...entries].sort((a, b) => b.usedAt - a.usedAt);
  let units = 0;
  let isFull = false;
  return latest.filter((entry, index) => {
    units += entry.units;
    isFull ||= index >= limits.notes || units > limits.units;
    return isFull;
  });
}

/** @param {string} id @returns {string} The path of a note's comments, without a query. */
const commentsOf = (id) => `/api/notes/${encodeURIComponent(id)}/comments`;

/** @param {string} path */
const withoutQuery = (path) => path.replace(/\?.*/, "");

/** @param {IDBValidKey} key The key of a list or an answer. @returns {string[]} Its owner and its path. */
const partsOf = (key) => (Array.isArray(key) ? key : [key]).map(String);

const stores = /** @type {const} */ (["notes", "states", "lists"]);

/** @template Value @param {IDBRequest<Value>} request @returns {Promise<Value>} */
const done = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/** @param {IDBTransaction} transaction @returns {Promise<void>} */
const committed = (transaction) =>
  new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = transaction.onerror = () => reject(transaction.error);
  });

/** @param {string} name @returns {Promise<IDBDatabase>} */
function openDatabase(name) {
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => {
    for (const store of stores) request.result.createObjectStore(store);
  };
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = request.onblocked = () => reject(request.error ?? new Error("blocked"));
  });
}

/** @typedef {(transaction: IDBTransaction, owner: string) => void | Promise<void>} Work */

/**
 * @param {IDBDatabase} database
 * @param {(transaction: IDBTransaction) => void | Promise<void>} work
 * @returns {Promise<boolean>} Whether the transaction has committed.
 */
async function isWritten(database, work) {
  try {
    const transaction = database.transaction(stores, "readwrite");
    const end = committed(transaction);
    // `end` reports the failure of the transaction.
    await Promise.all([work(transaction), end]);
    return true;
  } catch {
    return false;
  }
}

/** Owners whose copies are still to be removed, stored in `localStorage`, which is synchronous. */
class Doomed {
  #storage;
  #key;

  /** @param {Pick<Storage, "getItem" | "setItem" | "removeItem">} storage @param {string} key */
  constructor(storage, key) {
    this.#storage = storage;
    this.#key = key;
  }

  /** @returns {string[]} */
  get owners() {
    try {
      const owners = JSON.parse(this.#storage.getItem(this.#key) ?? "[]");
      return Array.isArray(owners) ? owners.filter((owner) => typeof owner === "string") : [];
    } catch {
      return [];
    }
  }

  /** @param {string} owner */
  add(owner) {
    this.#set([...this.owners.filter((other) => other !== owner), owner]);
  }

  /** @param {string} owner */
  remove(owner) {
    this.#set(this.owners.filter((other) => other !== owner));
  }

  /** @param {string[]} owners */
  #set(owners) {
    try {
      if (owners.length > 0) this.#storage.setItem(this.#key, JSON.stringify(owners));
      else this.#storage.removeItem(this.#key);
    } catch {
      // Without storage, this page removes the copies, or they expire.
    }
  }
}

export class Copies {
  /** Called when the browser cannot store copies: it has no room, or does not allow it. */
  whenRefused = () => {};
  /** @type {ListCopy | undefined} The stored list. */
  list;

  /** Whether answers are stored. */
  keepsAnswers = false;

  /** Fulfilled when the entries and the list are read, or have failed to be read. */
  opened;

  /** @type {IDBDatabase | undefined} */
  #database;
  #owner;
  /** @type {Doomed | undefined} */
  #doomed;
  /** @type {Map<string, Entry>} The current user's entries, by note. */
  #entries = new Map();
  /** @type {Map<string, Copy | undefined>} The copy that was read last. */
  #read = new Map();
  #isStopped = false;
  /** The last operation. The next one waits for it, so that a removed copy is not written again. */
  #last;

  /**
   * @param {string | undefined} name The name of the database; undefined to make no copies.
   * @param {() => string | undefined} owner The current owner; undefined for a user without copies.
   * @param {import("../ground/storage.js").Store} [storage] Stores the owners whose copies are still to be removed.
   */
  constructor(name, owner, storage) {
    this.#owner = owner;
    if (name !== undefined && storage) this.#doomed = new Doomed(storage, `${name}.doomed`);
    this.#last = this.opened = name === undefined ? Promise.resolve() : this.#open(name);
  }

  /** @param {string} name */
  async #open(name) {
    try {
      const database = await openDatabase(name);
      this.#database = database;
      for (const owner of this.#doomed?.owners ?? []) if (await this.#clear(database, owner)) this.#doomed?.remove(owner);
      await this.#load(database);
    } catch {
      // The first copy that cannot be stored reports the failure.
    }
  }

  /** @param {IDBDatabase} database */
  async #load(database) {
    const owner = this.#owner();
    if (owner === undefined) return;
    const transaction = database.transaction(["notes", "lists"]);
    /** @type {Promise<Entry[]>} */
    const entries = done(transaction.objectStore("notes").getAll());
    this.list = await done(transaction.objectStore("lists").get(owner));
    for (const entry of await entries) if (entry.owner === owner) this.#entries.set(entry.id, entry);
  }

  /** @param {string} id Whether it may have a copy that has not been read. */
  isUnread(id) {
    return this.#entries.has(id) && !this.#read.has(id);
  }

  /** @param {string} id Returns its copy, if that was read before. */
  of(id) {
    return this.#read.get(id);
  }

  /** @param {string} id The note whose copy is read, so that it can be opened at once. */
  async read(id) {
    const owner = this.#owner();
    this.#read.clear();
    let copy;
    try {
      if (owner !== undefined && this.#entries.has(id)) {
        copy = await done(this.#database?.transaction("states").objectStore("states").get([owner, id]) ?? never());
      }
    } catch {
      // The server has the note.
    }
    this.#read.set(id, copy);
  }

  /**
   * Runs the operations one after the other, each for the user who was signed in at the call.
   *
   * @param {Work} work
   * @param {{waits?: boolean}} options Whether to wait for the database to open. Work that stores data does not,
   * because an unknown amount of it would accumulate.
   * @returns {Promise<boolean>} Whether the work has committed.
   */
  #write(work, { waits = false } = {}) {
    const owner = this.#owner();
    if (owner === undefined || (!this.#database && !waits)) return Promise.resolve(false);
    const result = this.#last.then(() => {
      if (this.#isStopped || !this.#database) return false;
      return isWritten(this.#database, (transaction) => work(transaction, owner));
    });
    this.#last = result.then(() => {});
    return result;
  }

  /** @param {Copy} copy The copy of an open note. */
  async save(copy) {
    const { id } = copy;
    this.#read.delete(id);
    const units = copy.text.length + copy.session.length;
    if (units > bounds.units) return this.remove(id);
    const isSaved = await this.#write((transaction, owner) => {
      const entry = { owner, id, units, usedAt: Date.now() };
      const others = [...this.#entries.values()].filter((other) => other.id !== id);
      for (const { id: old } of surplus([entry, ...others])) this.#delete(transaction, owner, old);
      this.#entries.set(id, entry);
      transaction.objectStore("notes").put(entry, [owner, id]);
      transaction.objectStore("states").put(copy, [owner, id]);
    });
    if (isSaved || this.#isStopped || this.#owner() === undefined) return;
    // The former copy may be outdated, but it is complete.
    this.whenRefused();
  }

  /** @param {ListCopy} list */
  async saveList(list) {
    if (this.list === list) return;
    this.list = list;
    await this.#write((transaction, owner) => {
      transaction.objectStore("lists").put(list, owner);
    });
  }

  /** @param {string} path @returns {Promise<StoredResponse | undefined>} The stored answer. */
  async answer(path) {
    const owner = this.#owner();
    if (owner === undefined || !this.#database || this.#isStopped) return undefined;
    try {
      const lists = this.#database.transaction("lists").objectStore("lists");
      const kept = await done(lists.get([owner, withoutQuery(path)]));
      return kept?.path === path && this.#owner() === owner && !this.#isStopped ? kept : undefined;
    } catch {
      return undefined;
    }
  }

  /** @param {StoredResponse} kept Replaces the stored answer of the same path, whatever its query. */
  async keepAnswer(kept) {
    if (!this.keepsAnswers) return;
    await this.#write((transaction, owner) => {
      transaction.objectStore("lists").put(kept, [owner, withoutQuery(kept.path)]);
    });
  }

  /**
   * Removes the copies of notes that are no longer in the list.
   *
   * @param {{id: string}[]} notes All notes that this user may see.
   * @param {(id: string) => boolean} isOpen
   */
  keepOnly(notes, isOpen) {
    const ids = new Set(notes.map(({ id }) => id));
    const gone = [...this.#entries.keys()].filter((id) => !ids.has(id) && !isOpen(id));
    for (const id of gone) void this.remove(id);
  }

  /** @param {string} id */
  async remove(id) {
    this.#read.delete(id);
    await this.#write((transaction, owner) => this.#delete(transaction, owner, id));
  }

  /** @param {IDBTransaction} transaction @param {string} owner @param {string} id */
  #delete(transaction, owner, id) {
    if (owner === this.#owner()) this.#entries.delete(id);
    transaction.objectStore("notes").delete([owner, id]);
    transaction.objectStore("states").delete([owner, id]);
    transaction.objectStore("lists").delete([owner, commentsOf(id)]);
  }

  /** Removes expired copies, and those of another user who was signed in. */
  async tidy() {
    await this.#write(async (transaction, owner) => {
      const oldest = Date.now() - bounds.age;
      /** @type {Entry[]} */
      const entries = await done(transaction.objectStore("notes").getAll());
      for (const entry of entries) {
        const isOthers = owner !== "" && entry.owner !== "" && entry.owner !== owner;
        if (isOthers || entry.usedAt < oldest) this.#delete(transaction, entry.owner, entry.id);
      }
      const lists = transaction.objectStore("lists");
      const comments = new Set([...this.#entries.keys()].map(commentsOf));
      for (const key of await done(lists.getAllKeys())) {
        const [other, path = ""] = partsOf(key);
        const isOthers = owner !== "" && other !== "" && other !== owner;
        const isLeft = other === owner && path.endsWith("/comments") && !comments.has(path);
        if (isOthers || isLeft) lists.delete(key);
      }
    });
  }

  /** Removes all copies of this user. */
  async clear() {
    const owner = this.#owner();
    if (owner === undefined) return;
    // If the page is closed before this is done, the next page removes the rest.
    this.#doomed?.add(owner);
    this.#entries.clear();
    this.#read.clear();
    this.list = undefined;
    const result = this.#last.then(async () => {
      if (!this.#isStopped && this.#database && (await this.#clear(this.#database, owner))) this.#doomed?.remove(owner);
    });
    this.#last = result;
    await result;
  }

  /** @param {IDBDatabase} database @param {string} owner @returns {Promise<boolean>} Whether all are removed. */
  #clear(database, owner) {
    return isWritten(database, async (transaction) => {
      const keys = await done(transaction.objectStore("notes").getAllKeys());
      for (const key of keys) {
        if (Array.isArray(key) && key[0] === owner) this.#delete(transaction, owner, String(key[1]));
      }
      const lists = transaction.objectStore("lists");
      for (const key of await done(lists.getAllKeys())) if (partsOf(key)[0] === owner) lists.delete(key);
    });
  }

  /** Removes all copies of this user, and makes no more until the page is reloaded. */
  async forget() {
    const removed = this.clear();
    this.stop();
    await removed;
  }

  /** Removes all copies of all users. */
  async forgetAll() {
    await this.#write(
      (transaction) => {
        for (const store of stores) transaction.objectStore(store).clear();
      },
      { waits: true },
    );
    this.stop();
  }

  /** Stops making and showing copies. Earlier operations are completed. */
  stop() {
    this.#entries.clear();
    this.#read.clear();
    this.#last = this.#last.then(() => void (this.#isStopped = true));
  }
}

/** @returns {never} */
function never() {
  throw new Error("there is no database");
}
