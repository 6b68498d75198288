// Reads the files that a user imports: notes, and archives of notes.
//
// The rules are those of the command `parley import`: the same code (Sources/Importing), compiled to WebAssembly. It
// requests the bytes that it needs, so that an archive is not loaded as a whole. A malicious file can harm only this
// tab.

import { importAddress } from "../ground/assets.js";
import { ImportProblem } from "./importproblem.js";

/**
 * @typedef {{path: string, file?: Blob}} Given A file with its path; without `file`, it could not be read.
 * @typedef {{revision: number, authors: string[]}} Pad
 * @typedef {{title: string, text: string, folder?: string, pad?: Pad}} Draft A note to create.
 * @typedef {{path: string, draft?: Draft, problem?: ImportProblem}} Found Either a draft or a problem.
 *
 * @typedef {object} Exports
 * @property {WebAssembly.Memory} memory
 * @property {(count: number) => number} input_reserve
 * @property {() => number} output_address
 * @property {() => number} output_count
 * @property {(count: number) => void} import_create
 * @property {(count: number) => void} import_begin
 * @property {(count: number) => void} import_supply
 * @property {() => number} import_next
 */

/** Maximum files that are collected for one import; the rules reject files beyond their own limit. */
export const importFilesMax = 10_000;

/** Kinds of steps, as in Web/core/import. */
const [done, read, note] = [0, 1, 2];

/** The key of the text for each problem, by its name in Sources/Importing/ImportProblem.swift. */
const reasons = /** @type {const} */ ({
  notANote: "import.notANote",
  notText: "import.notText",
  notZip: "import.notZip",
  zipKind: "import.zipKind",
  damaged: "import.damaged",
  encrypted: "import.encrypted",
  bomb: "import.bomb",
  archiveInArchive: "import.archiveInArchive",
  tooManyFiles: "import.tooManyFiles",
  tooMuch: "import.tooMuch",
  tooLong: "import.tooLong",
  notEtherpad: "import.notEtherpad",
  history: "import.history",
  unreadable: "import.unreadable",
});

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** @type {Promise<WebAssembly.Module> | undefined} Loaded at the first import. */
let module;

async function theModule() {
  module ??= fetch(importAddress).then(async (response) => {
    if (!response.ok) throw new TypeError(`the rules of imports could not be fetched: ${response.status}`);
    return WebAssembly.compile(await response.arrayBuffer());
  });
  // After a failure, the next import loads it again.
  module.catch(() => (module = undefined));
  return module;
}

/** An instance of the rules for one import, whose memory is released with it. */
export class ImportReader {
  #exports;

  /**
   * @param {WebAssembly.Module} compiled
   * @param {{scalarsMax: number}} limits The limit of a note's text.
   */
  constructor(compiled, { scalarsMax }) {
    this.#exports = /** @type {Exports} */ (/** @type {unknown} */ (new WebAssembly.Instance(compiled).exports));
    this.#call("import_create", numberBytes(scalarsMax));
  }

  /** @param {{scalarsMax: number}} limits */
  static async load(limits) {
    return new ImportReader(await theModule(), limits);
  }

  /** @param {"import_create" | "import_begin" | "import_supply"} name @param {Uint8Array} bytes */
  #call(name, bytes) {
    const address = this.#exports.input_reserve(bytes.length);
    new Uint8Array(this.#exports.memory.buffer, address, bytes.length).set(bytes);
    this.#exports[name](bytes.length);
  }

  /** Returns functions that read the fields of the last call's output. */
  #output() {
    const { memory, output_address, output_count } = this.#exports;
    const view = new DataView(memory.buffer, output_address(), output_count());
    let place = 0;
    const number = () => view.getFloat64((place += 8) - 8, true);
    const text = () => {
      const count = number();
      place += count;
      return decoder.decode(new Uint8Array(memory.buffer, view.byteOffset + place - count, count));
    };
    return { number, text };
  }

  /**
   * Reads files one after the other; each result is released when the next is requested.
   *
   * @param {Given[]} given
   * @returns {AsyncGenerator<Found>}
   */
  async *notesIn(given) {
    for (const { path, file } of given) {
      if (!file) {
        yield { path, problem: new ImportProblem("import.unreadable") };
        continue;
      }
      const name = encoder.encode(path);
      this.#call("import_begin", Uint8Array.from([...numberBytes(name.length), ...name, ...numberBytes(file.size)]));
      for (;;) {
        const kind = this.#exports.import_next();
        if (kind === done) break;
        if (kind === read) await this.#supply(file);
        else yield kind === note ? this.#note() : this.#problem();
      }
    }
  }

  /** @param {Blob} file */
  async #supply(file) {
    const { number } = this.#output();
    const [offset, count] = [number(), number()];
    let bytes;
    try {
      bytes = new Uint8Array(await file.slice(offset, offset + count).arrayBuffer());
    } catch {
      this.#exports.import_supply(-1);
      return;
    }
    this.#call("import_supply", bytes);
  }

  /** @returns {Found} */
  #note() {
    const { number, text } = this.#output();
    const [path, title, folder, words, isPad, revision, count] = [text(), text(), text(), text(), number(), number(), number()];
    const authors = Array.from({ length: count }, text);
    return { path, draft: { title, text: words, ...(folder && { folder }), ...(isPad && { pad: { revision, authors } }) } };
  }

  /** @returns {Found} */
  #problem() {
    const { number, text } = this.#output();
    const [path, name, limit] = [text(), text(), number()];
    const key = reasons[/** @type {keyof typeof reasons} */ (name)] ?? "import.unreadable";
    return { path, problem: new ImportProblem(key, limit ? { limit } : undefined) };
  }
}

/** @param {number} number */
function numberBytes(number) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, number, true);
  return new Uint8Array(view.buffer);
}
