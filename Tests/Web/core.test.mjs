// Sessions of OTCore in WebAssembly, against an in-test server and against CodeMirror's own algebra.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ChangeSet, Text } from "../../Web/vendor/codemirror/index.js";
import { CoreError } from "../../Web/js/core.js";
import { Random, Sequencer, applied, core, randomChanges, randomPosition, randomText } from "./support.mjs";

const seeds = Array.from({ length: 300 }, (_, index) => index + 1);

test("an edit goes out in scalars, and comes back as UTF-16", () => {
  const session = core.openSession({ text: "a😀b", epoch: "e", revision: 3, lastSequence: 0 });
  assert.deepEqual(session.edit([{ from: 3, to: 4, insert: "字" }]), {
    sequence: 1,
    revision: 3,
    operation: '[2,"字",-1]',
  });
  assert.equal(session.text(), "a😀字");
  assert.deepEqual(session.receive('[2,"👍",1]', 4), [{ from: 3, to: 3, insert: "👍" }]);
  assert.equal(session.text(), "a😀👍字");
  assert.deepEqual(session.scalarSelection(3, 6), { anchor: 2, head: 4 });
  session.close();
});

test("several changes of one transaction are one operation", () => {
  const session = core.openSession({ text: "one two three", epoch: "e", revision: 0, lastSequence: 0 });
  const change = session.edit([
    { from: 0, to: 3, insert: "1" },
    { from: 4, to: 7, insert: "2" },
    { from: 13, to: 13, insert: "!" },
  ]);
  assert.equal(session.text(), "1 2 three!");
  assert.equal(core.apply(change?.operation ?? "", "one two three"), "1 2 three!");
  session.close();
});

test("what the server says out of turn is an error, and changes nothing", () => {
  const session = core.openSession({ text: "text", epoch: "e", revision: 5, lastSequence: 0 });
  assert.throws(() => session.receive("[4]", 7), CoreError);
  assert.throws(() => session.receive("[3]", 6), CoreError);
  assert.throws(() => session.receive("nonsense", 6), CoreError);
  assert.throws(() => session.acknowledge(1, 6), CoreError);
  // More than 32 bits hold, and more than one digit more than the longest text.
  for (const number of ["1073741824", "2147483648", "10737418230", "99999999999999999999"]) {
    assert.throws(() => session.receive(`[${number}]`, 6), CoreError);
    assert.throws(() => session.receive(`[-${number}]`, 6), CoreError);
  }
  assert.throws(() => session.edit([{ from: 3, to: 2, insert: "" }]), CoreError);
  assert.equal(session.text(), "text");
  assert.equal(session.revision, 5);
  session.close();
  assert.throws(() => session.text(), CoreError);
});

test("a peer's caret follows its own text, and stands still for others'", () => {
  const session = core.openSession({ text: "😀 text", epoch: "e", revision: 0, lastSequence: 0 });
  session.placePeer(1, [[1, 1]]);
  session.placePeer(2, [[1, 6]]);
  assert.deepEqual(session.peers(), [
    { key: 1, anchor: 2, head: 2 },
    { key: 2, anchor: 2, head: 7 },
  ]);
  session.receive('[1,"abc",5]', 1, 1);
  assert.deepEqual(session.peers(), [
    { key: 1, anchor: 5, head: 5 },
    { key: 2, anchor: 2, head: 10 },
  ]);
  session.edit([{ from: 0, to: 2, insert: "" }]);
  assert.deepEqual(session.peers(), [
    { key: 1, anchor: 3, head: 3 },
    { key: 2, anchor: 0, head: 8 },
  ]);
  // Positions are the server's: our unconfirmed deletion is taken into account here.
  session.placePeer(2, [[4, 4]]);
  session.removePeer(1);
  assert.deepEqual(session.peers(), [{ key: 2, anchor: 3, head: 3 }]);
  session.close();
});

test("a refused change stays, and goes out again with what was done since", () => {
  const session = core.openSession({ text: "", epoch: "e", revision: 0, lastSequence: 4 });
  session.edit([{ from: 0, to: 0, insert: "much too long" }]);
  session.refuse(5);
  assert.equal(session.inFlight, undefined);
  assert.equal(session.edit([{ from: 4, to: 13, insert: "" }]), undefined);
  assert.equal(session.text(), "much");
  assert.deepEqual(session.release(), { sequence: 5, revision: 0, operation: '["much"]' });
  session.close();
});

test("a snapshot takes unconfirmed edits along", () => {
  const session = core.openSession({ text: "hello", epoch: "e", revision: 3, lastSequence: 0 });
  session.edit([{ from: 5, to: 5, insert: "!" }]);
  session.disconnect();
  const { changes, outgoing } = session.rebase({
    text: "well, hello", epoch: "f", revision: 900, lastSequence: 0,
  });
  assert.deepEqual(changes, [{ from: 0, to: 0, insert: "well, " }]);
  assert.deepEqual(outgoing, { sequence: 1, revision: 900, operation: '[11,"!"]' });
  assert.equal(session.epoch, "f");
  assert.equal(session.text(), "well, hello!");
  session.close();
});

/** A server with two changes of a client, of which its kept session knows the first and half of the second. */
function restoredInThePast() {
  const server = new Sequencer("");
  const session = core.openSession({ text: "", epoch: "epoch", revision: 0, lastSequence: 0 });
  const first = session.edit([{ from: 0, to: 0, insert: "a" }]);
  session.edit([{ from: 1, to: 1, insert: "b" }]);
  const kept = session.exportEdits();
  assert.ok(first);
  server.submit("me", first);
  session.edit([{ from: 2, to: 2, insert: "c" }]);
  const second = session.acknowledge(1, 1);
  assert.ok(second);
  server.submit("me", second);
  session.close();
  return { server, restored: core.restoreSession(kept, ""), kept };
}

test("a restored session that is older than its own last change takes that one instead", () => {
  const { server, restored } = restoredInThePast();
  assert.equal(restored.text(), "ab");
  restored.acknowledge(1, 1);
  assert.deepEqual(restored.supersede(server.log[1]?.operation ?? "", 2, 2), [
    { from: 2, to: 2, insert: "c" },
  ]);
  assert.equal(restored.reconnect(), undefined);
  assert.equal(restored.text(), "abc");
  assert.equal(restored.unconfirmedCount, 0);
  assert.equal(restored.edit([{ from: 3, to: 3, insert: "d" }])?.sequence, 3);
  restored.close();
});

test("what is typed into a restored session stays, though that is older than its own last change", () => {
  const { server, restored } = restoredInThePast();
  restored.edit([{ from: 2, to: 2, insert: "X" }]);
  restored.edit([{ from: 0, to: 0, insert: "Y" }]);
  assert.equal(restored.unconfirmedCount, 4);
  restored.acknowledge(1, 1);
  restored.supersede(server.log[1]?.operation ?? "", 2, 2);
  assert.equal(restored.text(), "YabcX");
  assert.equal(restored.unconfirmedCount, 2);
  assert.deepEqual(restored.reconnect(), { sequence: 3, revision: 2, operation: '["Y",3,"X"]' });
  restored.acknowledge(3, 3);
  assert.equal(restored.unconfirmedCount, 0);
  restored.close();
});

test("a text that has what a restored session waits with takes along what was typed since, and nothing twice", () => {
  const { restored } = restoredInThePast();
  restored.edit([{ from: 2, to: 2, insert: "X" }]);
  const { outgoing } = restored.rebase({ text: "abc", epoch: "epoch", revision: 2, lastSequence: 2 });
  assert.equal(restored.text(), "abcX");
  assert.deepEqual(outgoing, { sequence: 3, revision: 2, operation: '[3,"X"]' });
  restored.close();
});

test("what is typed into a restored session is kept apart from what was there, until the server is heard", () => {
  const { server, restored } = restoredInThePast();
  restored.edit([{ from: 2, to: 2, insert: "X" }]);
  const again = core.restoreSession(restored.exportEdits(), restored.serverText());
  restored.close();
  assert.equal(again.text(), "abX");
  again.edit([{ from: 3, to: 3, insert: "!" }]);
  // Somebody else's change passes through all of it.
  assert.equal(again.unconfirmedCount, 4);
  again.acknowledge(1, 1);
  again.supersede(server.log[1]?.operation ?? "", 2, 2);
  again.receive('[">",3]', 3);
  assert.equal(again.text(), ">abcX!");
  assert.deepEqual(again.reconnect(), { sequence: 3, revision: 3, operation: '[4,"X!"]' });
  again.close();
});

/** Edits as earlier versions of the page exported them: with both texts. */
function withTexts(/** @type {string} */ kept, /** @type {string} */ local, /** @type {string} */ server) {
  const lines = kept.split("\n");
  const bytes = (/** @type {string} */ text) => String(new TextEncoder().encode(text).length);
  const numbers = [...lines.slice(1, 7), bytes(local), bytes(server), ...lines.slice(9, 14)];
  const pieces = lines.slice(14).join("\n");
  const epoch = pieces.slice(0, Number(lines[6]));
  return ["parley.session.2", ...numbers, epoch + local + server + pieces.slice(epoch.length)].join("\n");
}

test("a kept session of an earlier version of the page can be read", () => {
  const { kept, restored } = restoredInThePast();
  restored.close();
  const recent = withTexts(kept, "ab", "");
  const lines = recent.split("\n");
  const oldest = ["parley.session.1", ...lines.slice(1, 12), lines.slice(14).join("\n")].join("\n");
  for (const older of [recent, oldest]) {
    const session = core.restoreSession(older);
    assert.equal(session.text(), "ab");
    assert.equal(session.unconfirmedCount, 2);
    session.close();
  }
  assert.throws(() => core.restoreSession(withTexts(kept, "ba", "")), CoreError);
});

test("keeping edits costs as much as the edits, however long the note", () => {
  const session = core.openSession({ text: "word ".repeat(200_000), epoch: "e", revision: 7, lastSequence: 0 });
  session.edit([{ from: 500_000, to: 500_000, insert: "one" }]);
  session.edit([{ from: 10, to: 12, insert: "two" }]);
  assert.ok(session.exportEdits().length < 300, session.exportEdits());
  const restored = core.restoreSession(session.exportEdits(), session.serverText());
  assert.equal(restored.text(), session.text());
  // Another text than the one they stand on does not fit.
  assert.throws(() => core.restoreSession(session.exportEdits(), "word ".repeat(100_000)), CoreError);
  restored.close();
  session.close();
});

test("an acknowledgement that says nothing new changes nothing", () => {
  const session = core.openSession({ text: "", epoch: "e", revision: 3, lastSequence: 0 });
  session.edit([{ from: 0, to: 0, insert: "a" }]);
  session.acknowledge(1, 3);
  session.acknowledge(1, 2);
  session.acknowledge(1, 4);
  session.edit([{ from: 1, to: 1, insert: "b" }]);
  // What came in between is told from the server's text as this session has it: one "a".
  const { changes } = session.rebase({ text: "a.", epoch: "e", revision: 9, lastSequence: 1 });
  assert.deepEqual(changes, [{ from: 1, to: 1, insert: "." }]);
  session.close();
});

test("a note of the largest length allowed is one like any other", () => {
  // 4,000,000 scalars: products of lengths are beyond what WebAssembly's integers hold.
  const text = "0123456789abcde\n".repeat(249_000) + "字".repeat(10_000);
  const session = core.openSession({ text, epoch: "e", revision: 7, lastSequence: 0 });
  const piece = "fedcba9876543210".repeat(120_000);
  const change = session.edit([{ from: 2_000_000, to: 2_000_000, insert: piece }]);
  assert.equal(change?.operation.length, '[2000000,"",1994000]'.length + piece.length);
  assert.deepEqual(session.receive(`["<",${text.length - 1},-1]`, 8), [
    { from: 0, to: 0, insert: "<" },
    { from: text.length + piece.length - 1, to: text.length + piece.length, insert: "" },
  ]);
  const wanted = `<${text.slice(0, 2_000_000)}${piece}${text.slice(2_000_000, -1)}`;
  assert.equal(session.text(), wanted);
  session.edit([{ from: 10, to: 3_000_000, insert: "" }]);
  const restored = core.restoreSession(session.exportEdits(), session.serverText());
  assert.equal(restored.text(), wanted.slice(0, 10) + wanted.slice(3_000_000));
  restored.close();
  session.close();
});

test("only what was exported can be restored", () => {
  const session = core.openSession({ text: "text", epoch: "é", revision: 3, lastSequence: 0 });
  session.edit([{ from: 4, to: 4, insert: "!" }]);
  const kept = session.exportEdits();
  for (const broken of ["", "{}", kept.slice(0, -3), kept.replaceAll("[4", "[5"), kept.replace("\n3\n", "\nx\n")]) {
    assert.throws(() => core.restoreSession(broken, "text"), CoreError);
  }
  for (const text of ["", "tex", "texts"]) assert.throws(() => core.restoreSession(kept, text), CoreError);
  const restored = core.restoreSession(kept, "text");
  assert.equal(restored.text(), "text!");
  assert.equal(restored.epoch, "é");
  restored.close();
  session.close();
});

test("changes for the editor are CodeMirror's own", () => {
  for (const seed of seeds) {
    const random = new Random(seed);
    const text = randomText(random, 8).replace(/\r/g, "");
    // Where a replacement meets another, CodeMirror decides in its own way which text goes first; on
    // insertions and deletions by themselves the two have to agree.
    const isPlain = random.below(2) === 0;
    const plain = (/** @type {import("../../Web/js/core.js").TextChange[]} */ changes) =>
      isPlain ? changes.map((c) => (c.insert && c.to > c.from ? { ...c, insert: "" } : c)) : changes;
    const mine = plain(randomChanges(random, text));
    const theirs = plain(randomChanges(random, text));
    const session = core.openSession({ text, epoch: "e", revision: 0, lastSequence: 0 });
    const other = core.openSession({ text, epoch: "e", revision: 0, lastSequence: 0 });
    const outgoing = other.edit(theirs);
    assert.equal(other.text(), applied(text, theirs), `seed ${seed}`);
    session.edit(mine);
    const document = Text.of(text.split("\n"));
    const a = ChangeSet.of(mine, text.length, "\n");
    const b = ChangeSet.of(theirs, text.length, "\n");
    const changes = outgoing ? session.receive(outgoing.operation, 1) : [];
    const local = ChangeSet.of(changes, applied(text, mine).length, "\n");
    assert.equal(local.apply(a.apply(document)).toString(), session.text(), `seed ${seed}`);
    if (isPlain) {
      // Mapped "before": its inserts go before those that it is mapped over.
      const expected = b.map(a, true).apply(a.apply(document)).toString();
      assert.equal(session.text(), expected, `seed ${seed}`);
    }
    session.close();
    other.close();
  }
});

test("clients converge, whatever is delayed, lost, sent twice, reloaded", () => {
  for (const seed of seeds) {
    const random = new Random(seed);
    const server = new Sequencer(randomText(random, 6));
    const clients = ["ann", "bo", "cy"].map((id) => ({
      id,
      session: core.openSession({ text: server.text, epoch: server.epoch, revision: 0, lastSequence: 0 }),
      text: server.text,
      seen: 0,
      isOnline: true,
      /** @type {any[]} On its way to the server. */
      sent: [],
    }));

    /** @param {typeof clients[number]} client @param {any} change */
    const send = (client, change) => {
      if (change && client.isOnline) client.sent.push(change);
    };
    /** @param {typeof clients[number]} client */
    const deliver = (client) => {
      const entry = server.log[client.seen];
      if (!entry) return;
      client.seen += 1;
      if (entry.clientId !== client.id) {
        const changes = client.session.receive(entry.operation, client.seen);
        client.text = applied(client.text, changes);
      } else if (client.session.inFlight?.sequence === entry.sequence) {
        send(client, client.session.acknowledge(entry.sequence, client.seen));
      } else {
        const changes = client.session.supersede(entry.operation, entry.sequence, client.seen);
        client.text = applied(client.text, changes);
      }
    };
    /** @param {typeof clients[number]} client */
    const comeBack = (client) => {
      while (client.seen < server.revision) deliver(client);
      client.isOnline = true;
      send(client, client.session.reconnect());
    };

    for (let step = 0; step < 60; step += 1) {
      const client = random.pick(clients);
      switch (random.below(10)) {
        case 0:
        case 1:
        case 2:
        case 3: {
          const changes = randomChanges(random, client.text);
          if (changes.length === 0) break;
          client.text = applied(client.text, changes);
          send(client, client.session.edit(changes));
          break;
        }
        case 4:
        case 5: {
          const change = client.sent.shift();
          if (change) server.submit(client.id, change);
          break;
        }
        case 6:
        case 7:
          if (client.isOnline) deliver(client);
          break;
        case 8:
          if (client.isOnline) {
            // What was on its way may still arrive, or not.
            if (random.below(2)) client.sent.splice(0).forEach((change) => server.submit(client.id, change));
            client.sent = [];
            client.isOnline = false;
            client.session.disconnect();
            if (random.below(2)) {
              const restored = core.restoreSession(client.session.exportEdits(), client.session.serverText());
              client.session.close();
              client.session = restored;
            }
          } else {
            comeBack(client);
          }
          break;
        case 9: {
          const at = randomPosition(random, client.text);
          const { head } = client.session.scalarSelection(at, at);
          assert.equal(head, [...client.text.slice(0, at)].length, `seed ${seed}`);
          break;
        }
      }
      assert.equal(client.session.text(), client.text, `seed ${seed}, step ${step}`);
    }
    for (const client of clients) if (!client.isOnline) comeBack(client);
    while (clients.some(({ sent, seen }) => sent.length > 0 || seen < server.revision)) {
      for (const client of clients) {
        const change = client.sent.shift();
        if (change) server.submit(client.id, change);
        while (client.seen < server.revision) deliver(client);
      }
    }
    for (const { id, session, text } of clients) {
      assert.equal(text, server.text, `seed ${seed}, ${id}`);
      assert.equal(session.unconfirmedCount, 0, `seed ${seed}, ${id}`);
      session.close();
    }
  }
});
