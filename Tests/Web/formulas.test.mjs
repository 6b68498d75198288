// Formulas in the page view, and texts that only look like formulas.

import assert from "node:assert/strict";
import { test } from "node:test";
import { pageOf } from "./elements.mjs";

/** @param {string} text @returns {string[]} The sources of its formulas, those in a paragraph of their own with "display ". */
const formulasIn = (text) =>
  pageOf(text)
    .querySelectorAll(".formula")
    .map(({ className, dataset }) => `${className.includes("is-display") ? "display " : ""}${dataset.formula}`);

test("formulas are recognised within a line, in separate lines, and in code of the language math", () => {
  const examples = {
    "$a^2$": ["a^2"],
    "so $a^2 + b^2$, and $c_1 * d_2$": ["a^2 + b^2", "c_1 * d_2"],
    "$a$, $b$.": ["a", "b"],
    "$$a^2$$": ["display a^2"],
    "$$\na^2\n=\nb\n$$": ["display a^2\n=\nb"],
    "text\n$$\na\n$$\nmore": ["display a"],
    "text $$a$$ more": ["display a"],
    "> $$\n> a\n> $$": ["display a"],
    "- $$\n  a\n  $$": ["display a"],
    "```math\na^2\n```": ["display a^2"],
    "$\\$5$": ["\\$5"],
    "| $a$ |\n|---|\n| $b$ |": ["a", "b"],
    "# On $a^2$": ["a^2"],
  };
  for (const [text, formulas] of Object.entries(examples)) assert.deepEqual(formulasIn(text), formulas, text);
});

test("prices and single dollar signs are text", () => {
  const texts = ["$5 and $6", "$5-$6", "costs $5", "$ a $", "\\$a\\$", "`$a$`", "$$", "$$$$", "```\n$a$\n```", "a$\n\nb$", "$$\na\n\nb\n$$"];
  for (const text of texts) assert.deepEqual(formulasIn(text), [], text);
});

test("the page view shows all text of an unterminated formula", () => {
  assert.equal(pageOf("$$\na^2\nb\n\nmore").textContent, "$$a^2bmore");
});

test("the name of a heading contains the source of its formula", () => {
  assert.equal(pageOf("# On $a^2$\n").querySelector("h2")?.attributes.id, "heading-on-a2");
});
