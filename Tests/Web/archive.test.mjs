import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";

import { Archive, crc32, fileName } from "../../Web/js/exchange/archive.js";

test("fileName returns names that are valid on every system", () => {
  for (const [title, name] of [
    ["Shopping", "Shopping"],
    ["", "Untitled"],
    ["../../etc/passwd", "etc passwd"],
    ["a/b\\c:d*e?f\"g<h>i|j", "a b c d e f g h i j"],
    ["..", "Untitled"],
    [" .hidden. ", "hidden"],
    ["con", "_con"],
    ["LPT1.txt", "_LPT1.txt"],
    ["line\nbreak\u0000end", "line break end"],
    ["Größe 🐦", "Größe 🐦"],
    ["\u202eevil", "evil"],
    ["x".repeat(300), "x".repeat(80)],
    ["🐦".repeat(100), "🐦".repeat(80)],
  ]) {
    assert.equal(fileName(title, "Untitled"), name);
  }
});

test("crc32 computes the CRC-32 of ZIP archives", () => {
  assert.equal(crc32(new TextEncoder().encode("123456789")), 0xcbf43926);
  assert.equal(crc32(new Uint8Array()), 0);
});

test("adding 20,000 files of one name gives each another number in linear time", () => {
  const archive = new Archive();
  const bytes = new Uint8Array(1);
  archive.add("same 3.md", bytes, new Date());
  for (let count = 0; count < 20_000; count += 1) archive.add(count % 2 ? "Same.md" : "same.md", bytes, new Date());
  const names = new Set();
  const all = Buffer.concat(archive.parts().slice(-20_002).map((part) => Buffer.from(/** @type {Uint8Array} */ (part))));
  for (const [, name] of all.toString("latin1").matchAll(/(same \d+|same)\.md/gi)) names.add((name ?? "").toLowerCase());
  assert.equal(names.size, 20_001);
});

test("names that differ only in case or Unicode composition get numbers", () => {
  const archive = new Archive();
  for (const name of ["\u00e9.md", "e\u0301.md", "\u00c9.md", "E\u0301/a.md", "\u00e9/A.md"]) archive.add(name, new Uint8Array(1), new Date());
  const all = Buffer.concat(archive.parts().slice(-6).map((part) => Buffer.from(/** @type {Uint8Array} */ (part)))).toString("utf8");
  for (const name of ["\u00e9.md", "e\u0301 2.md", "\u00c9 3.md", "E\u0301/a.md", "\u00e9/A 2.md"]) assert.ok(all.includes(name), name);
});

test("an archive keeps at most a few megabytes in memory and moves the rest to Blobs", async () => {
  const archive = new Archive();
  for (let count = 0; count < 20; count += 1) archive.add(`${count}.md`, new Uint8Array(1 << 20).fill(count), new Date());
  const held = archive.parts().reduce((sum, part) => sum + (part instanceof Blob ? 0 : /** @type {Uint8Array} */ (part).byteLength), 0);
  assert.ok(held < 6 << 20, `${held}`);
  const whole = new Uint8Array(await new Blob(archive.parts()).arrayBuffer());
  const second = 2 * (30 + "0.md".length + (1 << 20)) - 1;
  assert.deepEqual([whole[second], whole[second + 1]], [1, 0x50]);
});

test("Python's zipfile reads the names, bytes and times of an archive", async () => {
  const archive = new Archive();
  const files = [
    ["Größe 🐦.md", "Ä\n"],
    ["same.md", "one"],
    ["Same.md", "two"],
    ["empty.md", ""],
    ["long.md", "x".repeat(100_000)],
  ];
  for (const [name, text] of files) {
    archive.add(name, new TextEncoder().encode(text), new Date(2026, 4, 6, 7, 8, 10));
  }
  const folder = mkdtempSync(path.join(tmpdir(), "archive-"));
  try {
    const file = path.join(folder, "notes.zip");
    writeFileSync(file, Buffer.from(await new Blob(archive.parts()).arrayBuffer()));
    const script = `
import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    assert archive.testzip() is None
    print(json.dumps([[i.filename, archive.read(i).decode(), list(i.date_time)] for i in archive.infolist()]))`;
    const read = JSON.parse(execFileSync("python3", ["-c", script, file], { maxBuffer: 1 << 24 }).toString());
    assert.deepEqual(
      read.map(([name, text]) => [name, text]),
      [files[0], files[1], ["Same 2.md", "two"], files[3], files[4]],
    );
    assert.deepEqual(read[0][2], [2026, 5, 6, 7, 8, 10]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
