// The connection around the client core, with sockets and a clock that the test controls.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Line, World } from "./support.mjs";

test("a connection sends hello, and after a loss again with its identity", () => {
  const world = new World();
  world.connection.start();
  assert.deepEqual(world.socket.protocols, ["parley.v1"]);
  world.welcome("ann-1");
  assert.deepEqual(world.sent[0]?.data, { name: "Ann", color: "#123456", numbers: true, numbersMax: 4096 });
  assert.deepEqual(world.connection.identity, { id: "ann-1", resumeToken: "token of ann-1" });
  world.hangUp(1006);
  assert.equal(world.connection.status.state, "waiting");
  world.tick();
  world.welcome("ann-1");
  assert.deepEqual(world.socket.sent[0].data.client, { id: "ann-1", resumeToken: "token of ann-1" });
  assert.deepEqual(world.statuses, ["connecting", "online", "waiting", "connecting", "online"]);
});

test("a client over its connection rate keeps its identity, and waits for the time that the server requests", () => {
  const world = new World({ identity: { id: "ann-1", resumeToken: "t" } });
  world.connection.start();
  world.open();
  const before = Date.now();
  world.refuse("hello", { code: "tooFast", retryable: true, retryAfter: 40_000 });
  assert.equal(world.connection.status.state, "waiting");
  const away = (world.connection.status.retryAt ?? 0) - before;
  assert.ok(away >= 40_000 && away <= 80_000 + Date.now() - before, `${away}`);
  assert.equal(world.connection.identity?.id, "ann-1");
});

test("a refused hello without an identity ends the connection", () => {
  const world = new World();
  world.connection.start();
  world.open();
  world.refuse("hello", { code: "unauthorised" });
  assert.deepEqual(world.connection.status, { state: "stopped", code: 4502 });
});

test("a rejected token does not discard the identity", () => {
  const world = new World({ identity: { id: "ann-1", resumeToken: "t" } });
  world.token = "stale";
  world.connection.start();
  world.open();
  assert.equal(world.sent.at(-1)?.data.token, "stale");
  world.refuse("hello", { code: "unauthorised" });
  world.hangUp(4502);
  assert.deepEqual(world.connection.status, { state: "stopped", code: 4502 });
  world.token = "fresh";
  world.connection.start();
  world.open();
  assert.deepEqual(world.sent.at(-1)?.data.client, { id: "ann-1", resumeToken: "t" });
  assert.equal(world.sent.at(-1)?.data.token, "fresh");
});

test("the expiry of a token is announced, and a newer token replaces it on the same connection", async () => {
  const world = new World();
  /** @type {number[]} */
  const ends = [];
  world.connection.on("expiring", (time) => ends.push(time));
  world.connection.start();
  world.welcome("ann-1");
  world.say("tokenExpiring", { expiresAt: 5000 });
  assert.deepEqual(ends, [5000]);
  const refused = world.connection.refresh("eve's");
  world.refuse("refresh", { code: "unauthorised" });
  assert.equal(await refused, "unauthorised");
  const taken = world.connection.refresh("newer");
  assert.deepEqual(world.sent.at(-1)?.data, { token: "newer" });
  world.say("refreshed", { expiresAt: 9000 }, "refresh");
  assert.equal(await taken, undefined);
  // The token has expired nevertheless.
  world.hangUp(4507);
  assert.equal(world.connection.status.state, "stopped");
  assert.equal(world.connection.identity?.id, "ann-1");
  assert.equal(await world.connection.refresh("too late"), "unreachable");
});

test("close codes from 4500 are final", () => {
  for (const [code, state] of /** @type {[number, string][]} */ ([
    [4001, "waiting"], [4499, "waiting"], [4500, "stopped"], [4505, "stopped"], [5000, "waiting"],
  ])) {
    const world = new World();
    world.connection.start();
    world.welcome("ann-1");
    world.hangUp(code);
    assert.equal(world.connection.status.state, state, String(code));
  }
});

test("a silent connection is pinged, and closed without an answer", () => {
  const world = new World();
  world.connection.start();
  world.welcome("ann-1");
  world.tick();
  assert.equal(world.sent.at(-1)?.type, "ping");
  world.say("pong", {}, "ping");
  assert.ok(world.connection.isOnline);
  world.tick();
  assert.equal(world.sent.at(-1)?.type, "ping");
  const silent = world.socket;
  world.tick();
  assert.equal(world.connection.status.state, "waiting");
  assert.equal(silent.readyState, 3);
});

test("a socket that does not open in time is closed", () => {
  const world = new World();
  world.connection.start();
  world.tick();
  assert.equal(world.connection.status.state, "waiting");
  world.connection.retryNow();
  assert.equal(world.connection.status.state, "connecting");
  assert.equal(world.sockets.length, 2);
});

test("malformed messages are ignored", () => {
  const world = new World();
  world.connection.start();
  world.welcome();
  /** @type {string[]} */
  const resources = [];
  world.connection.on("resource", (id) => resources.push(id));
  const count = world.sent.length;
  for (const data of ["", "{", "null", "3", "[]", '{"type":7}', new ArrayBuffer(3)]) {
    world.socket.onmessage({ data });
  }
  assert.equal(world.sent.length, count);
  assert.ok(world.connection.isOnline);
  world.say("resourceUpdate", { resourceId: "notes" });
  assert.deepEqual(resources, ["notes"]);
});

test("the core's actions are performed in order, even if a listener causes further ones", () => {
  const { connection, ...world } = lineWithNote();
  connection.on("lost", () => world.order.push("lost"));
  connection.on("status", ({ state }) => {
    world.order.push(state);
    // The actions of this call follow all actions of the loss.
    if (state === "waiting") connection.retryNow();
  });
  world.line.lose();
  assert.deepEqual(world.order, ["lost", "waiting", "note away", "connecting"]);
});

/** A connection with a note "d" that reports its state. */
function lineWithNote() {
  const line = new Line();
  /** @type {string[]} */
  const order = [];
  line.connection.addNote("d", {
    take: () => {},
    perform: (action) => action.kind === "status" && order.push(`note ${action.status.phase}`),
  });
  line.connection.handle("open", "d");
  line.tell("joined", { text: "" });
  order.length = 0;
  return { line, connection: line.connection, order };
}

test("each hello contains the current token", () => {
  const line = new Line();
  line.token = "first";
  line.lose();
  line.connection.retryNow();
  line.open();
  assert.equal(line.last("hello")?.data.token, "first");
  line.token = "second";
  line.hangUp(1006);
  line.tick();
  line.open();
  assert.equal(line.last("hello")?.data.token, "second");
});

test("a stopped connection ignores its socket", () => {
  const world = new World();
  world.connection.start();
  world.open();
  const { socket } = world;
  const { onmessage, onclose } = socket;
  world.connection.stop();
  assert.equal(socket.readyState, 3);
  assert.equal(socket.onmessage, null);
  assert.ok(onmessage && onclose);
  assert.equal(world.connection.status.state, "stopped");
});

test("a connection is retried if the browser cannot open a socket", () => {
  const world = new World();
  world.opens = false;
  world.connection.start();
  assert.equal(world.connection.status.state, "waiting");
  world.opens = true;
  world.tick();
  world.welcome();
  assert.ok(world.connection.isOnline);
});
