// A ZIP archive of uncompressed files, which every system opens.

/** The table for CRC-32. */
const table = Uint32Array.from({ length: 256 }, (_, index) => {
  let sum = index;
  for (let bit = 0; bit < 8; bit += 1) sum = sum & 1 ? 0xedb88320 ^ (sum >>> 1) : sum >>> 1;
  return sum;
});

/** @param {Uint8Array} bytes */
export function crc32(bytes) {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = /** @type {number} */ (table[(sum ^ byte) & 0xff]) ^ (sum >>> 8);
  return (sum ^ 0xffffffff) >>> 0;
}

/**
 * Returns a title as the name of a file that is valid on every system.
 *
 * @param {string} title
 * @param {string} otherwise The name if no character of the title is valid in a file's name.
 */
export function fileName(title, otherwise) {
  const plain = title
    .replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069<>:"/\\|?*]/g, " ")
    .replace(/\s+/g, " ")
    .replace(/^[. ]+|[. ]+$/g, "");
  // Names that Windows reserves for devices.
  const name = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(plain) ? `_${plain}` : plain;
  return [...name].slice(0, 80).join("").trim() || otherwise;
}

/**
 * Returns a name for comparison as on file systems that ignore case and composition, such as those of macOS and Windows.
 *
 * @param {string} name
 */
const comparedName = (name) => name.normalize("NFC").toLowerCase().normalize("NFC");

/** Maximum bytes of files in memory; beyond it they become a Blob, which the browser may store on disk. */
const heldMax = 4 << 20;

export class Archive {
  /** @type {BlobPart[]} */
  #parts = [];
  #held = 0;
  /** @type {Uint8Array[]} Entries of the central directory at the end. */
  #entries = [];
  /** @type {Map<string, number>} The names in use (as `comparedName`), and the last number used for each. */
  #names = new Map();
  #offset = 0;

  /**
   * Adds a file. If the name is in use, a number is appended to it.
   *
   * @param {string} name
   * @param {Uint8Array} bytes
   * @param {Date} time
   */
  add(name, bytes, time) {
    let own = name;
    const key = comparedName(name);
    let number = this.#names.get(key) ?? 1;
    // A title may itself end in this number.
    while (this.#names.has(comparedName(own))) {
      number += 1;
      own = name.replace(/(\.[^.]*)?$/, (ending) => ` ${number}${ending}`);
    }
    this.#names.set(key, number);
    this.#names.set(comparedName(own), this.#names.get(comparedName(own)) ?? 1);
    const encoded = new TextEncoder().encode(own);
    const common = this.#common(bytes, encoded, time);
    const local = new Uint8Array([0x50, 0x4b, 3, 4, ...common, ...encoded]);
    const place = [this.#offset, this.#offset >>> 8, this.#offset >>> 16, this.#offset >>> 24];
    this.#entries.push(
      new Uint8Array([0x50, 0x4b, 1, 2, 20, 3, ...common, ...new Array(10).fill(0), ...place, ...encoded]),
    );
    this.#parts.push(local, /** @type {BlobPart} */ (bytes));
    this.#offset += local.length + bytes.length;
    this.#held += local.length + bytes.length;
    if (this.#held > heldMax) {
      this.#parts = [new Blob(this.#parts)];
      this.#held = 0;
    }
    if (this.#offset > 0xffffffff || this.#entries.length > 0xffff) {
      throw new RangeError("an archive holds 65,535 files and 4 GB at most");
    }
  }

  /**
   * Returns the fields that a file's header and its directory entry have in common.
   *
   * @param {Uint8Array} bytes @param {Uint8Array} name @param {Date} time
   */
  #common(bytes, name, time) {
    const view = new DataView(new ArrayBuffer(26));
    // Version 2.0; names in UTF-8; stored.
    view.setUint16(0, 20, true);
    view.setUint16(2, 0x800, true);
    const year = Math.min(Math.max(time.getFullYear() || 1980, 1980), 2107);
    view.setUint16(6, (time.getHours() << 11) | (time.getMinutes() << 5) | (time.getSeconds() >> 1), true);
    view.setUint16(8, ((year - 1980) << 9) | ((time.getMonth() + 1) << 5) | time.getDate(), true);
    view.setUint32(10, crc32(bytes), true);
    view.setUint32(14, bytes.length, true);
    view.setUint32(18, bytes.length, true);
    view.setUint16(22, name.length, true);
    return new Uint8Array(view.buffer);
  }

  /**
   * The archive, for a Blob.
   *
   * @returns {BlobPart[]}
   */
  parts() {
    const size = this.#entries.reduce((sum, entry) => sum + entry.length, 0);
    const end = new DataView(new ArrayBuffer(22));
    end.setUint32(0, 0x06054b50, true);
    end.setUint16(8, this.#entries.length, true);
    end.setUint16(10, this.#entries.length, true);
    end.setUint32(12, size, true);
    end.setUint32(16, this.#offset, true);
    return [...this.#parts, .../** @type {BlobPart[]} */ (this.#entries), end.buffer];
  }
}
