// The maximum length of functions of the page and of the SDK.

import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import { test } from "node:test";

const linesMax = 80;

const folder = new URL("../../Web/", import.meta.url);
/** Folders without vendored and built code. */
const folders = ["js", "sdk", "worker"];

/** The parser of the type checker, which is installed beside its program; undefined without it. */
function parser() {
  const programs = (process.env.PATH ?? "").split(delimiter).map((path) => join(path, "tsc"));
  const program = programs.find((path) => existsSync(path));
  return program && createRequire(realpathSync(program))("../lib/typescript.js");
}

/**
 * Returns a function's name, or the name of the variable or member that it is assigned to.
 *
 * @param {any} node
 * @param {any} source
 * @returns {string} Empty for a function without a name.
 */
function nameOf(node, source) {
  if (node.kind === typescript.SyntaxKind.Constructor) return "constructor";
  return (node.name ?? node.parent.name)?.getText(source) ?? "";
}

const typescript = parser();

/** @param {string} path Of a file. @param {string} text @returns {{name: string, lines: number}[]} Its functions. */
function functionsIn(path, text) {
  const source = typescript.createSourceFile(path, text, typescript.ScriptTarget.Latest, true);
  const lineAt = (/** @type {number} */ place) => source.getLineAndCharacterOfPosition(place).line;
  /** @type {{name: string, lines: number}[]} */
  const found = [];
  const visit = (/** @type {any} */ node) => {
    if (typescript.isFunctionLike(node) && node.body) {
      found.push({ name: `${path} ${nameOf(node, source)}`, lines: lineAt(node.end) - lineAt(node.getStart(source)) + 1 });
    }
    typescript.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const skip = typescript ? false : "tsc is not installed";

test("each function has at most 80 lines", { skip }, () => {
  const paths = folders
    .flatMap((name) => readdirSync(new URL(name, folder), { recursive: true }).map((path) => `${name}/${path}`))
    .filter((path) => path.endsWith(".js"));
  const functions = paths.flatMap((path) => functionsIn(path, readFileSync(new URL(path, folder), "utf8")));
  assert.ok(functions.length > 1_000, `${functions.length} functions found`);
  assert.deepEqual(functions.filter(({ lines }) => lines > linesMax), []);
});

test("functions of all forms are measured", { skip }, () => {
  const body = "{\n  return 1;\n}";
  const forms = [
    `function a() ${body}`,
    `const b = () => ${body};`,
    `const c = { d() ${body}, e: function () ${body} };`,
    `class F { constructor() ${body} get g() ${body} #h = () => ${body}; static async *i() ${body} }`,
    `(() => ${body})();`,
  ];
  const measured = functionsIn("x.js", forms.join("\n"));
  const names = measured.map(({ name }) => name.slice("x.js ".length));
  assert.deepEqual(names, ["a", "b", "d", "e", "constructor", "g", "#h", "i", ""]);
  assert.deepEqual(new Set(measured.map(({ lines }) => lines)), new Set([3]));
});
