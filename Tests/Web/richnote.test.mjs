// Notes with formatting, between editors and a server that the test plays.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CoreError } from "../../Web/js/client/door.js";
import { Note } from "../../Web/js/client/note.js";
import { Random, World, applied, randomChanges } from "./support.mjs";
import { TwinServer, appliedTo, textOf, unitsOf } from "./twinserver.mjs";

/** @typedef {import("../../Web/js/client/door.js").ChangeFormat} ChangeFormat */
/** @typedef {import("../../Web/js/client/door.js").TextChange} TextChange */

/** An editor in UTF-16 units that does what a note asks for, and nothing else. */
class Editor {
  text = "";
  /** @type {import("./twinserver.mjs").Unit[]} One for each UTF-16 unit, so that lengths are those of the editor. */
  units = [];
  /** @type {string[]} */
  kinds = [];
  resets = 0;
  /** @type {{anchor: number, head: number} | undefined} */
  selection;

  /** @param {World} line @param {object} [options] */
  constructor(line, options) {
    this.note = new Note({ core: line.core, connection: line.connection, documentId: "d", formats: true, ...options });
    this.note.on("reset", ({ text, format }) => {
      this.resets += 1;
      this.#show(text, format);
    });
    this.note.on("kind", (kind) => this.kinds.push(kind));
    this.note.on("changes", ({ changes, format, selection }) => {
      this.#apply(changes, format);
      this.selection = selection;
    });
    if (this.note.text !== undefined) this.#show(this.note.text, this.note.format());
  }

  /** @param {string} text @param {import("../../Web/js/client/door.js").TextFormat} [format] */
  #show(text, format) {
    this.text = text;
    this.units = appliedTo([], [text.replace(/[^]/g, "x")], format && { ...format, put: format.runs });
  }

  /** @param {TextChange[]} changes @param {ChangeFormat} [format] */
  #apply(changes, format) {
    /** @type {(number | string)[]} */
    const operation = [];
    let place = 0;
    for (const { from, to, insert } of changes) operation.push(from - place, insert.replace(/[^]/g, "x"), (place = to) && from - to);
    operation.push(this.text.length - place);
    this.units = appliedTo(this.units, operation.filter((part) => part !== 0 && part !== ""), format);
    this.text = applied(this.text, changes);
  }

  /** @param {TextChange[]} changes @param {ChangeFormat} [format] */
  edit(changes, format) {
    this.#apply(changes, format);
    this.note.edit(changes, format);
  }

  /** The content, one entry for each scalar. */
  get shown() {
    let place = 0;
    return [...this.text].map((scalar) => {
      place += scalar.length;
      return { scalar, attributes: this.units[place - 1]?.attributes ?? {} };
    });
  }
}

/** @param {string} text @param {import("../../Web/js/client/door.js").TextFormat} [format] @param {"plain" | "rich"} [kind] */
function opened(text, format, kind = "rich") {
  const server = new TwinServer(unitsOf(text, format), kind);
  const client = server.client("ann");
  const editor = new Editor(client.line);
  server.join(client);
  return { server, client, line: client.line, editor, note: editor.note };
}

const bold = { bold: true };

test("attributes are read, sent and received with lengths in UTF-16", () => {
  const { line, editor, note } = opened("a😀b", { sets: [bold], runs: [1, 0, 2, 1] });
  assert.deepEqual(line.last("join")?.data, { documentId: "d", formats: true });
  assert.deepEqual(note.format(), { sets: [bold], runs: [1, 0, 2, 1, 1, 0] });
  assert.deepEqual(editor.kinds, ["rich"]);
  editor.edit([{ from: 3, to: 3, insert: "😀c" }], { sets: [{ bold: null }, { link: "x" }], kept: [1, 2, 1], put: [2, 2] });
  const { operation, format } = line.last("change")?.data;
  assert.deepEqual(operation, [2, "😀c", 1]);
  assert.deepEqual(format, { sets: [{ bold: null }, { link: "x" }], kept: [1, 1, 1], put: [1, 2] });
  line.say("changes", {
    documentId: "d", revision: 8,
    changes: [{ clientId: "bo", sequence: 1, operation: ["𝒳", 3], format: { sets: [bold], kept: [1, 1, 1], put: [1, 1] } }],
  });
  assert.equal(editor.text, "𝒳a😀😀cb");
  assert.deepEqual(note.format(), { sets: [bold, { link: "x" }], runs: [2, 1, 1, 0, 2, 1, 2, 2, 2, 0] });
  assert.deepEqual(editor.shown, unitsOf(note.text ?? "", note.format()));
});

test("a length within a surrogate pair, and formats that do not fit, are refused and change nothing", () => {
  const { line, note } = opened("a😀b");
  /** @type {ChangeFormat[]} */
  const wrong = [
    { sets: [bold], kept: [0, 2, 1] }, { sets: [bold], kept: [2, 1, 1] }, { sets: [bold], kept: [0, 9, 1] },
    { sets: [bold], kept: [0, 1, 2] }, { sets: [bold], put: [1, 1] }, { sets: [{ bold: null }], put: [1, 1] },
    { sets: [/** @type {any} */ ({ Bold: true })], kept: [0, 1, 1] }, { sets: [bold], kept: [0, 1] },
  ];
  for (const format of wrong) {
    assert.throws(() => note.edit([], format), CoreError, JSON.stringify(format));
    assert.throws(() => note.edit([{ from: 1, to: 3, insert: "" }], { sets: [bold], kept: [1, 2, 1] }), CoreError);
  }
  assert.equal(line.count("change"), 0);
  assert.equal(note.text, "a😀b");
});

test("a plain note becomes rich by one edit, here and elsewhere", () => {
  const { server, line, editor, note } = opened("**a** b", undefined, "plain");
  assert.equal(note.kind, "plain");
  const other = server.client("bo");
  const elsewhere = new Editor(other.line);
  server.join(other);
  // A format by itself leaves a plain note's text, which is shown again.
  editor.edit([{ from: 7, to: 7, insert: "!" }], { sets: [bold], put: [1, 1] });
  assert.equal(editor.resets, 2);
  assert.deepEqual(editor.shown, unitsOf("**a** b!"));
  assert.equal(line.last("change")?.data.format, undefined);
  editor.edit([{ from: 0, to: 2, insert: "" }, { from: 3, to: 5, insert: "" }], { sets: [bold], kept: [2, 1, 1], kind: "rich" });
  assert.equal(note.kind, "rich");
  assert.equal(elsewhere.note.kind, "plain");
  server.settle();
  assert.equal(line.last("change")?.data.format.kind, "rich");
  assert.deepEqual([editor.kinds, elsewhere.kinds], [["rich"], ["rich"]]);
  assert.deepEqual(elsewhere.shown, unitsOf("a b!", { sets: [bold], runs: [1, 1] }));
  editor.edit([], { sets: [bold], kept: [0, 4, 1] });
  server.settle();
  assert.equal(line.last("change")?.data.format.kind, undefined);
  assert.deepEqual(elsewhere.shown, server.units);
});

test("a note opened without formats has the text of a rich one, and says so", () => {
  const server = new TwinServer(unitsOf("ab", { sets: [bold], runs: [2, 1] }));
  const client = server.client("ann");
  const note = new Note({ core: client.line.core, connection: client.line.connection, documentId: "d" });
  /** @type {string[]} */
  const kinds = [];
  note.on("kind", (kind) => kinds.push(kind));
  server.join(client);
  assert.equal(client.line.last("join")?.data.formats, undefined);
  assert.deepEqual([kinds, note.kind, note.text], [["rich"], "rich", "ab"]);
  assert.deepEqual(note.format(), { sets: [], runs: [] });
  assert.throws(() => note.edit([], { sets: [bold], kept: [0, 1, 1] }), /without formats/);
  note.edit([{ from: 1, to: 1, insert: "x" }]);
  assert.equal(client.line.last("change")?.data.format, undefined);
});

test("a server that does not know formatting gets the text", () => {
  const line = new World();
  line.connection.start();
  line.welcome();
  const editor = new Editor(line);
  assert.equal(editor.note.canBeRich, false);
  line.say("joined", {
    documentId: "d", title: "", epoch: "e", revision: 7, lastSequence: 0, access: "write", presence: [], text: "ab",
  }, "join");
  editor.edit([{ from: 2, to: 2, insert: "c" }], { sets: [bold], kept: [0, 2, 1], put: [1, 1], kind: "rich" });
  const { operation, format } = line.last("change")?.data;
  assert.deepEqual([operation, format], [[2, "c"], undefined]);
  assert.deepEqual([editor.note.kind, editor.text, editor.resets], ["plain", "abc", 2]);
});

test("undo and redo take back own edits and formats step by step, and leave the others'", () => {
  const { server, line, editor, note } = opened("The fox");
  assert.deepEqual([note.canUndo, note.canRedo], [false, false]);
  note.select(4, 7);
  editor.edit([], { sets: [{ color: "red" }], kept: [4, 3, 1] });
  editor.edit([{ from: 7, to: 7, insert: " r" }], { sets: [bold], put: [2, 1] });
  editor.edit([{ from: 9, to: 9, insert: "an" }], { sets: [bold], put: [2, 1] });
  server.settle();
  line.say("changes", {
    documentId: "d", revision: 10,
    changes: [{ clientId: "bo", sequence: 1, operation: [11], format: { sets: [{ color: "blue" }], kept: [4, 1, 1] } }],
  });
  note.undo();
  assert.equal(editor.text, "The fox");
  assert.deepEqual([note.canUndo, note.canRedo], [true, true]);
  note.undo();
  assert.deepEqual(editor.selection, { anchor: 4, head: 7 });
  assert.deepEqual(note.format(), { sets: [{ color: "blue" }], runs: [4, 0, 1, 1, 2, 0] });
  note.undo();
  assert.deepEqual([note.canUndo, note.canRedo], [false, true]);
  note.redo();
  note.redo();
  assert.equal(editor.text, "The fox ran");
  assert.deepEqual(editor.shown, unitsOf(note.text ?? "", note.format()));
  note.endStep();
  editor.edit([{ from: 11, to: 11, insert: "x" }], { sets: [bold], put: [1, 1] });
  note.undo();
  assert.equal(editor.text, "The fox ran");
});

test("edits with formats that were kept go out from another page as the same bytes", () => {
  /** @type {Map<string, import("../../Web/js/client/note.js").Kept>} */
  const kept = new Map();
  const pending = {
    /** @type {(note: Note, edits: any, base: any) => boolean} */
    save: (_note, edits, base) => Boolean(kept.set(edits.identity.id, { ...edits, base: base.read() })),
    /** @type {(note: Note, id: string) => void} */
    remove: (_note, id) => void kept.delete(id),
  };
  const server = new TwinServer(unitsOf("a\"😀", { sets: [bold], runs: [2, 1] }));
  const client = server.client("ann");
  const editor = new Editor(client.line, { pending });
  server.join(client);
  editor.edit([{ from: 1, to: 1, insert: "é" }], { sets: [{ link: "é\"" }], put: [1, 1], kept: [1, 3, 1] });
  editor.edit([], { sets: [{ size: 2 }], kept: [0, 5, 1] });
  client.line.pass(1_000);
  const sent = client.line.last("change")?.text;
  const restored = [...kept.values()][0];
  const line = new World({ identity: client.line.connection.identity });
  line.capabilities = ["rich"];
  const again = new Editor(line, { pending, restored });
  assert.deepEqual([again.note.kind, again.shown], ["rich", editor.shown]);
  line.connection.start();
  line.welcome();
  line.say("joined", {
    documentId: "d", title: "Title", epoch: "e", revision: 7, kind: "rich", lastSequence: 0, access: "write", presence: [],
    changes: [],
  }, "join");
  assert.equal(line.last("change")?.text, sent);
});

/**
 * Returns an edit with a format, at random.
 *
 * @param {Random} random @param {string} text
 * @returns {{changes: TextChange[], format: ChangeFormat | undefined}}
 */
function randomEdit(random, text) {
  const sets = [bold, { bold: null }, { color: "red" }, { color: "blue" }, { link: "/" }, { block: "h1", color: null }];
  const changes = random.below(3) === 0 ? [] : randomChanges(random, text);
  /** @type {number[]} */
  const put = [];
  for (const { insert } of changes) {
    for (const scalar of insert) put.push(scalar.length, random.pick([0, 0, 1, 3, 4, 5]));
  }
  /** @type {number[]} */
  const kept = [];
  let place = 0;
  let end = 0;
  for (const { from, to } of [...changes, { from: text.length, to: text.length }]) {
    const length = [...text.slice(place, from)].slice(0, 1 + random.below(4)).join("").length;
    if (length > 0 && random.below(2) === 0) {
      kept.push(place - end, length, 1 + random.below(6));
      end = place + length;
    }
    place = to;
  }
  if (kept.length === 0 && put.every((number, at) => at % 2 === 0 || number === 0)) return { changes, format: undefined };
  return { changes, format: { sets, kept, put } };
}

test("whatever is edited and undone by several people, all have the server's content", () => {
  for (let seed = 1; seed <= 40; seed += 1) {
    const random = new Random(seed);
    const server = new TwinServer(unitsOf("The 😀 fox\n", { sets: [bold], runs: [4, 1, 4, 0, 1, 1] }));
    const plain = server.client("plain");
    const people = ["ann", "bo"].map((id) => {
      const client = server.client(id);
      return { client, editor: new Editor(client.line) };
    });
    const text = new Note({ core: plain.line.core, connection: plain.line.connection, documentId: "d" });
    for (const client of server.clients) server.join(client);
    for (let step = 0; step < 60; step += 1) {
      const { client, editor } = random.pick(people);
      switch (random.below(6)) {
        case 0:
        case 1: {
          const { changes, format } = randomEdit(random, editor.text);
          if (changes.length > 0 || format) editor.edit(changes, format);
          break;
        }
        case 2:
          if (random.below(2) === 0) editor.note.undo();
          else editor.note.redo();
          break;
        case 3: server.take(client); break;
        case 4: server.tell(client); break;
        default: {
          const changes = randomChanges(random, text.text ?? "");
          if (changes.length > 0) text.edit(changes);
          server.take(plain);
          server.tell(plain);
        }
      }
      assert.deepEqual(editor.shown, unitsOf(editor.note.text ?? "", editor.note.format()), `seed ${seed}`);
    }
    server.settle();
    for (const { editor } of people) {
      assert.deepEqual(editor.shown, server.units, `seed ${seed}`);
      assert.equal(editor.resets, 1, `seed ${seed}`);
    }
    assert.equal(text.text, textOf(server.units), `seed ${seed}`);
  }
});
