// Functions of the SDK for web pages: differences of a field's text, moved positions, and addresses.

import assert from "node:assert/strict";
import { test } from "node:test";
import { addresses } from "../../Web/sdk/client.js";
import { difference, moved, movedSelection } from "../../Web/sdk/difference.js";
import { partsOf } from "../../Web/sdk/element.js";
import { ParleyError } from "../../Web/sdk/errors.js";
import { Random, applied, isBoundary, randomChanges, randomPosition, randomText } from "./support.mjs";

test("difference turns one text into the other, in whole scalars", () => {
  for (let seed = 1; seed <= 3_000; seed += 1) {
    const random = new Random(seed);
    const before = randomText(random, 8);
    const after = random.below(2) ? randomText(random, 8) : applied(before, randomChanges(random, before));
    const change = difference(before, after, random.below(after.length + 1));
    if (before === after) {
      assert.equal(change, undefined);
      continue;
    }
    assert.ok(change);
    assert.equal(applied(before, [change]), after, `seed ${seed}`);
    assert.ok(isBoundary(before, change.from) && isBoundary(before, change.to), `seed ${seed}`);
  }
});

test("the caret determines which of several equal letters was typed or deleted", () => {
  assert.deepEqual(difference("aaa", "aaaa", 1), { from: 0, to: 0, insert: "a" });
  assert.deepEqual(difference("aaa", "aaaa", 2), { from: 1, to: 1, insert: "a" });
  assert.deepEqual(difference("aaa", "aaaa", 4), { from: 3, to: 3, insert: "a" });
  assert.deepEqual(difference("aaa", "aa", 1), { from: 1, to: 2, insert: "" });
  assert.deepEqual(difference("aaa", "aa", 0), { from: 0, to: 1, insert: "" });
});

test("an emoji is replaced as a whole", () => {
  // Both have the same first half of a surrogate pair.
  assert.deepEqual(difference("a😀b", "a😁b", 3), { from: 1, to: 3, insert: "😁" });
  // Both have the same second half.
  assert.deepEqual(difference("\u{1F600}", "\u{1FA00}", 2), { from: 0, to: 2, insert: "\u{1FA00}" });
});

test("half a surrogate pair is stored as the replacement character", () => {
  assert.deepEqual(difference("ab", "a\ud83db", 2), { from: 1, to: 1, insert: "\ufffd" });
});

test("a position moves with edits before it, and stays before an insertion at it", () => {
  for (let seed = 1; seed <= 1_000; seed += 1) {
    const random = new Random(seed);
    const text = randomText(random, 8);
    const changes = randomChanges(random, text);
    const place = randomPosition(random, text);
    const after = applied(text, changes);
    const there = moved(place, changes);
    assert.ok(there >= 0 && there <= after.length, `seed ${seed}`);
    const isTouched = changes.some(({ from, to }) => from <= place && place <= to);
    if (isTouched) continue;
    const before = changes.filter(({ to }) => to < place);
    assert.equal(there, applied(text.slice(0, place), before).length, `seed ${seed}`);
  }
  assert.equal(moved(3, [{ from: 3, to: 3, insert: "abc" }]), 3);
  assert.equal(moved(3, [{ from: 1, to: 5, insert: "" }]), 1);
});

test("a selection keeps its content, without text inserted at its ends", () => {
  for (let seed = 1; seed <= 1_000; seed += 1) {
    const random = new Random(seed);
    const text = randomText(random, 12);
    const changes = randomChanges(random, text);
    const places = [randomPosition(random, text), randomPosition(random, text)];
    const [start, end] = [Math.min(...places), Math.max(...places)];
    const after = applied(text, changes);
    const there = movedSelection({ anchor: start, head: end }, changes);
    const reversed = movedSelection({ anchor: end, head: start }, changes);
    assert.deepEqual([reversed.head, reversed.anchor], [there.anchor, there.head], `seed ${seed}`);
    assert.ok(0 <= there.anchor && there.anchor <= there.head && there.head <= after.length, `seed ${seed}`);
    // Edits outside of the selection do not change its content.
    const isWithin = changes.some(({ from, to }) => from < end && to > start);
    if (isWithin || start === end) continue;
    assert.equal(after.slice(there.anchor, there.head), text.slice(start, end), `seed ${seed}`);
  }
  const inserted = [{ from: 1, to: 1, insert: "X" }, { from: 2, to: 2, insert: "Y" }];
  assert.deepEqual(movedSelection({ anchor: 1, head: 2 }, inserted), { anchor: 2, head: 3 });
  assert.deepEqual(movedSelection({ anchor: 2, head: 1 }, inserted), { anchor: 3, head: 2 });
  assert.deepEqual(movedSelection({ anchor: 1, head: 1 }, inserted), { anchor: 1, head: 1 });
});

test("a gateway's address may have a path, and determines the scheme of the socket", () => {
  const { base, socket } = addresses("https://example.org/parley?x=1#y");
  assert.equal(base.href, "https://example.org/parley/");
  assert.equal(socket.href, "wss://example.org/parley/ws");
  assert.equal(addresses("http://127.0.0.1:8080").socket.href, "ws://127.0.0.1:8080/ws");
});

for (const address of ["", "notes", "ftp://example.org", "javascript:alert(1)"]) {
  test(`“${address}” is not a valid gateway address`, () => {
    assert.throws(() => addresses(address), (error) => error instanceof ParleyError && error.code === "invalid");
  });
}

test("a note's address contains the gateway's address", () => {
  assert.deepEqual(partsOf("https://example.org/n/welcome"), { gateway: "https://example.org/", id: "welcome" });
  assert.deepEqual(partsOf("https://example.org/a/n/b/n/x%20y/#z"), { gateway: "https://example.org/a/n/b/", id: "x y" });
  assert.throws(() => partsOf("https://example.org/"), ParleyError);
});
