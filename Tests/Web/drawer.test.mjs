// The things that a tab stores, and that the next tab takes over.

import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { Drawer, openDrawer } from "../../Web/js/state/drawer.js";
import { FakeStorage } from "./support.mjs";

/** The locks of all tabs of a browser. Closing a tab releases its locks. */
class Locks {
  /** @type {Map<string, object>} */
  held = new Map();
  tab = {};

  /** @param {string} name @param {object} _options @param {(lock: object | null) => any} callback */
  request = async (name, _options, callback) => {
    if (this.held.has(name)) return callback(null);
    this.held.set(name, this.tab);
    void callback({ name });
  };

  /** @param {object} tab */
  close(tab) {
    for (const [name, holder] of this.held) if (holder === tab) this.held.delete(name);
  }
}

const names = /** @type {const} */ (["localStorage", "sessionStorage", "navigator"]);
const given = names.map((name) => Object.getOwnPropertyDescriptor(globalThis, name));
let storage = new FakeStorage();
let locks = new Locks();
beforeEach(() => {
  storage = new FakeStorage();
  locks = new Locks();
});
afterEach(() => {
  names.forEach((name, index) => {
    const descriptor = given[index];
    if (descriptor) Object.defineProperty(globalThis, name, descriptor);
    else Reflect.deleteProperty(globalThis, name);
  });
});

/** Opens a tab. `session` is its session storage, which a reload keeps and a duplicate copies. */
async function open(session = new FakeStorage(), { owner = "", withLocks = true } = {}) {
  const tab = {};
  locks.tab = tab;
  const values = { localStorage: storage, sessionStorage: session, navigator: withLocks ? { locks } : {} };
  for (const name of names) Object.defineProperty(globalThis, name, { value: values[name], configurable: true });
  return { drawer: await openDrawer(() => owner), session, close: () => locks.close(tab) };
}

test("a reload finds the things that the tab has stored", async () => {
  const first = await open();
  assert.equal(first.drawer.set("new.1", { title: "é 😀" }), true);
  first.close();
  const again = await open(first.session);
  assert.deepEqual(again.drawer.names("new."), ["1"]);
  assert.deepEqual(again.drawer.get("new.1"), { title: "é 😀" });
});

test("one later tab takes over the things of a closed tab", async () => {
  const first = await open();
  first.drawer.set("new.1", "a");
  const second = await open();
  assert.deepEqual(second.drawer.names(""), []);
  first.close();
  const third = await open();
  assert.deepEqual(third.drawer.names(""), ["new.1"]);
  assert.deepEqual((await open()).drawer.names(""), []);
  // Things are changed and removed where they were stored.
  third.drawer.set("new.1", "b");
  third.drawer.set("new.2", "c");
  assert.equal(storage.length, 2);
  third.close();
  const fourth = await open();
  assert.deepEqual(fourth.drawer.names("new.").sort(), ["1", "2"]);
  assert.equal(fourth.drawer.get("new.1"), "b");
  for (const name of ["new.1", "new.2"]) fourth.drawer.remove(name);
  assert.equal(storage.length, 0);
});

test("a duplicated tab does not take over the things of its original", async () => {
  const first = await open();
  first.drawer.set("new.1", "a");
  const copy = new FakeStorage();
  for (const [key, value] of first.session.items) copy.setItem(key, value);
  assert.deepEqual((await open(copy)).drawer.names(""), []);
});

test("another user neither sees nor removes a user's things", async () => {
  const ada = await open(undefined, { owner: "ada" });
  ada.drawer.set("new.1", "hers");
  ada.close();
  const eve = await open(undefined, { owner: "eve" });
  assert.deepEqual(eve.drawer.names(""), []);
  eve.close();
  assert.equal((await open(undefined, { owner: "ada" })).drawer.get("new.1"), "hers");
});

test("without locks, the things of other tabs are not taken over", async () => {
  const first = await open(undefined, { withLocks: false });
  first.drawer.set("new.1", "a");
  assert.deepEqual((await open(undefined, { withLocks: false })).drawer.names(""), []);
  assert.deepEqual((await open(first.session, { withLocks: false })).drawer.names(""), ["new.1"]);
});

test("things stored after a sign-in belong to the user", async () => {
  let owner = "";
  const drawer = new Drawer({ storage, owner: () => owner, id: "tab" });
  drawer.set("new.1", "nobody's");
  owner = "ada";
  drawer.set("new.2", "hers");
  assert.deepEqual(new Drawer({ storage, owner: () => "ada", id: "tab" }).names("new."), ["2"]);
  assert.deepEqual(new Drawer({ storage, owner: () => "", id: "tab" }).names("new."), ["1"]);
});

test("set returns false if the storage is full, and unreadable things are ignored", async () => {
  const { drawer } = await open();
  storage.room = 0;
  assert.equal(drawer.set("new.1", "a"), false);
  assert.deepEqual(drawer.names(""), []);
  storage.room = Infinity;
  for (const broken of ["", "null", "7", '{"owner":7}', "{"]) {
    storage.setItem("parley.kept.x.new.1", broken);
    assert.deepEqual(new Drawer({ storage, owner: () => "", id: "x" }).names(""), []);
  }
});
