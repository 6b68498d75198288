// The page's modules can be read one after the other: none needs, by way of others, itself.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

const folder = new URL("../../Web/js/", import.meta.url);
/** @type {Map<string, string[]>} What each module imports. */
const imports = new Map();
for (const name of readdirSync(folder, { recursive: true }).map(String)) {
  if (!name.endsWith(".js") || ["codemirror.js", "code.js", "html.js"].includes(name)) continue;
  const text = readFileSync(new URL(name, folder), "utf8");
  const found = [...text.matchAll(/^(?:import|export)\b[^;]*? from "(\.[^"]+)";$/gm)];
  const here = new URL(name, folder);
  imports.set(name, found.map(([, path]) => new URL(path ?? "", here).href.slice(folder.href.length)));
}

test("imports go in one direction", () => {
  /** @type {Set<string>} */
  const done = new Set();
  /** @param {string} name @param {string[]} way */
  const visit = (name, way) => {
    assert.ok(!way.includes(name), `${[...way, name].join(" → ")}`);
    if (done.has(name)) return;
    for (const next of imports.get(name) ?? []) visit(next, [...way, name]);
    done.add(name);
  };
  assert.ok(imports.size > 30);
  for (const name of imports.keys()) visit(name, []);
});

test("the operator's page shares small parts only with the notes' page", () => {
  for (const [name, paths] of imports) {
    if (!name.startsWith("admin/")) continue;
    for (const path of paths.filter((one) => !one.startsWith("admin/"))) {
      assert.ok(["assets.js", "base.js", "shell/dialogs.js", "client/http.js", "notes/notes.js", "shell/themeswitch.js", "words.js"].includes(path), `${name} imports ${path}`);
    }
  }
});
