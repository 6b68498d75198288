// Tags that filter the list of notes.

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { Emitter } from "../../Web/js/ground/emitter.js";
import { Tags } from "../../Web/js/state/tags.js";

const { fetch } = globalThis;
afterEach(() => (globalThis.fetch = fetch));

test("areMissing tells whether notes with the chosen tag may be missing in the list", async () => {
  const tags = new Tags(/** @type {any} */ (new Emitter()), /** @type {any} */ (new Emitter()));
  const listed = [{ id: "n-1" }, { id: "n-3" }];
  let answer = { notes: [{ id: "n-1" }, { id: "n-2" }], more: false };
  globalThis.fetch = /** @type {any} */ (async () => new Response(JSON.stringify(answer)));
  const chosen = async () => {
    tags.choose("plan");
    assert.equal(tags.areMissing(tags.filtered(listed), true), false, "nothing is known yet");
    await new Promise((resolve) => tags.on("changed", () => resolve(undefined)));
    return tags.filtered(listed);
  };
  assert.equal(tags.areMissing(listed, true), false);
  const filtered = await chosen();
  assert.deepEqual(filtered, [{ id: "n-1" }]);
  assert.equal(tags.areMissing(filtered, true), true);
  assert.equal(tags.areMissing(filtered, false), false, "a whole list has it in a moment");
  assert.equal(tags.areMissing([{ id: "n-1" }, { id: "n-2" }], true), false);
  tags.choose("plan");
  answer = { notes: [{ id: "n-1" }], more: true };
  assert.equal(tags.areMissing(await chosen(), false), true);
});
