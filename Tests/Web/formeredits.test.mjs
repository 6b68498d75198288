// Edits that former versions of the page have kept in the browser: each is carried over, and sent once.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CoreError } from "../../Web/js/client/door.js";
import { inCurrentForm } from "../../Web/js/client/formeredits.js";
import { Line, newCore, openedNote } from "./support.mjs";

const identity = { id: "ann", resumeToken: "token of ann" };
const core = newCore();

/** As the last page before the client core has kept them: a change on its way, two edits behind it. */
const plain = {
  identity, documentId: "d", title: "Title", change: { clientId: "bo", sequence: 4, time: 1_763_712_004_567 },
  session: 'parley.session.3\n8\n5\n2\n4\n7\n2\n0\n0\n11\n11\n10\n0\n0\né[2,"字",1][3,"字",1]["é\\n",5]',
  base: "<a😀b",
};
/** … and one more that was typed after a reload, before the server was heard. */
const typedSince = {
  ...plain,
  session: 'parley.session.3\n8\n5\n2\n4\n7\n2\n0\n0\n11\n11\n10\n1\n7\né[2,"字",1][3,"字",1]["é\\n",5]["X",7]',
};
/** A refused one, of a note whose history was not known. */
const refused = {
  identity, documentId: "d", title: "Title",
  session: 'parley.session.3\n7\n1\n1\n0\n0\n1\n0\n0\n0\n0\n7\n0\n0\ne[4,"!"]',
  base: "text",
};

const bytes = (/** @type {string} */ text) => new TextEncoder().encode(text).length;

/**
 * The same as still earlier versions have kept it: with both texts.
 *
 * @param {typeof refused} record
 * @param {string} local
 * @param {1 | 2} version
 */
function withTexts({ base, session, ...record }, local, version) {
  const lines = session.split("\n");
  const numbers = [...lines.slice(1, 7), bytes(local), bytes(base), ...lines.slice(9, version === 1 ? 12 : 14)];
  const epoch = record.change ? "é" : "e";
  const rest = lines.slice(14).join("\n").slice(epoch.length);
  return { ...record, session: [`parley.session.${version}`, ...numbers, epoch + local + base + rest].join("\n") };
}

/** @param {any} record */
const opened = (record) =>
  openedNote({ line: new Line({ identity }), restored: inCurrentForm(record, core), kept: new Map([["ann", record]]) });

for (const [name, record] of /** @type {[string, any][]} */ ([
  ["the last form", plain],
  ["the form with both texts", withTexts(plain, "é\n<a😀字b", 2)],
  ["the oldest form", withTexts(plain, "é\n<a😀字b", 1)],
])) {
  test(`edits in ${name} go out once: what was sent as it was, what was not behind it`, () => {
    const { line, note, kept, screen } = opened(record);
    assert.equal(note.text, "é\n<a😀字b");
    assert.equal(note.unconfirmedCount, 3);
    assert.equal(note.title, "Title");
    assert.deepEqual(line.last("join")?.data.resume, { epoch: "é", revision: 8, change: plain.change });
    line.tell("joined", { epoch: "é", revision: 8, lastSequence: 3, changes: [] });
    assert.deepEqual(line.last("change")?.data, {
      documentId: "d", epoch: "é", revision: 7, sequence: 4, operation: [2, "字", 1],
    });
    // From here on the browser holds them in today's form.
    note.persistNow();
    assert.match(kept.get("ann")?.session ?? "", /^parley\.note\.1\n/);
    line.tell("acknowledged", { sequence: 4, revision: 9 });
    assert.deepEqual(line.last("change")?.data, {
      documentId: "d", epoch: "é", revision: 9, sequence: 5, operation: ["é\n", 5],
    });
    line.tell("acknowledged", { sequence: 5, revision: 10 });
    assert.equal(line.count("change"), 2);
    assert.equal(note.unconfirmedCount, 0);
    assert.equal(screen.text, "é\n<a😀字b");
    assert.equal(kept.size, 0);
  });

  test(`edits in ${name} that had been stored are not sent again`, () => {
    const { line, note, screen } = opened(record);
    const ann = (/** @type {number} */ sequence, /** @type {any[]} */ operation) => ({ clientId: "ann", sequence, operation });
    line.tell("joined", {
      epoch: "é", revision: 10, lastSequence: 5, changes: [ann(4, [3, "字", 1]), ann(5, ["é\n", 5])],
    });
    assert.equal(line.count("change"), 0);
    assert.equal(note.unconfirmedCount, 0);
    assert.equal(screen.text, "é\n<a😀字b");
  });
}

test("what was typed after a reload is no part of a change that had been sent", () => {
  for (const record of [typedSince, withTexts(typedSince, "Xé\n<a😀字b", 2)]) {
    const { line, note } = opened(record);
    assert.equal(note.unconfirmedCount, 4);
    line.tell("joined", {
      epoch: "é", revision: 10, lastSequence: 5,
      changes: [
        { clientId: "ann", sequence: 4, operation: [3, "字", 1] }, { clientId: "ann", sequence: 5, operation: ["é\n", 5] },
      ],
    });
    assert.deepEqual(line.last("change")?.data, {
      documentId: "d", epoch: "é", revision: 10, sequence: 6, operation: ["X", 7],
    });
    line.tell("acknowledged", { sequence: 6, revision: 11 });
    assert.equal(line.count("change"), 1);
    assert.equal(note.text, "Xé\n<a😀字b");
  }
});

test("a rejected edit is carried over, and sent to the server again", () => {
  for (const record of [refused, withTexts(refused, "text!", 2), withTexts(refused, "text!", 1)]) {
    const { line, note } = opened(record);
    assert.equal(note.text, "text!");
    assert.deepEqual(line.last("join")?.data.resume, { epoch: "e", revision: 7 });
    line.tell("joined", { changes: [] });
    assert.deepEqual(line.last("change")?.data.operation, [4, "!"]);
    line.tell("acknowledged", { sequence: 1, revision: 8 });
    assert.equal(note.unconfirmedCount, 0);
  }
});

test("what is in no former form is left as it is, for the core to judge", () => {
  const { session } = plain;
  const spoilt = [
    "", "{}", "parley.session.4\n", "parley.note.1\n8\n", session.slice(0, -3), `${session}.`,
    session.replace("\n8\n", "\nx\n"), session.replace("\n8\n", "\n-8\n"), session.replace("\n8\n", "\n8.5\n"),
    session.replaceAll("[3", "[4"), session.replace("\n10\n", "\n9\n"), session.replace("\n11\n", "\n1e1\n"),
    withTexts(plain, "é\n<a😀b字", 2).session,
  ];
  for (const text of spoilt) {
    const record = { ...plain, session: text };
    assert.throws(() => opened(record), CoreError, text);
  }
  // The text under the edits is another, or is gone.
  for (const base of [undefined, "", "<a😀", "<a😀bc"]) assert.throws(() => opened({ ...plain, base }), CoreError);
});
