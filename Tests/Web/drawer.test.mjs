// What a tab keeps, and what the next one takes over.

import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { Drawer, openDrawer } from "../../Web/js/state/drawer.js";
import { FakeStorage } from "./support.mjs";

/** Locks of all tabs of a browser; each tab's are released together. */
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

/** Opens a tab; `session` is its own storage, which a reload and a duplicate have as well. */
async function open(session = new FakeStorage(), { owner = "", withLocks = true } = {}) {
  const tab = {};
  locks.tab = tab;
  const values = { localStorage: storage, sessionStorage: session, navigator: withLocks ? { locks } : {} };
  for (const name of names) Object.defineProperty(globalThis, name, { value: values[name], configurable: true });
  return { drawer: await openDrawer(() => owner), session, close: () => locks.close(tab) };
}

test("what a tab kept is there after a reload", async () => {
  const first = await open();
  assert.equal(first.drawer.set("new.1", { title: "é 😀" }), true);
  first.close();
  const again = await open(first.session);
  assert.deepEqual(again.drawer.names("new."), ["1"]);
  assert.deepEqual(again.drawer.get("new.1"), { title: "é 😀" });
});

test("what a closed tab left is the next one's, and no other's", async () => {
  const first = await open();
  first.drawer.set("new.1", "a");
  const second = await open();
  assert.deepEqual(second.drawer.names(""), []);
  first.close();
  const third = await open();
  assert.deepEqual(third.drawer.names(""), ["new.1"]);
  assert.deepEqual((await open()).drawer.names(""), []);
  // It is changed and removed where it lies.
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

test("a duplicated tab does not take its original's", async () => {
  const first = await open();
  first.drawer.set("new.1", "a");
  const copy = new FakeStorage();
  for (const [key, value] of first.session.items) copy.setItem(key, value);
  assert.deepEqual((await open(copy)).drawer.names(""), []);
});

test("what one person left stays another's neither to see nor to lose", async () => {
  const ada = await open(undefined, { owner: "ada" });
  ada.drawer.set("new.1", "hers");
  ada.close();
  const eve = await open(undefined, { owner: "eve" });
  assert.deepEqual(eve.drawer.names(""), []);
  eve.close();
  assert.equal((await open(undefined, { owner: "ada" })).drawer.get("new.1"), "hers");
});

test("without locks a closed tab's things are left alone", async () => {
  const first = await open(undefined, { withLocks: false });
  first.drawer.set("new.1", "a");
  assert.deepEqual((await open(undefined, { withLocks: false })).drawer.names(""), []);
  assert.deepEqual((await open(first.session, { withLocks: false })).drawer.names(""), ["new.1"]);
});

test("what is kept after a sign-in is the user's own", async () => {
  let owner = "";
  const drawer = new Drawer({ storage, owner: () => owner, id: "tab" });
  drawer.set("new.1", "nobody's");
  owner = "ada";
  drawer.set("new.2", "hers");
  assert.deepEqual(new Drawer({ storage, owner: () => "ada", id: "tab" }).names("new."), ["2"]);
  assert.deepEqual(new Drawer({ storage, owner: () => "", id: "tab" }).names("new."), ["1"]);
});

test("where there is no room, or nothing may be stored, it says so", async () => {
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
