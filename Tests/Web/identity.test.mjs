// Unsaved edits in the browser's storage, by note, client and owner.

import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { allPending, pendingOf, removePending, savePending, setPendingAside } from "../../Web/js/client/identity.js";

/** A `localStorage` with the members that the page uses. */
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
  /** Maximum characters of all keys and values. */
  room = Infinity;

  /** @param {string} key @param {string} value */
  setItem = (key, value) => {
    let size = key.length + value.length;
    for (const [other, text] of this.items) if (other !== key) size += other.length + text.length;
    if (size > this.room) throw new Error("QuotaExceededError");
    this.items.set(key, value);
    this.writes.push(key);
  };

  /** @type {string[]} */
  writes = [];
  /** @param {string} key */
  removeItem = (key) => void this.items.delete(key);
}

const storage = new Storage();
const given = Object.getOwnPropertyDescriptor(globalThis, "localStorage");
beforeEach(() => {
  storage.items.clear();
  storage.room = Infinity;
  Object.defineProperty(globalThis, "localStorage", { value: storage, configurable: true, writable: true });
  for (const note of ["d", "e"]) removePending(note, "ann");
  storage.writes = [];
});
afterEach(() => {
  if (given) Object.defineProperty(globalThis, "localStorage", given);
  else Reflect.deleteProperty(globalThis, "localStorage");
});

const ann = { id: "ann", resumeToken: "token" };
/** Returns the server's text that edits apply to. */
const base = (/** @type {string} */ tag, text = `text ${tag}`) => ({ tag, read: () => text });
const record = { identity: ann, documentId: "d", title: "Title", session: "edits", owner: "user-1" };

test("edits are found by note, client id and owner", () => {
  savePending(record, base("1"));
  assert.deepEqual(pendingOf("d", "ann", "user-1"), { ...record, base: "text 1" });
  assert.equal(pendingOf("d", "ann", "user-2"), undefined);
  assert.equal(pendingOf("d", "ann", ""), undefined);
  assert.equal(pendingOf("d", "bo", "user-1"), undefined);
  assert.equal(pendingOf("e", "ann", "user-1"), undefined);
  removePending("d", "ann");
  assert.equal(pendingOf("d", "ann", "user-1"), undefined);
  assert.equal(storage.items.size, 0);
});

test("the server's text is stored once, until it changes", () => {
  const count = (/** @type {string} */ prefix) => storage.writes.filter((key) => key.startsWith(prefix)).length;
  for (let edit = 0; edit < 50; edit += 1) savePending({ ...record, session: `edits ${edit}` }, base("1"));
  assert.equal(count("parley.base."), 1);
  assert.equal(count("parley.pending."), 50);
  savePending({ ...record, session: "newer" }, base("2"));
  assert.deepEqual(pendingOf("d", "ann", "user-1"), { ...record, session: "newer", base: "text 2" });
  assert.equal(storage.items.size, 2);
});

test("if the page is closed while it stores, the stored edits still fit their text", () => {
  savePending(record, base("1"));
  const { setItem, removeItem } = storage;
  for (const failing of [1, 2]) {
    let count = 0;
    const go = () => {
      count += 1;
      if (count >= failing) throw new Error("the page has gone");
    };
    storage.setItem = (key, value) => (go(), setItem(key, value));
    storage.removeItem = (key) => (go(), removeItem(key));
    assert.equal(savePending({ ...record, session: "newer" }, base("2", "t".repeat(50))), false);
    assert.deepEqual(pendingOf("d", "ann", "user-1"), { ...record, base: "text 1" });
    Object.assign(storage, { setItem, removeItem });
  }
  assert.equal(savePending({ ...record, session: "newer" }, base("2")), true);
  assert.deepEqual(pendingOf("d", "ann", "user-1"), { ...record, session: "newer", base: "text 2" });
});

test("a long text replaces the former text if there is no room for both", () => {
  savePending(record, base("1", "a".repeat(1_000)));
  storage.room = 1_600;
  assert.equal(savePending({ ...record, session: "newer" }, base("2", "b".repeat(1_000))), true);
  assert.equal(pendingOf("d", "ann", "user-1")?.base, "b".repeat(1_000));
  // The former text remains if there is no room for the new one.
  assert.equal(savePending({ ...record, session: "newest" }, base("3", "c".repeat(2_000))), false);
  assert.deepEqual(pendingOf("d", "ann", "user-1"), { ...record, session: "newer", base: "b".repeat(1_000) });
});

test("stored edits remain complete if the new text has room but the new edits have not", () => {
  for (const [former, later] of /** @type {const} */ ([["a", "b"], ["aaaaaaaa", "b"], ["a", "bbbbbbbb"]])) {
    removePending("d", "ann");
    storage.room = Infinity;
    savePending(record, base("1", former.repeat(100)));
    const before = [...storage.items];
    const used = before.reduce((size, [key, value]) => size + key.length + value.length, 0);
    // Without the former text, the new text has room, but then the edits have not.
    storage.room = used + 20 + Math.max(0, later.length - former.length) * 100;
    const longer = { ...record, session: "e".repeat(1_000) };
    assert.equal(savePending(longer, base("2", later.repeat(100))), false);
    assert.deepEqual(new Map(storage.items), new Map(before));
    assert.deepEqual(pendingOf("d", "ann", "user-1"), { ...record, base: former.repeat(100) });
    // The edits are stored once there is room.
    storage.room = Infinity;
    assert.equal(savePending(longer, base("2", later.repeat(100))), true);
    assert.deepEqual(pendingOf("d", "ann", "user-1"), { ...longer, base: later.repeat(100) });
    assert.equal(storage.items.size, 2);
  }
});

test("if the edits have no room, their text is removed", () => {
  storage.room = 200;
  assert.equal(savePending({ ...record, session: "e".repeat(1_000) }, base("1")), false);
  assert.equal(storage.items.size, 0);
});

test("edits without an owner are found, and unreadable ones are not", () => {
  savePending({ ...record, owner: undefined }, base("1"));
  assert.equal(pendingOf("d", "ann", "")?.session, "edits");
  savePending({ ...record, documentId: "e", session: /** @type {any} */ (7) }, base("1"));
  assert.equal(pendingOf("e", "ann", "user-1"), undefined);
  for (const key of storage.items.keys()) storage.setItem(key, "{");
  assert.equal(pendingOf("d", "ann", ""), undefined);
  assert.deepEqual(allPending(""), []);
});

test("edits are set aside together with their text, or not at all", () => {
  savePending(record, base("1"));
  storage.setItem("parley.base.b.ann.d", "another text");
  const before = new Map(storage.items);
  // Room for one of the longer names.
  storage.room = 3 + [...before].reduce((size, [key, value]) => size + key.length + value.length, 0);
  assert.equal(setPendingAside("d", "ann"), false);
  assert.deepEqual(new Map([...storage.items].sort()), new Map([...before].sort()));
  storage.room = Infinity;
  assert.equal(setPendingAside("d", "ann"), true);
  assert.equal(pendingOf("d", "ann", "user-1"), undefined);
  assert.deepEqual([...storage.items.values()].sort(), [...before.values()].sort());
});
