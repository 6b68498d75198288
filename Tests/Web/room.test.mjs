// Rooms of the SDK: publications as events and from iterators, answers as promises, people, gaps, and their end.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ParleyError } from "../../Web/sdk/errors.js";
import { SharedRoom } from "../../Web/sdk/room.js";
import { World } from "./support.mjs";

const turn = () => new Promise((resolve) => setImmediate(resolve));

const room = "orders";
const position = (/** @type {number} */ offset, epoch = "p") => ({ epoch, offset });

/** Waits without a limit. */
const waits = () => /** @type {any} */ ({ limited: (/** @type {any} */ answer) => answer });

/**
 * Opens a room on a connection.
 *
 * @param {{isPresent?: boolean, from?: {epoch: string, offset: number}}} [options]
 */
function opened({ isPresent = false, from } = {}) {
  const world = new World();
  let closed = 0;
  const { core, connection } = world;
  const shared = new SharedRoom({ core, connection, name: room, isPresent, from, waits: waits(), closed: () => (closed += 1) });
  /** @type {any[]} */
  const heard = [];
  for (const name of /** @type {const} */ (["publication", "gap", "resource"])) {
    shared.on(name, (news) => heard.push(news.kind === "publication" ? news.data : news));
  }
  connection.start();
  world.welcome("ann");
  const live = (/** @type {number} */ offset, more = {}) =>
    world.say("subscribed", { room, ...position(offset), ...more }, "subscribe");
  const push = (/** @type {number} */ offset, /** @type {any} */ data) =>
    world.say("publication", { room, ...position(offset), time: 1_763_712_000_000, personId: "bo", senderId: "app", data });
  return { world, room: shared, heard, live, push, closed: () => closed };
}

test("publications arrive in order, and missed ones after a reconnect", () => {
  const { world, room: orders, heard, live, push } = opened();
  assert.deepEqual(world.last("subscribe")?.data, { room });
  assert.equal(orders.state, "opening");
  live(5);
  assert.equal(orders.state, "live");
  assert.deepEqual(orders.position, position(5));
  push(6, { text: "ready 😀", price: 12.5 });
  world.hangUp(1006);
  assert.equal(orders.state, "away");
  world.connection.retryNow();
  world.welcome("ann");
  assert.deepEqual(world.last("subscribe")?.data, { room, position: position(6) });
  live(8, { recovered: true, publications: [{ offset: 7, time: 1, data: null }, { offset: 8, time: 2, data: 17 }] });
  assert.deepEqual(heard, [{ text: "ready 😀", price: 12.5 }, null, 17]);
  assert.deepEqual(orders.position, position(8));
});

test("a page continues from its stored position, and is notified of a gap", () => {
  const { world, room: orders, heard, live } = opened({ from: position(3) });
  assert.deepEqual(world.last("subscribe")?.data, { room, position: position(3) });
  live(2_000, { recovered: false });
  assert.deepEqual(heard, [{ kind: "gap", after: position(3), through: position(2_000) }]);
  assert.deepEqual(orders.position, position(2_000));
});

test("a publication has its position, time, person and sender", () => {
  const { room: orders, live, push } = opened();
  /** @type {any} */
  let heard;
  orders.on("publication", (publication) => (heard = publication));
  live(0);
  push(1, "x");
  assert.deepEqual(heard, {
    kind: "publication", data: "x", position: position(1), time: 1_763_712_000_000, personId: "bo", senderId: "app",
  });
});

test("publish returns a promise, and publishes once for each key", async () => {
  const { world, room: orders, live } = opened();
  live(5);
  const first = orders.publish({ order: 17 }, { key: "k", senderId: "me" });
  assert.deepEqual(world.last("publish")?.data, { room, data: { order: 17 }, key: "k", senderId: "me" });
  const again = orders.publish({ order: 17 }, { key: "k" });
  await assert.rejects(orders.publish({ order: 18 }, { key: "k" }), (error) => error instanceof ParleyError && error.reason === "keyReused");
  assert.equal(orders.waiting, 1);
  world.hangUp(1006);
  world.connection.retryNow();
  world.welcome("ann");
  assert.equal(world.count("publish"), 2);
  world.say("published", { room, ...position(6), repeated: true }, "publish");
  assert.deepEqual(await Promise.all([first, again]), [position(6), position(6)]);
  assert.equal(orders.waiting, 0);
  void orders.publish(1);
  void orders.publish(1);
  const keys = new Set(world.sent.filter(({ type }) => type === "publish").map(({ data }) => data.key));
  assert.equal(keys.size, 3);
});

test("a failed publication rejects with the reason", async () => {
  const { world, room: orders, live } = opened();
  live(5);
  const refused = orders.publish("x");
  world.refuse("publish", { code: "notAllowed" });
  await assert.rejects(refused, (error) => error instanceof ParleyError && error.code === "refused" && error.reason === "notAllowed");
  for (const data of [undefined, () => {}, JSON.parse("[".repeat(40) + "]".repeat(40))]) {
    await assert.rejects(orders.publish(data), (error) => error instanceof ParleyError && error.code === "invalid");
  }
  const unsure = orders.publish("y");
  world.hangUp(1006);
  world.connection.retryNow();
  world.welcome("somebody else");
  await assert.rejects(unsure, (error) => error instanceof ParleyError && error.code === "unsure");
  const given = orders.publish("z");
  orders.close();
  await assert.rejects(given, (error) => error instanceof ParleyError && error.code === "invalid");
  await assert.rejects(orders.publish("late"), (error) => error instanceof ParleyError && error.code === "invalid");
});

test("1,000 publications may wait for a connection, and the next one is refused", async () => {
  const world = new World();
  const { core, connection } = world;
  const orders = new SharedRoom({ core, connection, name: room, isPresent: false, from: undefined, waits: waits(), closed: () => {} });
  const all = Array.from({ length: 1_000 }, (_, number) => orders.publish(number));
  await assert.rejects(orders.publish("more"), (error) => error instanceof ParleyError && error.reason === "tooMany");
  orders.close();
  assert.ok((await Promise.allSettled(all)).every(({ status }) => status === "rejected"));
});

test("an iterator returns all publications in order, and ends when the room is closed", async () => {
  const { world, room: orders, live, push, closed } = opened();
  live(0);
  const news = orders.publications();
  const heard = (async () => {
    const all = [];
    for await (const one of news) all.push(one.kind === "publication" ? one.data : one.kind);
    return all;
  })();
  push(1, "a");
  await turn();
  orders.resourceChanged();
  push(2, "b");
  orders.close();
  assert.deepEqual(await heard, ["a", "resource", "b"]);
  assert.deepEqual(await news.next(), { value: undefined, done: true });
  assert.deepEqual(world.last("unsubscribe")?.data, { room });
  assert.equal(closed(), 1);
  for await (const _ of orders.publications()) assert.fail("it is closed");
});

test("an iterator that is 1,000 publications behind gets a gap instead of the older half", async () => {
  const { room: orders, live, push } = opened();
  live(0);
  const news = orders.publications();
  for (let offset = 1; offset <= 1_700; offset += 1) push(offset, offset);
  const first = (await news.next()).value;
  assert.ok(first?.kind === "gap");
  assert.equal(first.after.offset, 0);
  let last = first.through.offset;
  while (last < 1_700) {
    const next = (await news.next()).value;
    assert.ok(next?.kind === "publication");
    assert.equal(next.data, last + 1);
    last = next.position.offset;
  }
  // Leaving the loop ends the iterator.
  for await (const _ of (push(1_701, 0), news)) break;
  push(1_702, 0);
  assert.equal((await news.next()).done, true);
});

test("an iterator throws without the right to subscribe, and a new one works after a retry", async () => {
  const { world, room: orders, live, push } = opened();
  const news = orders.publications();
  world.refuse("subscribe", { code: "notAllowed" });
  assert.equal(orders.state, "failed");
  assert.equal(orders.failure, "notAllowed");
  await assert.rejects(news.next(), (error) => error instanceof ParleyError && error.reason === "notAllowed");
  await assert.rejects(orders.publications().next(), (error) => error instanceof ParleyError && error.reason === "notAllowed");
  orders.retry();
  live(3);
  assert.equal(orders.state, "live");
  const again = orders.publications();
  push(4, "x");
  const next = await again.next();
  assert.ok(next.value?.kind === "publication" && next.value.data === "x");
  orders.end(new ParleyError("refused", "the connection has ended", "noAccess"));
  await assert.rejects(again.next(), (error) => error instanceof ParleyError && error.reason === "noAccess");
});

test("receipts are sent, delivered to the author, and returned on request", async () => {
  const { world, room: orders, live } = opened();
  assert.throws(() => orders.confirm(position(6)), (error) => error instanceof ParleyError && error.code === "invalid");
  live(7);
  /** @type {any[]} */
  const told = [];
  orders.on("receipt", (receipt) => told.push(receipt));
  orders.confirm(position(6));
  assert.deepEqual(world.last("receipt")?.data, { room, offset: 6, state: "read" });
  orders.confirm(position(7), "delivered");
  assert.deepEqual(world.last("receipt")?.data, { room, offset: 7, state: "delivered" });
  world.say("receipt", { room, offset: 7, personId: "ann", state: "delivered" }, "receipt");
  assert.deepEqual(told, []);
  world.say("receipt", { room, offset: 5, personId: "bo", state: "read" });
  assert.deepEqual(told, [{ position: position(5), personId: "bo", stage: "read" }]);
  const asked = [orders.receiptsOf(position(5)), orders.receiptsOf(position(5))];
  assert.deepEqual(world.last("receipts")?.data, { room, offset: 5 });
  const receipts = [{ personId: "bo", state: "read" }, { personId: "cleo", state: "delivered" }];
  world.say("receipts", { room, offset: 5, receipts }, "receipts");
  const wanted = [{ personId: "bo", stage: "read" }, { personId: "cleo", stage: "delivered" }];
  assert.deepEqual(await Promise.all(asked), [wanted, wanted]);
  const refused = orders.receiptsOf(position(4));
  world.say("error", { code: "notAllowed", message: "", retryable: false }, "receipts");
  await assert.rejects(refused, (error) => error instanceof ParleyError && error.reason === "notAllowed");
  const last = orders.receiptsOf(position(3));
  await assert.rejects(orders.receiptsOf(position(3, "another history")), ParleyError);
  orders.close();
  await assert.rejects(last, ParleyError);
  assert.throws(() => orders.confirm(position(6)), ParleyError);
});

test("people and typing are updated, and the own entry is marked", () => {
  const { world, room: orders, live } = opened({ isPresent: true });
  assert.equal(world.last("subscribe")?.data.presence, true);
  let told = 0;
  orders.on("people", () => (told += 1));
  live(0, { present: [{ personId: "bo", name: "Bo", color: "#3355dd" }, { personId: "ann", name: "Ann" }] });
  assert.deepEqual(orders.people, [
    { id: "ann", name: "Ann", color: "", isTyping: false, isSelf: true },
    { id: "bo", name: "Bo", color: "#3355dd", isTyping: false, isSelf: false },
  ]);
  world.say("typing", { room, personId: "bo", typing: true });
  assert.deepEqual(orders.typists, ["bo"]);
  assert.deepEqual(orders.people.map(({ isTyping }) => isTyping), [false, true]);
  world.say("roomPresence", { room, joined: [], updated: [], left: ["bo"] });
  assert.deepEqual(orders.people.map(({ name }) => name), ["Ann"]);
  assert.ok(told >= 3, `${told}`);
  orders.isTyping = true;
  orders.isTyping = true;
  assert.equal(world.count("typing"), 1);
  assert.deepEqual(world.last("typing")?.data, { room, typing: true });
  orders.isPresent = false;
  assert.deepEqual(world.last("subscribe")?.data, { room, position: position(0) });
  orders.close();
  assert.deepEqual(world.last("typing")?.data, { room, typing: false });
});
