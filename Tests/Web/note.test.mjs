// A note between an editor and a server, which the test simulates. The client core has the rules.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CoreError } from "../../Web/js/client/door.js";
import { Line, joinedWith, openedNote } from "./support.mjs";

test("a note joins, sends edits, and applies the edits of others", () => {
  const { line, note, screen, type } = joinedWith("ab");
  assert.deepEqual(line.last("join")?.data, { documentId: "d" });
  assert.equal(note.phase, "live");
  assert.equal(note.title, "Title");
  type(1, "X");
  assert.deepEqual(line.last("change")?.data, {
    documentId: "d", epoch: "e", revision: 7, sequence: 1, operation: [1, "X", 1],
  });
  type(2, "Y");
  assert.equal(line.count("change"), 1);
  assert.equal(note.unconfirmedCount, 2);
  line.tell("changes", { revision: 8, changes: [{ clientId: "bo", sequence: 1, operation: ["b", 2] }] });
  assert.equal(screen.text, "baXYb");
  line.tell("acknowledged", { sequence: 1, revision: 9 });
  assert.deepEqual(line.last("change")?.data.operation, [3, "Y", 1]);
  line.tell("acknowledged", { sequence: 2, revision: 10 });
  assert.equal(note.unconfirmedCount, 0);
  assert.equal(note.revision, 10);
  note.close();
  assert.equal(line.last("leave")?.data.documentId, "d");
});

test("the change in flight is resent as the same bytes", () => {
  const { line, note, screen, type } = joinedWith("ab");
  type(2, "😀");
  const first = line.last("change")?.text;
  type(4, "!");
  line.lose();
  assert.equal(note.phase, "away");
  type(0, "offline ");
  assert.equal(note.unconfirmedCount, 3);
  line.comeBack();
  assert.deepEqual(line.last("join")?.data.resume, { epoch: "e", revision: 7 });
  assert.equal(line.count("change"), 1);
  line.tell("joined", {
    title: "Title", epoch: "e", revision: 9, lastSequence: 0,
    changes: [
      { clientId: "bo", sequence: 1, operation: ["x", 2] },
      { clientId: "bo", sequence: 2, operation: [3, "y"] },
    ],
  });
  assert.equal(line.count("change"), 2);
  assert.equal(line.last("change")?.text, first);
  assert.equal(screen.text, "xoffline aby😀!");
  line.tell("acknowledged", { sequence: 1, revision: 10 });
  assert.deepEqual(line.last("change")?.data, {
    documentId: "d", epoch: "e", revision: 10, sequence: 2, operation: [1, "offline ", 4, "!"],
  });
  note.close();
});

test("a new client id neither duplicates nor loses edits", () => {
  const { line, note, type, kept } = joinedWith("");
  type(0, "a");
  type(1, "b");
  note.persistNow();
  line.lose();
  line.id = "ann-2";
  line.comeBack();
  line.tell("joined", {
    title: "", epoch: "e", revision: 8, lastSequence: 0,
    changes: [{ clientId: "ann", sequence: 1, operation: ["a"] }],
  });
  assert.deepEqual(line.last("change")?.data, {
    documentId: "d", epoch: "e", revision: 8, sequence: 1, operation: [1, "b"],
  });
  line.lose();
  line.id = "ann-3";
  line.comeBack();
  line.tell("joined", { title: "", access: "write", presence: [], epoch: "e", revision: 8, lastSequence: 0, changes: [] });
  assert.deepEqual(line.last("change")?.data.operation, [1, "b"]);
  assert.equal(line.last("change")?.data.sequence, 1);
  assert.deepEqual([...kept.keys()], ["ann-3"]);
  line.tell("acknowledged", { sequence: 1, revision: 9 });
  assert.equal(kept.size, 0);
  note.close();
});

test("until a new client id has joined, edits are stored under the former one", () => {
  const { line, note, type, kept } = joinedWith("");
  type(0, "a");
  line.lose();
  line.id = "ann-2";
  line.comeBack();
  note.persistNow();
  assert.deepEqual([...kept.values()].map(({ identity }) => identity), [{ id: "ann", resumeToken: "token of ann" }]);
  // Edits are stored under the new id before they are sent under it.
  line.beforeSending = (type) => {
    if (type === "change") assert.deepEqual([...kept.keys()], ["ann-2"]);
  };
  line.tell("joined", { title: "", access: "write", presence: [], epoch: "other", revision: 2, lastSequence: 0, text: "text" });
  assert.equal(line.count("change"), 2);
  assert.equal(kept.get("ann-2")?.identity.resumeToken, "token of ann-2");
  note.close();
});

test("if there is room for only one record, that of the former client id is removed first", () => {
  const { line, note, screen, type, kept } = joinedWith("", undefined, 1);
  type(0, "a");
  note.persistNow();
  line.lose();
  line.id = "ann-2";
  line.comeBack();
  line.tell("joined", { title: "", access: "write", presence: [], epoch: "e", revision: 7, lastSequence: 0, changes: [] });
  assert.deepEqual([...kept.keys()], ["ann-2"]);
  assert.deepEqual(screen.notices, []);
  note.close();
});

test("if the server cannot send the missed changes, edits are rebased on its text, with a notice", () => {
  const { line, note, screen, type } = joinedWith("old text");
  type(8, "!");
  line.lose();
  line.comeBack();
  line.tell("joined", { title: "", access: "write", presence: [], epoch: "other", revision: 2, lastSequence: 0, text: "very old text" });
  assert.equal(screen.text, "very old text!");
  assert.deepEqual(screen.notices, ["rebased"]);
  assert.deepEqual(line.last("change")?.data, {
    documentId: "d", epoch: "other", revision: 2, sequence: 1, operation: [13, "!"],
  });
  note.close();
});

test("a temporary refusal is retried, and a final one remains visible", () => {
  const { line, note, type } = joinedWith("");
  type(0, "a");
  line.tell("refused", { sequence: 1, code: "busy", message: "soon", retryable: true, retryAfter: 1 });
  assert.equal(note.refusal, undefined);
  line.pass(1);
  assert.equal(line.count("change"), 2);
  assert.equal(line.last("change")?.data.sequence, 1);
  line.tell("refused", { sequence: 1, code: "tooLarge", message: "No.", retryable: false });
  assert.deepEqual(note.refusal, { code: "tooLarge" });
  assert.equal(note.text, "a");
  type(1, "b");
  assert.equal(line.count("change"), 2);
  note.retryRefused();
  assert.equal(note.refusal, undefined);
  assert.deepEqual(line.last("change")?.data, {
    documentId: "d", epoch: "e", revision: 7, sequence: 1, operation: ["ab"],
  });
  note.close();
});

test("text typed after discarding a refused change is resent as the same bytes", () => {
  const { line, note, type } = joinedWith("text");
  type(4, "!");
  line.tell("refused", { sequence: 1, code: "historyGone", message: "gone", retryable: false });
  note.discardUnconfirmed();
  line.tell("joined", { title: "", access: "write", presence: [], epoch: "e", revision: 7, lastSequence: 0, text: "text" });
  type(4, "?");
  const sent = line.last("change")?.text;
  line.lose();
  line.comeBack();
  line.tell("joined", {
    title: "", epoch: "e", revision: 8, lastSequence: 0, changes: [{ clientId: "bo", sequence: 2, operation: ["b", 4] }],
  });
  assert.equal(line.count("change"), 3);
  assert.equal(line.last("change")?.text, sent);
  note.close();
});

test("an edit that was refused after a resync is sent with the next number", () => {
  const { line, note, type } = joinedWith("text", { lastSequence: 4 });
  type(4, "!");
  line.tell("resync", { reason: "lagging", epoch: "e", revision: 99, text: "context", lastSequence: 4 });
  line.tell("refused", { sequence: 5, code: "historyGone", message: "gone", retryable: false });
  type(8, "?");
  line.tell("joined", {
    title: "", epoch: "e", revision: 100, lastSequence: 4, changes: [{ clientId: "bo", sequence: 2, operation: ["b", 7] }],
  });
  assert.deepEqual(line.last("change")?.data, {
    documentId: "d", epoch: "e", revision: 100, sequence: 5, operation: [8, "!?"],
  });
  line.tell("acknowledged", { sequence: 5, revision: 101 });
  assert.equal(note.unconfirmedCount, 0);
  note.close();
});

test("a refusal during a rejoin does not cancel the next attempt to join", () => {
  const { line, note, type } = joinedWith("text");
  const warn = console.warn;
  console.warn = () => {};
  type(4, "!");
  line.tell("changes", { revision: 9, changes: [{ clientId: "bo", sequence: 1, operation: [4] }] });
  console.warn = warn;
  line.refuse("join", { code: "busy", retryable: true, retryAfter: 500 });
  line.tell("refused", { sequence: 1, code: "busy", message: "soon", retryable: true, retryAfter: 1 });
  line.tell("refused", { sequence: 1, code: "historyGone", message: "gone", retryable: false });
  assert.equal(line.count("join"), 2);
  line.pass(1_000);
  assert.equal(line.count("join"), 3);
  // Joining on a new connection cancels the next attempt.
  line.refuse("join", { code: "busy", retryable: true, retryAfter: 500 });
  line.lose();
  line.comeBack();
  assert.equal(line.count("join"), 4);
  line.pass(500);
  assert.equal(line.count("join"), 4);
  line.tell("joined", { title: "", access: "write", presence: [], epoch: "e", revision: 7, lastSequence: 0, changes: [] });
  assert.equal(line.count("change"), 2);
  assert.equal(note.refusal, undefined);
  note.close();
});

test("an edit over the announced limit is sent in parts", () => {
  const { line, note, type } = joinedWith("");
  const text = "ü".repeat(60_000);
  type(0, text);
  let stored = "";
  for (let sequence = 1; note.unconfirmedCount > 0; sequence += 1) {
    const change = line.last("change");
    assert.equal(change?.data.sequence, sequence);
    assert.ok(new TextEncoder().encode(change?.text).length < 100_000);
    stored = line.core.apply(JSON.stringify(change?.data.operation), stored);
    line.tell("acknowledged", { sequence, revision: 7 + sequence });
  }
  assert.equal(stored, text);
  assert.ok(line.count("change") > 1);
  assert.equal(note.refusal, undefined);
  note.close();
});

test("unconfirmed edits are stored, and restored by a later page", () => {
  const change = { clientId: "bo", sequence: 4, time: 100 };
  const { line, note, type, kept } = joinedWith("", { change });
  type(0, "kept");
  note.persistNow();
  const restored = JSON.parse(JSON.stringify(kept.get("ann")));
  const again = openedNote({ restored, kept: new Map(kept), line: new Line({ identity: restored.identity }) });
  assert.equal(again.note.text, "kept");
  assert.deepEqual(again.line.last("join")?.data.resume, { epoch: "e", revision: 7, change });
  again.note.close();
  line.tell("acknowledged", { sequence: 1, revision: 8 });
  assert.equal(kept.size, 0);
  note.close();
});

test("edits in a restored note are stored as sent before they are sent", () => {
  const first = joinedWith("");
  first.type(0, "a");
  first.note.persistNow();
  const restored = JSON.parse(JSON.stringify(first.kept.get("ann")));
  first.note.close();
  const line = new Line({ identity: restored.identity });
  /** @type {Map<string, import("../../Web/js/client/note.js").Kept>} */
  const kept = new Map([["ann", restored]]);
  let isKeptAsSent = false;
  const { note } = openedNote({ line, kept, restored });
  note.edit([{ from: 1, to: 1, insert: "X" }]);
  line.beforeSending = (type) => {
    if (type !== "change") return;
    // A page that restores this record sends the same change with the same number.
    const copy = openedNote({ line: new Line({ identity: restored.identity }), restored: kept.get("ann") });
    assert.equal(copy.note.text, "aX");
    copy.line.tell("joined", { revision: 8, lastSequence: 1, changes: [] });
    assert.deepEqual(copy.line.last("change")?.data, {
      documentId: "d", epoch: "e", revision: 8, sequence: 2, operation: [1, "X"],
    });
    isKeptAsSent = true;
  };
  // The server has the first change, so later edits are a separate change.
  line.tell("joined", { revision: 8, lastSequence: 1, changes: [{ clientId: "ann", sequence: 1, operation: ["a"] }] });
  assert.ok(isKeptAsSent);
  assert.deepEqual(line.last("change")?.data.operation, [1, "X"]);
  line.tell("acknowledged", { sequence: 2, revision: 9 });
  assert.equal(kept.size, 0);
  note.close();
});

test("a note that cannot be restored does not join", () => {
  const line = new Line();
  const restored = { identity: { id: "ann", resumeToken: "token of ann" }, session: "of another version" };
  assert.throws(() => openedNote({ line, restored }), CoreError);
  line.lose();
  line.comeBack();
  assert.equal(line.count("join"), 0);
});

test("presence and selections of people are updated", () => {
  const { line, note } = joinedWith("some text", {
    presence: [
      { clientId: "bo", name: "Bo", color: "#2f68ad", selections: [[0, 4]] },
      { clientId: "ann", name: "myself", color: "#000000" },
    ],
  });
  assert.deepEqual(note.people.map(({ name }) => name), ["Bo"]);
  assert.equal(note.peerSelections[0]?.head, 4);
  line.tell("presence", { joined: [{ clientId: "cy", name: "Cy" }], updated: [{ clientId: "bo", name: "Bob" }] });
  assert.deepEqual(note.people.map(({ name }) => name), ["Bob", "Cy"]);
  line.tell("selections", { revision: 7, clientId: "cy", selections: [[9, 9], [2, 2]] });
  assert.equal(note.peerSelections.length, 3);
  line.tell("selections", { revision: 7, clientId: "nobody", selections: [[1, 1]] });
  line.tell("presence", { left: ["bo", "nobody"] });
  assert.deepEqual(note.people.map(({ name }) => name), ["Cy"]);
  assert.equal(note.peerSelections.length, 2);
  line.lose();
  assert.deepEqual(note.people, []);
  note.close();
});

test("a crowd is counted, and only its active people are named", () => {
  const { line, note } = joinedWith("some text", {
    presence: [{ clientId: "bo", name: "Bo", color: "#2f68ad", selections: [[0, 4]] }],
    people: 312,
  });
  assert.equal(note.othersCount, 311);
  assert.deepEqual(note.people.map(({ name }) => name), ["Bo"]);
  line.tell("presence", { joined: [], updated: [], left: [], people: 313 });
  assert.equal(note.othersCount, 312);
  // A client that rejoins within a turn is listed once, without its former carets.
  line.tell("presence", { joined: [{ clientId: "bo", name: "Bo" }, { clientId: "cy", name: "Cy" }], people: 313 });
  assert.deepEqual(note.people.map(({ name }) => name), ["Bo", "Cy"]);
  assert.equal(note.peerSelections.length, 0);
  // Without a number, presence lists all people again.
  line.tell("presence", { joined: [{ clientId: "di", name: "Di" }], left: ["cy"] });
  assert.equal(note.othersCount, 2);
  line.tell("presence", { people: 400 });
  line.lose();
  assert.equal(note.othersCount, 0);
  note.close();
});

test("a person is shown as writing for a short time after an edit", () => {
  const { line, note } = joinedWith("text", {
    presence: [{ clientId: "bo", name: "Bo" }, { clientId: "cy", name: "Cy" }],
  });
  let drawn = 0;
  note.on("people", () => (drawn += 1));
  const writing = () => note.people.filter(({ isWriting }) => isWriting).map(({ name }) => name);
  const edit = (/** @type {string} */ clientId, /** @type {number} */ revision) =>
    line.tell("changes", { revision, changes: [{ clientId, sequence: 1, operation: ["x", 4 + revision - 8] }] });
  edit("bo", 8);
  assert.deepEqual(writing(), ["Bo"]);
  line.pass(2_000);
  edit("bo", 9);
  edit("cy", 10);
  assert.equal(drawn, 2);
  line.pass(2_000);
  assert.deepEqual(writing(), ["Bo", "Cy"]);
  // Moving a caret does not count.
  line.tell("selections", { revision: 10, clientId: "bo", selections: [[0, 0]] });
  line.tell("presence", { left: ["cy"] });
  line.pass(1_000);
  assert.deepEqual(writing(), []);
  // An edit by a client that is not in the presence list, then the loss of the connection.
  edit("eve", 11);
  edit("bo", 12);
  line.lose();
  line.pass(9_000);
  assert.deepEqual(note.people, []);
  note.close();
});

test("changed rights apply at once, and a note can be reopened when rights are restored", () => {
  const { line, note, type } = joinedWith("text");
  line.tell("accessChanged", { access: "read" });
  assert.equal(note.isWritable, false);
  line.tell("accessChanged", { access: "write" });
  assert.equal(note.isWritable, true);
  type(0, "a");
  line.tell("accessChanged", { access: "none" });
  assert.equal(note.phase, "failed");
  assert.equal(note.text, "atext");
  assert.equal(note.isWritable, false);
  // Changes to the document are ignored.
  line.tell("changes", { revision: 8, changes: [{ clientId: "bo", sequence: 1, operation: ["x", 4] }] });
  assert.equal(note.revision, 7);
  note.reopen();
  const join = line.sent[line.sent.length - 1];
  assert.equal(join.type, "join");
  line.tell("joined", { title: "Title", epoch: "e", revision: 7, changes: [], lastSequence: 0, access: "write", presence: [] });
  assert.equal(note.phase, "live");
  assert.equal(line.sent[line.sent.length - 1].data.operation !== undefined, true);
  note.close();
});

test("a rejoin contains the last change and its time, if they are known", () => {
  const { line, note, type } = joinedWith("text", { change: { clientId: "bo", sequence: 4, time: 100 } });
  const resume = (/** @type {object} */ more = {}) => {
    line.lose();
    line.comeBack();
    const { data } = line.sent.findLast(({ type: kind }) => kind === "join") ?? {};
    line.tell("joined", {
      title: "Title", epoch: "e", revision: note.revision, changes: [], lastSequence: 1, access: "write", presence: [],
      ...more,
    });
    return data.resume;
  };
  assert.deepEqual(resume(), { epoch: "e", revision: 7, change: { clientId: "bo", sequence: 4, time: 100 } });
  const changes = [
    { clientId: "bo", sequence: 5, operation: ["y", 4] },
    { clientId: "cy", sequence: 9, operation: ["x", 5] },
  ];
  line.tell("changes", { revision: 8, changes, time: 200 });
  assert.deepEqual(
    resume({ revision: 10, changes: [{ clientId: "bo", sequence: 6, operation: [6, "z"] }],
      change: { clientId: "bo", sequence: 6, time: 250 } }),
    { epoch: "e", revision: 9, change: { clientId: "cy", sequence: 9, time: 200 } },
  );
  assert.deepEqual(resume().change, { clientId: "bo", sequence: 6, time: 250 });
  type(0, "a");
  line.tell("acknowledged", { sequence: 1, revision: 11, time: 300 });
  assert.deepEqual(resume().change, { clientId: "ann", sequence: 1, time: 300 });
  // The server does not send the time.
  line.tell("changes", { revision: 12, changes: [{ clientId: "bo", sequence: 7, operation: ["b", 8] }] });
  assert.deepEqual(resume().change, { clientId: "bo", sequence: 7 });
  line.tell("resync", { reason: "lagging", epoch: "f", revision: 3, text: "new", lastSequence: 1 });
  assert.deepEqual(resume(), { epoch: "f", revision: 3 });
  note.close();
});

test("messages about other documents and unknown messages are ignored", () => {
  const { line, note } = joinedWith("text");
  line.say("changes", { documentId: "other", revision: 8, changes: [] });
  line.tell("something new", {});
  line.say("resourceUpdate", { resourceId: "notes" });
  assert.equal(note.text, "text");
  assert.equal(note.revision, 7);
  line.tell("documentChanged", { title: "Renamed", deleted: false });
  assert.equal(note.title, "Renamed");
  line.tell("documentChanged", { deleted: true });
  assert.equal(note.phase, "deleted");
  note.close();
});

/** Returns the changes that the editor receives, and whether they are the user's own. */
function watched(/** @type {import("../../Web/js/client/note.js").Note} */ note) {
  const seen = /** @type {[string, boolean][]} */ ([]);
  note.on("changes", ({ changes, isOwn }) => seen.push([changes.map(({ insert }) => insert).join(), isOwn ?? false]));
  return seen;
}

test("a change requested over HTTP is the user's own, whether the answer or the change arrives first", async () => {
  const { line, note } = joinedWith("ab");
  const seen = watched(note);
  const own = { revision: 8, changes: [{ clientId: "http", sequence: 1, operation: ["old ", 2] }] };
  let answer = (/** @type {number} */ _revision) => {};
  let done = note.makeOwn(() => new Promise((resolve) => (answer = resolve)));
  line.tell("changes", own);
  assert.deepEqual(seen, []);
  answer(8);
  await done;
  assert.deepEqual(seen, [["old ", true]]);

  done = note.makeOwn(async () => 10);
  await done;
  line.tell("changes", { revision: 9, changes: [{ clientId: "bo", sequence: 1, operation: ["his ", 6] }] });
  line.tell("changes", { revision: 10, changes: [{ clientId: "http", sequence: 1, operation: [10, "!"] }] });
  assert.deepEqual(seen.slice(1), [["his ", false], ["!", true]]);
  note.close();
});

test("changes wait for an HTTP answer only for a limited time", async () => {
  const { line, note } = joinedWith("");
  const seen = watched(note);
  const change = (/** @type {number} */ revision) =>
    line.tell("changes", { revision, changes: [{ clientId: "bo", sequence: revision, operation: [revision - 8, "x"] }] });
  const never = () => void note.makeOwn(() => new Promise(() => {}));
  never();
  change(8);
  line.pass(10_000);
  assert.equal(seen.length, 1);
  never();
  for (let revision = 9; revision <= 509; revision += 1) change(revision);
  assert.equal(note.revision, 509);
  // No answer arrives after the connection is lost.
  never();
  change(510);
  line.lose();
  assert.equal(note.revision, 510);
  assert.equal(note.phase, "away");
  await assert.rejects(note.makeOwn(() => Promise.reject(new Error("no"))), /no/);
  note.close();
});
