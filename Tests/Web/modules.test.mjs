// The page's modules and their folders are in layers: neither a file nor a folder needs itself by way of others.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

const folder = new URL("../../Web/js/", import.meta.url);
/** Vendored code under a name of the page: modules of every folder may import it. */
const vendored = ["codemirror.js", "code.js", "html.js", "prosemirror.js"];

/**
 * Returns the modules that a module imports, at its start or later. Types are imported in comments, and need nothing
 * when the page runs.
 *
 * @param {string} name Of the module.
 * @param {string} text
 */
function importsIn(name, text) {
  const code = text.replaceAll(/\/\*[^]*?\*\//g, "").replaceAll(/^\s*\/\/.*$/gm, "");
  return [...code.matchAll(/\b(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)]
    .map(([, address = ""]) => path.posix.join(path.posix.dirname(name), address))
    .filter((one) => !vendored.includes(one));
}

/** @type {Map<string, string[]>} */
const imports = new Map();
for (const name of readdirSync(folder, { recursive: true }).map(String)) {
  if (!name.endsWith(".js") || vendored.includes(name)) continue;
  imports.set(name, importsIn(name, readFileSync(new URL(name, folder), "utf8")));
}

/** @param {Map<string, string[]>} files @returns {Map<string, string[]>} The folders that each folder imports from. */
function byFolder(files) {
  /** @type {Map<string, string[]>} */
  const folders = new Map();
  for (const [name, paths] of files) {
    const own = path.posix.dirname(name);
    const others = paths.map((one) => path.posix.dirname(one)).filter((one) => one !== own);
    folders.set(own, [...(folders.get(own) ?? []), ...others]);
  }
  return folders;
}

/** @param {Map<string, string[]>} graph @returns {string[] | undefined} A way from one to itself. */
function cycleIn(graph) {
  /** @type {Set<string>} */
  const done = new Set();
  /** @param {string} name @param {string[]} way @returns {string[] | undefined} */
  const visit = (name, way) => {
    if (way.includes(name)) return [...way.slice(way.indexOf(name)), name];
    if (done.has(name)) return undefined;
    for (const next of graph.get(name) ?? []) {
      const cycle = visit(next, [...way, name]);
      if (cycle) return cycle;
    }
    done.add(name);
    return undefined;
  };
  for (const name of graph.keys()) {
    const cycle = visit(name, []);
    if (cycle) return cycle;
  }
  return undefined;
}

test("files have no cycle of imports, static or lazy", () => {
  assert.ok(imports.size > 100);
  assert.deepEqual(cycleIn(imports), undefined);
});

test("folders have no cycle of imports", () => {
  const folders = byFolder(imports);
  assert.ok(folders.size > 10);
  assert.deepEqual(cycleIn(folders), undefined);
});

test("every kind of import counts", () => {
  const text = `
    /** @typedef {import("./types.js").A} A */
    // import "./comment.js";
    import { a } from "./a.js";
    import {
      b,
    } from "../x/b.js";
    import "./c.js";
    export { d } from "../d.js";
    import { codemirror } from "../codemirror.js";
    const load = () => import("./e.js");
  `;
  const found = importsIn("y/name.js", text);
  assert.deepEqual(found, ["y/a.js", "x/b.js", "y/c.js", "d.js", "y/e.js"]);
  assert.deepEqual(cycleIn(byFolder(new Map([["y/name.js", found], ["x/b.js", ["y/a.js"]]]))), ["y", "x", "y"]);
});

test("the operator's page shares small parts only with the notes' page", () => {
  const shared = ["ground/assets.js", "ground/base.js", "ground/dialogs.js", "client/http.js", "state/notes.js", "ground/themeswitch.js", "client/words.js"];
  for (const [name, paths] of imports) {
    if (!name.startsWith("admin/")) continue;
    for (const one of paths.filter((one) => !one.startsWith("admin/"))) assert.ok(shared.includes(one), `${name} imports ${one}`);
  }
});
