// What is in the files that somebody gives to be imported: notes, one after the other, and what is none.

import { padsIn } from "./etherpad.js";
import { baseName, cleanTitle, folderOf, textOf, titleOf } from "./importedtext.js";
import { ImportProblem } from "./importproblem.js";
import { entriesOf, isBomb, unpack, zipEntriesMax } from "./unzip.js";

/**
 * @typedef {{path: string, file?: Blob}} Given A file, and where it lay; without a file, one that could not be read.
 * @typedef {{title: string, text: string, folder?: string, pad?: import("./etherpad.js").Pad}} Draft A note to be made.
 * @typedef {{path: string, draft?: Draft, problem?: ImportProblem}} Found One of both.
 */

/** Files of one import, those in archives counted. */
export const importFilesMax = zipEntriesMax;
/** Bytes of all texts of one import. */
export const importBytesMax = 256 << 20;
/** An .etherpad file has every revision beside the text. */
const etherpadBytesMax = 64 << 20;

/** @typedef {"text" | "pad" | "zip" | "other"} Kind */

/** @param {string} path @returns {Kind} */
function kindOf(path) {
  if (/(^|[\\/])\./.test(path.replace(/(^|[\\/])\.{1,2}(?=[\\/])/g, "$1"))) return "other";
  if (/\.(md|markdown|txt|text)$/i.test(path)) return "text";
  if (/\.(etherpad|json)$/i.test(path)) return "pad";
  return /\.zip$/i.test(path) ? "zip" : "other";
}

/**
 * What systems put beside people's files, of which nobody wants to hear.
 *
 * @param {string} path
 */
const isNoise = (path) => /(^|[\\/])(__MACOSX[\\/]|\._[^\\/]*$|\.DS_Store$|Thumbs\.db$|desktop\.ini$)/i.test(path);

/**
 * Reads files one after the other; what was read is let go of as soon as the next is asked for.
 *
 * @param {Given[]} given
 * @param {{scalarsMax: number}} limits Of a note's text.
 * @returns {AsyncGenerator<Found>}
 */
export async function* notesIn(given, { scalarsMax }) {
  const budget = { files: importFilesMax, bytes: importBytesMax, textMax: 4 * scalarsMax + 4, scalarsMax };
  for (const { path, file } of given) {
    if (isNoise(path)) continue;
    if (!file) yield { path, problem: new ImportProblem("import.unreadable") };
    else if (kindOf(path) === "zip") yield* notesInArchive(path, file, budget);
    else yield* notesInFile(path, file.size, async () => new Uint8Array(await file.arrayBuffer()), budget);
  }
}

/** @typedef {{files: number, bytes: number, textMax: number, scalarsMax: number}} Budget What is left of it. */

/** @param {string} path @param {Blob} archive @param {Budget} budget @returns {AsyncGenerator<Found>} */
async function* notesInArchive(path, archive, budget) {
  let files;
  try {
    const entries = await entriesOf(archive);
    files = entries.filter(({ name }) => !/[\\/]$/.test(name) && !isNoise(name));
    const notes = files.filter(({ name }) => ["text", "pad"].includes(kindOf(name)));
    // All of it is looked at before any of it is taken.
    if (notes.some(isBomb)) throw new ImportProblem("import.bomb");
    if (files.length > budget.files) throw new ImportProblem("import.tooManyFiles", { limit: importFilesMax });
    if (notes.reduce((sum, { size }) => sum + size, 0) > budget.bytes) throw tooMuch();
  } catch (error) {
    yield { path, problem: problemOf(error) };
    return;
  }
  for (const entry of files) {
    const inside = `${path}/${entry.name}`;
    if (kindOf(entry.name) === "zip") yield { path: inside, problem: new ImportProblem("import.archiveInArchive") };
    else yield* notesInFile(inside, entry.size, () => unpack(archive, entry), budget, entry.name);
  }
}

const tooMuch = () => new ImportProblem("import.tooMuch", { limit: importBytesMax >> 20 });

/**
 * @param {string} path
 * @param {number} size
 * @param {() => Promise<Uint8Array>} read
 * @param {Budget} budget
 * @param {string} [name] Its path in the archive.
 * @returns {AsyncGenerator<Found>}
 */
async function* notesInFile(path, size, read, budget, name = path) {
  const kind = kindOf(name);
  try {
    takeFile(budget);
    if (kind === "other") throw new ImportProblem("import.notANote");
    if (size > (kind === "pad" ? etherpadBytesMax : budget.textMax)) throw tooLong(budget);
    budget.bytes -= size;
    if (budget.bytes < 0) throw tooMuch();
    const text = textOf(await read());
    if (kind === "text") {
      checkLength(text, budget);
      yield { path, draft: { title: titleOf(text, name), text, folder: folderOf(name) } };
      return;
    }
    for (const [index, pad] of padsIn(text).entries()) {
      if (index > 0) takeFile(budget);
      checkLength(pad.text, budget);
      const title = titleOf(pad.text, "") || cleanTitle(pad.name) || cleanTitle(baseName(name));
      yield { path, draft: { title, text: pad.text, pad } };
    }
  } catch (error) {
    yield { path, problem: problemOf(error) };
  }
}

/** @param {Budget} budget */
function takeFile(budget) {
  budget.files -= 1;
  if (budget.files < 0) throw new ImportProblem("import.tooManyFiles", { limit: importFilesMax });
}

/** @param {Budget} budget */
const tooLong = ({ scalarsMax }) => new ImportProblem("import.tooLong", { limit: scalarsMax });

/** @param {string} text @param {Budget} budget */
function checkLength(text, budget) {
  if (text.length <= budget.scalarsMax) return;
  let count = text.length;
  for (let index = 0; index < text.length; index += 1) if ((text.charCodeAt(index) & 0xfc00) === 0xdc00) count -= 1;
  if (count > budget.scalarsMax) throw tooLong(budget);
}

/** @param {unknown} error What is no problem of the file's: the browser could not read it. */
const problemOf = (error) => (error instanceof ImportProblem ? error : new ImportProblem("import.unreadable"));
