// Values of rooms in the SDK: the copy against a fold of the log, own changes, and the connection with its retries.

import assert from "node:assert/strict";
import { test } from "node:test";
import { OrderKey } from "../../Web/sdk/orderkey.js";
import { Replica, merged, nameOf } from "../../Web/sdk/replica.js";
import { RoomValues } from "../../Web/sdk/values.js";
import { FakeStorage, Random } from "./support.mjs";

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
  hasHistory = true;
  isSlow = false;
  /** Called once, before a publication. */
  onPublish = () => {};
  /** @type {any[]} */
  unsent = [];

  isDown = false;

  open = () => {
    if (this.isDown) throw new Error("unreachable");
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
    if (type === "hello" && data.client && data.client.id !== "c") {
      return answer("error", { code: "unauthorised", message: "no", retryable: false });
    }
    if (type === "hello") answer("welcome", { clientId: "c", resumeToken: "t" });
    if (type === "subscribe") {
      socket.isMember = true;
      const missed = data.position && this.hasHistory ? { recovered: true, publications: this.log.slice(data.position.offset) } : { values: this.page() };
      answer("subscribed", { room: "r", epoch: "p", offset: this.log.length, ...missed });
    }
    if (type === "publish") {
      this.onPublish();
      this.onPublish = () => {};
      this.publish(data, answer);
    }
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
    for (const each of values) this.offsets.set(nameOf(each), publication.offset);
    for (const name of this.offsets.keys()) if (!this.values.has(name)) this.offsets.delete(name);
    this.log.push(publication);
    if (key) this.keys.set(key, publication.offset);
    answer?.("published", { room: "r", epoch: "p", offset: publication.offset, repeated: false });
    if (this.isSlow) this.unsent.push(publication);
    else this.deliver(publication);
  }

  /** @param {any} publication */
  deliver(publication) {
    for (const socket of this.sockets) {
      if (!socket.isMember || socket.readyState !== 1) continue;
      socket.onmessage?.({ data: JSON.stringify({ messageId: "s1", type: "publication", data: { room: "r", epoch: "p", time: 1, ...publication } }) });
    }
  }

  /** Delivers what a slow server has not sent yet. */
  hurry() {
    this.isSlow = false;
    for (const publication of this.unsent.splice(0)) this.deliver(publication);
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

test("a transaction is repeated with the current values until nothing has changed meanwhile", async () => {
  const gateway = new Gateway();
  gateway.publish({ values: [{ set: "stock", to: 3 }, { set: "__proto__", to: [1] }] });
  const values = await opened(gateway);
  /** @type {any[]} */
  const seen = [];
  const position = await values.transaction(["stock", "sold", "__proto__"], ({ stock, sold, ...rest }) => {
    seen.push([stock, sold, JSON.stringify(rest)]);
    if (seen.length === 1) gateway.publish({ values: [{ set: "stock", to: 2 }] });
    if (seen.length === 2) gateway.publish({ values: [{ set: "sold", to: 7 }, { delete: "__proto__" }] });
    return [{ set: "stock", to: stock - 1 }, { set: "sold", to: (sold ?? 0) + 1 }];
  });
  assert.deepEqual(seen, [[3, undefined, '{"__proto__":[1]}'], [2, undefined, '{"__proto__":[1]}'], [2, 7, "{}"]]);
  assert.deepEqual([position?.offset, gateway.values.get("stock"), gateway.values.get("sold")], [4, 1, 8]);
  // It sees own changes that are not answered yet, and publishes nothing if the function returns nothing.
  void values.set("stock", 0);
  assert.equal(await values.transaction(["stock"], ({ stock }) => (stock > 0 ? [{ add: "stock", by: -1 }] : undefined)), undefined);
  assert.equal(gateway.log.length, 5);
  const lost = values.transaction(["stock"], ({ stock }) => {
    gateway.publish({ values: [{ add: "stock", by: 1 }] });
    return [{ set: "stock", to: stock }];
  }, { tries: 3 });
  await assert.rejects(lost, (/** @type {any} */ error) => error.reason === "tooManyConflicts" && error.values.stock.value === 3);
  assert.deepEqual([values.get("stock"), values.waiting, values.canRedo], [3, 0, false]);
  await assert.rejects(values.transaction(["stock"], () => { throw new RangeError("own"); }), RangeError);
  values.close();
});

test("transactions of many clients lose no update", async () => {
  const gateway = new Gateway();
  const all = await Promise.all(Array.from({ length: 12 }, () => opened(gateway)));
  await Promise.all(all.map((values) => values.transaction(["n"], ({ n = 0 }) => [{ set: "n", to: n + 1 }])));
  assert.equal(gateway.values.get("n"), 12);
  for (const values of all) values.close();
});

test("without a connection a transaction and an undo wait for a bounded time, and change nothing", async () => {
  const gateway = new Gateway();
  const values = await opened(gateway);
  await values.set("n", 1);
  gateway.isDown = true;
  gateway.breaks();
  await assert.rejects(values.transaction(["n"], () => assert.fail("called"), { timeout: 1 }), { code: "noAnswer" });
  const undone = values.undo();
  assert.equal(values.canUndo, true);
  assert.deepEqual([values.waiting, gateway.log.length], [0, 1]);
  values.close();
  await assert.rejects(undone, { code: "invalid" });
  await assert.rejects(values.transaction(["n"], () => undefined), { code: "invalid" });
});

/** Own changes, another's later ones, and what remains after an undo; or the names that refuse it. */
const undone = /** @type {[string, any, any[], any[], any][]} */ ([
  ["a set", { a: 1 }, [{ set: "a", to: 2 }], [], { a: 1 }],
  ["a new value", {}, [{ set: "a", to: 2 }], [], {}],
  ["a delete", { a: { b: null } }, [{ delete: "a" }], [], { a: { b: null } }],
  ["a delete of nothing", {}, [{ delete: "a" }], [], {}],
  ["an addition", { n: 5 }, [{ add: "n", by: 2 }], [{ add: "n", by: 10 }], { n: 15 }],
  ["a first addition", {}, [{ add: "n", by: 2 }], [], {}],
  ["a first addition, with others", {}, [{ add: "n", by: 2 }], [{ add: "n", by: 1 }], { n: 1 }],
  ["fields", { a: { x: 1, y: 1, in: { u: 1, v: null } } }, [{ merge: "a", with: { x: 2, y: null, z: 3, in: { u: null } } }],
    [{ merge: "a", with: { w: 9, in: { t: 1 } } }], { a: { x: 1, y: 1, w: 9, in: { u: 1, v: null, t: 1 } } }],
  ["a field that held null", { a: { x: null } }, [{ merge: "a", with: { x: 2 } }], [], { a: { x: null } }],
  ["a field that held an object with null", { a: { x: { n: null } } }, [{ merge: "a", with: { x: 2 } }], [],
    { a: { x: { n: null } } }],
  ["a merge into a number", { a: 5 }, [{ merge: "a", with: { x: 2 } }], [], { a: 5 }],
  ["several of one name", { a: { x: 1 } }, [{ set: "a", to: { y: 2 } }, { merge: "a", with: { z: 3 } }, { add: "n", by: 1 }], [],
    { a: { x: 1 } }],
  ["a name of another", { a: 1 }, [{ set: "a", to: 2 }], [{ set: "b", to: 3 }], { a: 1, b: 3 }],
  ["another's set", { a: 1 }, [{ set: "a", to: 2 }], [{ set: "a", to: 3 }], "a"],
  ["another's equal set", { a: 1 }, [{ set: "a", to: 2 }], [{ set: "a", to: 2 }], "a"],
  ["another's value after a delete", { a: 1 }, [{ delete: "a" }], [{ set: "a", to: 1 }], "a"],
  ["another's delete", { a: 1 }, [{ set: "a", to: 2 }], [{ delete: "a" }], "a"],
  ["another's field in a new value", {}, [{ merge: "a", with: { x: 1 } }], [{ merge: "a", with: { y: 1 } }], "a"],
  ["another's equal field", { a: { x: 1 } }, [{ merge: "a", with: { x: 2 } }], [{ merge: "a", with: { x: 2 } }], "a"],
  ["another's set over an addition", { n: 1 }, [{ add: "n", by: 2 }], [{ set: "n", to: 3 }], "n"],
  ["one of two names", { a: 1, b: 1 }, [{ set: "a", to: 2 }, { set: "b", to: 2 }], [{ set: "b", to: 3 }], "b"],
]);

for (const [what, start, own, others, expected] of undone) {
  for (const arrival of ["before the undo", "while it is sent", "after it was refused"]) {
    test(`undo of ${what} restores it, or says that another's change came ${arrival}`, async () => {
      const gateway = new Gateway();
      for (const [name, value] of Object.entries(start)) gateway.publish({ values: [{ set: name, to: value }] });
      const values = await opened(gateway);
      await values.change(own);
      const after = () => Object.fromEntries(gateway.values);
      const done = after();
      const change = () => { if (others.length > 0) gateway.publish({ values: others }); };
      gateway.isSlow = arrival === "after it was refused";
      if (arrival === "while it is sent") gateway.onPublish = change;
      else change();
      const undo = values.undo();
      setTimeout(() => gateway.hurry());
      if (typeof expected === "string") {
        await assert.rejects(undo, (/** @type {any} */ error) => error.reason === "changedSince" && error.names.join() === expected);
        assert.deepEqual([after()[expected], values.canUndo, values.canRedo],
          [others.some((each) => "delete" in each) ? undefined : others[0].to ?? { ...done[expected], ...others[0].with }, false, false]);
      } else {
        await undo;
        assert.deepEqual(after(), expected);
        await values.redo();
        if (others.length === 0) assert.deepEqual(after(), done);
        await values.undo();
        assert.deepEqual(after(), expected);
        assert.equal(values.canUndo, false);
      }
      assert.equal(await values.undo(), undefined);
      values.close();
    });
  }
}

test("undo changes nothing that another has changed later, and everything else goes back", async () => {
  for (let seed = 1; seed <= 60; seed += 1) {
    const random = new Random(seed);
    const gateway = new Gateway();
    const values = await opened(gateway);
    const word = () => /** @type {string} */ (["x", "y"][random.below(2)]);
    const some = () => /** @type {any} */ ([{ set: word(), to: random.below(4) }, { add: "n", by: 1 },
      { merge: "card", with: { [word()]: random.below(3) || null } }, { delete: word() }][random.below(4)]);
    let [added, count] = [0, 0];
    const isAlone = seed % 4 === 0;
    /** @type {Map<string, boolean>} The places, and whether the last change was another's. */
    const writers = new Map();
    const placesOf = (/** @type {any} */ each) =>
      "merge" in each ? Object.keys(each.with).map((name) => `card.${name}`) : [nameOf(each)];
    for (let step = 0; step < 12; step += 1) {
      const each = some();
      const isOther = !isAlone && random.below(3) === 0;
      if (isOther) gateway.publish({ values: [each] });
      else await values.change([each]);
      if (isOther && "add" in each) added += 1;
      if (!isOther) count += 1;
      for (const place of placesOf(each)) writers.set(place, isOther);
    }
    const read = (/** @type {string} */ place) => {
      const [name, field] = place.split(".");
      return field ? gateway.values.get("card")?.[field] : gateway.values.get(name);
    };
    const before = new Map([...writers.keys()].map((place) => [place, read(place)]));
    let refused = 0;
    for (let step = 0; step < count; step += 1) await values.undo().catch(() => (refused += 1));
    assert.equal(values.canUndo, false, `seed ${seed}`);
    for (const [place, isOther] of writers) {
      if (place === "n") assert.equal(read("n") ?? 0, added, `seed ${seed}`);
      else if (isOther) assert.deepEqual(read(place), before.get(place), `seed ${seed}: ${place}`);
    }
    if (isAlone) assert.deepEqual([[...gateway.values], refused], [[], 0], `seed ${seed}`);
    values.close();
  }
});

test("values that were read again, without the changes in between, are not overwritten by an undo", async () => {
  const gateway = new Gateway();
  const values = await opened(gateway);
  await values.set("a", 1);
  await values.set("b", 1);
  gateway.hasHistory = false;
  gateway.publish({ values: [{ set: "b", to: 1 }] });
  gateway.breaks();
  await assert.rejects(values.undo(), (/** @type {any} */ error) => error.reason === "changedSince");
  await values.undo();
  assert.deepEqual([...gateway.values], [["b", 1]]);
  values.close();
});

/** The storage and the locks of a browser; `closePage` releases those of the pages opened so far. */
function browser() {
  const storage = new FakeStorage();
  /** @type {Set<string>} */
  const held = new Set();
  const request = async (/** @type {string} */ name, /** @type {any} */ _, /** @type {any} */ callback) => {
    if (held.has(name)) return callback(null);
    held.add(name);
    void Promise.resolve(callback({ name })).then(() => held.delete(name));
  };
  const names = /** @type {const} */ (["localStorage", "navigator"]);
  const given = names.map((name) => Object.getOwnPropertyDescriptor(globalThis, name));
  Object.defineProperty(globalThis, "localStorage", { value: storage, configurable: true });
  Object.defineProperty(globalThis, "navigator", { value: { locks: { request } }, configurable: true });
  const end = () => names.forEach((name, index) => {
    const descriptor = given[index];
    if (descriptor) Object.defineProperty(globalThis, name, descriptor);
    else Reflect.deleteProperty(globalThis, name);
  });
  return { storage, closePage: () => held.clear(), end };
}

test("changes outlive a page that is closed while the gateway is down, and are sent once and in order", async () => {
  const { storage, closePage, end } = browser();
  const gateway = new Gateway();
  const first = await opened(gateway);
  const other = await opened(gateway);
  await first.set("list", "a");
  assert.equal(storage.length, 0);
  // Sent, but the answer is lost with the page and the gateway; another one is never sent.
  gateway.onPublish = () => gateway.breaks();
  void first.add("n", 1);
  await new Promise((resolve) => setTimeout(resolve));
  gateway.isDown = true;
  void first.set("list", "b");
  void first.change([{ set: "list", to: "lost" }], { ifOffsets: { list: 0 } });
  void other.add("m", 1);
  assert.equal(storage.length, 2);
  closePage();
  gateway.isDown = false;
  const log = gateway.log.length;
  /** @type {any[]} */
  const refused = [];
  const next = new RoomValues("ws://x/ws", "r", { open: gateway.open });
  next.onRefused((operations, error) => refused.push([operations, error.reason]));
  await next.ready;
  assert.deepEqual([next.get("list"), next.get("m")], ["lost", 1]);
  while (next.waiting > 0) await new Promise((resolve) => setTimeout(resolve));
  assert.deepEqual([[...gateway.values], gateway.log.length - log], [[["list", "b"], ["n", 1], ["m", 1]], 3 - (log - 1)]);
  assert.deepEqual(refused, [[[{ set: "list", to: "lost" }], "conflict"]]);
  assert.equal(storage.length, 0);
  for (const values of [first, other, next]) values.close();
  end();
});

test("changes of another user, another room or a page that is still open are not sent", async () => {
  const { closePage, end } = browser();
  const token = (/** @type {string} */ sub) => () => `x.${Buffer.from(JSON.stringify({ sub })).toString("base64url")}.y`;
  const gateway = new Gateway();
  const open = async (/** @type {string} */ room, /** @type {string} */ sub) => {
    const values = new RoomValues("ws://x/ws", room, { open: gateway.open, token: token(sub) });
    await values.ready;
    return values;
  };
  const ann = await open("r", "ann");
  gateway.isDown = true;
  gateway.breaks();
  void ann.add("n", 1);
  gateway.isDown = false;
  const beside = await open("r", "ann");
  closePage();
  const all = [ann, beside, await open("r", "ben"), await open("r|", "ann"), await open("r.x", "ann")];
  assert.deepEqual(all.map((values) => values.waiting), [1, 0, 0, 0, 0]);
  const next = await open("r", "ann");
  while (next.waiting > 0) await new Promise((resolve) => setTimeout(resolve));
  assert.equal(gateway.values.get("n"), 1);
  for (const values of [...all, next]) values.close();
  end();
});

test("changes that were sent too long ago, or under a forgotten identity, are not sent again", async () => {
  const { storage, closePage, end } = browser();
  const gateway = new Gateway();
  for (const [time, id, expected] of /** @type {[number, string, any]} */ ([[Date.now() - 25 * 3_600_000, "c", "unsure"], [Date.now(), "d", "unsure"], [Date.now(), "c", ""]])) {
    const changes = [{ operations: [{ add: "n", by: 1 }], ifOffsets: {}, key: "k", client: id, time }];
    storage.setItem("parley.values|ws%3A%2F%2Fx%2Fws|r|1", JSON.stringify({ owner: "", identity: { id, resumeToken: "t" }, changes }));
    const values = new RoomValues("ws://x/ws", "r", { open: gateway.open });
    let code = "";
    values.onRefused((_, error) => (code = error.code));
    await values.ready;
    while (values.waiting > 0) await new Promise((resolve) => setTimeout(resolve));
    assert.deepEqual([code, gateway.values.get("n"), storage.length], [expected, expected ? undefined : 1, 0]);
    values.close();
    closePage();
  }
  end();
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
