// A room as a central authority: the log, lost answers, snapshots, and the guide's example with ProseMirror.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { Emitter } from "../../Web/js/ground/emitter.js";
import { openAuthority } from "../../Web/sdk/authority.js";
import { collabOver } from "./collabstandin.mjs";
import { Random } from "./support.mjs";

/** A gateway's room: its log, its requests over HTTP and its subscribers, each of which hears later. */
class Room {
  epoch = "p";
  /** @type {{offset: number, data: any, key?: string}[]} */
  log = [];
  /** @type {any[]} */
  subscribers = [];
  refused = 0;
  oldest = 1;
  random = new Random(1);
  /** The share of requests whose answer is lost, or that never arrive. */
  losses = 0;

  get offset() {
    return this.log.length;
  }

  parley() {
    const request = async (/** @type {string} */ method, /** @type {string} */ path, /** @type {any} */ body) => {
      await new Promise((resolve) => setTimeout(resolve));
      const isLost = this.random.below(100) < this.losses;
      const gone = Object.assign(new Error("gone"), { code: "unreachable" });
      if (isLost && this.random.below(2) === 0) throw gone;
      const answer = method === "GET" ? this.history(new URL(path, "http://x/").searchParams) : this.publish(body);
      if (isLost) throw gone;
      return JSON.parse(JSON.stringify(answer));
    };
    const room = (/** @type {string} */ _, /** @type {any} */ { from }) => {
      const subscriber = Object.assign(new Emitter(), { position: from.offset, close: () => {} });
      this.subscribers.push(subscriber);
      queueMicrotask(() => this.deliver(subscriber));
      return subscriber;
    };
    return /** @type {any} */ ({ notes: { request }, room });
  }

  /** @param {any} subscriber */
  deliver(subscriber) {
    for (; subscriber.position < this.offset; subscriber.position += 1) {
      const { data, offset } = /** @type {any} */ (this.log[subscriber.position]);
      subscriber.emit("publication", { data: JSON.parse(JSON.stringify(data)), position: { epoch: this.epoch, offset } });
    }
  }

  /** @param {URLSearchParams} query */
  history(query) {
    const limit = Math.min(Number(query.get("limit")), 3);
    const kept = this.log.slice(this.oldest - 1);
    const since = query.get("since");
    const before = Number(query.get("before") ?? this.offset + 1);
    const all = since ? kept.filter(({ offset }) => offset > Number(since)) : kept.filter(({ offset }) => offset < before);
    const publications = since ? all.slice(0, limit) : all.slice(-limit);
    const gap = since !== null && Number(since) + 1 < this.oldest;
    return { epoch: this.epoch, offset: this.offset, publications, gap, more: all.length > publications.length };
  }

  /** @param {any} body */
  publish({ data, key, ifPosition }) {
    const known = this.log.find((each) => each.key === key);
    if (known) return { epoch: this.epoch, offset: known.offset, repeated: true };
    if (ifPosition.epoch !== this.epoch || ifPosition.offset !== this.offset) {
      this.refused += 1;
      throw Object.assign(new Error("outdated"), { code: "refused", reason: "outdated" });
    }
    this.log.push({ offset: this.offset + 1, data: JSON.parse(JSON.stringify(data)), key });
    for (const subscriber of this.subscribers) {
      setTimeout(() => this.deliver(subscriber), this.random.below(4));
    }
    return { epoch: this.epoch, offset: this.offset, repeated: false };
  }
}

const until = async (/** @type {() => boolean} */ condition) => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve));
};

test("each batch is stored once, on its version, also if requests and answers are lost", async () => {
  const room = new Room();
  room.losses = 30;
  const all = await Promise.all([1, 2, 3].map(async (client) => {
    /** @type {string[]} */
    const steps = [];
    let authority;
    while (!authority) authority = await openAuthority(room.parley(), "doc").catch(() => undefined);
    authority.follow((batch) => steps.push(...batch.steps.map((step, index) => `${batch.clients[index]}:${step}`)));
    return { authority, steps, client };
  }));
  await Promise.all(all.map(async ({ authority, client }) => {
    for (let number = 0; number < 6;) {
      const sent = await authority.send(authority.version, [number, number + 1], client).catch(() => false);
      if (sent) number += 2;
    }
  }));
  await until(() => all.every(({ authority }) => authority.version === 18));
  for (const { steps, authority } of all) {
    assert.deepEqual(steps, all[0]?.steps);
    assert.equal(authority.failure, undefined);
  }
  for (const client of [1, 2, 3]) {
    assert.deepEqual(all[0]?.steps.filter((step) => step.startsWith(`${client}:`)), [0, 1, 2, 3, 4, 5].map((step) => `${client}:${step}`));
  }
  assert.equal(await all[0]?.authority.send(17, ["x"], 1), false);
});

test("a late client begins with the last snapshot, and one without its steps says so", async () => {
  const room = new Room();
  const first = await openAuthority(room.parley(), "doc");
  for (let step = 0; step < 10; step += 1) assert.ok(await first.send(step, [step], 1));
  assert.equal(await first.snapshot(9, "old"), false);
  assert.equal(await first.snapshot(10, { text: "ten" }), true);
  assert.deepEqual([first.length, first.docVersion], [0, 10]);
  for (let step = 10; step < 17; step += 1) assert.ok(await first.send(step, [step], 1));
  room.oldest = 11;
  const late = await openAuthority(room.parley(), "doc");
  assert.deepEqual([late.doc, late.docVersion, late.version, late.length], [{ text: "ten" }, 10, 17, 7]);
  /** @type {any[]} */
  const steps = [];
  late.follow((batch) => steps.push(...batch.steps));
  assert.deepEqual(steps, [10, 11, 12, 13, 14, 15, 16]);
  room.oldest = 13;
  await assert.rejects(openAuthority(room.parley(), "doc"), { reason: "historyGone" });
  // One that was away for longer than the history.
  const away = await openAuthority(Object.assign(room.parley(), { room: () => new Emitter() }), "doc").catch(() => undefined);
  assert.equal(away, undefined);
});

test("a client whose missed steps are gone says so, and sends nothing more", async () => {
  const room = new Room();
  const away = await openAuthority(Object.assign(room.parley(), { room: () => new Emitter() }), "doc");
  const other = await openAuthority(room.parley(), "doc");
  for (let step = 0; step < 5; step += 1) assert.ok(await other.send(step, [step], 1));
  room.oldest = 4;
  /** @type {any[]} */
  const told = [];
  away.onFailure((failure) => told.push(failure));
  await assert.rejects(away.send(0, ["x"], 2), { reason: "historyGone" });
  await assert.rejects(away.send(0, ["x"], 2), { reason: "historyGone" });
  assert.equal(told.length, 1);
  assert.equal(room.offset, 5);
  other.close();
  await assert.rejects(other.send(5, ["x"], 1));
});

const folder = new URL("../../Web/vendor/prosemirror/", import.meta.url);
const skip = existsSync(folder) ? false : "ProseMirror is not there";
/** @param {string} name @returns {Promise<any>} */
const part = (name) => (skip ? Promise.resolve({}) : import(new URL(`${name}.js`, folder).href));
const [{ Schema }, { EditorState, Plugin, PluginKey }, { Step }] = await Promise.all(["model", "state", "transform"].map(part));

/** A view without a page. */
class View {
  /** @param {any} _ @param {any} props */
  constructor(_, props) {
    this.props = props;
    this.state = props.state;
  }

  /** @param {any} state */
  updateState(state) {
    this.state = state;
  }

  /** @param {any} transaction */
  dispatch(transaction) {
    this.props.dispatchTransaction(transaction);
  }
}

/** The guide's example as a function, which returns its view and its authority. */
function example() {
  const guide = readFileSync(new URL("../../Documentation/WebPage.md", import.meta.url), "utf8");
  const [, code = ""] = /```js\n(import \{ collab,[^]*?)```/.exec(guide) ?? [];
  const imports = [...code.matchAll(/^import \{ (.*) \} from .*$/gm)].flatMap(([, names = ""]) => names.split(", "));
  const body = `${code.replaceAll(/^import .*$/gm, "")}\nreturn { view, authority };`;
  assert.ok(code.trim().split("\n").length <= 40 && imports.length === 9, `${imports}`);
  const make = new Function("given", "document", `const { ${imports} } = given; return (async () => {${body}})();`);
  return (/** @type {any} */ given) => make(given, { querySelector: () => null });
}

const schema = skip ? undefined : new Schema({
  nodes: {
    doc: { content: "block+" }, paragraph: { group: "block", content: "text*" },
    quote: { group: "block", content: "block+" }, text: {},
  },
});

for (const writers of [2, 8]) {
  test(`the guide's example: ${writers} writers, and all have one document`, { skip }, async () => {
    const room = new Room();
    room.losses = 5;
    const random = new Random(writers);
    const run = example();
    const open = async () => {
      for (;;) {
        const given = {
          ...collabOver(Plugin, PluginKey), EditorState, Step, EditorView: View, schema, connect: async () => parley,
        };
        const parley = Object.assign(room.parley(), {
          authority: (/** @type {string} */ name) => openAuthority(parley, name),
        });
        const opened = await run(given).catch(() => undefined);
        if (opened) return opened;
      }
    };
    const all = await Promise.all(Array.from({ length: writers }, open));
    let typed = "";
    for (let count = 0; count < 40; count += 1) {
      const { view } = all[random.below(writers)];
      const letter = String.fromCodePoint(0x4e00 + count);
      typed += letter;
      const place = 1 + random.below(view.state.doc.firstChild.content.size + 1);
      view.dispatch(view.state.tr.insertText(letter, place));
      if (random.below(4) === 0) await new Promise((resolve) => setTimeout(resolve, random.below(5)));
    }
    await until(() => all.every(({ authority, view }) => authority.version === 40 && view.state.doc.textContent.length === 40));
    const [first] = all;
    for (const { view, authority } of all) {
      assert.deepEqual(view.state.doc.toJSON(), first.view.state.doc.toJSON());
      assert.equal(authority.failure, undefined);
    }
    assert.deepEqual([...first.view.state.doc.textContent].sort().join(""), [...typed].sort().join(""));
    const late = await open();
    assert.deepEqual(late.view.state.doc.toJSON(), first.view.state.doc.toJSON());
  });
}
