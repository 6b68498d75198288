// The data of the history view: authors, differences, sessions, texts and named versions.

import assert from "node:assert/strict";
import { test } from "node:test";
import { NoteHistory, colorsOf, runsOf } from "../../Web/js/history/history.js";
import { smallestEdit } from "../../Web/js/history/smallestedit.js";
import { palette } from "../../Web/js/state/people.js";
import { Random, applied, isBoundary, randomText } from "./support.mjs";

test("runs counted in scalars become runs in UTF-16 units", () => {
  const authors = [
    { author: "Ann", count: 2 },
    { author: "Bo", count: 1 },
    { author: "Bo", count: 1 },
    { author: "", count: 0 },
    { author: "Ann", count: 1 },
  ];
  assert.deepEqual(runsOf("a😀é𝒳b", authors), [
    { author: "Ann", from: 0, to: 3 },
    { author: "Bo", from: 3, to: 6 },
    { author: "Ann", from: 6, to: 7 },
  ]);
  assert.deepEqual(runsOf("", []), []);
  // A count beyond the end of the text is cut.
  assert.deepEqual(runsOf("ab", [{ author: "Ann", count: 9 }]), [{ author: "Ann", from: 0, to: 2 }]);
});

test("the difference of two texts turns one into the other, between whole scalars", () => {
  assert.equal(smallestEdit("same", "same"), undefined);
  // The emoji have the same first half.
  assert.deepEqual(smallestEdit("😀", "😁"), { from: 0, to: 2, insert: "😁" });
  // The scalars have the same second half.
  assert.deepEqual(smallestEdit("\u{1f600}", "\u{1fa00}"), { from: 0, to: 2, insert: "\u{1fa00}" });
  assert.deepEqual(smallestEdit("aa", "aaa"), { from: 2, to: 2, insert: "a" });
  for (let seed = 1; seed <= 300; seed += 1) {
    const random = new Random(seed);
    const start = randomText(random);
    const end = randomText(random);
    const before = start + randomText(random) + end;
    const after = start + randomText(random) + end;
    const change = smallestEdit(before, after);
    if (!change) continue;
    assert.equal(applied(before, [change]), after, `seed ${seed}`);
    assert.ok(isBoundary(before, change.from) && isBoundary(before, change.to), `seed ${seed}`);
  }
});

test("users who are present keep their colours, and other authors get the remaining ones", () => {
  const colors = colorsOf(
    ["Ann", "Bo", "Cy", "Ann"],
    [{ name: "Cy", color: palette[0] ?? "" }, { name: "Cy", color: palette[3] ?? "" }],
  );
  assert.equal(colors.get("Cy"), palette[0]);
  assert.equal(new Set(colors.values()).size, 3);
  const many = colorsOf(Array.from({ length: 40 }, (_, index) => `author ${index}`), []);
  assert.equal(many.size, 40);
  for (const color of many.values()) assert.ok(palette.includes(color));
});

test("authors keep their colours when earlier authors are loaded, unless a present user has the colour", () => {
  const former = colorsOf(["Cy", "Di"], []);
  const all = colorsOf(["Ann", "Bo", "Cy", "Di"], [], former);
  assert.deepEqual(["Cy", "Di"].map((name) => all.get(name)), ["Cy", "Di"].map((name) => former.get(name)));
  assert.equal(new Set(all.values()).size, 4);
  const withBo = colorsOf(["Ann", "Bo", "Cy", "Di"], [{ name: "Bo", color: former.get("Cy") ?? "" }], all);
  assert.equal(withBo.get("Di"), former.get("Di"));
  assert.equal(new Set(withBo.values()).size, 4);
  // With more authors than colours, two authors with one colour keep it.
  const names = Array.from({ length: 40 }, (_, index) => `author ${index}`);
  const many = colorsOf(names, []);
  assert.deepEqual(colorsOf(["Ann", ...names], [], many).get("author 39"), many.get("author 39"));
});

/** A history whose requests and timers the test controls. */
function world() {
  /** @type {{path: string, method: string, signal?: AbortSignal, answer: (value: any) => void,
   *   fail: (error: Error) => void}[]} */
  const asked = [];
  /** @type {(() => void)[]} */
  let timers = [];
  const history = new NoteHistory({
    documentId: "a note",
    ask: (path, method = "GET", _body, signal) =>
      new Promise((resolve, reject) => {
        asked.push({ path, method, signal, answer: resolve, fail: reject });
        signal?.addEventListener("abort", () => reject(new Error("given up")));
      }),
    dependencies: {
      setTimeout: (callback) => {
        timers.push(callback);
        return callback;
      },
      clearTimeout: (timer) => (timers = timers.filter((callback) => callback !== timer)),
    },
  });
  return {
    asked,
    history,
    pass: () => timers.splice(0).forEach((callback) => callback()),
    settle: () => new Promise((resolve) => setImmediate(resolve)),
  };
}

/** @param {number} first @param {number} last @param {string} author */
const group = (first, last, author) => ({
  firstRevision: first,
  lastRevision: last,
  author,
  clientId: `c-${author}`,
  firstTime: first * 1000,
  lastTime: last * 1000,
  inserted: 1,
  deleted: 0,
});

/** @param {number} first @param {number} last @param {string[]} authors Most recent first. */
const session = (first, last, ...authors) => ({
  firstRevision: first,
  lastRevision: last,
  firstTime: first * 1000,
  lastTime: last * 1000,
  authors: authors.map((author, index) => ({
    author, lastRevision: last - index, changes: 1, inserted: 2, deleted: 1,
  })),
});

test("the newest sessions are loaded first, earlier ones on demand, and a session that has grown is replaced", async () => {
  const { asked, history, settle } = world();
  const loaded = history.refresh();
  assert.equal(asked[0]?.path, "/api/notes/a%20note/sessions?limit=50");
  asked[0]?.answer({ head: 9, oldest: 2, sessions: [session(7, 9, "Bo", "Ann"), session(5, 6, "Ann")], before: 5 });
  asked[1]?.answer({ versions: [] });
  await loaded;
  assert.deepEqual([history.head, history.oldest, history.hasEarlier], [9, 2, true]);
  assert.deepEqual([9, 8, 7, 6, 5, 4].map((at) => history.authorOf(at)), ["Bo", "Ann", undefined, "Ann", "Ann", undefined]);
  assert.deepEqual([9, 8, 6, 4, 2].map((at) => history.stop(at, -1)), [6, 6, 2, 2, 2]);
  assert.deepEqual([2, 6, 7, 9].map((at) => history.stop(at, 1)), [6, 9, 9, 9]);

  const earlier = history.fetchEarlier();
  assert.equal(asked[2]?.path, "/api/notes/a%20note/sessions?before=5&limit=50");
  asked[2]?.answer({ head: 9, oldest: 2, sessions: [session(3, 4, "Cy")] });
  await earlier;
  assert.equal(history.hasEarlier, false);

  const again = history.refresh();
  asked[3]?.answer({ head: 12, oldest: 2, sessions: [session(7, 12, "Ann", "Bo")], before: 7 });
  asked[4]?.answer({ versions: [] });
  await again;
  await settle();
  assert.deepEqual(history.sessions.map(({ lastRevision }) => lastRevision), [12, 6, 4]);
  assert.equal(history.hasEarlier, false);
  assert.equal(history.timeOf(8), 8_000);
});

test("a session that was cut is joined with its other part", async () => {
  const { asked, history } = world();
  const loaded = history.refresh();
  asked[0]?.answer({ head: 9, oldest: 0, sessions: [{ ...session(6, 9, "Bo", "Ann"), cut: true }], before: 6 });
  asked[1]?.answer({ versions: [] });
  await loaded;
  const earlier = history.fetchEarlier();
  asked[2]?.answer({ head: 9, oldest: 0, sessions: [session(3, 5, "Ann", "Cy"), session(1, 2, "Cy")] });
  await earlier;
  assert.deepEqual(history.sessions.map(({ firstRevision, lastRevision }) => [firstRevision, lastRevision]), [[3, 9], [1, 2]]);
  const [whole] = history.sessions;
  assert.deepEqual(
    whole?.authors.map(({ author, lastRevision, changes, inserted }) => [author, lastRevision, changes, inserted]),
    [["Bo", 9, 1, 2], ["Ann", 8, 2, 4], ["Cy", 4, 1, 2]],
  );
  assert.equal(whole?.cut, undefined);
});

test("an opened session's changes are read from its end, in parts", async () => {
  const { asked, history, settle } = world();
  const loaded = history.refresh();
  asked[0]?.answer({ head: 900, oldest: 0, sessions: [session(1, 900, "Bo", "Ann")] });
  asked[1]?.answer({ versions: [] });
  await loaded;
  const whole = history.sessions[0] ?? assert.fail();
  const opened = history.openSession(whole);
  assert.equal(asked[2]?.path, "/api/notes/a%20note/history?after=400&limit=200");
  asked[2]?.answer({ groups: [group(401, 600, "Ann")] });
  await settle();
  assert.equal(asked[3]?.path, "/api/notes/a%20note/history?after=600&limit=200");
  asked[3]?.answer({ groups: [group(601, 900, "Bo")] });
  await opened;
  assert.equal(history.authorOf(500), "Ann");
  assert.deepEqual([history.stop(900, -1), history.stop(600, -1)], [600, 0]);
  const more = history.openSession(whole);
  asked[4]?.answer({ groups: [group(1, 390, "Cy"), group(391, 460, "Ann")] });
  await more;
  // Changes that were loaded before count once.
  assert.deepEqual(history.changesOf(whole)?.groups.map(({ lastRevision }) => lastRevision), [390, 400, 600, 900]);
  history.closeSession(whole);
  assert.equal(history.changesOf(whole), undefined);
});

test("while the slider moves, only the text of its last position is shown", async () => {
  const { asked, history, pass, settle } = world();
  /** @type {number[]} */
  const shown = [];
  history.on("text", ({ revision }) => shown.push(revision));
  for (const revision of [9, 8, 7, 6, 5]) history.want(revision);
  assert.deepEqual(asked.map(({ path }) => path), ["/api/notes/a%20note/text?revision=9"]);
  // The slider rests: the first request is cancelled.
  pass();
  await settle();
  assert.equal(asked[0]?.signal?.aborted, true);
  assert.deepEqual(asked.map(({ path }) => path).slice(1), ["/api/notes/a%20note/text?revision=5"]);
  asked[1]?.answer({ text: "five", time: 5, authors: [{ author: "Ann", count: 4 }] });
  await settle();
  assert.deepEqual(shown, [5]);
  // The text is cached.
  history.want(5);
  assert.deepEqual(shown, [5, 5]);
  assert.equal(asked.length, 2);
});

test("a failure to fetch a text is reported, unless the history was closed", async () => {
  const { asked, history, settle } = world();
  /** @type {string[]} */
  const failures = [];
  history.on("failed", ({ message }) => failures.push(message));
  history.want(3);
  asked[0]?.fail(new Error("gone"));
  await settle();
  assert.deepEqual(failures, ["gone"]);
  history.want(4);
  history.close();
  asked[1]?.fail(new Error("too late"));
  await settle();
  assert.deepEqual(failures, ["gone"]);
});

test("a new name of a revision replaces its former name", async () => {
  const { asked, history, settle } = world();
  const named = history.name(3, "Agreed", "Ann");
  assert.equal(asked[0]?.method, "POST");
  asked[0]?.answer({ revision: 3, name: "Agreed", author: "Ann", time: 1 });
  await named;
  const renamed = history.name(3, "Signed", "Bo");
  asked[1]?.answer({ revision: 3, name: "Signed", author: "Bo", time: 2 });
  await renamed;
  assert.deepEqual(history.versions.map(({ name }) => name), ["Signed"]);
  const removed = history.removeName(3);
  asked[2]?.answer(undefined);
  await removed;
  await settle();
  assert.equal(history.versionAt(3), undefined);
});
