// Texts and titles of files that are imported.

import { ImportProblem } from "./importproblem.js";
import { oneLine } from "../oneline.js";
import { wellFormed } from "../wellformed.js";

/** As the field for titles has it. */
const titleLettersMax = 200;
/** As servers have it that were told nothing else. */
const titleBytesMax = 500;
/** Headings are looked for in so much of a line. */
const headingMax = 1_000;
/** Front matter is over within so many lines. */
const frontMatterLinesMax = 200;

/**
 * The text of a file: UTF-8, or UTF-16 with a mark that says so. Nothing is guessed, for what is guessed wrongly looks
 * right until somebody reads it. Lines end in "\n", as after a paste.
 *
 * @param {Uint8Array} bytes
 * @throws {ImportProblem}
 */
export function textOf(bytes) {
  const [first, second] = bytes;
  const kind = first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
  let text;
  try {
    // A mark at the beginning is left out.
    text = new TextDecoder(kind, { fatal: true }).decode(bytes);
  } catch {
    throw new ImportProblem("import.notText");
  }
  // Pictures and programs that happen to be UTF-8, UTF-16 without a mark, UTF-32.
  if (text.includes("\0")) throw new ImportProblem("import.notText");
  return text.replace(/\r\n?/g, "\n");
}

/**
 * A title: of what the text says of itself, of its first heading, or of its file's name; "" if none has a letter.
 *
 * @param {string} text
 * @param {string} path Of the file, with any separators.
 */
export const titleOf = (text, path) =>
  cleanTitle(frontMatterTitle(text) ?? "") || cleanTitle(firstHeading(text) ?? "") || cleanTitle(baseName(path));

/**
 * A file's own name without its ending. Folders, and dots that lead out of them, name nothing here.
 *
 * @param {string} path
 */
export function baseName(path) {
  const name = path.split(/[\\/]/).filter((part) => /[^.\s]/.test(part)).pop() ?? "";
  return name.replace(/(?<=.)\.(md|markdown|txt|text|etherpad|json)$/i, "");
}

/**
 * In one line, without what turns the direction of others, and as long as titles may be.
 *
 * @param {string} title
 */
export function cleanTitle(title) {
  const line = oneLine(wellFormed(title.slice(0, 4 * titleLettersMax)).replace(/\p{Bidi_Control}/gu, " "));
  const encoder = new TextEncoder();
  let bytes = 0;
  let cut = "";
  for (const letter of [...line].slice(0, titleLettersMax)) {
    bytes += encoder.encode(letter).length;
    if (bytes > titleBytesMax) break;
    cut += letter;
  }
  return cut.trim();
}

/** @param {string} text */
function* linesOf(text) {
  for (let start = 0; start <= text.length; ) {
    const end = text.indexOf("\n", start);
    yield text.slice(start, end < 0 ? text.length : end);
    if (end < 0) return;
    start = end + 1;
  }
}

/** @param {string} text @returns {string | undefined} The `title` between two lines of dashes at the beginning. */
function frontMatterTitle(text) {
  if (!text.startsWith("---\n")) return undefined;
  let title;
  let count = 0;
  for (const line of linesOf(text)) {
    count += 1;
    if (count === 1) continue;
    if (count > frontMatterLinesMax) return undefined;
    if (/^(?:---|\.\.\.)\s*$/.test(line)) return title;
    const match = /^title:(?:\s+(.*))?$/.exec(line.slice(0, headingMax));
    if (match) title ??= scalarOf((match[1] ?? "").trim());
  }
  // It was a line, and no front matter.
  return undefined;
}

/**
 * A value of YAML that stands on one line; undefined for any other.
 *
 * @param {string} value
 */
function scalarOf(value) {
  const double = /^"((?:[^"\\]|\\.)*)"/.exec(value)?.[1];
  if (double !== undefined) return double.replace(/\\(.)/g, "$1");
  const single = /^'((?:[^']|'')*)'/.exec(value)?.[1];
  if (single !== undefined) return single.replaceAll("''", "'");
  if (/^[|>[{&*!]/.test(value)) return undefined;
  return value.replace(/(^|\s)#.*$/, "");
}

/** @param {string} text @returns {string | undefined} The first heading, outside of code, without its marks. */
function firstHeading(text) {
  /** @type {string | undefined} */
  let fence;
  for (const whole of linesOf(text)) {
    const line = whole.slice(0, headingMax);
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark?.startsWith(fence)) fence = undefined;
      continue;
    }
    if (mark !== undefined) {
      fence = mark;
      continue;
    }
    const heading = /^ {0,3}#{1,6}[ \t](.*)$/.exec(line)?.[1];
    const plain = heading === undefined ? "" : withoutMarks(heading);
    if (plain !== "") return plain;
  }
  return undefined;
}

/** @param {string} heading */
const withoutMarks = (heading) =>
  heading
    .trim()
    .replace(/#+$/, (marks, place, all) => (place === 0 || /\s/.test(all[place - 1]) ? "" : marks))
    .replace(/!?\[([^\][]*)\]\([^()]*\)/g, "$1")
    .replace(/[*`]|__|~~|\\(?=[!-/:-@[-`{-~])/g, "")
    .trim();

/** As the server has it: something that is drawn, which some letters and signs are not. */
const seen = /[^\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\u{13441}\u{13442}\u{16fe4}\u{1d159}]/u;

/** Names that a folder's path may have, and its bytes in UTF-8. */
const foldersMax = 8;
const folderBytesMax = 240;

/**
 * The folder of a note, from the path of its file: in words that the server takes.
 *
 * @param {string} path
 */
export function folderOf(path) {
  const names = path
    .normalize("NFC")
    .split(/[\\/]+/)
    .slice(0, -1)
    .map((name) => name.replace(/[\p{Cc}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Bidi_Control}*\u{fffd}]/gu, " ").trim())
    .filter((name) => seen.test(name) && name !== "." && name !== "..")
    .slice(0, foldersMax);
  while (new TextEncoder().encode(names.join("/")).length > folderBytesMax) names.pop();
  return names.join("/");
}
