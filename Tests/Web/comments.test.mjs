// Comments on the page: threads in the order of the text, and their ranges, which are requested at a revision that the
// editor has and moved over later edits.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Comments, scalarsBefore, threadsOf, unitsOf } from "../../Web/js/comments/comments.js";
import { Emitter } from "../../Web/js/ground/emitter.js";
import { UnsentComments } from "../../Web/js/comments/unsentcomments.js";

/** Waits until pending promises are settled. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** @param {string} id @param {number | undefined} from @param {object} [more] */
const first = (id, from, more) => ({
  id, author: "Ann", mine: false, text: id, createdAt: 1,
  made: { epoch: "e", revision: 1, from: 0, to: 1, quote: "q" },
  place: from === undefined ? null : { revision: 7, from, to: from + 2 }, ...more,
});

/** @param {any[]} comments */
const answerOf = (comments) => ({ epoch: "e", revision: 7, mayComment: true, limits: { textBytesMax: 9 }, comments });

/**
 * A note, its line and its editor, whose text is this.
 *
 * @param {string} text
 * @param {string} phase
 */
function stage(text, phase = "live") {
  const note = Object.assign(new Emitter(), { documentId: "n/1", phase, unconfirmedCount: 0, revision: 7 });
  const connection = Object.assign(new Emitter(), {
    isOnline: true,
    rooms: /** @type {string[]} */ ([]),
    subscribe: (/** @type {string} */ room) => {
      connection.rooms.push(room);
      // The server answers later.
      setImmediate(() => connection.emit("room", room));
    },
    handle: () => connection.rooms.pop(),
    afterwards: (/** @type {() => void} */ tell) => tell(),
  });
  /** @type {{path: string, method: string, body: any, key: any, resolve: (value: any) => void, reject: (error: any) => void}[]} */
  const asked = [];
  let shift = 0;
  /** @type {any[]} */
  let all = [];
  const marks = {
    moment() {
      const before = shift;
      return {
        doc: { toString: () => text }, isLost: false, end() {},
        moved: (/** @type {any} */ mark) => ({ ...mark, from: mark.from + shift - before, to: mark.to + shift - before }),
      };
    },
    set: (/** @type {any[]} */ set) => (all = set),
    marks: () => all,
  };
  const comments = new Comments(/** @type {any} */ ({
    note, connection, marks, newKey: () => "key",
    request: (/** @type {string} */ path, method = "GET", /** @type {any} */ body = undefined, /** @type {any} */ _ = undefined, /** @type {any} */ key = undefined) =>
      new Promise((resolve, reject) => asked.push({ path, method, body, key, resolve, reject })),
  }));
  return { note, connection, asked, marks, comments, type: (/** @type {number} */ count) => (shift += count) };
}

test("positions in scalars convert to UTF-16 units and back", () => {
  const text = "a🐦b🐦🐦";
  const units = unitsOf(text, [5, 0, 2, 1, 3, 9]);
  assert.deepEqual([...units].sort(([a], [b]) => a - b), [[0, 0], [1, 1], [2, 3], [3, 4], [5, 8], [9, 8]]);
  for (const [scalar, unit] of units) if (scalar <= 5) assert.equal(scalarsBefore(text, unit), scalar);
});

test("threads are in the order of the text with their answers, and threads without a place come last", () => {
  const all = [first("gone", undefined), first("b", 9), { ...first("x", 0), thread: "b" }, first("a", 3), { ...first("y", 0), thread: "none" }];
  const threads = threadsOf(/** @type {any} */ (all));
  assert.deepEqual(threads.map(({ first: { id } }) => id), ["a", "b", "gone"]);
  assert.deepEqual(threads[1]?.answers.map(({ id }) => id), ["x"]);
});

test("ranges are requested at the editor's revision, and moved over later edits", async () => {
  const { asked, marks, type, connection, comments } = stage("🐦 some words");
  await turn();
  assert.deepEqual(connection.rooms, ["/note/n/1"]);
  assert.equal(asked[0]?.path, "/api/notes/n%2F1/comments?revision=7");
  type(5);
  asked[0]?.resolve(answerOf([first("a", 2), first("gone", undefined), first("over", 4, { resolved: { by: "B", at: 2 } })]));
  await turn();
  assert.deepEqual(marks.marks(), [{ id: "a", from: 8, to: 10 }]);
  assert.equal(comments.all.length, 3);
  // Two notifications during a request cause one further request.
  connection.emit("resource", "/note/other");
  connection.emit("resource", "/note/n/1");
  await turn();
  connection.emit("resource", "/note/n/1");
  connection.emit("resource", "/note/n/1");
  assert.equal(asked.length, 2);
  asked[1]?.resolve(answerOf([]));
  await turn();
  assert.equal(asked.length, 3);
  asked[2]?.resolve(answerOf([]));
  comments.close();
  assert.deepEqual(connection.rooms, []);
});

test("a notification during a request causes another one, even if the first fails", async () => {
  const { asked, connection, comments } = stage("some words");
  let failures = 0;
  comments.on("failed", () => (failures += 1));
  await turn();
  connection.emit("resource", "/note/n/1");
  asked[0]?.reject(new Error("the line broke"));
  await turn();
  assert.equal(asked.length, 2);
  asked[1]?.resolve(answerOf([first("a", 2)]));
  await turn();
  assert.deepEqual([failures, comments.all.length, asked.length], [0, 1, 2]);
  // Without a notification, a failed request is not repeated.
  void comments.refresh();
  await turn();
  asked[2]?.reject(new Error("the line broke"));
  await turn();
  assert.deepEqual([failures, asked.length], [1, 3]);
  comments.close();
});

test("the note's room is subscribed to after each join of the note", async () => {
  const { note, connection, comments } = stage("some words", "joining");
  const become = (/** @type {string} */ phase) => {
    note.phase = phase;
    note.emit("status", undefined);
    return connection.rooms.length;
  };
  await turn();
  assert.deepEqual(connection.rooms, []);
  connection.emit("welcome", undefined);
  assert.deepEqual(["live", "live", "away", "joining", "live"].map(become), [1, 1, 1, 1, 2]);
  comments.close();
});

test("while edits are unconfirmed, comments have no place; it is requested when they are saved", async () => {
  const { asked, marks, note, comments } = stage("some words");
  note.unconfirmedCount = 1;
  await turn();
  assert.equal(asked[0]?.path, "/api/notes/n%2F1/comments");
  const later = () => answerOf([first("a", 2, { place: { revision: 9, from: 2, to: 4 } })]);
  asked[0]?.resolve(later());
  await turn();
  assert.deepEqual([marks.marks(), comments.all.length, asked.length], [[], 1, 1]);
  note.unconfirmedCount = 0;
  note.emit("status", undefined);
  await turn();
  assert.equal(asked[1]?.path, "/api/notes/n%2F1/comments?revision=7");
  asked[1]?.resolve(later());
  await turn();
  note.emit("status", undefined);
  await turn();
  assert.deepEqual([marks.marks(), asked.length], [[], 2], "the range's text is not here yet");
  note.revision = 9;
  note.emit("changes", undefined);
  await turn();
  assert.equal(asked[2]?.path, "/api/notes/n%2F1/comments?revision=9");
  asked[2]?.resolve(later());
  await turn();
  assert.deepEqual(marks.marks(), [{ id: "a", from: 2, to: 4 }]);
});

test("a new comment waits until all edits are saved, and gives its range in the server's text", async () => {
  const { marks, note, comments, asked } = stage("🐦 some words");
  marks.set([{ id: "", from: 3, to: 7 }]);
  note.unconfirmedCount = 1;
  const body = comments.bodyOf({ text: "why?", author: "Ann" });
  await turn();
  note.unconfirmedCount = 0;
  note.emit("status", undefined);
  assert.deepEqual(await body, { text: "why?", author: "Ann", anchor: { revision: 7, from: 2, to: 6 } });
  assert.deepEqual(await comments.bodyOf({ text: "x", author: "A", thread: "t" }), { text: "x", author: "A", thread: "t" });
  marks.set([]);
  assert.equal(await comments.bodyOf({ text: "why?", author: "Ann" }), null, "the words are gone");
  note.phase = "away";
  assert.equal(await comments.bodyOf({ text: "why?", author: "Ann" }, 1), undefined);
  void comments.make({ text: "why?" }, "k");
  const sent = asked.find(({ method }) => method === "POST");
  assert.deepEqual([sent?.body, sent?.key], [{ text: "why?" }, "k"]);
});

test("unsent comments are stored in the drawer by note and thread, or in memory if it is full", () => {
  for (const hasRoom of [true, false]) {
    /** @type {Map<string, any>} */
    const things = new Map();
    const drawer = {
      get: (/** @type {string} */ name) => things.get(name),
      set: (/** @type {string} */ name, /** @type {any} */ value) => hasRoom && Boolean(things.set(name, structuredClone(value))),
      remove: (/** @type {string} */ name) => void things.delete(name),
    };
    const words = new UnsentComments(drawer, "n/1.a");
    words.keep("", { text: "new", sent: { text: "new", body: {}, key: "k" } });
    words.keep("t", { text: "answer" });
    assert.equal(things.size, hasRoom ? 2 : 0);
    const again = new UnsentComments(drawer, "n/1.a");
    assert.deepEqual([again.get("")?.sent?.key, again.get("t")?.text], ["k", "answer"]);
    assert.equal(new UnsentComments(drawer, "n").get("t"), undefined);
    again.keep("", undefined);
    again.keep("t", undefined);
    assert.deepEqual([words.get(""), words.get("t"), things.size], [undefined, undefined, 0]);
  }
});
