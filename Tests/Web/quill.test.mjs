// The binding of Quill, with a stand-in that has Quill's calls: a Delta of its own content, which always ends with a
// newline, and events about its changes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { changeOf, deltaOf, deltaOfChange, formattingOf } from "../../Web/sdk/delta.js";
import { ParleyError } from "../../Web/sdk/errors.js";
import { SharedNote } from "../../Web/sdk/note.js";
import { quill } from "../../Web/sdk/quill.js";
import { Random, isBoundary, randomText } from "./support.mjs";
import { TwinServer, appliedTo, unitsOf } from "./twinserver.mjs";

/** @typedef {import("../../Web/sdk/delta.js").DeltaOp} DeltaOp */
/** @typedef {{insert: any, attributes: Record<string, any>}} Piece One UTF-16 unit, or one embedded thing. */

const kinds = ["header", "list", "blockquote", "code-block"];

/**
 * Returns attributes after a change, as Quill has them: a line has one kind.
 *
 * @param {Record<string, any>} one @param {Record<string, any>} [two]
 */
function merged(one, two = {}) {
  const isSet = (/** @type {any} */ value) => value !== null && value !== false;
  const kind = kinds.find((key) => key in two && isSet(two[key]));
  const all = Object.entries({ ...one, ...two })
    .filter(([key, value]) => isSet(value) && !(kind && key !== kind && kinds.includes(key)));
  return Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** @param {DeltaOp[]} ops @returns {Piece[]} */
const piecesOf = (ops) => ops.flatMap(({ insert, attributes }) =>
  (typeof insert === "string" ? insert.split("") : [insert]).map((one) => ({ insert: one, attributes: merged(attributes ?? {}) })));

/** What a binding uses of Quill. */
class StandIn {
  /** @type {Piece[]} */
  pieces = piecesOf([{ insert: "\n" }]);
  isEnabled = true;
  resets = -1;
  /** @type {Map<string, Set<(...given: any[]) => void>>} */
  #listeners = new Map();

  /** @param {string} name @param {(...given: any[]) => void} listener */
  on(name, listener) {
    this.#listeners.set(name, (this.#listeners.get(name) ?? new Set()).add(listener));
  }

  /** @param {string} name @param {(...given: any[]) => void} listener */
  off(name, listener) {
    this.#listeners.get(name)?.delete(listener);
  }

  /** @param {string} name @param {...any} given */
  emit(name, ...given) {
    for (const listener of this.#listeners.get(name) ?? []) listener(...given);
  }

  enable(isEnabled = true) {
    this.isEnabled = isEnabled;
  }

  getLength() {
    return this.pieces.length;
  }

  get text() {
    return this.pieces.map(({ insert }) => (typeof insert === "string" ? insert : "\ufffc")).join("");
  }

  /** @param {{ops: DeltaOp[]}} delta @param {string} [source] */
  updateContents({ ops }, source = "api") {
    let place = 0;
    /** @type {Piece[]} */
    const result = [];
    for (const { insert, retain, delete: removed, attributes } of ops) {
      if (insert !== undefined) result.push(...piecesOf([{ insert, attributes }]));
      else if (removed !== undefined) place += removed;
      else {
        for (const piece of this.pieces.slice(place, place + (retain ?? 0))) {
          result.push({ ...piece, attributes: merged(piece.attributes, attributes) });
        }
        place += retain ?? 0;
      }
    }
    assert.ok(place <= this.pieces.length, "a change within the text");
    this.pieces = [...result, ...this.pieces.slice(place)];
    assert.equal(this.pieces[this.pieces.length - 1]?.insert, "\n", "Quill's last newline");
    this.emit("text-change", { ops }, undefined, source);
  }

  /** @param {{ops: DeltaOp[]}} delta @param {string} [source] */
  setContents({ ops }, source = "api") {
    this.resets += 1;
    const before = this.pieces.length;
    this.pieces = piecesOf(ops);
    assert.equal(this.pieces[this.pieces.length - 1]?.insert, "\n", "Quill's last newline");
    this.emit("text-change", { ops: [...ops, { delete: before }] }, undefined, source);
  }
}

/** @param {TwinServer} server @param {string} id @param {any} [options] */
function bound(server, id, options) {
  const client = server.client(id);
  const { line } = client;
  const note = new SharedNote({
    core: line.core, connection: line.connection, id: "d", formats: true, owner: "", storage: undefined,
    waits: /** @type {any} */ ({ limited: (/** @type {any} */ promise) => promise }), changed() {}, closed() {}, left() {},
  });
  const editor = new StandIn();
  const unbind = quill(note, /** @type {any} */ (editor), options);
  server.join(client);
  return { client, line, note, editor, unbind };
}

/** @param {ReturnType<typeof bound>} rig The editor's content without its last newline. */
const shownBy = ({ editor }) => editor.pieces.slice(0, -1);

/** @param {ReturnType<typeof bound>} rig */
const keptBy = ({ note }) => piecesOf(note.delta?.ops ?? []);

test("a note's content is shown with Quill's names, and its edits arrive with the note's", () => {
  const server = new TwinServer(unitsOf("Title\nx\ufffc", {
    sets: [{ block: "h2" }, { bold: true }, { embed: { image: "h/a.png" }, width: 9 }], runs: [5, 0, 1, 1, 1, 2, 1, 3],
  }));
  const rig = bound(server, "ann");
  assert.deepEqual(rig.note.delta, { ops: [
    { insert: "Title" }, { insert: "\n", attributes: { header: 2 } }, { insert: "x", attributes: { bold: true } },
    { insert: { image: "h/a.png" }, attributes: { width: 9 } },
  ] });
  assert.deepEqual(shownBy(rig), keptBy(rig));
  assert.equal(rig.editor.isEnabled, true);
  rig.editor.updateContents({ ops: [
    { retain: 5 }, { retain: 1, attributes: { list: "checked", header: null } }, { insert: { video: "v" } },
    { insert: "y", attributes: { bold: true, italic: false } }, { delete: 1 },
  ] }, "user");
  server.settle();
  assert.deepEqual(rig.line.last("change")?.data, {
    documentId: "d", epoch: "e", revision: 7, sequence: 1, operation: [6, "\ufffcy", -1, 1],
    format: { sets: [{ block: "done" }, { embed: { video: "v" } }, { bold: true }], kept: [5, 1, 1], put: [1, 2, 1, 3] },
  });
  assert.deepEqual(shownBy(rig), keptBy(rig));
});

test("the kind of a line is removed only where the line is of that kind", () => {
  const format = { sets: [{ block: "h1" }, { block: "bullet" }], runs: [1, 0, 1, 1, 1, 0, 1, 2] };
  const { format: change } = changeOf([{ retain: 4, attributes: { header: null } }], "a\nb\n", () => format);
  assert.deepEqual(change, { sets: [{ block: null }], kept: [1, 1, 1] });
  const { format: other } = changeOf([{ retain: 4, attributes: { list: false } }], "a\nb\n", () => format);
  assert.deepEqual(other, { sets: [{ block: null }], kept: [3, 1, 1] });
  // To Quill, another kind ends the one before.
  assert.deepEqual(deltaOfChange([], { sets: [{ block: "quote" }], kept: [1, 1, 1] }).ops, [
    { retain: 1 }, { retain: 1, attributes: { blockquote: true, header: null, list: null, "code-block": null } },
  ]);
});

test("formatting the last line gives the note its newline, and Quill another one", () => {
  const server = new TwinServer(unitsOf("ab"));
  const rig = bound(server, "ann");
  rig.editor.updateContents({ ops: [{ retain: 2 }, { retain: 1, attributes: { header: 1 } }] }, "user");
  assert.equal(rig.note.text, "ab\n");
  assert.equal(rig.editor.text, "ab\n\n");
  assert.deepEqual(shownBy(rig), keptBy(rig));
  // What only removes does nothing there.
  rig.editor.updateContents({ ops: [{ retain: 3 }, { retain: 1, attributes: { list: null } }] }, "user");
  assert.equal(rig.note.text, "ab\n");
  rig.note.format(0, 2, { list: "ordered", bold: true });
  rig.note.format(3, 3, { blockquote: true });
  server.settle();
  assert.deepEqual(rig.note.delta?.ops, [
    { insert: "ab", attributes: { bold: true } }, { insert: "\n", attributes: { list: "ordered" } },
    { insert: "\n", attributes: { blockquote: true } },
  ]);
  assert.deepEqual(shownBy(rig), keptBy(rig));
});

test("what a note rejects does not remain in the editor", () => {
  const server = new TwinServer(unitsOf("a😀b"));
  const rig = bound(server, "ann");
  for (const ops of [
    [{ retain: 2 }, { insert: "x" }], [{ retain: 1 }, { delete: 1 }], [{ insert: "\ud83d" }],
    [{ retain: 2, attributes: { bold: true } }], [{ retain: 1, attributes: { Bold: true } }],
    [{ retain: 1, attributes: { bold: { a: 1 } } }], [{ insert: { mention: { id: 1 } } }], [{ retain: 1, attributes: { size: 1.5 } }],
  ]) {
    rig.editor.updateContents({ ops: /** @type {any} */ (ops) }, "user");
    assert.deepEqual(shownBy(rig), keptBy(rig), JSON.stringify(ops));
    assert.throws(() => rig.note.update({ ops: /** @type {any} */ (ops) }), ParleyError, JSON.stringify(ops));
  }
  assert.equal(rig.note.text, "a😀b");
  assert.equal(rig.line.count("change"), 0);
  rig.line.say("accessChanged", { documentId: "d", access: "read" });
  assert.equal(rig.editor.isEnabled, false);
  rig.editor.updateContents({ ops: [{ insert: "x" }] }, "api");
  assert.equal(rig.editor.text, "a😀b\n");
});

test("what an editor does not know is shown as a box, and stays in the note", () => {
  const server = new TwinServer(unitsOf("a\ufffcb", {
    sets: [{ embed: { file: "h/x.zip" }, alt: "x" }, { mention: "bo" }], runs: [1, 0, 1, 1, 1, 2],
  }));
  const rig = bound(server, "ann");
  const before = rig.note.delta;
  assert.equal(rig.editor.text, "a\ufffcb\n");
  assert.equal(typeof rig.editor.pieces[1]?.insert, "string");
  rig.editor.updateContents({ ops: [{ retain: 3 }, { insert: "!" }] }, "user");
  server.settle();
  assert.deepEqual(rig.note.delta?.ops, [...(before?.ops ?? []), { insert: "!" }]);
  rig.unbind();
  rig.note.append("?");
  assert.equal(rig.editor.text, "a\ufffcb!\n");
});

test("a note must be opened with formats", () => {
  const server = new TwinServer(unitsOf(""));
  const client = server.client("ann");
  const note = new SharedNote({
    core: client.line.core, connection: client.line.connection, id: "d", formats: false, owner: "", storage: undefined,
    waits: /** @type {any} */ ({ limited: (/** @type {any} */ promise) => promise }), changed() {}, closed() {}, left() {},
  });
  assert.throws(() => quill(note, /** @type {any} */ (new StandIn())), { name: "ParleyError", message: /formats: true/ });
  server.join(client);
  assert.throws(() => note.edit([], undefined, { sets: [{ bold: true }], kept: [0, 0, 1] }), ParleyError);
});

/** @param {Random} random @param {string} text Quill's, with its last newline. @returns {DeltaOp[]} */
function randomOps(random, text) {
  const inline = [{ bold: true }, { bold: null }, { color: "red" }, { link: "/x" }];
  const ofLines = [{ header: 1 }, { header: null }, { list: "bullet" }, { list: "unchecked" }, { list: null }, { blockquote: true }];
  /** @type {DeltaOp[]} */
  const ops = [];
  let place = 0;
  while (place < text.length && ops.length < 8) {
    let to = Math.min(text.length - 1, place + random.below(5));
    while (!isBoundary(text, to)) to += 1;
    if (to > place) ops.push({ retain: to - place });
    place = to;
    switch (random.below(5)) {
      case 0:
        ops.push({ insert: randomText(random, 2).replace(/\r/g, "") || "x", attributes: random.pick([{}, ...inline.slice(2), { bold: true }]) });
        break;
      case 1: ops.push({ insert: { image: `${random.below(9)}` }, attributes: random.pick([{}, { alt: "a" }]) }); break;
      case 2: {
        let end = Math.min(text.length - 1, place + 1 + random.below(3));
        while (!isBoundary(text, end)) end -= 1;
        if (end > place) ops.push({ delete: end - place });
        place = Math.max(place, end);
        break;
      }
      default: {
        const newline = text.indexOf("\n", place);
        const end = Math.min(newline, place + 3);
        if (end > place && isBoundary(text, end)) {
          ops.push({ retain: end - place, attributes: random.pick(inline) });
          place = end;
        } else if (end === place) {
          ops.push({ retain: 1, attributes: random.pick(ofLines) });
          place += 1;
        }
      }
    }
  }
  return ops;
}

test("two editors and a server have one content, whatever is edited", () => {
  for (let seed = 1; seed <= 60; seed += 1) {
    const random = new Random(seed);
    const server = new TwinServer(unitsOf(seed % 2 ? "One 😀\ntwo" : ""), seed % 3 ? "rich" : "plain");
    const rigs = ["ann", "bo"].map((id) => bound(server, id));
    for (let step = 0; step < 40; step += 1) {
      const rig = random.pick(rigs);
      switch (random.below(3)) {
        case 0: {
          const ops = randomOps(random, rig.editor.text);
          if (ops.length > 0) rig.editor.updateContents({ ops }, "user");
          break;
        }
        case 1: server.take(rig.client); break;
        default: server.tell(rig.client);
      }
      assert.deepEqual(shownBy(rig), keptBy(rig), `seed ${seed}, step ${step}`);
    }
    server.settle();
    const [one, two] = rigs;
    assert.ok(one && two);
    for (const rig of rigs) {
      assert.deepEqual(shownBy(rig), keptBy(rig), `seed ${seed}`);
      assert.equal(rig.editor.resets, 0, `seed ${seed}`);
    }
    assert.deepEqual(keptBy(one), keptBy(two), `seed ${seed}`);
    assert.deepEqual(unitsOf(one.note.text ?? "", one.note.runs), server.units, `seed ${seed}`);
  }
});

test("the Deltas of all events, composed, are the document", () => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const random = new Random(seed);
    const server = new TwinServer(unitsOf(""));
    const [ann, bo] = ["ann", "bo"].map((id) => bound(server, id));
    assert.ok(ann && bo);
    const other = new StandIn();
    ann.note.on("formats", ({ delta }) => other.updateContents(delta));
    for (let step = 0; step < 20; step += 1) {
      const rig = random.pick([ann, bo]);
      rig.editor.updateContents({ ops: randomOps(random, rig.editor.text) }, "user");
      if (random.below(4) === 0) random.pick([ann.note, bo.note]).undo();
      server.settle();
      assert.deepEqual(other.pieces.slice(0, -1), keptBy(ann), `seed ${seed}`);
    }
  }
});

test("Delta there and back is the same change", () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const random = new Random(seed);
    const text = randomText(random, 6).replace(/\r/g, "");
    const { changes, format } = changeOf(randomOps(random, `${text}\n`).filter(({ retain, attributes }) => !retain || !attributes || !("block" in attributes)).slice(0, 3), `${text}\n`, () => undefined);
    const again = changeOf(deltaOfChange(changes, format).ops, `${text}\n`, () => undefined);
    const operation = [`${text}\n`];
    const before = appliedTo([], operation);
    /** @param {typeof again} one */
    const after = (one) => {
      const rest = { ...one };
      const stand = new StandIn();
      stand.setContents(deltaOf(`${text}\n`, undefined));
      stand.updateContents(deltaOfChange(rest.changes, rest.format));
      return stand.pieces;
    };
    assert.ok(before.length > 0);
    assert.deepEqual(after(again), after({ changes, format }), `seed ${seed}`);
  }
});

test("a range is formatted by lines and by text", () => {
  const { changes, format } = formattingOf("one\ntwo", () => undefined, 1, 5, { bold: true, header: 2 });
  assert.deepEqual(changes, [{ from: 7, to: 7, insert: "\n" }]);
  assert.deepEqual(format, {
    sets: [{ bold: true }, { block: "h2" }], kept: [1, 2, 1, 0, 1, 2, 0, 1, 1], put: [1, 2],
  });
  for (const [from, to] of [[-1, 2], [2, 1], [0, 99], [0.5, 1]]) {
    assert.throws(() => formattingOf("one", () => undefined, from ?? 0, to ?? 0, { bold: true }), ParleyError);
  }
});

test("an address in which a script could run is not given to the editor, and stays in the note", () => {
  const addresses = [
    "javascript:run()", " JavaScript:run()", "java\tscript:run()", "\u0001javascript:run()", "data:text/html,<script>run()</script>",
    "vbscript:run()", "blob:run()",
  ];
  const text = `${"a".repeat(addresses.length)}\ufffc\ufffcb`;
  const sets = [...addresses.map((link) => ({ link })), { embed: { video: addresses[0] } }, { embed: { image: "h/a.png" }, link: addresses[2] }, { link: "/n/x" }];
  const server = new TwinServer(unitsOf(text, { sets, runs: sets.flatMap((_, at) => [1, at + 1]) }));
  const rig = bound(server, "ann");
  const links = () => rig.editor.pieces.flatMap(({ attributes }) => attributes.link ?? []);
  assert.deepEqual(links(), ["/n/x"]);
  assert.deepEqual(rig.editor.pieces[addresses.length], { insert: "\ufffc", attributes: {} });
  assert.deepEqual(rig.editor.pieces[addresses.length + 1]?.insert, { image: "h/a.png" });
  // A change of a link that is shown removes it from the editor; an edit there leaves the note's.
  rig.note.format(text.length - 1, text.length, { link: "javascript:run()" });
  assert.deepEqual(links(), []);
  rig.editor.updateContents({ ops: [{ insert: "x" }, { retain: text.length - 1, attributes: { bold: true } }] }, "user");
  server.settle();
  const kept = rig.note.delta?.ops.flatMap(({ attributes }) => attributes?.link ?? []);
  assert.deepEqual(kept, [...addresses, addresses[2], "javascript:run()"]);
});
