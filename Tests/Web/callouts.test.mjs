// Call-outs on the page view.

import assert from "node:assert/strict";
import { test } from "node:test";
import { pageOf } from "./elements.mjs";

/** @param {string} text */
const calloutOf = (text) => pageOf(text).querySelector(".callout");

test("each of the five kinds has a title, an icon and its text", () => {
  for (const [kind, title] of Object.entries({ NOTE: "Note", TIP: "Tip", IMPORTANT: "Important", WARNING: "Warning", CAUTION: "Caution" })) {
    const callout = calloutOf(`> [!${kind}]\n> Text *here*.\n>\n> - item\n`);
    assert.equal(callout?.className, `callout is-${kind.toLowerCase()}`);
    assert.equal(callout.attributes.role, "note");
    assert.deepEqual(callout.children.map((child) => child.textContent), [title, "Text here.", "item"]);
    assert.equal(callout.querySelectorAll("svg").length, 1);
    assert.equal(callout.querySelectorAll("em").length, 1);
  }
});

test("the kind may be in lower case, and the text may follow a blank line", () => {
  assert.deepEqual(calloutOf("> [!tip]\n>\n> Text\n")?.children.map((child) => child.textContent), ["Tip", "Text"]);
  assert.deepEqual(calloutOf("> [!tip]\n")?.children.map((child) => child.textContent), ["Tip"]);
  assert.deepEqual(calloutOf("> [!note]\n> a\n> b\n")?.children.at(-1)?.textContent, "ab");
});

test("other quotes remain quotes", () => {
  for (const text of ["> [!OTHER]\n> a\n", "> [!NOTE] a\n", "> a\n> [!NOTE]\n", "> \\[!NOTE]\n> a\n", "[!NOTE]\na\n", "> `[!NOTE]`\n"]) {
    assert.equal(calloutOf(text), null, text);
  }
});

test("a box in a call-out has its position in the text", () => {
  const text = "> [!NOTE]\n> - [ ] milk\n";
  assert.equal(calloutOf(text)?.querySelector("input")?.dataset.at, String(text.indexOf("[ ]")));
});
