// Unsaved edits in the browser's storage, and whose they are.

import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { allPending, pendingOf, removePending, savePending } from "../../Web/js/identity.js";

/** What `localStorage` is for the page. */
class Storage {
  /** @type {Map<string, string>} */
  items = new Map();

  get length() {
    return this.items.size;
  }

  /** @param {number} index */
  key = (index) => [...this.items.keys()][index] ?? null;
  /** @param {string} key */
  getItem = (key) => this.items.get(key) ?? null;
  /** @param {string} key @param {string} value */
  setItem = (key, value) => void this.items.set(key, value);
  /** @param {string} key */
  removeItem = (key) => void this.items.delete(key);
}

const storage = new Storage();
const given = Object.getOwnPropertyDescriptor(globalThis, "localStorage");
beforeEach(() => {
  storage.items.clear();
  Object.defineProperty(globalThis, "localStorage", { value: storage, configurable: true, writable: true });
});
afterEach(() => {
  if (given) Object.defineProperty(globalThis, "localStorage", given);
  else Reflect.deleteProperty(globalThis, "localStorage");
});

const ann = { id: "ann", resumeToken: "token" };
const record = { identity: ann, documentId: "d", title: "Title", session: "edits", owner: "user-1" };

test("a note's edits are found by their note, client id and owner", () => {
  savePending(record);
  assert.deepEqual(pendingOf("d", "ann", "user-1"), record);
  assert.equal(pendingOf("d", "ann", "user-2"), undefined);
  assert.equal(pendingOf("d", "ann", ""), undefined);
  assert.equal(pendingOf("d", "bo", "user-1"), undefined);
  assert.equal(pendingOf("e", "ann", "user-1"), undefined);
  removePending("d", "ann");
  assert.equal(pendingOf("d", "ann", "user-1"), undefined);
});

test("what is kept of nobody's, and what cannot be read, is told apart", () => {
  savePending({ ...record, owner: undefined });
  assert.equal(pendingOf("d", "ann", "")?.session, "edits");
  savePending({ ...record, documentId: "e", session: /** @type {any} */ (7) });
  assert.equal(pendingOf("e", "ann", "user-1"), undefined);
  for (const key of storage.items.keys()) storage.setItem(key, "{");
  assert.equal(pendingOf("d", "ann", ""), undefined);
  assert.deepEqual(allPending(""), []);
});
