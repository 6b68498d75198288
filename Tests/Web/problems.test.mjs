// Messages to users about errors: each code has one, without technical words.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { afterEach, test } from "node:test";
import { RequestError, request } from "../../Web/js/client/http.js";
import { logIn } from "../../Web/js/account/login.js";
import english from "../../Web/js/languages/en.js";
import { endText, openingText, problemText, refusalText } from "../../Web/js/ground/problems.js";
import { messageOf } from "../../Web/js/client/words.js";

const source = (/** @type {string} */ path) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const codes = [...source("Sources/ParleyModel/ErrorCode.swift").matchAll(/^ {2}case (\w+)$/gm)].map(([, code]) => code ?? "");

/** Technical words that users do not know. */
const jargon = /\b(token|grant|scalars|revision|JSON|bytes|sequence|epoch|operation|document|client|null|undefined|NaN)\b|[{}<>`]/i;

test("every error code has a message for users", () => {
  assert.ok(codes.length >= 25, `${codes.length} codes`);
  const unknown = problemText("aCodeOfLater");
  for (const code of codes) {
    for (const text of [problemText(code), openingText(code), refusalText(code, { documentScalarsMax: 4e6 })]) {
      assert.match(text, /^[A-Z].*\.$/, code);
      assert.doesNotMatch(text, jargon, code);
    }
    assert.notEqual(problemText(code), unknown, `${code} is told apart`);
  }
});

test("exactly the reasons for a failed sign-in at a provider have messages for users", () => {
  const kinds = [...source("Sources/ParleyServer/Provider/ProviderFailure.swift").matchAll(/^ {4}case (\w+)$/gm)].map(([, kind]) => kind ?? "");
  const texts = Object.entries(english).flatMap(([key, text]) => (key.startsWith("provider.") ? [[key.slice(9), text]] : []));
  assert.deepEqual(texts.map(([kind]) => kind).sort(), kinds.sort());
  for (const [kind, text] of texts) assert.doesNotMatch(String(text), jargon, String(kind));
});

test("an error without a known code has a message by its status, or a general one", () => {
  for (const status of [0, 400, 401, 403, 404, 409, 410, 413, 418, 422, 429, 500, 502, 503]) {
    assert.match(problemText(undefined, status), /^[A-Z].*\.$/);
    assert.doesNotMatch(problemText("aCodeOfLater", status), jargon);
  }
  assert.equal(problemText(undefined, 0), "The server cannot be reached.");
  assert.equal(problemText("constructor"), problemText("aCodeOfLater"));
});

test("a message contains the limit if the server has announced it", () => {
  assert.equal(
    refusalText("messageTooLarge", { messageBytesMax: 4_194_304 }),
    "These changes are too large to send at once (limit: 4 MB).",
  );
  assert.match(refusalText("tooLarge", { documentScalarsMax: 4_000_000 }), /limit: 4\D?000\D?000 characters/);
  assert.equal(refusalText("tooLarge"), "The note would become too long.");
});

test("every final close code has a message for users", () => {
  const ends = [...source("Sources/SocketMessages/CloseReason.swift").matchAll(/^ {2}case \w+ = (45\d\d)$/gm)];
  assert.ok(ends.length > 5);
  for (const [, code] of ends) {
    assert.match(endText(Number(code)), /^[A-Z].*\.$/);
    assert.doesNotMatch(endText(Number(code)), jargon);
  }
});

const { fetch } = globalThis;
afterEach(() => (globalThis.fetch = fetch));

test("the server's messages for developers are not shown", async () => {
  const answering = (/** @type {number} */ status, /** @type {string} */ body) =>
    (globalThis.fetch = /** @type {any} */ (async () => new Response(body, { status })));
  answering(403, '{"code":"notAllowed","message":"the token does not grant this"}');
  await assert.rejects(request("/api/notes", "POST", {}), new RequestError(403, "notAllowed"));
  answering(502, "<html>Bad gateway</html>");
  await assert.rejects(request("/api/notes"), /^Error: The server had a problem. Try again later.$/);
  answering(200, '{"code":4001,"message":"Invalid login credentials. Please try again","hasError":true,"data":{}}');
  await assert.rejects(logIn("a", "b"), /The e-mail address or the password is wrong\./);
  answering(429, '{"code":4001,"message":"Too many logins have failed; try again later","hasError":true,"data":{}}');
  await assert.rejects(logIn("a", "b"), /Too many sign-ins have failed\./);
  assert.equal(messageOf(new TypeError("x is not a function")), "Reload the page and try again.");
});

test("no module reads the server's messages for developers", () => {
  const folder = new URL("../../Web/js/", import.meta.url);
  for (const name of readdirSync(folder, { recursive: true }).map(String)) {
    if (!name.endsWith(".js")) continue;
    const text = readFileSync(new URL(name, folder), "utf8");
    assert.doesNotMatch(text, /\b(data|answer|reply|refusal|failure)\??\.(data\.)?message\b(?!Bytes)/, name);
  }
});
