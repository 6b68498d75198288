// The page as Scripts/build-page.py builds it: what a first visit fetches, and that nothing is missing.

import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

const folder = new URL("../../Web/built/", import.meta.url);
const read = (/** @type {string} */ name) => readFileSync(new URL(name, folder), "utf8");
const size = (/** @type {string} */ name) => readFileSync(new URL(name, folder)).length;
const fixed = readdirSync(new URL("immutable/", folder)).filter((name) => !/\.(br|gz)$/.test(name));

/** @param {string} stem The beginning of a file's name. */
function file(stem) {
  const found = fixed.filter((name) => name.startsWith(`${stem}-`));
  assert.equal(found.length, 1, `${stem}: ${found}`);
  return `immutable/${found[0]}`;
}

/**
 * What a page names of its own files.
 *
 * @param {string} html
 */
const named = (html) => [...html.matchAll(/="(?:\.\.\/)?assets\/([^"#]+)/g)].map(([, name]) => name ?? "");

test("every file that a page or a part names is there", () => {
  for (const page of ["index.html", "index.below.html", "admin.html"]) {
    for (const name of named(read(page))) assert.ok(existsSync(new URL(name, folder)), `${page} names ${name}`);
  }
  let count = 0;
  for (const name of fixed.filter((one) => one.endsWith(".js"))) {
    for (const [, path] of read(`immutable/${name}`).matchAll(/(?:from|import\(?)"([.@][^"]+)"/g)) {
      assert.ok(path?.startsWith("./") && fixed.includes(path.slice(2)), `${name} imports ${path}`);
      count += 1;
    }
  }
  assert.ok(count > 5);
  for (const [, path] of read(file("app")).matchAll(/\/assets\/([^"#`]+)/g)) {
    assert.ok(existsSync(new URL(path ?? "", folder)), path);
  }
});

test("a first visit is at most 12 requests and 334 kB, the client core at most 128 kB of them", () => {
  // The pages' own files, what the start brings, and the list of notes, asked for before and after the line is up.
  const files = new Set([...named(read("index.html")), ...["text", "codemirror"].map(file)]);
  // A language, the largest; English is in what the page starts with.
  const languages = fixed.filter((name) => name.startsWith("languages-")).map((name) => `immutable/${name}`);
  assert.equal(languages.length, readdirSync(new URL("../js/languages/", folder)).length - 1);
  files.add(languages.sort((a, b) => size(`${b}.br`) - size(`${a}.br`))[0] ?? "");
  // And the worker, which takes what it keeps from what the browser has.
  files.add("worker.js");
  assert.ok(1 + files.size + 2 <= 12, `${[...files]}`);
  const bytes = [...files, "index.html"].reduce((sum, name) => sum + size(`${name}.br`), 0);
  // Headers come to less than 1 kB for each.
  assert.ok(bytes + 1_000 * (files.size + 3) <= 334_000, `${bytes} bytes`);
  assert.ok(size(`${file("client")}.br`) <= 124_500);
});

test("each English text is in the page's start or in the later parts that name it, and only there", async () => {
  const texts = (await import("../../Web/js/languages/en.js")).default;
  const holders = (/** @type {string} */ key) =>
    ["app", "historyview", "sharing", "importview", "commentsview", "palette", "devices", "passwords", "forgotten", "help", "moving",
      "deletednotes", "exporting", "noticelist", "pageview", "writing", "pasting", "formatted", "converting"].filter((stem) => read(file(stem)).includes(key.includes(".") ? `"${key}":` : `${key}:`));
  for (const key of Object.keys(texts)) assert.ok(holders(key).length > 0, key);
  assert.deepEqual(holders("history.restoreText"), ["historyview"]);
  assert.deepEqual(holders("note.title"), ["app"]);
});

test("the worker keeps what a first visit fetches, and is of the page's build", () => {
  const [, build] = /<meta name="build" content="([^"]+)"/.exec(read("index.html")) ?? [];
  const worker = read("worker.js");
  assert.ok(worker.includes(`"${build}"`));
  const all = [...worker.matchAll(/"(immutable\/[^"]+)"/g)].map(([, name]) => name ?? "");
  const later = ["formatted", "prosemirror"].map(file);
  assert.ok(later.every((name) => all.includes(name)));
  const kept = all.filter((name) => !name.startsWith("immutable/languages-") && !later.includes(name));
  const first = new Set([...named(read("index.html")), ...["text", "codemirror"].map(file)]);
  assert.deepEqual(new Set(kept), first);
  const manifest = JSON.parse(read("app.webmanifest"));
  for (const { src } of manifest.icons) assert.ok(existsSync(new URL(src, folder)), src);
  assert.ok(manifest.icons.reduce((/** @type {number} */ sum, /** @type {any} */ { src }) => sum + size(src), 0) <= 40_000);
});

test("a formatted note costs less than a Markdown note, whose editor it does not fetch", () => {
  const sum = (/** @type {string[]} */ stems) => stems.reduce((bytes, stem) => bytes + size(`${file(stem)}.br`), 0);
  assert.ok(sum(["formatted", "prosemirror"]) < sum(["text", "codemirror"]));
  assert.ok(size(`${file("prosemirror")}.br`) <= 55_000);
  for (const stem of ["formatted", "prosemirror", "pasted"]) assert.doesNotMatch(read(file(stem)), /codemirror-\w+\.js/);
});

test("the client for other pages is at most 149 kB with the client core", () => {
  const bytes = ["parley.js", "client.wasm"].map((name) => size(`sdk/1/${name}.br`));
  assert.ok(bytes.reduce((sum, one) => sum + one) <= 149_000, `${bytes}`);
});

test("each file has its compressed forms, and they hold the same", () => {
  const names = ["index.html", "index.below.html", "admin.html", ...fixed.map((name) => `immutable/${name}`)];
  for (const name of names) {
    const plain = readFileSync(new URL(name, folder));
    assert.ok(brotliDecompressSync(readFileSync(new URL(`${name}.br`, folder))).equals(plain), name);
    assert.ok(gunzipSync(readFileSync(new URL(`${name}.gz`, folder))).equals(plain), name);
  }
});

test("a page names its build, and contains no script", () => {
  for (const page of ["index.html", "index.below.html", "admin.html"]) {
    const html = read(page);
    assert.match(html, /<meta name="build" content="\w{10}" \/>/);
    assert.doesNotMatch(html, /<script(?![^>]*\bsrc=)/);
    assert.doesNotMatch(html, / style=| on\w+=/);
  }
  // Clicks are kept before the first button is there.
  const index = read("index.html");
  assert.ok(index.indexOf("/first-") < index.indexOf("<button"));
});

test("what is fetched later is not in what the page starts with", () => {
  const [app, text] = [read(file("app")), read(file("text"))];
  for (const mark of ["history-slider", "sharing-link", "welcome-create"]) {
    assert.equal(app.includes(mark), mark === "welcome-create", mark);
  }
  assert.ok(!app.includes("cm-content") && text.includes("note.placeholder"));
  assert.ok(!read(file("codemirror")).includes("autocomplete-icon"));
});
