import assert from "node:assert/strict";
import { test } from "node:test";

import { Pins } from "../../Web/js/notes/pins.js";

/** @param {Record<string, string>} [kept] */
function storageWith(kept = {}) {
  const all = new Map(Object.entries(kept));
  return {
    all,
    getItem: (/** @type {string} */ name) => all.get(name) ?? null,
    setItem: (/** @type {string} */ name, /** @type {string} */ value) => void all.set(name, value),
  };
}

const notes = ["a", "b", "c", "d"].map((id) => ({ id }));
const ids = (/** @type {{id: string}[]} */ sorted) => sorted.map(({ id }) => id).join("");

test("pinned notes come first, in the order of the list, and outlive the page", () => {
  const storage = storageWith();
  const pins = new Pins({ storage, owner: () => "ada" });
  let changes = 0;
  pins.on("changed", () => (changes += 1));
  assert.equal(ids(pins.sorted(notes)), "abcd");
  pins.toggle("d");
  pins.toggle("b");
  assert.equal(ids(pins.sorted(notes)), "bdac");
  assert.equal(changes, 2);
  const later = new Pins({ storage, owner: () => "ada" });
  assert.equal(ids(later.sorted(notes)), "bdac");
  later.toggle("d");
  assert.ok(!later.has("d") && later.has("b"));
});

test("each user has separate pins", () => {
  const storage = storageWith();
  let owner = "ada";
  const pins = new Pins({ storage, owner: () => owner });
  pins.toggle("c");
  owner = "";
  assert.ok(!pins.has("c"));
  pins.toggle("a");
  owner = "ada";
  assert.ok(pins.has("c") && !pins.has("a"));
});

test("pins of another tab are shown, and so is clearing the storage", () => {
  const storage = storageWith();
  const window = new EventTarget();
  const pins = new Pins({ storage, owner: () => "ada", window });
  let changes = 0;
  pins.on("changed", () => (changes += 1));
  const tell = (/** @type {string | null} */ key) => window.dispatchEvent(Object.assign(new Event("storage"), { key }));
  assert.ok(!pins.has("a"));
  storage.setItem("parley.pins.ada", '["a"]');
  tell("parley.pins.bob");
  assert.equal(changes, 0);
  tell("parley.pins.ada");
  assert.ok(pins.has("a") && changes === 1);
  storage.all.clear();
  tell(null);
  assert.ok(!pins.has("a") && changes === 2);
});

test("unreadable pins are ignored, and a full storage does not prevent pinning", () => {
  for (const kept of ["", "{", "7", "null", '{"a":1}', "[7,null]"]) {
    const pins = new Pins({ storage: storageWith({ "parley.pins.": kept }), owner: () => "" });
    assert.equal(ids(pins.sorted(notes)), "abcd", kept);
  }
  const full = {
    getItem: () => null,
    setItem: () => {
      throw new Error("full");
    },
  };
  const pins = new Pins({ storage: full, owner: () => "" });
  pins.toggle("c");
  assert.equal(ids(pins.sorted(notes)), "cabd");
});

test("above the maximum number, the oldest pin is removed", () => {
  const storage = storageWith();
  const pins = new Pins({ storage, owner: () => "" });
  for (let number = 0; number <= Pins.countMax; number += 1) pins.toggle(`n${number}`);
  assert.ok(!pins.has("n0") && pins.has("n1") && pins.has(`n${Pins.countMax}`));
  assert.equal(JSON.parse(storage.getItem("parley.pins.") ?? "").length, Pins.countMax);
});
