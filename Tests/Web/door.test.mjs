// The client core as WebAssembly with integers of 32 bits, as the page loads it: its input and its output.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { CoreError } from "../../Web/js/client/door.js";
import { ChangeSet, Text } from "../../Web/vendor/codemirror/index.js";
import { Random, ServerCore, applied, randomChanges, randomText } from "./support.mjs";

const module = readFileSync(new URL("../../Web/generated/client.wasm", import.meta.url));

/** A client with a simulated server and screen. */
class Rig {
  now = 0;
  /** @type {any[]} */
  sent = [];
  /** @type {any[]} */
  actions = [];
  screen = "";

  /** @param {ServerCore} core @param {{id: string, resumeToken: string}} [claim] */
  constructor(core, claim) {
    this.core = core;
    core.create({ name: "Ann", color: "#123456" }, 7, claim);
  }

  /** @param {{id: string, resumeToken: string}} [claim] */
  static load = async (claim) => new Rig(await ServerCore.load(module), claim);

  /** @param {import("../../Web/js/client/door.js").EventKind} kind @param {...(string | number)} fields */
  handle(kind, ...fields) {
    return this.take(this.core.handle(this.now, kind, ...fields));
  }

  /** @param {{from: number, to: number, insert: string}[]} changes */
  edit(changes) {
    this.screen = applied(this.screen, changes);
    return this.take(this.core.edit(this.now, "d", changes));
  }

  /** @param {any[]} actions */
  take(actions) {
    for (const action of actions) {
      if (action.kind === "send") this.sent.push(JSON.parse(action.text));
      if (action.kind === "reset") this.screen = action.text;
      if (action.kind === "apply") this.screen = applied(this.screen, action.changes);
    }
    this.actions = actions;
    return actions;
  }

  /** @param {string} kind */
  told = (kind) => this.actions.filter((action) => action.kind === kind);

  /** @param {string} type */
  last = (type) => this.sent.findLast((message) => message.type === type);

  /** @param {string} type @param {object} data @param {string} [to] The type of the answered message. */
  say(type, data, to) {
    const messageId = to ? this.last(to).messageId : "s1";
    return this.handle("received", JSON.stringify({ messageId, type, data }));
  }

  welcome(id = "ann") {
    this.handle("start");
    this.handle("opened");
    const data = JSON.parse(examples.find((text) => text.includes('"type":"welcome"')) ?? "").data;
    this.say("welcome", { ...data, clientId: id, resumeToken: `token of ${id}` }, "hello");
  }

  /** @param {string} text @param {object} [more] */
  join(text, more) {
    this.handle("open", "d");
    this.say("joined", { ...joined, text, ...more }, "join");
  }
}

const joined = {
  documentId: "d", title: "Title", epoch: "e", revision: 7, lastSequence: 0, access: "write", presence: [],
};

const page = readFileSync(new URL("../../Documentation/Protocol.md", import.meta.url), "utf8");
const examples = page.split("\n").filter((line) => line.startsWith('{"messageId"'));
/** Types that both sides send. A client's message of such a type is not valid from a server. */
const shared = new Set(["documentHistory", "typing", "receipt", "receipts", "roomPresence"]);
/** Answers to requests that the page does not send. Their decoders are not part of the module. */
const unasked = new Set([
  "granted", "created", "roomHistory", "lastOnline", "blocks", "flag", "flags", "following", "values", "signal",
]);
const clientsOwn = new Set([
  "hello", "refresh", "grant", "profile", "ping", "create", "join", "change", "leave", "select", "subscribe", "unsubscribe",
  "publish", "block", "follow", "resourceConnection", "docChange",
]);

test("the core reads every server message in Protocol.md", async () => {
  const core = await ServerCore.load(module);
  /** @type {Set<string>} */
  const read = new Set();
  for (const text of examples) {
    const { type, data } = JSON.parse(text);
    if (clientsOwn.has(type) || unasked.has(type)) {
      assert.equal(core.knows(text), false, text);
      continue;
    }
    // Only clients that use values receive these.
    if (type === "publication" && !("data" in data)) continue;
    if (type === "error" && ["conflict", "outdated"].includes(data.code)) continue;
    try {
      assert.equal(core.knows(text), true, text);
      read.add(type);
    } catch (error) {
      if (!(error instanceof CoreError) || !shared.has(type)) throw new Error(text, { cause: error });
    }
  }
  for (const type of shared) assert.ok(read.has(type), type);
  assert.ok(read.size > 25, `${read.size}`);
});

test("times of more than 32 bits are read and kept exactly", async () => {
  const rig = await Rig.load();
  rig.welcome();
  assert.deepEqual(rig.told("welcome"), [
    {
      kind: "welcome", demo: false, limits: { messageBytesMax: 4_194_304, documentScalarsMax: 4_000_000 }, personId: "u-ann",
    },
  ]);
  assert.deepEqual(rig.told("line").map(({ state }) => state), ["online"]);
  rig.say("tokenExpiring", { expiresAt: 1_763_712_060_123 });
  assert.deepEqual(rig.told("tokenEnds"), [{ kind: "tokenEnds", at: 1_763_712_060_123 }]);
  // The clock exceeds 32 bits of milliseconds.
  rig.now = 2 ** 40 + 5;
  rig.handle("closed", 1006);
  const [wake] = rig.told("wake");
  assert.ok(wake.at >= rig.now + 125 && wake.at <= rig.now + 250, `${wake.at}`);
  rig.now = wake.at;
  assert.deepEqual(rig.handle("wake").map(({ kind }) => kind), ["line", "connect", "wake"]);
});

test("a rejoin repeats the time of the last change exactly", async () => {
  const rig = await Rig.load();
  rig.welcome();
  const change = { clientId: "bo", sequence: 4, time: 1_763_712_004_567 };
  rig.join("text", { change });
  rig.handle("closed", 1006);
  rig.now = 20_000;
  rig.handle("wake");
  rig.handle("opened");
  rig.say("welcome", { ...JSON.parse(examples.find((text) => text.includes('"type":"welcome"')) ?? "").data, clientId: "ann", resumeToken: "t" }, "hello");
  assert.deepEqual(rig.last("join").data.resume, { epoch: "e", revision: 7, change });
});

test("numbers of more than 32 bits cause a rejoin at most, and never a crash", async () => {
  for (const number of [2 ** 31, 2 ** 32 + 7, 2 ** 53 - 1]) {
    const rig = await Rig.load();
    rig.welcome();
    rig.join("text");
    const joins = rig.sent.filter(({ type }) => type === "join").length;
    rig.say("changes", { documentId: "d", revision: number, changes: [{ clientId: "bo", sequence: 1, operation: [4, "!"] }] });
    rig.say("joined", { ...joined, changes: [] }, "join");
    assert.equal(rig.screen, "text");
    assert.ok(rig.sent.filter(({ type }) => type === "join").length >= joins);
    for (const operation of [[number], [-number], [4, "!", number]]) {
      rig.say("changes", { documentId: "d", revision: 8, changes: [{ clientId: "bo", sequence: 1, operation }] });
      assert.equal(rig.screen, "text");
    }
  }
});

test("an edit is sent in scalars, and received as UTF-16", async () => {
  const rig = await Rig.load();
  rig.welcome();
  rig.join("a😀b");
  rig.edit([{ from: 3, to: 4, insert: "字" }]);
  assert.deepEqual(rig.last("change").data, {
    documentId: "d", epoch: "e", revision: 7, sequence: 1, operation: [2, "字", -1],
  });
  rig.say("changes", { documentId: "d", revision: 8, changes: [{ clientId: "bo", sequence: 1, operation: [2, "👍", 1] }] });
  assert.deepEqual(rig.told("apply").map(({ changes }) => changes), [[{ from: 3, to: 3, insert: "👍" }]]);
  assert.equal(rig.core.text("d"), "a😀👍字");
  assert.equal(rig.core.revision("d"), 8);
  rig.say("acknowledged", { documentId: "d", sequence: 1, revision: 9 });
  assert.deepEqual(rig.told("status").map(({ status }) => status.unconfirmed), [0]);
});

test("each change of a message applies to the text after the previous one", async () => {
  const rig = await Rig.load();
  rig.welcome();
  rig.join("ab");
  rig.edit([{ from: 1, to: 1, insert: "😀" }]);
  const change = (/** @type {any[]} */ operation, sequence = 1) => ({ clientId: "bo", sequence, operation });
  rig.say("changes", {
    documentId: "d", revision: 8,
    changes: [change(["😁", 2]), change([1, -1, "x", 1], 2), change([3, "end"], 3)],
  });
  assert.equal(rig.told("apply").length, 3);
  assert.equal(rig.screen, rig.core.text("d"));
  assert.equal(rig.screen, "😁x😀bend");
});

test("the screen shows the core's text after random edits of both sides", async () => {
  for (let seed = 1; seed <= 60; seed += 1) {
    const random = new Random(seed);
    const rig = await Rig.load();
    rig.welcome();
    let server = "a😀 text";
    /** @type {string[]} The server's operations, from revision 8 on. */
    const log = [];
    const commit = (/** @type {string} */ operation) => {
      server = rig.core.apply(operation, server);
      log.push(operation);
      return 7 + log.length;
    };
    rig.join(server);
    let acknowledged = 0;
    for (let step = 0; step < 40; step += 1) {
      const changes = random.below(2) === 0 ? randomChanges(random, rig.screen) : [];
      if (changes.length > 0) rig.edit(changes);
      if (random.below(3) === 0) {
        const at = random.below([...server].length + 1);
        const operation = [at, "👍x", [...server].length - at].filter((part) => part !== 0);
        const revision = commit(JSON.stringify(operation));
        rig.say("changes", { documentId: "d", revision, changes: [{ clientId: "bo", sequence: revision, operation }] });
      }
      const sent = rig.last("change")?.data;
      if (sent && sent.sequence > acknowledged && random.below(2) === 0) {
        let operation = JSON.stringify(sent.operation);
        for (const other of log.slice(sent.revision - 7)) operation = rig.core.transform(other, operation).rightAfterLeft;
        acknowledged = sent.sequence;
        rig.say("acknowledged", { documentId: "d", sequence: sent.sequence, revision: commit(operation) });
      }
      assert.equal(rig.screen, rig.core.text("d"), `seed ${seed}`);
      assert.equal(rig.core.revision("d"), 7 + log.length, `seed ${seed}`);
    }
  }
});

test("changes for the editor merge as CodeMirror merges them", async () => {
  const rig = await Rig.load();
  rig.welcome();
  for (let seed = 1; seed <= 300; seed += 1) {
    const random = new Random(seed);
    const text = randomText(random, 8).replace(/\r/g, "");
    // For overlapping replacements CodeMirror has another order. For changes that only insert or delete,
    // both must agree.
    const isPlain = random.below(2) === 0;
    const plain = (/** @type {import("../../Web/js/client/door.js").TextChange[]} */ changes) =>
      isPlain ? changes.map((c) => (c.insert && c.to > c.from ? { ...c, insert: "" } : c)) : changes;
    const mine = plain(randomChanges(random, text));
    const theirs = plain(randomChanges(random, text));
    rig.join(text);
    rig.edit(mine);
    assert.equal(rig.core.text("d"), applied(text, mine), `seed ${seed}`);
    const document = Text.of(text.split("\n"));
    const a = ChangeSet.of(mine, text.length, "\n");
    const b = ChangeSet.of(theirs, text.length, "\n");
    const operation = operationOf(text, theirs);
    rig.say("changes", { documentId: "d", revision: 8, changes: [{ clientId: "bo", sequence: 1, operation }] });
    const changes = rig.told("apply").flatMap((action) => action.changes);
    const local = ChangeSet.of(changes, applied(text, mine).length, "\n");
    assert.equal(local.apply(a.apply(document)).toString(), rig.core.text("d"), `seed ${seed}`);
    if (isPlain) {
      // `true`: inserts of b precede those of a at the same position.
      const expected = b.map(a, true).apply(a.apply(document)).toString();
      assert.equal(rig.core.text("d"), expected, `seed ${seed}`);
    }
    rig.handle("leave", "d");
    rig.handle("kept", "d", 0);
  }
});

/**
 * Returns edits as an operation of the protocol, in scalars.
 *
 * @param {string} text
 * @param {{from: number, to: number, insert: string}[]} changes
 */
function operationOf(text, changes) {
  const scalars = (/** @type {number} */ from, /** @type {number | undefined} */ to) => [...text.slice(from, to)].length;
  let position = 0;
  const parts = changes.flatMap(({ from, to, insert }) => {
    const kept = scalars(position, from);
    position = to;
    return [kept, insert, -scalars(from, to)];
  });
  return [...parts, scalars(position, undefined)].filter((part) => part !== 0 && part !== "");
}

test("a note of the maximum length can be edited, stored and restored", async () => {
  // With 4,000,000 scalars, products of lengths exceed WebAssembly's integers.
  const text = "0123456789abcde\n".repeat(249_000) + "字".repeat(10_000);
  const rig = await Rig.load();
  rig.welcome();
  rig.join(text);
  const piece = "fedcba9876543210".repeat(120_000);
  rig.edit([{ from: 2_000_000, to: 2_000_000, insert: piece }]);
  assert.deepEqual(rig.last("change").data.operation.map((/** @type {any} */ part) => part.length ?? part), [
    2_000_000, piece.length, 1_994_000,
  ]);
  const operation = ["<", text.length - 1, -1];
  rig.say("changes", { documentId: "d", revision: 8, changes: [{ clientId: "bo", sequence: 1, operation }] });
  assert.deepEqual(rig.told("apply").map(({ changes }) => changes), [[
    { from: 0, to: 0, insert: "<" },
    { from: text.length + piece.length - 1, to: text.length + piece.length, insert: "" },
  ]]);
  const wanted = `<${text.slice(0, 2_000_000)}${piece}${text.slice(2_000_000, -1)}`;
  assert.equal(rig.core.text("d"), wanted);
  rig.edit([{ from: 10, to: 3_000_000, insert: "" }]);
  rig.handle("suspending");
  const [keep] = rig.told("keep");
  const again = await Rig.load({ id: "ann", resumeToken: "token of ann" });
  again.handle("restore", "d", keep.edits, rig.core.keptText("d"));
  assert.equal(again.screen, wanted.slice(0, 10) + wanted.slice(3_000_000));
});

test("the size of stored edits does not depend on the length of the note", async () => {
  const rig = await Rig.load();
  rig.welcome();
  rig.join("word ".repeat(200_000));
  rig.edit([{ from: 500_000, to: 500_000, insert: "one" }]);
  rig.edit([{ from: 10, to: 12, insert: "two" }]);
  rig.handle("suspending");
  const [keep] = rig.told("keep");
  assert.ok(keep.edits.length < 300, keep.edits);
  const again = await Rig.load();
  // The edits cannot be restored on another text.
  assert.throws(() => again.handle("restore", "d", keep.edits, "word ".repeat(100_000)), CoreError);
  again.handle("restore", "d", keep.edits, rig.core.keptText("d"));
  assert.equal(again.screen, rig.screen);
});

test("carets are converted to UTF-16 units", async () => {
  const rig = await Rig.load();
  rig.welcome();
  rig.join("😀 text", { presence: [{ clientId: "bo", name: "Bo", color: "#3355dd", selections: [[1, 6]] }] });
  assert.deepEqual(rig.core.people("d"), {
    count: undefined,
    all: [{ clientId: "bo", name: "Bo", color: "#3355dd", personId: "", isWriting: false, selections: [{ anchor: 2, head: 7 }] }],
  });
  rig.edit([{ from: 0, to: 2, insert: "" }]);
  assert.deepEqual(rig.core.people("d").all[0]?.selections, [{ anchor: 0, head: 5 }]);
  rig.say("acknowledged", { documentId: "d", sequence: 1, revision: 8 });
  rig.handle("select", "d", 1, 3);
  rig.now += 80;
  rig.handle("wake");
  assert.deepEqual(rig.last("select").data, { documentId: "d", revision: 8, selections: [[1, 3]] });
});

test("stored edits restore the note in another process, which resends the same change", async () => {
  const rig = await Rig.load();
  rig.welcome();
  rig.join("a😀b");
  rig.edit([{ from: 3, to: 3, insert: "字" }]);
  const first = rig.last("change").data;
  rig.edit([{ from: 0, to: 0, insert: "é" }]);
  rig.now += 150;
  rig.handle("wake");
  const [keep] = rig.told("keep");
  assert.equal(keep.clientId, "ann");
  assert.equal(keep.tag, "7 e");
  const text = rig.core.keptText("d");
  assert.equal(text, "a😀b");
  rig.handle("kept", "d", 1);
  assert.throws(() => rig.core.keptText("d"), CoreError);
  const again = await Rig.load({ id: "ann", resumeToken: "token of ann" });
  again.handle("restore", "d", keep.edits, text);
  assert.equal(again.screen, "éa😀字b");
  again.welcome();
  assert.deepEqual(again.last("hello").data.client, { id: "ann", resumeToken: "token of ann" });
  assert.equal(again.last("join").data.resume.revision, 7);
  again.say("joined", { ...joined, changes: [] }, "join");
  assert.deepEqual(again.last("change").data, first);
});

test("a second request to store edits waits for the answer to the first", async () => {
  const rig = await Rig.load();
  rig.welcome();
  rig.join("one");
  rig.edit([{ from: 3, to: 3, insert: "!" }]);
  rig.handle("suspending");
  rig.say("changes", { documentId: "d", revision: 8, changes: [{ clientId: "bo", sequence: 1, operation: [3, "?"] }] });
  rig.handle("suspending");
  assert.equal(rig.core.keptText("d"), "one");
  rig.handle("keepFailed", "d");
  assert.equal(rig.core.keptText("d"), "one?");
});

test("invalid events and edits stored by another version are refused without effect", async () => {
  const rig = await Rig.load();
  rig.welcome();
  rig.join("text");
  assert.throws(() => rig.core.edit(0, "d", [{ from: 3, to: 2, insert: "" }]), CoreError);
  assert.throws(() => rig.core.edit(0, "d", [{ from: 2, to: 3, insert: "" }, { from: 1, to: 1, insert: "x" }]), CoreError);
  assert.throws(() => rig.handle("restore", "x", "nonsense", ""), CoreError);
  assert.throws(() => rig.handle("restore", "x"), CoreError);
  assert.throws(() => rig.handle("open"), CoreError);
  assert.equal(rig.core.text("d"), "text");
  assert.equal(rig.core.text("x"), undefined);
});

test("the module is at most 128 kB compressed by Brotli, and 166 kB by gzip", () => {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 };
  const sizes = [brotliCompressSync(module, { params }).length, gzipSync(module, { level: 9 }).length];
  assert.ok(sizes[0] <= 128_000 && sizes[1] <= 166_000, `${sizes} bytes`);
});
