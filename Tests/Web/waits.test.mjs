// Waits for the gateway: many concurrent waits share a timer, and each ends.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Waits } from "../../Web/sdk/waits.js";

test("ten thousand waits share a few timers, and end with the connection", async (context) => {
  const timers = context.mock.method(globalThis, "setTimeout");
  const waits = new Waits(60_000, () => new Error("stopped"));
  /** @type {(() => void)[]} */
  const answers = [];
  const ends = Array.from({ length: 10_000 }, () => waits.limited(new Promise((resolve) => answers.push(() => resolve(1)))));
  await Promise.resolve();
  for (const answer of answers.slice(1)) answer();
  assert.equal((await Promise.all(ends.slice(1))).length, 9_999);
  assert.ok(timers.mock.callCount() <= 2, `${timers.mock.callCount()} timers`);
  waits.changed("stopped");
  await assert.rejects(ends[0], /stopped/);
  await assert.rejects(waits.limited(new Promise(() => {})), /stopped/);
});

test("a wait ends at its time limit, even if an earlier wait has set the timer", async () => {
  const waits = new Waits(20, () => new Error("no answer"));
  await waits.limited(Promise.resolve(1));
  await assert.rejects(waits.limited(new Promise(() => {})), /no answer/);
});
