// Importing files: the note of each file, or the reason why there is none.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { Archive, crc32 } from "../../Web/js/exchange/archive.js";
import { RequestError } from "../../Web/js/client/http.js";
import { importNotes, piecesOf } from "../../Web/js/exchange/importing.js";
import { ImportReader, importFilesMax } from "../../Web/js/exchange/importreader.js";
import { oneLine } from "../../Web/js/ground/oneline.js";

const compiled = new WebAssembly.Module(readFileSync(new URL("../../Web/generated/import.wasm", import.meta.url)));
const encoder = new TextEncoder();
const bytesOf = (/** @type {string | Uint8Array} */ text) => (typeof text === "string" ? encoder.encode(text) : text);

/**
 * Returns an archive. `lies` replaces fields of its directory.
 *
 * @typedef {{name: string | Uint8Array, data?: string | Uint8Array, isStored?: boolean, lies?: Partial<Record<"size" | "packed" | "sum" | "flags" | "method" | "offset" | "system", number>>}} Packed
 * @param {Packed[]} files
 * @param {{count?: number, comment?: string, size?: number}} [end]
 */
function zipOf(files, end = {}) {
  /** @type {Uint8Array[]} */
  const parts = [];
  /** @type {Uint8Array[]} */
  const entries = [];
  let place = 0;
  for (const { name, data = "", isStored, lies = {} } of files) {
    const [plain, letters] = [bytesOf(data), bytesOf(name)];
    const packed = isStored ? plain : deflateRawSync(plain);
    const common = new DataView(new ArrayBuffer(26));
    common.setUint16(0, 20, true);
    common.setUint16(2, lies.flags ?? 0x800, true);
    common.setUint16(4, lies.method ?? (isStored ? 0 : 8), true);
    common.setUint32(10, lies.sum ?? crc32(plain), true);
    common.setUint32(14, lies.packed ?? packed.length, true);
    common.setUint32(18, lies.size ?? plain.length, true);
    common.setUint16(22, letters.length, true);
    const shared = new Uint8Array(common.buffer);
    parts.push(Uint8Array.from([0x50, 0x4b, 3, 4, ...shared]), letters, packed);
    const own = new DataView(new ArrayBuffer(14));
    own.setUint32(10, lies.offset ?? place, true);
    // The fields after the length of the name: comment, volume, attributes and offset.
    entries.push(Uint8Array.from([0x50, 0x4b, 1, 2, 20, lies.system ?? 3, ...shared, ...new Uint8Array(own.buffer)]), letters);
    place += 30 + letters.length + packed.length;
  }
  const directory = entries.reduce((sum, one) => sum + one.length, 0);
  const tail = new DataView(new ArrayBuffer(22));
  tail.setUint32(0, 0x06054b50, true);
  tail.setUint16(8, end.count ?? files.length, true);
  tail.setUint16(10, end.count ?? files.length, true);
  tail.setUint32(12, end.size ?? directory, true);
  tail.setUint32(16, place, true);
  const comment = bytesOf(end.comment ?? "");
  tail.setUint16(20, comment.length, true);
  return new Blob(/** @type {BlobPart[]} */ ([...parts, ...entries, tail.buffer, comment]));
}

/**
 * @param {[string, string | Uint8Array | Blob][]} files
 * @param {number} [scalarsMax]
 */
async function read(files, scalarsMax = 4_000_000) {
  const found = [];
  const given = files.map(([path, data]) => ({ path, file: data instanceof Blob ? data : new Blob([/** @type {any} */ (bytesOf(data))]) }));
  for await (const { path, draft, problem } of new ImportReader(compiled, { scalarsMax }).notesIn(given)) {
    found.push(draft ? [path, draft.title, draft.text] : [path, problem?.key]);
  }
  return found;
}

/**
 * Returns the only note of a file, or the reason why there is none.
 *
 * @param {string} path
 * @param {string | Uint8Array} data
 */
async function only(path, data) {
  const found = [];
  const given = [{ path, file: new Blob([/** @type {any} */ (bytesOf(data))]) }];
  for await (const one of new ImportReader(compiled, { scalarsMax: 4_000_000 }).notesIn(given)) found.push(one);
  assert.equal(found.length, 1);
  return /** @type {import("../../Web/js/exchange/importreader.js").Found} */ (found[0]);
}

test("texts are UTF-8, or UTF-16 with a byte order mark; other bytes are rejected", async () => {
  const utf16 = (/** @type {string} */ text, isBig = false) => {
    const bytes = new DataView(new ArrayBuffer(2 * text.length));
    for (let index = 0; index < text.length; index += 1) bytes.setUint16(2 * index, text.charCodeAt(index), !isBig);
    return new Uint8Array(bytes.buffer);
  };
  for (const [bytes, text] of /** @type {[Uint8Array, string][]} */ ([
    [bytesOf("Größe 🐦"), "Größe 🐦"],
    [bytesOf("\ufeffmark"), "mark"],
    [bytesOf("\ufeff\ufeffmark"), "\ufeffmark"],
    [bytesOf("one\r\ntwo\rthree\n"), "one\ntwo\nthree\n"],
    [bytesOf(""), ""],
    [utf16("\ufeffGröße 🐦\r\n"), "Größe 🐦\n"],
    [utf16("\ufeffGröße 🐦", true), "Größe 🐦"],
    [bytesOf("bell \u0007 and \u202e"), "bell \u0007 and \u202e"],
  ])) {
    assert.equal((await only("a.txt", bytes)).draft?.text, text);
  }
  for (const bytes of [
    Uint8Array.from([0x47, 0x72, 0xf6, 0xdf, 0x65]),
    bytesOf("nul \u0000"),
    utf16("without a mark"),
    utf16("\ufeffhalf \ud800 of a pair"),
    utf16("\ufeffnul \u0000"),
    Uint8Array.from([0xff, 0xfe, 0x41]),
    Uint8Array.from([0xff, 0xfe, 0, 0, 0x41, 0, 0, 0]),
    Uint8Array.from([0xed, 0xa0, 0x80]),
    Uint8Array.from([0xc0, 0xaf]),
  ]) {
    assert.equal((await only("a.txt", bytes)).problem?.key, "import.notText");
  }
});

test("the title is that of the front matter, the first heading, or the file's name", async () => {
  for (const [text, path, title] of /** @type {[string, string, string][]} */ ([
    ["---\ntitle: From the front\ntags: a, b\n---\n# Heading\n", "file.md", "From the front"],
    ['---\ntags: a\ntitle: "Quo\\"ted: yes" # not this\n...\n', "file.md", 'Quo"ted: yes'],
    ["---\ntitle: 'It''s'\n---\n", "file.md", "It's"],
    ["---\ntitle: plain # a remark\n---\n", "file.md", "plain"],
    ['---\ntitle: "\\u00dcber \\x41\\U0001F426 \\ud83d\\udc26\\ttab\\nline\\_\\/"\n---\n', "file.md", "Über A🐦 🐦 tab line /"],
    ['---\ntitle: "it goes on\n  here"\n---\n# Heading', "file.md", "Heading"],
    ["Title\n=====\ntext\n# Later", "file.md", "Title"],
    ["a line\n\n  *Two*\nlines\n ===  \n", "file.md", "Two lines"],
    ["Not this\n\n===\n> quote\n===\n- item\n===\n1. one\n===\n    code\n===\n| a |\n===\n```\ncode\n===\n```\n", "file.md", "file"],
    ["text\n---\n", "file.md", "file"],
    ["---\ntitle: |\n  a block\n---\n# Heading", "file.md", "Heading"],
    ["---\ntitle:\n---\n# Heading", "file.md", "Heading"],
    ["---\ntitle: never closed\n# Heading", "file.md", "Heading"],
    ["text\n---\ntitle: not at the beginning\n---\n", "file.md", "file"],
    ["text\n\n## Second **level** `code` #\n# First", "file.md", "Second level code"],
    ["```\n# in code\n```\n~~~~\n# here too\n~~~\n~~~~\n# Out", "file.md", "Out"],
    ["# [A link](https://example.org) and ![a picture](x.png) \\# C#", "file.md", "A link and a picture # C#"],
    ["#hashtag\n#\n# \n    # indented", "notes/file.md", "file"],
    ["", "../../etc/passwd.txt", "passwd"],
    ["", "..\\..\\windows\\evil.md", "evil"],
    ["", "x.tar.md", "x.tar"],
    ["", "X.MARKDOWN", "X"],
    ["# <img src=x onerror=alert(1)>", "a.md", "<img src=x onerror=alert(1)>"],
    ["# a\u202eb\u0007c", "a.md", "a b c"],
    [`# ${"🐦".repeat(300)}`, "a.md", "🐦".repeat(125)],
    [`# ${"x".repeat(5_000)}`, "a.md", "x".repeat(200)],
    [`#${" ".repeat(200_000)}x`, "a.md", "a"],
    [`# ${"[".repeat(900)}`, "a.md", "[".repeat(200)],
  ])) {
    assert.equal((await only(path, text)).draft?.title, title, JSON.stringify(text.slice(0, 60)));
  }
  assert.equal((await only("a.md", "# a\u061cb\u0085c\u2029")).draft?.title, "a b c");
});

test("the folder of a note is valid on the server, in composed Unicode", async () => {
  for (const [path, folder] of /** @type {[string, string | undefined][]} */ ([
    ["a.md", undefined], ["../../etc/a.md", "etc"], ["C:\\x*y\\a.md", "C:/x y"], ["e\u0301\u0302/a.md", "\u00e9\u0302"],
    ["\u2800/team/\u3164 \u{1d159}/a.md", "team"], ["a\u202e/ b \u0007/a.md", "a/b"], ["1/2/3/4/5/6/7/8/9/a.md", "1/2/3/4/5/6/7/8"],
    [`${"ä".repeat(100)}/${"ö".repeat(100)}/a.md`, "ä".repeat(100)],
  ])) {
    assert.equal((await only(path, "")).draft?.folder, folder, path);
  }
});

test("oneLine makes a typed or pasted title valid on the server", () => {
  for (const [text, line] of /** @type {const} */ ([
    ["a\r\nb", "a b"], ["\0", ""], [" a\u001b[31m\u0085b ", "a [31m b"], ["a\u2028\u2029b\u007f", "a b"],
    ["\u0645\u06cc\u200c\u062e", "\u0645\u06cc\u200c\u062e"],
  ])) {
    assert.equal(oneLine(text), line);
  }
});

test("each file becomes a note or a problem, except for metadata of macOS", async () => {
  assert.deepEqual(
    await read([
      ["one.md", "# One\r\n"],
      ["one.md", "the same name"],
      ["empty.txt", ""],
      ["picture.png", "x"],
      ["latin.txt", Uint8Array.from([0xe4])],
      ["notes/.obsidian/plan.md", "x"],
      ["long.md", "x".repeat(101)],
      ["birds.md", "🐦".repeat(100)],
      [".DS_Store", "x"],
      ["__MACOSX/._one.md", "x"],
      ["data.json", "[1]"],
      ["broken.etherpad", "{"],
      ["not.zip", "nothing"],
    ], 100),
    [
      ["one.md", "One", "# One\n"],
      ["one.md", "one", "the same name"],
      ["empty.txt", "empty", ""],
      ["picture.png", "import.notANote"],
      ["latin.txt", "import.notText"],
      ["notes/.obsidian/plan.md", "import.notANote"],
      ["long.md", "import.tooLong"],
      ["birds.md", "birds", "🐦".repeat(100)],
      ["data.json", "import.notEtherpad"],
      ["broken.etherpad", "import.notEtherpad"],
      ["not.zip", "import.notZip"],
    ],
  );
});

test("archives of this page and of other programs are read", async () => {
  const archive = new Archive();
  for (const name of ["Größe 🐦.md", "same.md", "same.md"]) archive.add(name, bytesOf(`in ${name}`), new Date());
  assert.deepEqual(await read([["own.zip", new Blob(archive.parts())]]), [
    ["own.zip/Größe 🐦.md", "Größe 🐦", "in Größe 🐦.md"],
    ["own.zip/same.md", "same", "in same.md"],
    ["own.zip/same 2.md", "same 2", "in same.md"],
  ]);
  const script = `
import sys, zipfile
with zipfile.ZipFile(sys.stdout.buffer, "w", zipfile.ZIP_DEFLATED) as archive:
    archive.comment = b"PK\\5\\6 and more"
    archive.writestr("folder/", "")
    archive.writestr("folder/plan.md", "---\\ntitle: The plan\\ntags: work\\n---\\n" + "text\\n" * 1000)
    archive.writestr("bz.md", "x" * 100, zipfile.ZIP_BZIP2)
    archive.writestr("inner.zip", "x")`;
  const other = execFileSync("python3", ["-c", script]);
  assert.deepEqual(await read([["other.zip", other]]), [
    ["other.zip/folder/plan.md", "The plan", `---\ntitle: The plan\ntags: work\n---\n${"text\n".repeat(1000)}`],
    ["other.zip/bz.md", "import.zipKind"],
    ["other.zip/inner.zip", "import.archiveInArchive"],
  ]);
});

test("paths in archives are only names, in any encoding", async () => {
  const files = ["../../../etc/passwd.md", "/etc/x.md", "C:\\x\\y.md", "a\u0000b.md", Uint8Array.from([0xe4, 0x2e, 0x6d, 0x64]), "folder/"];
  assert.deepEqual(await read([["a.zip", zipOf(files.map((name) => ({ name })))]]), [
    ["a.zip/../../../etc/passwd.md", "passwd", ""],
    ["a.zip//etc/x.md", "x", ""],
    ["a.zip/C:\\x\\y.md", "y", ""],
    ["a.zip/a\u0000b.md", "a b", ""],
    ["a.zip/ä.md", "ä", ""],
  ]);
});

test("names without the UTF-8 flag are decoded as unzip decodes them", async () => {
  const name = (/** @type {number[]} */ ...bytes) => Uint8Array.from([...bytes, 0x2e, 0x6d, 0x64]);
  // ü in UTF-8, in code page 437 and in Windows-1252; from DOS (0) and from Unix (3).
  for (const [bytes, system, title] of /** @type {[Uint8Array, number, string][]} */ ([
    [name(0xc3, 0xbc), 0, "ü"], [name(0xc3, 0xbc), 3, "ü"], [name(0x81), 0, "ü"], [name(0xfc), 3, "ü"], [name(0x80, 0xe1), 0, "Çß"], [name(0x80), 3, "€"],
  ])) {
    assert.deepEqual(await read([["a.zip", zipOf([{ name: bytes, lies: { flags: 0, system } }])]]), [[`a.zip/${title}.md`, title, ""]]);
  }
});

test("an archive that expands too much is rejected, and so are files with wrong fields", async () => {
  const good = { name: "good.md", data: "good" };
  const zeros = new Uint8Array(8 << 20).fill(0x61);
  const whole = async (/** @type {Blob} */ blob) => (await read([["a.zip", blob]])).map((row) => row.slice(0, 2));
  assert.deepEqual(await whole(zipOf([good, { name: "bomb.md", data: zeros }])), [["a.zip", "import.bomb"]]);
  // Pictures are not decompressed, so their size does not matter.
  assert.deepEqual(await whole(zipOf([good, { name: "bomb.png", data: zeros }])), [["a.zip/good.md", "good"], ["a.zip/bomb.png", "import.notANote"]]);
  // The directory gives a small size.
  assert.deepEqual(await whole(zipOf([good, { name: "liar.md", data: zeros, lies: { size: 10 } }])), [["a.zip/good.md", "good"], ["a.zip/liar.md", "import.damaged"]]);
  for (const [lies, key] of /** @type {[Packed["lies"], string][]} */ ([
    [{ sum: 1 }, "import.damaged"], [{ size: 3 }, "import.damaged"], [{ size: 5 }, "import.damaged"], [{ flags: 1 }, "import.encrypted"],
    [{ method: 99 }, "import.zipKind"], [{ offset: 1 }, "import.damaged"], [{ offset: 0xfffffff0 }, "import.damaged"], [{ packed: 1 }, "import.damaged"],
  ])) {
    assert.deepEqual(await whole(zipOf([{ ...good, lies }])), [["a.zip/good.md", key]], JSON.stringify(lies));
    assert.deepEqual(await whole(zipOf([{ ...good, lies: { method: 0, packed: 6, size: 6, ...lies }, isStored: true }])), [["a.zip/good.md", lies?.method || lies?.flags ? key : "import.damaged"]]);
  }
  // All files refer to the same bytes of the archive.
  const same = Array.from({ length: 100 }, (_, index) => ({ name: `${index}.md`, data: "x".repeat(90), isStored: true, lies: { offset: 0, packed: 20_000 } }));
  assert.deepEqual(await whole(zipOf(same)), [["a.zip", "import.damaged"]]);
  assert.deepEqual(await whole(zipOf([good], { count: 2 })), [["a.zip", "import.damaged"]]);
  assert.deepEqual(await whole(zipOf([good], { count: 10_001 })), [["a.zip", "import.tooManyFiles"]]);
  assert.deepEqual(await whole(zipOf([good], { size: 0x7fffffff })), [["a.zip", "import.damaged"]]);
  assert.deepEqual(await whole(zipOf([good], { size: 0xffffffff })), [["a.zip", "import.zipKind"]]);
});

test("truncated archives and archives with changed bytes never cause a crash", async () => {
  const bytes = new Uint8Array(await zipOf([{ name: "a.md", data: "text" }, { name: "b.md", data: "more", isStored: true }], { comment: "c" }).arrayBuffer());
  const attempt = async (/** @type {Uint8Array} */ changed) => {
    for (const row of await read([["a.zip", new Blob([/** @type {any} */ (changed)])]])) assert.ok(row.every((cell) => typeof cell === "string"));
  };
  for (let index = 0; index < bytes.length; index += 1) {
    await attempt(bytes.slice(0, index));
    for (const byte of [0, 1, 0xff]) await attempt(bytes.map((one, place) => (place === index ? byte : one)));
  }
});

test("ten thousand files are imported, and further ones are reported", async () => {
  const files = Array.from({ length: importFilesMax }, (_, index) => /** @type {[string, string]} */ ([`${index}.md`, `# ${index}`]));
  const found = await read([...files, ["beyond.md", "x"], ["more.zip", zipOf([{ name: "a.md" }])]]);
  assert.equal(found.filter((row) => row.length === 3).length, importFilesMax);
  assert.deepEqual(found.slice(importFilesMax), [["beyond.md", "import.tooManyFiles"], ["more.zip", "import.tooManyFiles"]]);
  const pads = Object.fromEntries(["one", "two", "three"].map((name) => [`pad:${name}`, { atext: { text: "x\n", attribs: "+2" } }]));
  const last = await read([...files.slice(2), ["pads.etherpad", JSON.stringify(pads)]]);
  assert.deepEqual(last.slice(importFilesMax), [["pads.etherpad", "import.tooManyFiles"]]);
});

/** A pad as Etherpad exports it. */
const pad = {
  "pad:g.abc$Plan": {
    atext: {
      text: "Ünï 🐦\n*first\n*inner\n*second\n*dot\n*deep\n*in\n*Head\n* mine\n\n",
      attribs: "*0|1+7*1*2*8|1+7*1*3*8|1+7*1*2*8|1+8*1*4*8|1+5*1*5*8|1+6*1*6*8|1+4*7*8|1+6*1|2+8",
    },
    pool: {
      numToAttrib: {
        0: ["author", "a.1"], 1: ["author", "a.2"], 2: ["list", "number1"], 3: ["list", "number2"], 4: ["list", "bullet1"],
        5: ["list", "bullet2"], 6: ["list", "indent1"], 7: ["heading", "h2"], 8: ["lmkr", "1"],
      },
      nextNum: 9,
    },
    head: 42, chatHead: -1,
  },
  "globalAuthor:a.1": { name: "Ann", colorId: 1 },
  "globalAuthor:a.2": { name: null },
  "pad:g.abc$Plan:revs:0": { changeset: "Z:1>0$", meta: { atext: { text: "not this\n", attribs: "|1+9" } } },
};

test("a pad keeps its text and its lists, without Etherpad's list markers", async () => {
  assert.deepEqual((await only("team/plan.etherpad", JSON.stringify(pad))).draft, {
    title: "Head", folder: "team", pad: { revision: 42, authors: ["Ann"] },
    text: "Ünï 🐦\n1. first\n   1. inner\n2. second\n- dot\n  - deep\n\tin\n## Head\n* mine\n",
  });
});

test("a numbered list begins with the pad's start number", async () => {
  const pool = { numToAttrib: { 0: ["list", "number1"], 1: ["start", "1"], 2: ["start", "2"], 3: ["start", 7], 4: ["list", "number2"], 5: ["lmkr", "1"] } };
  const atext = { text: "*one\nbetween\n*two\n*three\n*in\n*seven\n", attribs: "*0*1*5|1+5|1+8*0*2*5|1+5*0*2*5|1+7*4*1*5|1+4*0*3*5|1+7" };
  const { draft } = await only("a.etherpad", JSON.stringify({ "pad:x": { atext, pool } }));
  assert.equal(draft?.text, "1. one\nbetween\n2. two\n3. three\n   1. in\n7. seven");
});

test("a note in Parley's JSON keeps its title, folder and text", async () => {
  const own = { id: "n", title: "Plan", createdAt: 1, folder: "team/plans", text: "# Other\r\n" };
  assert.deepEqual((await only("a.json", JSON.stringify(own))).draft, { title: "Plan", folder: "team/plans", text: "# Other\n" });
});

test("a pad with invalid attributes keeps its plain text, and other JSON is rejected", async () => {
  for (const attribs of [undefined, 7, "", "garbage", "+zz", "*0|1+7-3", "*z+1", "+".repeat(1_000)]) {
    const { draft } = await only("x.etherpad", JSON.stringify({ "pad:x": { atext: { text: "*a\nb\n", attribs } } }));
    assert.equal(draft?.text, "*a\nb");
  }
  const odd = await only("x.etherpad", '{"pad:x":{"atext":{"text":"\\ud800*\\n","attribs":"*0+3"},"pool":{"numToAttrib":{"0":"x","__proto__":["list","bullet1"]}}}}');
  assert.equal(odd.draft?.text, "\ufffd*");
  const deep = await only("x.etherpad", '{"pad:x":{"atext":{"text":"*a\\n","attribs":"*0+3"},"pool":{"numToAttrib":{"0":["list","number999999999"]}}}}');
  assert.ok((deep.draft?.text.length ?? 0) < 100);
  for (const [json, key] of [
    ["{", "notEtherpad"], ["[]", "notEtherpad"], ["null", "notEtherpad"], ["7", "notEtherpad"], ['{"pad:x":null}', "notEtherpad"], ['{"a":{"atext":{"text":"x"}}}', "notEtherpad"],
    ['[{"id":"a","text":"Title","time":1,"tags":[]}]', "history"],
  ]) {
    assert.equal((await only("x.json", json ?? "")).problem?.key, `import.${key}`);
  }
});

test("a long pad is read in linear time", async () => {
  const count = 100_000;
  const long = { "pad:x": { atext: { text: "*a\n".repeat(count), attribs: "*0|1+3".repeat(count) }, pool: { numToAttrib: { 0: ["list", "number3"] } } } };
  assert.equal((await only("x.etherpad", JSON.stringify(long))).draft?.text.split("\n").length, count);
});

/** A server that stores notes, and fails with the errors of `fail`. */
function gateway(fail = (/** @type {string} */ _path, /** @type {number} */ _number) => /** @type {RequestError | undefined} */ (undefined)) {
  const notes = new Map();
  const answers = new Map();
  let number = 0;
  let waited = 0;
  return {
    notes,
    waited: () => waited,
    wait: async (/** @type {number} */ milliseconds) => void (waited += milliseconds),
    request: async (/** @type {string} */ path, /** @type {any} */ method, /** @type {any} */ body, /** @type {any} */ _signal, /** @type {any} */ key) => {
      number += 1;
      const error = fail(path, number);
      if (error && error.status !== 0) throw error;
      if (!answers.has(key)) {
        const id = path.split(/[/?]/)[3] ?? "";
        if (method === "DELETE") notes.delete(id), answers.set(key, undefined);
        else if (path === "/api/notes") notes.set(`n${number}`, { title: body.title, text: "" }), answers.set(key, { id: `n${number}` });
        else {
          const [kept, added] = body.operation.length === 1 ? [0, body.operation[0]] : body.operation;
          assert.equal([...notes.get(id).text].length, kept);
          notes.get(id).text += added;
          answers.set(key, { revision: body.revision + 1 });
        }
      }
      // The request was performed, but its answer is lost.
      if (error) throw error;
      return answers.get(key);
    },
  };
}

/** @param {any[]} found @param {any} server @param {{messageBytesMax?: number, isStopped?: () => boolean}} [options] */
async function send(found, server, { messageBytesMax = 4 << 20, isStopped = () => false } = {}) {
  async function* all() {
    yield* found;
  }
  const outcomes = [];
  for await (const one of importNotes(all(), { gateway: server, untitled: "Untitled", author: "Ann", messageBytesMax, isStopped })) outcomes.push(one);
  return outcomes;
}

const draft = (/** @type {string} */ title, /** @type {string} */ text) => ({ path: `${title}.md`, draft: { title, text } });

test("each note is created once with its whole text, although answers are lost", async () => {
  const long = "ä🐦\u0001".repeat(3_000);
  const server = gateway((_path, number) => (number % 3 === 1 ? new RequestError(0) : number % 3 === 2 ? new RequestError(429, "tooFast") : undefined));
  const outcomes = await send([draft("One", "text"), draft("", long), draft("Empty", "")], server, { messageBytesMax: 8_000 });
  assert.deepEqual([...server.notes.values()], [{ title: "One", text: "text" }, { title: "Untitled", text: long }, { title: "Empty", text: "" }]);
  assert.ok(outcomes.every(({ id, problem }) => id && !problem));
  assert.ok(server.waited() > 0);
  assert.deepEqual([...piecesOf("a🐦b", 2)], ["a🐦", "b"]);
});

test("a note whose text is refused is deleted, or reported if it cannot be deleted", async () => {
  const refusal = new RequestError(413, "tooLarge");
  const server = gateway((path) => (path.endsWith("/changes") ? refusal : undefined));
  const [outcome] = await send([draft("One", "text")], server);
  assert.equal(outcome.problem, refusal);
  assert.equal(outcome.id, undefined);
  assert.equal(server.notes.size, 0);
  const stuck = gateway((path) => (path === "/api/notes" ? undefined : new RequestError(403, "notAllowed")));
  const [left] = await send([draft("One", "text")], stuck);
  assert.ok(left.isLeft && left.id);
});

test("an import ends if the server stays unavailable, and stops at the user's request", async () => {
  const away = gateway(() => new RequestError(503, "unavailable"));
  const [outcome] = await send([draft("One", "text")], away);
  assert.ok(outcome.problem instanceof RequestError);
  const server = gateway();
  const outcomes = await send([draft("One", ""), draft("Two", "")], server, { isStopped: () => server.notes.size === 1 });
  assert.equal(outcomes.length, 1);
});
