// What Etherpad exports as .etherpad: its database's records of one pad, as JSON.
//
// The record "pad:NAME" has the text as it is, and `attribs`, which says of each run of letters what it is: numbers
// of the pool, in base 36. A line that is in a list begins with a "*" that nobody typed, and says so by "lmkr". All
// else (revisions, chat, formatting, comments) stays behind; what there was is told.

import { ImportProblem } from "./importproblem.js";
import { wellFormed } from "../wellformed.js";

/**
 * @typedef {{name: string, text: string, revision: number, authors: string[]}} Pad
 */

const levelMax = 16;
const authorsMax = 20;

/**
 * @param {string} json
 * @returns {Pad[]} Usually one.
 * @throws {ImportProblem}
 */
export function padsIn(json) {
  /** @type {unknown} */
  let records;
  try {
    records = JSON.parse(json);
  } catch {
    throw new ImportProblem("import.notEtherpad");
  }
  if (isHistory(records)) throw new ImportProblem("import.history");
  if (typeof records !== "object" || records === null || Array.isArray(records)) throw new ImportProblem("import.notEtherpad");
  const pads = [];
  for (const [key, value] of Object.entries(records)) {
    const text = value?.atext?.text;
    if (!key.startsWith("pad:") || typeof text !== "string") continue;
    pads.push({
      name: wellFormed(key.slice("pad:".length).replace(/^g\.\w+\$/, "")),
      text: wellFormed(textOf(value)),
      revision: Number.isSafeInteger(value.head) ? value.head : 0,
      authors: authorsOf(value, /** @type {Record<string, any>} */ (records)),
    });
  }
  if (pads.length === 0) throw new ImportProblem("import.notEtherpad");
  return pads;
}

/**
 * HedgeDoc's export of a history: which notes somebody opened, without their texts.
 *
 * @param {unknown} value
 */
const isHistory = (value) =>
  Array.isArray(value) && value.length > 0 && value.every((one) => typeof one?.id === "string" && typeof one?.text === "string" && "time" in one);

/** @param {any} pad @param {number} number @returns {[string, string] | undefined} */
function attribute(pad, number) {
  const pool = pad.pool?.numToAttrib;
  if (typeof pool !== "object" || pool === null || !Object.hasOwn(pool, String(number))) return undefined;
  const pair = pool[number];
  return Array.isArray(pair) ? [String(pair[0]), String(pair[1])] : undefined;
}

/** @param {any} pad @param {Record<string, any>} records @returns {string[]} Names, where people had given any. */
function authorsOf(pad, records) {
  const names = new Set();
  for (const number of Object.keys(pad.pool?.numToAttrib ?? {})) {
    const [kind, id] = attribute(pad, Number(number)) ?? [];
    const name = kind === "author" && Object.hasOwn(records, `globalAuthor:${id}`) ? records[`globalAuthor:${id}`]?.name : undefined;
    if (typeof name === "string" && name.trim()) names.add(wellFormed(name.trim().slice(0, 100)));
    if (names.size === authorsMax) break;
  }
  return [...names];
}

/** @param {any} pad */
function textOf(pad) {
  const { text, attribs } = pad.atext;
  const runs = runsOf(pad, attribs, text.length);
  // Every text of Etherpad's ends a line.
  const lines = text.replace(/\n$/, "").split("\n");
  if (runs === undefined) return lines.join("\n");
  /** @type {number[]} Of lists within lists, the outermost first. */
  let numbers = [];
  let run = 0;
  let start = 0;
  for (const [index, line] of lines.entries()) {
    while ((runs[run]?.end ?? Infinity) <= start) run += 1;
    start += line.length + 1;
    const marks = runs[run]?.marks ?? new Map();
    const list = /^(\D+)(\d+)$/.exec(marks.get("list") ?? "");
    const heading = /^h([1-6])$/.exec(marks.get("heading") ?? "");
    const rest = (list || heading || marks.has("lmkr")) && line.startsWith("*") ? line.slice(1) : line;
    const level = Math.min(Math.max(Number(list?.[2] ?? 0), 1), levelMax);
    if (list?.[1] !== "number") numbers = [];
    if (list?.[1] === "number") {
      numbers = [...numbers, ...new Array(levelMax).fill(0)].slice(0, level);
      numbers[level - 1] = (numbers[level - 1] ?? 0) + 1;
      lines[index] = `${"   ".repeat(level - 1)}${numbers[level - 1]}. ${rest}`;
    } else if (list?.[1] === "indent") lines[index] = `${"\t".repeat(level)}${rest}`;
    else if (list) lines[index] = `${"  ".repeat(level - 1)}- ${rest}`;
    else if (heading) lines[index] = `${"#".repeat(Number(heading[1]))} ${rest}`;
    else lines[index] = rest;
  }
  return lines.join("\n");
}

/**
 * @param {any} pad
 * @param {unknown} attribs
 * @param {number} length Of the text, in UTF-16 units, as Etherpad counts.
 * @returns {{end: number, marks: Map<string, string>}[] | undefined} Undefined where they do not fit the text.
 */
function runsOf(pad, attribs, length) {
  if (typeof attribs !== "string") return undefined;
  const runs = [];
  const form = /((?:\*[0-9a-z]+)*)(?:\|[0-9a-z]+)?\+([0-9a-z]+)/y;
  let end = 0;
  while (form.lastIndex < attribs.length) {
    const match = form.exec(attribs);
    if (!match) return undefined;
    end += parseInt(match[2] ?? "", 36);
    const numbers = (match[1] ?? "").split("*").slice(1);
    const marks = numbers.flatMap((number) => {
      const pair = attribute(pad, parseInt(number, 36));
      return pair && ["list", "heading", "lmkr"].includes(pair[0]) ? [pair] : [];
    });
    runs.push({ end, marks: new Map(marks) });
  }
  return end === length ? runs : undefined;
}
