// Copies of notes: which are removed at the limits, what a copy contains, and who may read it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Copies, surplus } from "../../Web/js/state/copies.js";
import { Note } from "../../Web/js/client/note.js";
import { FakeStorage, Line, World } from "./support.mjs";

const entry = (/** @type {string} */ id, /** @type {number} */ usedAt, units = 1) => ({ owner: "", id, units, usedAt });
const limits = { notes: 3, units: 10, age: 1 };

test("the least recently used notes are removed above the maximum number", () => {
  const entries = [entry("old", 1), entry("newest", 4), entry("mid", 2), entry("newer", 3)];
  assert.deepEqual(surplus(entries, limits).map(({ id }) => id), ["old"]);
});

test("the note that exceeds the maximum text is removed with all less recently used notes", () => {
  const entries = [entry("a", 3, 6), entry("b", 2, 6), entry("c", 1, 1)];
  assert.deepEqual(surplus(entries, limits).map(({ id }) => id), ["b", "c"]);
});

test("a copy contains the server's text without unconfirmed edits", () => {
  const line = new Line();
  const note = new Note({ core: line.core, connection: line.connection, documentId: "d" });
  assert.equal(note.copy, undefined);
  line.tell("joined", { text: "text" });
  note.edit([{ from: 4, to: 4, insert: "!" }]);
  assert.equal(note.text, "text!");
  const copy = note.copy;
  assert.equal(copy?.text, "text");
  assert.equal(copy?.access, "write");

  // Another tab without a server opens the copy, and stores edits under an identity of its own.
  const world = new World();
  /** @type {any[]} */
  const kept = [];
  world.connection.addIdentity({ id: "unsent-1", resumeToken: "" }, "");
  const pending = {
    save: (/** @type {any} */ _note, /** @type {any} */ edits) => kept.push(edits) > 0,
    remove: () => {},
  };
  const copied = { .../** @type {any} */ (copy), access: /** @type {const} */ ("read") };
  const opened = new Note({ core: world.core, connection: world.connection, documentId: "d", pending, copied });
  assert.equal(opened.text, "text");
  assert.equal(opened.phase, "away");
  // The rights are those of the copy until the server reports the current ones.
  assert.equal(opened.access, "read");
  opened.edit([{ from: 0, to: 0, insert: "more " }]);
  opened.persistNow();
  assert.equal(kept.length, 1);
  assert.deepEqual(kept[0].identity, { id: "unsent-1", resumeToken: "" });

  // A third tab continues with these edits.
  const third = new World();
  const restored = { ...kept[0], base: "text", title: "" };
  const last = new Note({ core: third.core, connection: third.connection, documentId: "d", restored });
  assert.equal(last.text, "more text");
  assert.equal(last.unconfirmedCount, 1);
});

/** A database in memory. While `isOpen` is false, requests to open it wait. */
class FakeDatabases {
  /** @type {Map<string, Map<string, any>>} The object stores by name. */
  stores = new Map();
  /** @type {(() => void)[]} */
  #waiting = [];
  isOpen = true;

  /** Opens the database for the waiting requests and all later ones. */
  letIn() {
    this.isOpen = true;
    for (const go of this.#waiting.splice(0)) go();
  }

  open() {
    /** @type {any} */
    const request = { result: this.#database };
    const go = () => {
      if (this.stores.size === 0) request.onupgradeneeded();
      request.onsuccess();
    };
    if (this.isOpen) setImmediate(go);
    else this.#waiting.push(go);
    return request;
  }

  #database = {
    createObjectStore: (/** @type {string} */ name) => void this.stores.set(name, new Map()),
    transaction: () => {
      let steps = 0;
      /** @type {any} */
      const transaction = {};
      /** @param {() => any} work */
      const step = (work) => {
        steps += 1;
        /** @type {any} */
        const request = {};
        setImmediate(() => {
          request.result = work();
          request.onsuccess?.();
          setImmediate(() => {
            steps -= 1;
            if (steps === 0) transaction.oncomplete?.();
          });
        });
        return request;
      };
      transaction.objectStore = (/** @type {string} */ name) => {
        const store = /** @type {Map<string, any>} */ (this.stores.get(name));
        return {
          get: (/** @type {any} */ key) => step(() => store.get(JSON.stringify(key))),
          getAll: () => step(() => [...store.values()]),
          getAllKeys: () => step(() => [...store.keys()].map((key) => JSON.parse(key))),
          put: (/** @type {any} */ value, /** @type {any} */ key) => step(() => store.set(JSON.stringify(key), value)),
          delete: (/** @type {any} */ key) => step(() => store.delete(JSON.stringify(key))),
          clear: () => step(() => store.clear()),
        };
      };
      // A transaction without requests completes, too.
      step(() => {});
      return transaction;
    },
  };

  get words() {
    return JSON.stringify([...this.stores].map(([name, store]) => [name, ...store]));
  }
}

/** @param {FakeDatabases} databases @param {() => string | undefined} owner @param {FakeStorage} storage */
function copiesIn(databases, owner, storage = new FakeStorage()) {
  /** @type {any} */ (globalThis).indexedDB = databases;
  return new Copies("copies", owner, /** @type {any} */ (storage));
}

/** @param {string} id @param {string} text @returns {import("../../Web/js/state/copies.js").Copy} */
const copyOf = (id, text) => ({ id, title: "Title", access: "write", session: "session", text });

/** A browser with copies that belong to Ann and copies that belong to Bo. */
async function withCopies() {
  const databases = new FakeDatabases();
  for (const owner of ["ann", "bo"]) {
    const copies = copiesIn(databases, () => owner);
    await copies.opened;
    await copies.save(copyOf(`${owner}-note`, `words of ${owner}`));
    await copies.saveList({ notes: [], mayCreate: owner === "bo" });
  }
  assert.match(databases.words, /words of ann.*words of bo/);
  return databases;
}

/** @param {FakeDatabases} databases */
function assertOnlyBos(databases) {
  assert.doesNotMatch(databases.words, /ann/);
  assert.match(databases.words, /words of bo/);
}

test("forgetting removes copies after a database that is slow to open has opened", async () => {
  const databases = await withCopies();
  databases.isOpen = false;
  const copies = copiesIn(databases, () => "ann");
  const forgotten = copies.forget();
  // Copies saved after that are discarded at once, before and after the database opens.
  await copies.save(copyOf("ann-late", "later words of ann"));
  databases.letIn();
  await forgotten;
  assertOnlyBos(databases);
  await copies.save(copyOf("ann-late", "later words of ann"));
  assertOnlyBos(databases);
});

test("the next page removes the copies if this page is closed before the database opens", async () => {
  const databases = await withCopies();
  databases.isOpen = false;
  const storage = new FakeStorage();
  void copiesIn(databases, () => "ann", storage).forget();
  const next = copiesIn(databases, () => "", storage);
  databases.letIn();
  await next.opened;
  assertOnlyBos(databases);
  // The request to remove them is fulfilled, and no longer stored.
  assert.equal(storage.items.size, 0);
});

test("copies of the user who was signed in at the call are removed, even if another user signs in meanwhile", async () => {
  const databases = await withCopies();
  let owner = "ann";
  const copies = copiesIn(databases, () => owner);
  await copies.opened;
  const saved = copies.save(copyOf("ann-note", "newer words of ann"));
  const forgotten = copies.forget();
  owner = "bo";
  await Promise.all([saved, forgotten]);
  assertOnlyBos(databases);
});

test("a copy belongs to the user who was signed in when it was made", async () => {
  const databases = await withCopies();
  let owner = "ann";
  const copies = copiesIn(databases, () => owner);
  await copies.opened;
  const saved = copies.save(copyOf("shared", "newer words of ann"));
  owner = "bo";
  await saved;
  const entries = [...(databases.stores.get("states")?.entries() ?? [])];
  assert.equal(entries.find(([, copy]) => copy.text === "newer words of ann")?.[0], '["ann","shared"]');
});

test("a copy is refused at once while the database is not open", async () => {
  const databases = new FakeDatabases();
  databases.isOpen = false;
  const copies = copiesIn(databases, () => "ann");
  let refused = 0;
  copies.whenRefused = () => (refused += 1);
  await copies.save(copyOf("a", "words"));
  assert.equal(refused, 1);
});
