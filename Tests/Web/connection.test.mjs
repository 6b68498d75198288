// The connection, on sockets and a clock that the test holds in its hands.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Connection } from "../../Web/js/connection.js";

/** Sockets, timers and time, as plain values. */
class World {
  now = 0;
  /** @type {{at: number, run: () => void}[]} */
  timers = [];
  /** @type {any[]} */
  sockets = [];
  /** @type {any[]} */
  statuses = [];
  /** @type {any[]} */
  messages = [];

  /** @type {string | undefined} */
  token;

  /** @param {{identity?: {id: string, resumeToken: string}}} [options] */
  constructor(options) {
    this.connection = new Connection({
      url: "ws://here/ws",
      profile: () => ({ name: "Ann", color: "#123456" }),
      token: () => this.token,
      identity: options?.identity,
      surroundings: {
        open: (url, protocols) => {
          const socket = {
            url, protocols, readyState: 0, sent: [],
            send(/** @type {string} */ text) {
              socket.sent.push(JSON.parse(text));
            },
            close() {
              socket.readyState = 3;
            },
          };
          this.sockets.push(socket);
          return /** @type {any} */ (socket);
        },
        setTimeout: (run, delay) => {
          const timer = { at: this.now + delay, run };
          this.timers.push(timer);
          return timer;
        },
        clearTimeout: (timer) => {
          this.timers = this.timers.filter((other) => other !== timer);
        },
        now: () => this.now,
        random: () => 1,
      },
    });
    this.connection.on("status", (status) => this.statuses.push(status.state));
    this.connection.on("message", (message) => this.messages.push(message));
  }

  get socket() {
    return this.sockets[this.sockets.length - 1];
  }

  get sent() {
    return this.socket.sent[this.socket.sent.length - 1];
  }

  open() {
    this.socket.readyState = 1;
    this.socket.onopen();
  }

  /** @param {object} message */
  say(message) {
    this.socket.onmessage?.({ data: JSON.stringify(message) });
  }

  /** @param {string} [id] */
  welcome(id = "ann-1") {
    this.open();
    this.say({
      messageId: this.sent.messageId, type: "welcome", data: { clientId: id, resumeToken: `token of ${id}` },
    });
  }

  /** @param {number} code */
  hangUp(code) {
    this.socket.readyState = 3;
    this.socket.onclose?.({ code, reason: "" });
  }

  /** Lets time pass up to the next timer. */
  tick() {
    const next = this.timers.sort((a, b) => a.at - b.at).shift();
    assert.ok(next, "nothing is waiting");
    this.now = next.at;
    next.run();
    return next.at;
  }
}

test("it says hello, and again with its identity after a loss", () => {
  const world = new World();
  world.connection.start();
  assert.deepEqual(world.socket.protocols, ["parley.v1"]);
  world.welcome();
  assert.deepEqual(world.socket.sent[0].data, { name: "Ann", color: "#123456" });
  assert.deepEqual(world.connection.identity, { id: "ann-1", resumeToken: "token of ann-1" });
  world.hangUp(1006);
  assert.equal(world.connection.status.state, "waiting");
  world.tick();
  world.welcome();
  assert.deepEqual(world.socket.sent[0].data.client, { id: "ann-1", resumeToken: "token of ann-1" });
  assert.deepEqual(world.statuses, ["connecting", "online", "waiting", "connecting", "online"]);
});

test("an identity that the server does not know is given up", () => {
  const world = new World({ identity: { id: "old", resumeToken: "stale" } });
  world.connection.start();
  world.open();
  world.say({ messageId: world.sent.messageId, type: "error", data: { code: "unauthorised", message: "?" } });
  assert.equal(world.sent.type, "hello");
  assert.equal(world.sent.data.client, undefined);
  world.say({ messageId: world.sent.messageId, type: "welcome", data: { clientId: "new", resumeToken: "t" } });
  assert.equal(world.connection.identity?.id, "new");
  assert.ok(world.connection.isOnline);
});

test("who connects too often stays who they were, and away for as long as they are told", () => {
  const world = new World({ identity: { id: "ann-1", resumeToken: "t" } });
  world.connection.start();
  world.open();
  world.say({
    messageId: world.sent.messageId, type: "error",
    data: { code: "tooFast", message: "Wait.", retryable: true, retryAfter: 40_000 },
  });
  assert.equal(world.connection.status.state, "waiting");
  assert.equal(world.connection.status.retryAt, 80_000);
  assert.equal(world.connection.identity?.id, "ann-1");
});

test("without an identity to blame, a refused hello ends it", () => {
  const world = new World();
  world.connection.start();
  world.open();
  world.say({ messageId: world.sent.messageId, type: "error", data: { code: "unauthorised", message: "a token is needed" } });
  assert.deepEqual(world.connection.status, { state: "stopped", code: 4502 });
});

test("a token that is not accepted does not cost the identity", () => {
  const world = new World({ identity: { id: "ann-1", resumeToken: "t" } });
  world.token = "stale";
  world.connection.start();
  world.open();
  assert.equal(world.sent.data.token, "stale");
  world.say({
    messageId: world.sent.messageId, type: "error", data: { code: "unauthorised", message: "it has expired" },
  });
  world.hangUp(4502);
  assert.deepEqual(world.connection.status, { state: "stopped", code: 4502 });
  world.token = "fresh";
  world.connection.start();
  world.open();
  assert.deepEqual(world.sent.data.client, { id: "ann-1", resumeToken: "t" });
  assert.equal(world.sent.data.token, "fresh");
});

test("a token that ends is told of, and a newer one goes in without a break", async () => {
  const world = new World();
  /** @type {number[]} */
  const ends = [];
  world.connection.on("expiring", (time) => ends.push(time));
  world.connection.start();
  world.welcome();
  world.say({ messageId: "s1", type: "tokenExpiring", data: { expiresAt: 5000 } });
  assert.deepEqual(ends, [5000]);
  const refused = world.connection.refresh("eve's");
  world.say({ messageId: world.sent.messageId, type: "error", data: { code: "unauthorised", message: "another user" } });
  assert.equal(await refused, "unauthorised");
  const taken = world.connection.refresh("newer");
  assert.deepEqual(world.sent.data, { token: "newer" });
  world.say({ messageId: world.sent.messageId, type: "refreshed", data: { expiresAt: 9000 } });
  assert.equal(await taken, undefined);
  // It ended after all.
  world.hangUp(4507);
  assert.equal(world.connection.status.state, "stopped");
  assert.equal(world.connection.identity?.id, "ann-1");
  assert.equal(await world.connection.refresh("too late"), "unreachable");
});

test("delays grow to a limit, and start over after a welcome", () => {
  const world = new World();
  world.connection.start();
  const delays = [];
  for (let attempt = 0; attempt < 9; attempt += 1) {
    world.hangUp(1006);
    const from = world.now;
    delays.push(world.tick() - from);
  }
  assert.deepEqual(delays, [250, 500, 1000, 2000, 4000, 8000, 15000, 15000, 15000]);
  world.welcome();
  world.hangUp(1006);
  const from = world.now;
  assert.equal(world.tick() - from, 250);
});

test("the server's goodbye sets the delay once", () => {
  const world = new World();
  world.connection.start();
  world.welcome();
  world.say({ messageId: "s1", type: "goodbye", data: { reason: "draining", reconnectAfter: [1000, 4000] } });
  world.hangUp(4002);
  let from = world.now;
  assert.equal(world.tick() - from, 4000);
  world.hangUp(1006);
  from = world.now;
  assert.ok(world.tick() - from < 1000);
});

test("close codes from 4500 are final", () => {
  for (const [code, state] of /** @type {[number, string][]} */ ([
    [4001, "waiting"], [4499, "waiting"], [4500, "stopped"], [4505, "stopped"], [5000, "waiting"],
  ])) {
    const world = new World();
    world.connection.start();
    world.welcome();
    world.hangUp(code);
    assert.equal(world.connection.status.state, state, String(code));
  }
});

test("a silent line is asked for a sign of life, then given up", () => {
  const world = new World();
  world.connection.start();
  world.welcome();
  world.tick();
  assert.equal(world.sent.type, "ping");
  world.say({ messageId: world.sent.messageId, type: "pong", data: {} });
  assert.ok(world.connection.isOnline);
  world.tick();
  assert.equal(world.sent.type, "ping");
  const silent = world.socket;
  world.tick();
  assert.equal(world.connection.status.state, "waiting");
  assert.equal(silent.readyState, 3);
});

test("a socket that never opens is given up", () => {
  const world = new World();
  world.connection.start();
  world.tick();
  assert.equal(world.connection.status.state, "waiting");
  world.connection.retryNow();
  assert.equal(world.connection.status.state, "connecting");
  assert.equal(world.sockets.length, 2);
});

test("replies find who asked, pushes and replies keep their order", () => {
  const world = new World();
  world.connection.start();
  assert.equal(world.connection.send("join", {}), false);
  world.welcome();
  /** @type {string[]} */
  const order = [];
  world.connection.on("message", ({ type }) => order.push(type));
  world.connection.send("join", { documentId: "d" }, ({ type }) => order.push(`reply ${type}`));
  const { messageId } = world.sent;
  world.say({ messageId: "s1", type: "presence", data: {} });
  world.say({ messageId, type: "joined", data: {} });
  world.say({ messageId, type: "joined", data: {} });
  assert.deepEqual(order, ["presence", "reply joined", "joined", "joined"]);
});

test("what is no message is passed over", () => {
  const world = new World();
  world.connection.start();
  world.welcome();
  for (const data of ["", "{", "null", "3", "[]", '{"type":7}', new ArrayBuffer(3)]) {
    world.socket.onmessage({ data });
  }
  assert.deepEqual(world.messages, []);
  assert.ok(world.connection.isOnline);
});
