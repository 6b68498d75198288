// A note between an editor and a server, both played by the test.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CoreError } from "../../Web/js/core.js";
import { Emitter } from "../../Web/js/emitter.js";
import { Note } from "../../Web/js/note.js";
import { applied, core, stopTime } from "./support.mjs";

/** A line to the server whose both ends the test holds. */
class Line extends Emitter {
  identity = { id: "ann", resumeToken: "token" };
  welcome = { limits: { messageBytesMax: 100_000 } };
  isOnline = true;
  /** @type {{type: string, data: any, text: string, onReply: ((reply: any) => void) | undefined}[]} */
  sent = [];

  /** @param {string} type @param {object} data @param {(reply: any) => void} [onReply] */
  send(type, data, onReply) {
    return this.sendEncoded(type, JSON.stringify(data), onReply);
  }

  /** @param {string} type @param {string} text @param {(reply: any) => void} [onReply] */
  sendEncoded(type, text, onReply) {
    if (!this.isOnline) return false;
    this.sent.push({ type, data: JSON.parse(text), text, onReply });
    return true;
  }

  /** @param {string} type */
  last(type) {
    return this.sent.filter((message) => message.type === type).pop();
  }

  /** @param {string} type */
  count(type) {
    return this.sent.filter((message) => message.type === type).length;
  }

  /** @param {string} type @param {object} data */
  say(type, data) {
    this.emit("message", { messageId: "s1", type, data: { documentId: "d", ...data } });
  }

  lose() {
    this.isOnline = false;
    this.emit("lost", undefined);
  }

  comeBack() {
    this.isOnline = true;
    this.emit("welcome", {});
  }
}

/** @param {string} text @param {object} [more] @param {number} [room] For so many records. */
function joined(text, more, room = 9) {
  const line = new Line();
  /** @type {Map<string, import("../../Web/js/note.js").Kept>} By client id. */
  const kept = new Map();
  const note = new Note({
    core,
    connection: /** @type {any} */ (line),
    documentId: "d",
    pending: {
      save: (_note, edits, base) =>
        (kept.has(edits.identity.id) || kept.size < room) &&
        Boolean(kept.set(edits.identity.id, { ...edits, base: base.read() })),
      remove: (_note, clientId) => void kept.delete(clientId),
    },
  });
  const screen = { text: "", notices: /** @type {string[]} */ ([]) };
  note.on("reset", (event) => (screen.text = event.text));
  note.on("changes", ({ changes }) => (screen.text = applied(screen.text, changes)));
  note.on("notice", ({ kind }) => screen.notices.push(kind));
  line.say("joined", {
    title: "Title", epoch: "e", revision: 7, text, lastSequence: 0, access: "write", presence: [], ...more,
  });
  const type = (/** @type {number} */ at, /** @type {string} */ insert) => {
    screen.text = applied(screen.text, [{ from: at, to: at, insert }]);
    note.edit([{ from: at, to: at, insert }]);
  };
  return { line, note, screen, type, kept };
}

test("it joins, edits, and takes the others' edits in", () => {
  const { line, note, screen, type } = joined("ab");
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
  line.say("changes", { revision: 8, changes: [{ clientId: "bo", sequence: 1, operation: ["b", 2] }] });
  assert.equal(screen.text, "baXYb");
  line.say("acknowledged", { sequence: 1, revision: 9 });
  assert.deepEqual(line.last("change")?.data.operation, [3, "Y", 1]);
  line.say("acknowledged", { sequence: 2, revision: 10 });
  assert.equal(note.unconfirmedCount, 0);
  assert.equal(note.revision, 10);
  note.close();
  assert.equal(line.last("leave")?.data.documentId, "d");
});

test("an own change among the others' is its acknowledgement", () => {
  const { line, note, screen, type } = joined("");
  type(0, "mine");
  line.say("changes", {
    revision: 8,
    changes: [
      { clientId: "bo", sequence: 4, operation: ["his "] },
      { clientId: "ann", sequence: 1, operation: [4, "mine"] },
      { clientId: "bo", sequence: 5, operation: [8, "!"] },
    ],
  });
  assert.equal(screen.text, "his mine!");
  assert.equal(note.text, "his mine!");
  assert.equal(note.unconfirmedCount, 0);
  note.close();
});

test("what was in flight goes out again as the same bytes", () => {
  const { line, note, screen, type } = joined("ab");
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
  line.say("joined", {
    title: "Title", epoch: "e", revision: 9, lastSequence: 0,
    changes: [
      { clientId: "bo", sequence: 1, operation: ["x", 2] },
      { clientId: "bo", sequence: 2, operation: [3, "y"] },
    ],
  });
  assert.equal(line.count("change"), 2);
  assert.equal(line.last("change")?.text, first);
  assert.equal(screen.text, "xoffline aby😀!");
  line.say("acknowledged", { sequence: 1, revision: 10 });
  assert.deepEqual(line.last("change")?.data, {
    documentId: "d", epoch: "e", revision: 10, sequence: 2, operation: [1, "offline ", 4, "!"],
  });
  note.close();
});

test("what had been stored before the line was lost is not sent again", () => {
  const { line, note, type } = joined("");
  type(0, "stored");
  line.lose();
  line.comeBack();
  line.say("joined", {
    title: "", epoch: "e", revision: 8, lastSequence: 1,
    changes: [{ clientId: "ann", sequence: 1, operation: ["stored"] }],
  });
  assert.equal(line.count("change"), 1);
  assert.equal(note.unconfirmedCount, 0);
  note.close();
});

test("under a new client id nothing is doubled and nothing is lost", () => {
  const { line, note, type, kept } = joined("");
  type(0, "a");
  type(1, "b");
  note.persistNow();
  line.lose();
  line.identity = { id: "ann-2", resumeToken: "other" };
  line.comeBack();
  line.say("joined", {
    title: "", epoch: "e", revision: 8, lastSequence: 0,
    changes: [{ clientId: "ann", sequence: 1, operation: ["a"] }],
  });
  assert.deepEqual(line.last("change")?.data, {
    documentId: "d", epoch: "e", revision: 8, sequence: 1, operation: [1, "b"],
  });
  line.lose();
  line.identity = { id: "ann-3", resumeToken: "another" };
  line.comeBack();
  line.say("joined", { title: "", epoch: "e", revision: 8, lastSequence: 0, changes: [] });
  assert.deepEqual(line.last("change")?.data.operation, [1, "b"]);
  assert.equal(line.last("change")?.data.sequence, 1);
  assert.deepEqual([...kept.keys()], ["ann-3"]);
  line.say("acknowledged", { sequence: 1, revision: 9 });
  assert.equal(kept.size, 0);
  note.close();
});

test("until a new client id has joined, edits are kept under the one they were sent under", () => {
  const { line, note, type, kept } = joined("");
  type(0, "a");
  line.lose();
  line.identity = { id: "ann-2", resumeToken: "other" };
  line.comeBack();
  note.persistNow();
  assert.deepEqual([...kept.values()].map(({ identity }) => identity), [{ id: "ann", resumeToken: "token" }]);
  // What goes out under the new one is kept under it before.
  const { sendEncoded } = line;
  line.sendEncoded = (type, text, onReply) => {
    if (type === "change") assert.deepEqual([...kept.keys()], ["ann-2"]);
    return sendEncoded.call(line, type, text, onReply);
  };
  line.say("joined", { title: "", epoch: "other", revision: 2, lastSequence: 0, text: "text" });
  assert.equal(line.count("change"), 2);
  assert.equal(kept.get("ann-2")?.identity.resumeToken, "other");
  note.close();
});

test("where there is room for one record only, the one under the former client id goes first", () => {
  const { line, note, screen, type, kept } = joined("", undefined, 1);
  type(0, "a");
  note.persistNow();
  line.lose();
  line.identity = { id: "ann-2", resumeToken: "other" };
  line.comeBack();
  line.say("joined", { title: "", epoch: "e", revision: 7, lastSequence: 0, changes: [] });
  assert.deepEqual([...kept.keys()], ["ann-2"]);
  assert.deepEqual(screen.notices, []);
  note.close();
});

test("when the server cannot tell what was missed, edits move to its text and the person is told", () => {
  const { line, note, screen, type } = joined("old text");
  type(8, "!");
  line.lose();
  line.comeBack();
  line.say("joined", { title: "", epoch: "other", revision: 2, lastSequence: 0, text: "very old text" });
  assert.equal(screen.text, "very old text!");
  assert.deepEqual(screen.notices, ["rebased"]);
  assert.deepEqual(line.last("change")?.data, {
    documentId: "d", epoch: "other", revision: 2, sequence: 1, operation: [13, "!"],
  });
  note.close();
});

test("a snapshot on the way leaves what is in flight there", () => {
  const { line, note, screen, type } = joined("text");
  type(4, "!");
  line.say("resync", { reason: "lagging", epoch: "e", revision: 99, text: "a new text", lastSequence: 0 });
  assert.equal(screen.text, "a new text!");
  assert.equal(line.count("change"), 1);
  line.say("acknowledged", { sequence: 1, revision: 100 });
  assert.equal(note.unconfirmedCount, 0);
  note.close();
});

test("a refusal that will pass is tried again, one that will not stays visible", async () => {
  const { line, note, type } = joined("");
  type(0, "a");
  line.say("refused", { sequence: 1, code: "busy", message: "soon", retryable: true, retryAfter: 1 });
  assert.equal(note.refusal, undefined);
  await new Promise((resolve) => {
    const { sendEncoded } = line;
    line.sendEncoded = (type, text, onReply) => {
      const result = sendEncoded.call(line, type, text, onReply);
      resolve(undefined);
      return result;
    };
  });
  assert.equal(line.count("change"), 2);
  assert.equal(line.last("change")?.data.sequence, 1);
  line.say("refused", { sequence: 1, code: "tooLarge", message: "No.", retryable: false });
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

test("what comes faster than the server takes it waits, and goes out as it was", (context) => {
  const pass = stopTime(context);
  const { line, note, type } = joined("");
  const refuse = () =>
    line.say("refused", { sequence: 1, code: "tooFast", message: "slower", retryable: true, retryAfter: 700 });
  type(0, "a");
  const first = line.last("change")?.text;
  refuse();
  type(1, "b");
  assert.equal(note.refusal, undefined);
  assert.equal(note.unconfirmedCount, 2);
  pass(699);
  assert.equal(line.count("change"), 1);
  pass(1);
  assert.equal(line.count("change"), 2);
  assert.equal(line.last("change")?.text, first);
  refuse();
  // A line that is lost meanwhile sends it once, when it is back.
  line.lose();
  line.comeBack();
  line.say("joined", {
    title: "Title", epoch: "e", revision: 7, changes: [], lastSequence: 0, access: "write", presence: [],
  });
  assert.equal(line.count("change"), 3);
  pass(700);
  assert.equal(line.count("change"), 3);
  line.say("acknowledged", { sequence: 1, revision: 8 });
  line.say("acknowledged", { sequence: 2, revision: 9 });
  assert.equal(note.unconfirmedCount, 0);
  note.close();
});

test("what was put off, and then overtaken by another history, joins it instead of being sent again", (context) => {
  const pass = stopTime(context);
  const { line, note, screen, type } = joined("text");
  type(4, "!");
  line.say("refused", { sequence: 1, code: "busy", message: "soon", retryable: true, retryAfter: 700 });
  type(5, "?");
  // The same revision, of another text.
  line.say("resync", { reason: "epochChanged", epoch: "f", revision: 7, text: "context", lastSequence: 0 });
  assert.equal(screen.text, "context!?");
  pass(700);
  assert.equal(line.count("change"), 1);
  assert.deepEqual(line.last("join")?.data.resume, { epoch: "f", revision: 7 });
  line.say("joined", {
    title: "Title", epoch: "f", revision: 7, changes: [], lastSequence: 0, access: "write", presence: [],
  });
  assert.deepEqual(line.last("change")?.data, {
    documentId: "d", epoch: "f", revision: 7, sequence: 1, operation: [7, "!?"],
  });
  line.say("acknowledged", { sequence: 1, revision: 8 });
  assert.equal(note.unconfirmedCount, 0);
  assert.equal(note.text, "context!?");
  note.close();
});

test("a refusal that will pass, of what was overtaken, joins anew at once", () => {
  const { line, note, type } = joined("text");
  type(4, "!");
  line.say("resync", { reason: "epochChanged", epoch: "f", revision: 7, text: "context", lastSequence: 0 });
  line.say("refused", { sequence: 1, code: "unavailable", message: "later", retryable: true, retryAfter: 0 });
  assert.equal(line.count("change"), 1);
  assert.deepEqual(line.last("join")?.data.resume, { epoch: "f", revision: 7 });
  note.close();
});

test("what was refused for where it was made goes out anew after a join, on the text as it is then", () => {
  const { line, note, type } = joined("text");
  const first = { clientId: "bo", sequence: 1, operation: ["a ", 4] };
  type(4, "!");
  line.say("changes", { revision: 8, changes: [first] });
  line.say("refused", { sequence: 1, code: "historyGone", message: "gone", retryable: false });
  assert.equal(line.count("join"), 2);
  type(7, "?");
  line.say("joined", { title: "", epoch: "e", revision: 8, lastSequence: 0, changes: [] });
  assert.deepEqual(line.last("change")?.data, {
    documentId: "d", epoch: "e", revision: 8, sequence: 1, operation: [6, "!?"],
  });
  // That was it: what is in flight when the line is lost goes out as it was again.
  line.lose();
  line.comeBack();
  line.say("joined", {
    title: "", epoch: "e", revision: 9, lastSequence: 0, changes: [{ clientId: "bo", sequence: 2, operation: ["b", 6] }],
  });
  assert.deepEqual(line.last("change")?.data, {
    documentId: "d", epoch: "e", revision: 8, sequence: 1, operation: [6, "!?"],
  });
  // A line that is lost before the answer does not make the change another one.
  line.say("refused", { sequence: 1, code: "historyGone", message: "gone", retryable: false });
  line.lose();
  line.comeBack();
  line.say("joined", { title: "", epoch: "e", revision: 9, lastSequence: 0, changes: [] });
  assert.deepEqual(line.last("change")?.data, {
    documentId: "d", epoch: "e", revision: 9, sequence: 1, operation: [7, "!?"],
  });
  line.say("acknowledged", { sequence: 1, revision: 10 });
  assert.equal(note.unconfirmedCount, 0);
  assert.equal(note.text, "ba text!?");
  note.close();
});

test("what is typed after a refused change was discarded goes out again as the same bytes", () => {
  const { line, note, type } = joined("text");
  type(4, "!");
  line.say("refused", { sequence: 1, code: "historyGone", message: "gone", retryable: false });
  note.discardUnconfirmed();
  line.say("joined", { title: "", epoch: "e", revision: 7, lastSequence: 0, text: "text" });
  type(4, "?");
  const sent = line.last("change")?.text;
  line.lose();
  line.comeBack();
  line.say("joined", {
    title: "", epoch: "e", revision: 8, lastSequence: 0, changes: [{ clientId: "bo", sequence: 2, operation: ["b", 4] }],
  });
  assert.equal(line.count("change"), 3);
  assert.equal(line.last("change")?.text, sent);
  note.close();
});

test("what was refused, and is among what was missed, is not sent again", () => {
  const { line, note, type } = joined("text");
  type(4, "!");
  line.say("refused", { sequence: 1, code: "historyGone", message: "gone", retryable: false });
  type(5, "?");
  line.say("joined", {
    title: "", epoch: "e", revision: 8, lastSequence: 1, changes: [{ clientId: "ann", sequence: 1, operation: [4, "!"] }],
  });
  assert.deepEqual(line.last("change")?.data, {
    documentId: "d", epoch: "e", revision: 8, sequence: 2, operation: [5, "?"],
  });
  note.close();
});

test("what was overtaken on the way, and refused, goes out with the number that is next", () => {
  const { line, note, type } = joined("text", { lastSequence: 4 });
  type(4, "!");
  line.say("resync", { reason: "lagging", epoch: "e", revision: 99, text: "context", lastSequence: 4 });
  line.say("refused", { sequence: 5, code: "historyGone", message: "gone", retryable: false });
  type(8, "?");
  line.say("joined", {
    title: "", epoch: "e", revision: 100, lastSequence: 4, changes: [{ clientId: "bo", sequence: 2, operation: ["b", 7] }],
  });
  assert.deepEqual(line.last("change")?.data, {
    documentId: "d", epoch: "e", revision: 100, sequence: 5, operation: [8, "!?"],
  });
  line.say("acknowledged", { sequence: 5, revision: 101 });
  assert.equal(note.unconfirmedCount, 0);
  note.close();
});

test("being overtaken time and again is no reason to give up, as long as changes get through", () => {
  const { line, note, type } = joined("");
  for (let round = 1; round <= 5; round += 1) {
    const revision = 100 * round;
    type(0, "x");
    line.say("resync", {
      reason: "lagging", epoch: "e", revision, text: "x".repeat(round - 1), lastSequence: round - 1,
    });
    line.say("refused", { sequence: round, code: "historyGone", message: "gone", retryable: false });
    line.say("joined", { title: "", epoch: "e", revision, lastSequence: round - 1, changes: [] });
    assert.equal(note.refusal, undefined, `round ${round}`);
    const { operation } = line.last("change")?.data ?? {};
    line.say("changes", { revision: revision + 1, changes: [{ clientId: "ann", sequence: round, operation }] });
    assert.equal(note.unconfirmedCount, 0);
  }
  // Those that do not are given up.
  type(0, "y");
  const refuse = () =>
    line.say("refused", { sequence: 6, code: "historyGone", message: "gone", retryable: false });
  for (let round = 0; round < 3; round += 1) {
    refuse();
    assert.equal(note.refusal, undefined);
    line.say("joined", { title: "", epoch: "e", revision: 501, lastSequence: 5, changes: [] });
  }
  refuse();
  assert.equal(note.refusal?.code, "historyGone");
  note.close();
});

test("a refusal that comes while it joins again does not keep it from trying that again", (context) => {
  const pass = stopTime(context);
  const { line, note, type } = joined("text");
  const warn = console.warn;
  console.warn = () => {};
  type(4, "!");
  line.say("changes", { revision: 9, changes: [{ clientId: "bo", sequence: 1, operation: [4] }] });
  console.warn = warn;
  line.last("join")?.onReply?.({ type: "error", data: { code: "busy", retryable: true, retryAfter: 500 } });
  line.say("refused", { sequence: 1, code: "busy", message: "soon", retryable: true, retryAfter: 1 });
  line.say("refused", { sequence: 1, code: "historyGone", message: "gone", retryable: false });
  assert.equal(line.count("join"), 2);
  pass(1_000);
  assert.equal(line.count("join"), 3);
  // When it joins before it was to try again, that is not tried any more.
  line.last("join")?.onReply?.({ type: "error", data: { code: "busy", retryable: true, retryAfter: 500 } });
  line.comeBack();
  assert.equal(line.count("join"), 4);
  pass(500);
  assert.equal(line.count("join"), 4);
  line.say("joined", { title: "", epoch: "e", revision: 7, lastSequence: 0, changes: [] });
  assert.equal(line.count("change"), 2);
  assert.equal(note.refusal, undefined);
  note.close();
});

test("a caret that the server had no time for is sent again", (context) => {
  const pass = stopTime(context);
  const { line, note } = joined("text");
  note.select(1, 1);
  pass(80);
  assert.equal(line.count("select"), 1);
  line.last("select")?.onReply?.({ type: "error", data: { code: "tooFast", retryable: true, retryAfter: 300 } });
  note.select(3, 3);
  pass(300);
  assert.equal(line.count("select"), 2);
  assert.deepEqual(line.last("select")?.data.selections, [[3, 3]]);
  line.last("select")?.onReply?.({ type: "error", data: { code: "notAllowed", retryable: false } });
  pass(5_000);
  assert.equal(line.count("select"), 2);
  note.close();
});

test("an edit over the announced limit is not sent", () => {
  const { line, note, type } = joined("");
  type(0, "ü".repeat(60_000));
  assert.equal(line.count("change"), 0);
  assert.equal(note.refusal?.code, "messageTooLarge");
  note.edit([{ from: 10, to: 60_000, insert: "" }]);
  note.retryRefused();
  assert.deepEqual(line.last("change")?.data.operation, ["ü".repeat(10)]);
  note.close();
});

test("where both ends disagree, it joins again, and gives up only after some times", () => {
  const { line, note, screen, type } = joined("text");
  const warn = console.warn;
  console.warn = () => {};
  type(4, "!");
  line.say("changes", { revision: 9, changes: [{ clientId: "bo", sequence: 1, operation: [4] }] });
  assert.deepEqual(line.last("join")?.data.resume, { epoch: "e", revision: 7 });
  line.say("changes", { revision: 10, changes: [{ clientId: "bo", sequence: 2, operation: [4] }] });
  assert.equal(line.count("join"), 2, "what comes before the answer is passed over");
  line.say("joined", {
    title: "", epoch: "e", revision: 8, lastSequence: 0, presence: [],
    changes: [{ clientId: "bo", sequence: 1, operation: [40] }],
  });
  assert.deepEqual(line.last("join")?.data, { documentId: "d" });
  line.say("joined", { title: "", epoch: "e", revision: 8, lastSequence: 0, text: "Text" });
  assert.equal(screen.text, "Text!");
  line.say("acknowledged", { sequence: 1, revision: 9 });
  assert.equal(note.phase, "live");
  for (let time = 0; time < 4; time += 1) {
    line.say("changes", { revision: 50, changes: [{ clientId: "bo", sequence: 9, operation: [1] }] });
    line.say("joined", { title: "", epoch: "e", revision: 9, lastSequence: 1, text: "Text!" });
  }
  assert.equal(note.phase, "failed");
  assert.equal(note.text, "Text!");
  console.warn = warn;
  note.close();
});

test("unconfirmed edits are kept where they outlive the page", () => {
  const change = { clientId: "bo", sequence: 4, time: 100 };
  const { line, note, type, kept } = joined("", { change });
  type(0, "kept");
  note.persistNow();
  const record = JSON.parse(JSON.stringify(kept.get("ann")));
  const again = new Note({ core, connection: /** @type {any} */ (line), documentId: "d", restored: record });
  assert.equal(again.text, "kept");
  assert.deepEqual(line.last("join")?.data.resume, { epoch: "e", revision: 7, change });
  again.close();
  // One that an earlier version of the page wrote.
  delete record.change;
  const older = new Note({ core, connection: /** @type {any} */ (line), documentId: "d", restored: record });
  assert.equal(older.text, "kept");
  assert.deepEqual(line.last("join")?.data.resume, { epoch: "e", revision: 7 });
  older.close();
  line.say("acknowledged", { sequence: 1, revision: 8 });
  assert.equal(kept.size, 0);
  note.close();
});

test("what was typed into a restored note is kept as sent before it is sent", () => {
  const first = joined("");
  first.type(0, "a");
  first.note.persistNow();
  const restored = JSON.parse(JSON.stringify(first.kept.get("ann")));
  first.note.close();
  const line = new Line();
  const kept = new Map();
  /** @type {number[]} */
  const keptAsSent = [];
  const { sendEncoded } = line;
  line.sendEncoded = (type, text, onReply) => {
    if (type === "change") {
      const session = core.restoreSession(kept.get("ann").session, kept.get("ann").base);
      keptAsSent.push(session.inFlight?.sequence ?? 0);
      assert.equal(session.text(), "aX");
      session.close();
    }
    return sendEncoded.call(line, type, text, onReply);
  };
  const note = new Note({
    core,
    connection: /** @type {any} */ (line),
    documentId: "d",
    pending: {
      save: (_note, edits, base) => Boolean(kept.set(edits.identity.id, { ...edits, base: base.read() })),
      remove: (_note, clientId) => void kept.delete(clientId),
    },
    restored,
  });
  note.edit([{ from: 1, to: 1, insert: "X" }]);
  // Its own change was stored before: what was typed since is a change of its own.
  line.say("joined", {
    title: "Title", epoch: "e", revision: 8, lastSequence: 1, access: "write", presence: [],
    changes: [{ clientId: "ann", sequence: 1, operation: ["a"] }],
  });
  assert.deepEqual(line.last("change")?.data.operation, [1, "X"]);
  assert.deepEqual(keptAsSent, [2]);
  line.say("acknowledged", { sequence: 2, revision: 9 });
  assert.equal(kept.size, 0);
  note.close();
});

test("what cannot be restored leaves no note behind that would join", () => {
  const line = new Line();
  const restored = { identity: line.identity, session: "of another version" };
  assert.throws(
    () => new Note({ core, connection: /** @type {any} */ (line), documentId: "d", restored }),
    CoreError,
  );
  line.lose();
  line.comeBack();
  assert.equal(line.count("join"), 0);
});

test("people come, move, change their names, and go", () => {
  const { line, note } = joined("some text", {
    presence: [
      { clientId: "bo", name: "Bo", color: "#2f68ad", selections: [[0, 4]] },
      { clientId: "ann", name: "myself", color: "#000000" },
    ],
  });
  assert.deepEqual(note.people.map(({ name }) => name), ["Bo"]);
  assert.equal(note.peerSelections[0]?.head, 4);
  line.say("presence", { joined: [{ clientId: "cy", name: "Cy" }], updated: [{ clientId: "bo", name: "Bob" }] });
  assert.deepEqual(note.people.map(({ name }) => name), ["Bob", "Cy"]);
  line.say("selections", { revision: 7, clientId: "cy", selections: [[9, 9], [2, 2]] });
  assert.equal(note.peerSelections.length, 3);
  line.say("selections", { revision: 7, clientId: "nobody", selections: [[1, 1]] });
  line.say("presence", { left: ["bo", "nobody"] });
  assert.deepEqual(note.people.map(({ name }) => name), ["Cy"]);
  assert.equal(note.peerSelections.length, 2);
  line.lose();
  assert.deepEqual(note.people, []);
  note.close();
});

test("a crowd is counted, and those who act are named", () => {
  const { line, note } = joined("some text", {
    presence: [{ clientId: "bo", name: "Bo", color: "#2f68ad", selections: [[0, 4]] }],
    people: 312,
  });
  assert.equal(note.othersCount, 311);
  assert.deepEqual(note.people.map(({ name }) => name), ["Bo"]);
  line.say("presence", { joined: [], updated: [], left: [], people: 313 });
  assert.equal(note.othersCount, 312);
  // Who comes again within a turn is told of once, and has no carets from before.
  line.say("presence", { joined: [{ clientId: "bo", name: "Bo" }, { clientId: "cy", name: "Cy" }], people: 313 });
  assert.deepEqual(note.people.map(({ name }) => name), ["Bo", "Cy"]);
  assert.equal(note.peerSelections.length, 0);
  // Without a number all are named again.
  line.say("presence", { joined: [{ clientId: "di", name: "Di" }], left: ["cy"] });
  assert.equal(note.othersCount, 2);
  line.say("presence", { people: 400 });
  line.lose();
  assert.equal(note.othersCount, 0);
  note.close();
});

test("who edits counts as writing, for a while", (context) => {
  const pass = stopTime(context);
  const { line, note } = joined("text", {
    presence: [{ clientId: "bo", name: "Bo" }, { clientId: "cy", name: "Cy" }],
  });
  let drawn = 0;
  note.on("people", () => (drawn += 1));
  const writing = () => note.people.filter(({ isWriting }) => isWriting).map(({ name }) => name);
  const edit = (/** @type {string} */ clientId, /** @type {number} */ revision) =>
    line.say("changes", { revision, changes: [{ clientId, sequence: 1, operation: ["x", 4 + revision - 8] }] });
  edit("bo", 8);
  assert.deepEqual(writing(), ["Bo"]);
  pass(2_000);
  edit("bo", 9);
  edit("cy", 10);
  assert.equal(drawn, 2);
  pass(2_000);
  assert.deepEqual(writing(), ["Bo", "Cy"]);
  // A caret that moves is not writing.
  line.say("selections", { revision: 10, clientId: "bo", selections: [[0, 0]] });
  line.say("presence", { left: ["cy"] });
  pass(1_000);
  assert.deepEqual(writing(), []);
  // Somebody whom presence has not told of, and a line that goes.
  edit("eve", 11);
  edit("bo", 12);
  line.lose();
  pass(9_000);
  assert.deepEqual(note.people, []);
  note.close();
});

test("rights that change reach the note, and those that come back open it again", () => {
  const { line, note, type } = joined("text");
  line.say("accessChanged", { access: "read" });
  assert.equal(note.isWritable, false);
  line.say("accessChanged", { access: "write" });
  assert.equal(note.isWritable, true);
  type(0, "a");
  line.say("accessChanged", { access: "none" });
  assert.equal(note.phase, "failed");
  assert.equal(note.text, "atext");
  assert.equal(note.isWritable, false);
  // Nothing of the document is listened to any more.
  line.say("changes", { revision: 8, changes: [{ clientId: "bo", sequence: 1, operation: ["x", 4] }] });
  assert.equal(note.revision, 7);
  note.reopen();
  const join = line.sent[line.sent.length - 1];
  assert.equal(join.type, "join");
  line.say("joined", { title: "Title", epoch: "e", revision: 7, changes: [], lastSequence: 0, access: "write", presence: [] });
  assert.equal(note.phase, "live");
  assert.equal(line.sent[line.sent.length - 1].data.operation !== undefined, true);
  note.close();
});

test("coming back, it names the change that made its revision, and its time, if it knows them", () => {
  const { line, note, type } = joined("text", { change: { clientId: "bo", sequence: 4, time: 100 } });
  const resume = (/** @type {object} */ more = {}) => {
    line.lose();
    line.comeBack();
    const { data } = line.sent.findLast(({ type: kind }) => kind === "join") ?? {};
    line.say("joined", {
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
  line.say("changes", { revision: 8, changes, time: 200 });
  assert.deepEqual(
    resume({ revision: 10, changes: [{ clientId: "bo", sequence: 6, operation: [6, "z"] }],
      change: { clientId: "bo", sequence: 6, time: 250 } }),
    { epoch: "e", revision: 9, change: { clientId: "cy", sequence: 9, time: 200 } },
  );
  assert.deepEqual(resume().change, { clientId: "bo", sequence: 6, time: 250 });
  type(0, "a");
  line.say("acknowledged", { sequence: 1, revision: 11, time: 300 });
  assert.deepEqual(resume().change, { clientId: "ann", sequence: 1, time: 300 });
  // A server that does not say the time.
  line.say("changes", { revision: 12, changes: [{ clientId: "bo", sequence: 7, operation: ["b", 8] }] });
  assert.deepEqual(resume().change, { clientId: "bo", sequence: 7 });
  line.say("resync", { reason: "lagging", epoch: "f", revision: 3, text: "new", lastSequence: 1 });
  assert.deepEqual(resume(), { epoch: "f", revision: 3 });
  note.close();
});

test("what concerns another document, or is unknown, changes nothing", () => {
  const { line, note } = joined("text");
  line.emit("message", { messageId: "s2", type: "changes", data: { documentId: "other", revision: 8, changes: [] } });
  line.say("something new", {});
  line.emit("message", { messageId: "s3", type: "resourceUpdate", data: { resourceId: "notes" } });
  assert.equal(note.text, "text");
  assert.equal(note.revision, 7);
  line.say("documentChanged", { title: "Renamed" });
  assert.equal(note.title, "Renamed");
  line.say("documentChanged", { deleted: true });
  assert.equal(note.phase, "deleted");
  note.close();
});

/** Changes as the editor is given them, and whether they are this person's own. */
function watched(/** @type {Note} */ note) {
  const seen = /** @type {[string, boolean][]} */ ([]);
  note.on("changes", ({ changes, isOwn }) => seen.push([changes.map(({ insert }) => insert).join(), isOwn ?? false]));
  return seen;
}

test("a change asked for over HTTP is one's own, whichever comes first", async () => {
  const { line, note } = joined("ab");
  const seen = watched(note);
  const own = { revision: 8, changes: [{ clientId: "http", sequence: 1, operation: ["old ", 2] }] };
  let answer = (/** @type {number} */ _revision) => {};
  let done = note.makeOwn(() => new Promise((resolve) => (answer = resolve)));
  line.say("changes", own);
  assert.deepEqual(seen, []);
  answer(8);
  await done;
  assert.deepEqual(seen, [["old ", true]]);

  done = note.makeOwn(async () => 10);
  await done;
  line.say("changes", { revision: 9, changes: [{ clientId: "bo", sequence: 1, operation: ["his ", 6] }] });
  line.say("changes", { revision: 10, changes: [{ clientId: "http", sequence: 1, operation: [10, "!"] }] });
  assert.deepEqual(seen.slice(1), [["his ", false], ["!", true]]);
  note.close();
});

test("what waits for an answer over HTTP does not wait for ever", async (context) => {
  const pass = stopTime(context);
  const { line, note } = joined("");
  const seen = watched(note);
  const change = (/** @type {number} */ revision) =>
    line.say("changes", { revision, changes: [{ clientId: "bo", sequence: revision, operation: [revision - 8, "x"] }] });
  const never = () => void note.makeOwn(() => new Promise(() => {}));
  never();
  change(8);
  pass(10_000);
  assert.equal(seen.length, 1);
  never();
  for (let revision = 9; revision <= 509; revision += 1) change(revision);
  assert.equal(seen.length, 502);
  // A line that is lost brings nothing more.
  never();
  change(510);
  line.lose();
  assert.equal(seen.length, 503);
  assert.equal(note.phase, "away");
  await assert.rejects(note.makeOwn(() => Promise.reject(new Error("no"))), /no/);
  note.close();
});
