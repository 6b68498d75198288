// Values of rooms in the SDK: the copy against a fold of the log, own changes, and the connection with its retries.

import assert from "node:assert/strict";
import { test } from "node:test";
import { OrderKey } from "../../Web/sdk/orderkey.js";
import { Replica, merged } from "../../Web/sdk/replica.js";
import { RoomValues } from "../../Web/sdk/values.js";
import { Random } from "./support.mjs";

/** The examples of RFC 7396, appendix A. */
const examples = /** @type {[any, any, any][]} */ ([
  [{ a: "b" }, { a: "c" }, { a: "c" }], [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }], [{ a: "b" }, { a: null }, {}],
  [{ a: ["b"] }, { a: "c" }, { a: "c" }], [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
  [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }], [["a", "b"], ["c", "d"], ["c", "d"]], [{ a: "foo" }, null, null],
  [[1, 2], { a: "b", c: null }, { a: "b" }], [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
]);

test("patches merge as RFC 7396 says, and a field may have any name", () => {
  for (const [value, patch, expected] of examples) assert.deepEqual(merged(value, patch), expected);
  const patch = JSON.parse('{"__proto__":{"x":1}}');
  assert.equal(JSON.stringify(merged({}, patch)), '{"__proto__":{"x":1}}');
  assert.equal(/** @type {any} */ ({}).x, undefined);
});

/** @param {Random} random @returns {any} */
function operation(random) {
  const name = /** @type {string} */ (["a", "b", "é", "e\u0301", "__proto__"][random.below(5)]);
  return [{ set: name, to: random.below(9) }, { merge: name, with: { x: random.below(2) ? 1 : null } },
    { add: name, by: 1 + random.below(3) }, { delete: name }][random.below(4)];
}

/** @param {Map<string, any>} values @param {any[]} operations Returns whether all fit. */
function fold(values, operations) {
  const next = new Map(values);
  for (const each of operations) {
    if ("set" in each) next.set(each.set, each.to);
    else if ("merge" in each) next.set(each.merge, merged(next.get(each.merge), each.with));
    else if ("delete" in each) next.delete(each.delete);
    else if (Number.isInteger(next.get(each.add) ?? 0)) next.set(each.add, (next.get(each.add) ?? 0) + each.by);
    else return false;
  }
  values.clear();
  for (const [name, value] of next) values.set(name, value);
  return true;
}

test("pages and publications give the fold of the log, whatever the pages' positions", () => {
  for (let seed = 1; seed <= 500; seed += 1) {
    const random = new Random(seed);
    const server = new Map();
    /** @type {{offset: number, values: any[]}[]} */
    const log = [];
    const publish = () => {
      const values = [operation(random), operation(random)];
      if (fold(server, values)) log.push({ offset: log.length + 1, values });
    };
    const page = (/** @type {string | undefined} */ after) => {
      const names = [...server.keys()].sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
      const rest = names.filter((name) => after === undefined || Buffer.compare(Buffer.from(name), Buffer.from(after)) > 0);
      const some = rest.slice(0, 2);
      return { values: Object.fromEntries(some.map((name) => [name, { value: server.get(name), offset: 0 }])),
        offset: log.length, more: rest.length > 2 };
    };
    for (let count = 0; count < 8; count += 1) publish();
    const replica = new Replica();
    replica.begin("p", log.length);
    let heard = log.length;
    let next = page(undefined);
    for (;;) {
      replica.add(next.values, next.offset, next.more);
      while (random.below(3) > 0) publish();
      while (heard < log.length && random.below(3) > 0) replica.publication(/** @type {any} */ (log[heard++]));
      if (replica.isComplete) break;
      next = page(replica.after);
    }
    while (heard < log.length) replica.publication(/** @type {any} */ (log[heard++]));
    assert.deepEqual(new Map([...replica.shown].sort()), new Map([...server].sort()), `seed ${seed}`);
  }
});

/** A server of one room in this process, whose sockets break when a test wants it. */
class Gateway {
  values = new Map();
  offsets = new Map();
  /** @type {{offset: number, values: any[], senderId?: string}[]} */
  log = [];
  keys = new Map();
  /** @type {any[]} */
  sockets = [];
  asked = 0;

  open = () => {
    const socket = { readyState: 1, send: (/** @type {string} */ text) => queueMicrotask(() => this.take(socket, JSON.parse(text))),
      close: () => (socket.readyState = 3), onopen: () => {}, onmessage: (/** @type {any} */ _) => {}, onclose: (/** @type {any} */ _) => {} };
    this.sockets.push(socket);
    queueMicrotask(() => socket.onopen?.());
    return /** @type {any} */ (socket);
  };

  /** @param {any} socket @param {any} message */
  take(socket, { messageId, type, data }) {
    if (socket.readyState !== 1) return;
    this.asked += 1;
    const answer = (/** @type {string} */ kind, /** @type {any} */ body) =>
      socket.onmessage?.({ data: JSON.stringify({ messageId, type: kind, data: body }) });
    if (type === "hello") answer("welcome", { clientId: "c", resumeToken: "t" });
    if (type === "subscribe") {
      socket.isMember = true;
      const missed = data.position ? { recovered: true, publications: this.log.slice(data.position.offset) } : { values: this.page() };
      answer("subscribed", { room: "r", epoch: "p", offset: this.log.length, ...missed });
    }
    if (type === "publish") this.publish(data, answer);
  }

  page() {
    return Object.fromEntries([...this.values].map(([name, value]) => [name, { value, offset: this.offsets.get(name) }]));
  }

  /** @param {any} data @param {(kind: string, body: any) => void} [answer] */
  publish({ values, key, senderId, ifOffsets = {} }, answer) {
    const known = this.keys.get(key);
    if (known) return answer?.("published", { room: "r", epoch: "p", offset: known, repeated: true });
    const lost = Object.entries(ifOffsets).filter(([name, offset]) => (this.offsets.get(name) ?? 0) !== offset);
    if (lost.length > 0 || !fold(this.values, values)) {
      const current = Object.fromEntries(lost.map(([name]) => [name, { value: this.values.get(name), offset: this.offsets.get(name) ?? 0 }]));
      return answer?.("error", { code: lost.length > 0 ? "conflict" : "badOperation", message: "no", retryable: false, values: current });
    }
    const publication = { offset: this.log.length + 1, values, senderId };
    for (const each of values) this.offsets.set(Object.values(each)[0], publication.offset);
    this.log.push(publication);
    if (key) this.keys.set(key, publication.offset);
    answer?.("published", { room: "r", epoch: "p", offset: publication.offset, repeated: false });
    for (const socket of this.sockets) {
      if (!socket.isMember || socket.readyState !== 1) continue;
      socket.onmessage?.({ data: JSON.stringify({ messageId: "s1", type: "publication", data: { room: "r", epoch: "p", time: 1, ...publication } }) });
    }
  }

  /** Breaks all connections. */
  breaks() {
    for (const socket of this.sockets.splice(0)) {
      socket.readyState = 3;
      socket.onclose?.({ code: 1006 });
    }
  }
}

const opened = async (/** @type {Gateway} */ gateway) => {
  const values = new RoomValues("ws://x/ws", "r", { open: gateway.open });
  await values.ready;
  return values;
};

test("an accepted change counts once, or not at all if the server has lost it", () => {
  /** @type {{[name: string]: (replica: Replica) => void}} */
  const steps = {
    answered: (replica) => replica.accept("k", 6),
    seen: (replica) => void replica.publication({ offset: 6, senderId: "k", values: [{ add: "n", by: 10 }] }),
    lineLost: (replica) => replica.disconnected(),
    recovered: (replica) => {
      steps.seen?.(replica);
      replica.advance(6);
      replica.subscribed();
    },
    anew: (replica) => renew(replica, "p", 16, 11),
    lost: (replica) => renew(replica, "p", 5, 1),
    lostInAnotherEpoch: (replica) => renew(replica, "q", 5, 1),
  };
  /** @param {Replica} replica @param {string} epoch @param {number} offset @param {number} n */
  const renew = (replica, epoch, offset, n) => {
    replica.begin(epoch, offset);
    replica.add({ n: { value: n, offset: 3 } }, offset, false);
    replica.subscribed();
  };
  for (const [order, expected] of /** @type {[string, number][]} */ ([
    ["answered seen", 11], ["seen answered", 11], ["answered lineLost recovered", 11], ["answered lineLost anew", 11],
    ["answered seen lineLost anew", 11], ["lineLost recovered answered", 11], ["lineLost anew answered", 11],
    ["answered lineLost lost", 1], ["answered lineLost lostInAnotherEpoch", 1], ["seen lineLost lostInAnotherEpoch", 1],
  ])) {
    const replica = new Replica();
    replica.begin("p", 5);
    replica.add({ n: { value: 1, offset: 3 } }, 5, false);
    replica.propose({ key: "k", operations: [{ add: "n", by: 10 }] });
    for (const step of order.split(" ")) steps[step]?.(replica);
    assert.equal(replica.shown.get("n"), expected, order);
  }
});

test("own changes show at once, count once, and a refused one is withdrawn with the current values", async () => {
  const gateway = new Gateway();
  gateway.publish({ values: [{ set: "n", to: 1 }] });
  const values = await opened(gateway);
  assert.equal(values.get("n"), 1);
  /** @type {string[]} */
  const seen = [];
  values.onChange((names) => seen.push([...names].map((name) => `${name}=${values.get(name)}`).join()));
  const added = values.add("n", 10);
  assert.equal(values.get("n"), 11);
  assert.deepEqual(await added, { epoch: "p", offset: 2 });
  assert.equal(values.get("n"), 11);
  gateway.publish({ values: [{ set: "n", to: 5 }] });
  const lost = values.change([{ set: "n", to: 7 }], { ifOffsets: { n: 2 } });
  assert.equal(values.get("n"), 7);
  await assert.rejects(lost, (/** @type {any} */ error) => error.reason === "conflict" && error.values.n.value === 5);
  assert.equal(values.get("n"), 5);
  assert.equal(values.waiting, 0);
  assert.ok(seen.every((text) => ["n=11", "n=5", "n=7"].includes(text)), seen.join());
  values.close();
});

test("what is changed without a connection is kept, and sent once and in order", async () => {
  const gateway = new Gateway();
  const values = await opened(gateway);
  gateway.breaks();
  const all = [values.set("list", "a"), values.add("n"), values.add("n"), values.set("list", "b")];
  assert.deepEqual([values.get("list"), values.get("n"), values.waiting], ["b", 2, 4]);
  gateway.publish({ values: [{ add: "n", by: 100 }] });
  await Promise.all(all);
  assert.deepEqual([gateway.values.get("list"), gateway.values.get("n")], ["b", 102]);
  assert.deepEqual([values.get("list"), values.get("n"), values.waiting], ["b", 102, 0]);
  assert.equal(gateway.log.length, 5);
  values.close();
});

test("a closed one answers nobody's changes", async () => {
  const values = await opened(new Gateway());
  values.close();
  await assert.rejects(values.set("a", 1), { code: "invalid" });
});

test("order keys lie between their neighbours, differ, and stay short", () => {
  for (let round = 0; round < 100; round += 1) {
    /** @type {string[]} */
    const keys = [];
    for (let count = 0; count < 200; count += 1) {
      const at = Math.floor(Math.random() * (keys.length + 1));
      keys.splice(at, 0, OrderKey.between(keys[at - 1], keys[at]));
    }
    assert.deepEqual(keys, [...new Set(keys)].sort());
    assert.ok(keys.every((key) => key.length <= 32));
  }
  let [low, high] = [OrderKey.between(undefined, undefined), /** @type {string | undefined} */ (undefined)];
  for (let count = 0; count < 100; count += 1) high = OrderKey.between(low, high);
  assert.ok((high ?? "").length <= OrderKey.lengthMax, high);
  for (let count = 0; count < 5_000; count += 1) low = OrderKey.between(low, undefined);
  assert.ok(low.length <= 8, low);
  const spread = OrderKey.spread(50);
  assert.deepEqual(spread, [...new Set(spread)].sort());
  assert.throws(() => OrderKey.between("b", "a"), RangeError);
});
