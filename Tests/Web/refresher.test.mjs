// The lists of notes, folders and tags are fetched again after each notification of a change.

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { Emitter } from "../../Web/js/ground/emitter.js";
import { Folders } from "../../Web/js/state/folders.js";
import { NoteList } from "../../Web/js/state/notes.js";
import { Tags } from "../../Web/js/state/tags.js";
import { stopTime } from "./support.mjs";

const { fetch } = globalThis;
afterEach(() => (globalThis.fetch = fetch));

/** Waits until settled promises have run. */
async function turn() {
  for (let step = 0; step < 5; step += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** A server whose requests a test answers one by one. */
function server() {
  /** @type {{path: string, answer: (body: object, status?: number) => Promise<void>, fail: () => Promise<void>}[]} */
  const asked = [];
  globalThis.fetch = /** @type {any} */ (
    (/** @type {string} */ path) =>
      new Promise((resolve, reject) => {
        asked.push({
          path,
          answer: (body, status = 200) => (resolve(new Response(JSON.stringify(body), { status })), turn()),
          fail: () => (reject(new TypeError("no network")), turn()),
        });
      })
  );
  return asked;
}

const line = () => Object.assign(new Emitter(), { subscribe: () => {}, notes: [] });
const lists = /** @type {const} */ ([
  { name: "notes", path: "/api/notes?parts=", make: () => new NoteList(/** @type {any} */ (line())) },
  { name: "folders", path: "/api/folders?limit=5000", make: () => new Folders(/** @type {any} */ (line())) },
  { name: "tags", path: "/api/tags", make: () => new Tags(/** @type {any} */ (line()), /** @type {any} */ (line())) },
]);
const body = { notes: [], folders: [{ folder: "team", notes: 1 }], tags: [{ tag: "plan", notes: 1 }] };

for (const { name, path, make } of lists) {
  test(`${name}: a change during a fetch causes another fetch, even if the first fails`, async (context) => {
    stopTime(context);
    for (const outcome of ["answered", "failed", "refused"]) {
      const asked = server();
      const list = make();
      let changes = 0;
      list.on("changed", () => (changes += 1));
      const first = list.refresh();
      void list.refresh();
      void list.refresh();
      assert.deepEqual(asked.map((one) => one.path), [path]);
      if (outcome === "answered") await asked[0]?.answer(body);
      else if (outcome === "failed") await asked[0]?.fail();
      else await asked[0]?.answer({ code: "notAllowed" }, 403);
      assert.equal(asked.length, 2, outcome);
      await asked[1]?.answer(body);
      await first;
      assert.equal(changes, outcome === "answered" ? 2 : 1);
      assert.equal(asked.length, 2);
    }
  });

  test(`${name}: a temporary failure is retried a few times`, async (context) => {
    const pass = stopTime(context);
    const asked = server();
    const list = make();
    void list.refresh();
    await asked[0]?.answer({ code: "busy" }, 503);
    pass(999);
    assert.equal(asked.length, 1);
    pass(1);
    await asked[1]?.fail();
    pass(4_000);
    await asked[2]?.answer({ code: "tooFast" }, 429);
    pass(16_000);
    await asked[3]?.fail();
    pass(100_000);
    assert.equal(asked.length, 4);
    void list.refresh();
    await asked[4]?.fail();
    // A call while a retry is pending replaces the retry.
    void list.refresh();
    await asked[5]?.answer(body);
    pass(100_000);
    assert.equal(asked.length, 6);
    void list.refresh();
    await asked[6]?.answer({ code: "notAllowed" }, 403);
    pass(100_000);
    assert.equal(asked.length, 7);
  });
}

test("the pages of a folder are kept during an outage, and fetched after it", async (context) => {
  const pass = stopTime(context);
  const asked = server();
  const long = Object.assign(new Emitter(), { notes: [], isCut: false });
  const folders = new Folders(/** @type {any} */ (long));
  folders.choose("team");
  assert.equal(asked.length, 0);
  // The stored list was complete; the server's list is not.
  long.isCut = true;
  long.emit("fetched", undefined);
  await asked[0]?.answer(body);
  assert.equal(asked[1]?.path, "/api/notes?folder=team&limit=100");
  await asked[1]?.fail();
  pass(1_000);
  await asked[2]?.answer(body);
  await asked[3]?.answer({ notes: [{ id: "n-1" }], next: "1" });
  assert.deepEqual([folders.notes.length, folders.hasMore], [1, true]);
  const failure = assert.rejects(folders.fetchMore(), { status: 0 });
  await asked[4]?.fail();
  await failure;
  assert.equal(folders.hasMore, true);
  void folders.refresh();
  await asked[5]?.answer(body);
  await asked[6]?.fail();
  assert.deepEqual([folders.notes.length, folders.hasMore], [1, true]);
  // The next page of the former list does not belong to the new list.
  void folders.fetchMore();
  pass(1_000);
  await asked[8]?.answer(body);
  await asked[9]?.answer({ notes: [{ id: "n-2" }], next: "2" });
  await asked[7]?.answer({ notes: [{ id: "n-3" }] });
  assert.deepEqual(folders.notes.map(({ id }) => id), ["n-2"]);
  folders.choose("other");
  await asked[10]?.fail();
  assert.equal(asked[11]?.path, "/api/folders?limit=5000");
});

test("a tag is deselected if its notes cannot be fetched", async () => {
  const asked = server();
  const tags = new Tags(/** @type {any} */ (line()), /** @type {any} */ (line()));
  /** @type {unknown[]} */
  const failures = [];
  tags.on("failed", (error) => failures.push(error));
  tags.choose("plan");
  await asked[0]?.fail();
  assert.equal(tags.chosen, undefined);
  assert.deepEqual(tags.filtered([{ id: "n-1" }]), [{ id: "n-1" }]);
  assert.equal(failures.length, 1);
  tags.choose("plan");
  await asked[1]?.answer({ notes: [{ id: "n-1" }] });
  void tags.refresh();
  await asked[2]?.answer(body);
  await asked[3]?.fail();
  // A tag whose notes were fetched before stays selected.
  assert.deepEqual([tags.chosen, tags.filtered([{ id: "n-1" }, { id: "n-2" }])], ["plan", [{ id: "n-1" }]]);
  assert.equal(failures.length, 1);
});
