// Reads ZIP archives, piece by piece, from a file that stays on the disk.
//
// The directory at the end says what is in the archive. Whoever made it may lie: sizes are held against what comes out,
// and nothing is unpacked beyond them. Inflating is the browser's; an entry is handed to it as a gzip file, whose
// checksum and length it then compares by itself.

import { crc32 } from "./archive.js";
import { ImportProblem } from "./importproblem.js";

/**
 * @typedef {object} ZipEntry
 * @property {string} name As the archive says, with any separators and dots.
 * @property {boolean} isEncrypted
 * @property {number} method How it is packed: 0 not at all, 8 by DEFLATE.
 * @property {number} sum The CRC-32 of its bytes.
 * @property {number} packed Bytes in the archive.
 * @property {number} size Bytes when unpacked.
 * @property {number} offset Of its header in the archive.
 */

/** Files and folders in one archive. */
export const zipEntriesMax = 10_000;
/** The directory's bytes: names of several hundred letters each. */
const directoryBytesMax = 8 << 20;
/** Texts are packed to a fifth, logs to a fiftieth. DEFLATE reaches 1,032, with nothing but one letter. */
const ratioMax = 200;
/** Files up to so many bytes may be packed in any ratio. */
const ratioFrom = 1 << 20;

const endSize = 22;
const entrySize = 46;
const headSize = 30;
const commentMax = 0xffff;

/**
 * @param {Blob} archive
 * @returns {Promise<ZipEntry[]>} In the directory's order.
 * @throws {ImportProblem} Where it is no archive, is damaged, or has more files than an import may have.
 */
export async function entriesOf(archive) {
  const tailStart = Math.max(0, archive.size - endSize - commentMax);
  const tail = new DataView(await archive.slice(tailStart).arrayBuffer());
  const end = endIn(tail);
  if (end === undefined) throw new ImportProblem("import.notZip");
  const count = tail.getUint16(end + 10, true);
  const size = tail.getUint32(end + 12, true);
  const start = tail.getUint32(end + 16, true);
  // Of several volumes; or so large that its numbers stand elsewhere.
  if (tail.getUint32(end + 4, true) !== 0 || count === 0xffff || size === 0xffffffff || start === 0xffffffff) {
    throw new ImportProblem(count > zipEntriesMax ? "import.tooManyFiles" : "import.zipKind", { limit: zipEntriesMax });
  }
  if (count > zipEntriesMax) throw new ImportProblem("import.tooManyFiles", { limit: zipEntriesMax });
  if (size > directoryBytesMax || start + size > tailStart + end) throw new ImportProblem("import.damaged");
  const directory = new DataView(await archive.slice(start, start + size).arrayBuffer());
  const entries = [];
  for (let place = 0; entries.length < count; ) {
    if (place + entrySize > size || directory.getUint32(place, true) !== 0x02014b50) throw new ImportProblem("import.damaged");
    const nameSize = directory.getUint16(place + 28, true);
    const next = place + entrySize + nameSize + directory.getUint16(place + 30, true) + directory.getUint16(place + 32, true);
    if (next > size) throw new ImportProblem("import.damaged");
    entries.push(entryAt(directory, place, nameSize));
    place = next;
  }
  // Entries that share bytes of the archive come to more than it has.
  if (entries.reduce((sum, { packed }) => sum + packed, 0) > archive.size) throw new ImportProblem("import.damaged");
  return entries;
}

/**
 * Where the record at the end begins: the last one whose comment fills the rest.
 *
 * @param {DataView} tail
 */
function endIn(tail) {
  for (let place = tail.byteLength - endSize; place >= 0; place -= 1) {
    if (tail.getUint32(place, true) === 0x06054b50 && place + endSize + tail.getUint16(place + 20, true) === tail.byteLength) return place;
  }
  return undefined;
}

/** @param {DataView} directory @param {number} place @param {number} nameSize @returns {ZipEntry} */
function entryAt(directory, place, nameSize) {
  const flags = directory.getUint16(place + 8, true);
  return {
    name: nameOf(new Uint8Array(directory.buffer, directory.byteOffset + place + entrySize, nameSize)),
    isEncrypted: (flags & 1) !== 0,
    method: directory.getUint16(place + 10, true),
    sum: directory.getUint32(place + 16, true),
    packed: directory.getUint32(place + 20, true),
    size: directory.getUint32(place + 24, true),
    offset: directory.getUint32(place + 42, true),
  };
}

/**
 * Names are UTF-8 nowadays, whether the archive says so or not; others become letters, if not the right ones.
 *
 * @param {Uint8Array} bytes
 */
function nameOf(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

/**
 * Whether an entry promises so much more than it has that it was made to fill memories.
 *
 * @param {ZipEntry} entry
 */
export const isBomb = ({ size, packed }) => size > ratioFrom && size > packed * ratioMax;

/**
 * Unpacks one file into memory; the caller has looked at its size.
 *
 * @param {Blob} archive
 * @param {ZipEntry} entry
 * @returns {Promise<Uint8Array>}
 * @throws {ImportProblem}
 */
export async function unpack(archive, entry) {
  if (entry.isEncrypted) throw new ImportProblem("import.encrypted");
  const head = new DataView(await archive.slice(entry.offset, entry.offset + headSize).arrayBuffer());
  if (head.byteLength < headSize || head.getUint32(0, true) !== 0x04034b50) throw new ImportProblem("import.damaged");
  const start = entry.offset + headSize + head.getUint16(26, true) + head.getUint16(28, true);
  const packed = archive.slice(start, start + entry.packed);
  if (packed.size !== entry.packed) throw new ImportProblem("import.damaged");
  switch (entry.method) {
    case 0: {
      const bytes = new Uint8Array(await packed.arrayBuffer());
      if (bytes.length !== entry.size || crc32(bytes) !== entry.sum) throw new ImportProblem("import.damaged");
      return bytes;
    }
    case 8:
      return inflate(packed, entry);
    default:
      throw new ImportProblem("import.zipKind");
  }
}

/** @param {Blob} packed @param {ZipEntry} entry */
async function inflate(packed, { sum, size }) {
  /** @type {any} */
  const Inflating = Reflect.get(globalThis, "DecompressionStream");
  if (!Inflating) throw new ImportProblem("import.oldBrowser");
  const end = new DataView(new ArrayBuffer(8));
  end.setUint32(0, sum, true);
  end.setUint32(4, size, true);
  const gzip = new Blob([new Uint8Array([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]), packed, end.buffer]);
  const reader = gzip.stream().pipeThrough(new Inflating("gzip")).getReader();
  const bytes = new Uint8Array(size);
  let count = 0;
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      if (count + value.length > size) throw new ImportProblem("import.damaged");
      bytes.set(value, count);
      count += value.length;
    }
  } catch {
    // No more of it is unpacked.
    await reader.cancel().catch(() => {});
    throw new ImportProblem("import.damaged");
  }
  if (count !== size) throw new ImportProblem("import.damaged");
  return bytes;
}
