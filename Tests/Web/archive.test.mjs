import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";

import { Archive, crc32, fileName } from "../../Web/js/archive.js";

test("a title becomes the name of a file that every system takes", () => {
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

test("the sum is the one that archives use", () => {
  assert.equal(crc32(new TextEncoder().encode("123456789")), 0xcbf43926);
  assert.equal(crc32(new Uint8Array()), 0);
});

test("another program reads an archive back, names and bytes and times", async () => {
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
