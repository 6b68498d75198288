import assert from "node:assert/strict";
import { test } from "node:test";

import { BlockedLine, blockedReason } from "../../Web/js/shell/blockedline.js";

const answers = { ok: { ok: true }, "502": { ok: false } };

/** @param {(string | undefined)[]} answered The answers to the requests over HTTP; undefined for no answer. */
function lineWith(answered) {
  const queue = [...answered];
  const changes = [];
  const line = new BlockedLine(async () => {
    const answer = answers[queue.shift()];
    if (!answer) throw new TypeError("Failed to fetch");
    return answer;
  });
  line.on("changed", () => changes.push(line.isBlocked));
  return { line, changes };
}

const rows = [
  ["a server that is away", ["waiting", "connecting", "waiting"], [undefined, undefined], []],
  ["a server that starts between two attempts", ["waiting", "connecting", "online"], ["ok"], []],
  ["a server that answers after the second attempt only", ["waiting", "waiting"], [undefined, "ok"], []],
  ["a proxy without a server", ["waiting", "waiting", "waiting"], ["502", "502", "502"], []],
  ["a proxy that drops Upgrade", ["waiting", "connecting", "waiting"], ["ok", "ok"], [true]],
  ["a proxy that is mended", ["waiting", "waiting", "connecting", "online"], ["ok", "ok"], [true, false]],
  ["a network that goes after that", ["waiting", "waiting", "waiting"], ["ok", "ok", undefined], [true, false]],
  ["one failed attempt long after", ["waiting", "online", "waiting"], ["ok", "ok"], []],
];

for (const [name, states, answered, expected] of rows) {
  test(`a line is blocked or not: ${name}`, async () => {
    const { line, changes } = lineWith(answered);
    for (const state of states) await line.take(state);
    assert.deepEqual(changes, expected);
  });
}

test("the reason for a blocked connection mentions certificates only for HTTPS", async () => {
  const texts = (await import("../../Web/js/languages/en.js")).default;
  assert.match(texts[blockedReason("https:")], /proxy.* or the browser accepts the server’s certificate for the page only/);
  assert.doesNotMatch(texts[blockedReason("http:")], /certificate/);
});

test("an answer that arrives after the connection is ignored", async () => {
  const { line, changes } = lineWith(["ok", "ok", "ok"]);
  await line.take("waiting");
  const late = line.take("waiting");
  await line.take("online");
  await late;
  assert.deepEqual(changes, []);
  await line.take("waiting");
  assert.deepEqual(changes, [], "what was answered before counts no longer");
});
