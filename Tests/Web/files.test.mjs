// Addresses of files in the text of their note.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fileIn, nameOfFile } from "../../Web/js/links/files.js";

const hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

test("fileIn recognises an address with a hash and a name as a file", () => {
  assert.equal(fileIn(`files/${hash}/plan.png`), `${hash}/plan.png`);
  assert.equal(nameOfFile(`${hash}/Gr%C3%B6%C3%9Fe%20%281%29.png`), "Größe (1).png");
  assert.equal(nameOfFile(`${hash}/broken%zz`), "broken%zz");
});

test("fileIn rejects all other addresses", () => {
  for (const url of [
    `/files/${hash}/a`, `https://example.org/files/${hash}/a`, `files/${hash}`, `files/${hash}/`, `files/${hash}/a/b`,
    `files/${hash}/a?b`, `files/${hash}/a#b`, `files/${hash.toUpperCase()}/a`, `files/${hash.slice(1)}/a`,
    `files/${hash}/..\\..\\..\\other`, `files/${hash}/.`, `files/${hash}/..`, `files/${hash}/%2e%2E`, `files/${hash}/.%2e`,
    `files/${hash}0/a`, `../files/${hash}/a`, `files/../${hash}/a`, "javascript:alert(1)", `files/${hash}/a b`, "",
  ]) {
    assert.equal(fileIn(url), undefined, url);
  }
});
