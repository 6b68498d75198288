// The types of the page's modules, which are written as comments, are correct.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const compiler = spawnSync("tsc", ["--version"]).error ? undefined : "tsc";

test("the page's modules pass the type checker", { skip: compiler ? false : "tsc is not installed" }, () => {
  const project = fileURLToPath(new URL("../../Web/tsconfig.json", import.meta.url));
  const { status, stdout } = spawnSync("tsc", ["-p", project], { encoding: "utf8" });
  assert.equal(status, 0, stdout);
});
