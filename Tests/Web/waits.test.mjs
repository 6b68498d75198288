// Each promise of the SDK that waits for the gateway, and each reason for which the gateway gives no answer.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { connect } from "../../Web/sdk/client.js";
import { ParleyError } from "../../Web/sdk/errors.js";

const wasm = readFileSync(new URL("../../Web/generated/client.wasm", import.meta.url));
const turn = () => new Promise((resolve) => setImmediate(resolve));
const encode = (/** @type {object} */ part) => Buffer.from(JSON.stringify(part)).toString("base64url");
let count = 0;
const token = () => `${encode({})}.${encode({ sub: "ann", jti: (count += 1) })}.secret`;

/** What a scripted gateway does at a hello: "welcome", "gone", or the code of its close frame. */
let behaviour = /** @type {string | number} */ ("welcome");

class FakeSocket {
  /** @type {any} */ onopen; /** @type {any} */ onmessage; /** @type {any} */ onclose; /** @type {any} */ onerror;
  readyState = 0;
  constructor() {
    queueMicrotask(() => {
      if (behaviour === "gone") return this.close(1006);
      this.readyState = 1;
      this.onopen?.();
    });
  }
  close(code = 1000) {
    this.readyState = 3;
    queueMicrotask(() => this.onclose?.({ code, reason: "" }));
  }
  /** @param {string} text */
  send(text) {
    const { messageId, type } = JSON.parse(text);
    const say = (/** @type {string} */ kind, /** @type {object} */ data) =>
      queueMicrotask(() => this.onmessage?.({ data: JSON.stringify({ messageId, type: kind, data }) }));
    if (type === "ping") say("pong", { serverTime: 1 });
    if (type !== "hello") return;
    if (typeof behaviour === "number") {
      if (behaviour === 4502) say("error", { code: "unauthorised", message: "", retryable: false });
      this.close(behaviour);
      return;
    }
    say("welcome", {
      protocol: "parley.v1", serverTime: 1, demo: false, capabilities: [], clientId: "c", resumeToken: "r",
      limits: { messageBytesMax: 100_000, documentScalarsMax: 4_000_000 },
    });
  }
}

/** @type {Record<string, (parley: import("../../Web/sdk/client.js").Parley) => Promise<unknown>>} */
const calls = {
  ready: (parley) => parley.note("n").ready,
  publish: (parley) => parley.room("r").publish(1),
};

const login = () => Promise.reject(new TypeError("no answer of the login"));

/** The behaviour of the gateway, the tokens in turn, and the error of each promise. @type {Record<string, {at: any,
 *   tokens: (() => any)[], reason?: string, words?: RegExp}>} */
const causes = {
  "no token": { at: 4507, tokens: [token, () => undefined], reason: "noAccess", words: /expected a token/ },
  refused: { at: 4502, tokens: [token], words: /expected a token/ },
  expired: { at: 4507, tokens: [token], words: /expected a token/ },
  revoked: { at: 4508, tokens: [token], words: /expected a token/ },
  "another person's token": {
    at: 4507, tokens: [token, () => `${encode({})}.${encode({ sub: "bo" })}.x`], reason: "noAccess", words: /expected a token/,
  },
  "dismissed for good": { at: 4509, tokens: [token], reason: "refused", words: /refuses this client/ },
  "token function always throws": { at: 4507, tokens: [token, login], words: /token function failed/ },
  gone: { at: "gone", tokens: [token], words: /cannot be reached/ },
  silent: { at: "welcome", tokens: [token], reason: "online", words: /does not answer/ },
  closed: { at: "gone", tokens: [token], words: /closed/ },
};

for (const [cause, { at, tokens, reason, words }] of Object.entries(causes)) {
  test(`each promise ends: ${cause}`, async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout", "Date"] });
    const { performance: real } = globalThis;
    t.mock.method(real, "now", () => Date.now());
    t.mock.method(globalThis, "fetch", async () => new Response(wasm, { headers: { "content-type": "application/wasm" } }));
    t.mock.method(console, "warn", () => {});
    Object.assign(globalThis, { WebSocket: FakeSocket });
    behaviour = at;
    const given = [...tokens];
    /** @type {string[]} */
    const logged = [];
    const parley = await connect("http://127.0.0.1:1", {
      token: () => (given.length > 1 ? given.shift() : given[0])?.(),
      log: (problem) => logged.push(problem),
    });
    const waiting = Object.values(calls).map((call) => call(parley));
    let ended = 0;
    for (const one of waiting) one.then(() => (ended += 1), () => (ended += 1));
    if (cause === "closed") parley.close();
    let seconds = 0;
    for (; ended < waiting.length && seconds < 300; seconds += 1) {
      for (let turns = 0; turns < 4; turns += 1) await turn();
      t.mock.timers.tick(1_000);
    }
    assert.equal(ended, waiting.length, `they still wait: ${JSON.stringify(parley.status)}`);
    assert.ok(seconds <= 130);
    for (const end of await Promise.allSettled(waiting)) {
      assert.ok(end.status === "rejected" && end.reason instanceof ParleyError);
      assert.match(end.reason.message, words ?? /./);
      if (reason) assert.deepEqual([end.reason.code, end.reason.reason], ["noAnswer", reason]);
    }
    if (cause !== "silent") assert.ok(parley.problem && logged.some((entry) => entry.includes(parley.problem)));
    assert.ok(!logged.some((entry) => entry.includes("secret")));
    parley.close();
  });
}

test("a promise that ended without an answer can be asked for again", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"] });
  t.mock.method(globalThis.performance, "now", () => Date.now());
  t.mock.method(globalThis, "fetch", async () => new Response(wasm, { headers: { "content-type": "application/wasm" } }));
  Object.assign(globalThis, { WebSocket: FakeSocket });
  behaviour = "gone";
  const parley = await connect("http://127.0.0.1:1", { timeout: 1_000 });
  const room = parley.room("r");
  const first = room.publish(1, { key: "k" });
  for (let turns = 0; turns < 4; turns += 1) await turn();
  t.mock.timers.tick(1_000);
  await assert.rejects(first, (error) => error instanceof ParleyError && error.code === "noAnswer");
  assert.equal(room.waiting, 1);
  parley.close();
  await assert.rejects(connect("http://127.0.0.1:1", { token: () => new Promise(() => setImmediate(() => t.mock.timers.tick(30_000))) }),
    (error) => error instanceof ParleyError && /token function/.test(error.message));
});
