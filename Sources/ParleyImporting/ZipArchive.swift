/// A reader of the structure of ZIP archives (APPNOTE 6.3), in pieces.
///
/// An archive is not trusted: declared sizes are compared with the actual ones, and nothing is
/// inflated beyond them.
enum ZipArchive {
  /// The bytes at the end of an archive that contain the end record, even with the longest comment.
  static let tailBytes = 22 + 0xffff
  /// The bytes of an entry's local header, before its name.
  static let headBytes = 30

  /// The position and size of the directory.
  struct End: Sendable {
    var count: Int
    var start: Int64
    var size: Int
  }

  /// A file in the archive.
  struct Entry: Sendable {
    var name: String
    var isEncrypted: Bool
    var method: Int
    var checksum: UInt32
    var packed: Int64
    var size: Int64
    var offset: Int64

    /// Whether the entry declares far more inflated than packed bytes, as malicious ones do.
    var isBomb: Bool {
      size > Int64(ImportLimits.ratioFrom) && size > packed &* Int64(ImportLimits.ratioMax)
    }
  }

  // MARK: The end

  /// Reads the end record: the last one whose comment extends exactly to the end of the archive.
  static func end(in tail: [UInt8], at tailStart: Int64) throws(ImportProblem) -> End {
    var place = tail.count - 22
    while place >= 0 {
      if wide(tail, place) == 0x0605_4b50,
        place + 22 + number(tail, place + 20) == tail.count
      {
        break
      }
      place -= 1
    }
    guard place >= 0 else { throw .notZip }
    let count = number(tail, place + 10)
    let size = wide(tail, place + 12)
    let start = wide(tail, place + 16)
    guard count <= ImportLimits.archiveEntriesMax else {
      throw .tooManyFiles(limit: ImportLimits.archiveEntriesMax)
    }
    // Several volumes, or an archive so large that its sizes are in a ZIP64 record.
    guard wide(tail, place + 4) == 0, size != wideMax, start != wideMax else { throw .zipKind }
    guard size <= Int64(ImportLimits.directoryBytesMax), start + size <= tailStart + Int64(place)
    else { throw .damaged }
    return End(count: count, start: start, size: Int(size))
  }

  // MARK: The directory

  /// Reads the entries, in the directory's order.
  static func entries(
    in directory: [UInt8], _ end: End, archiveSize: Int64
  ) throws(ImportProblem) -> [Entry] {
    var entries: [Entry] = []
    var place = 0
    var packed: Int64 = 0
    while entries.count < end.count {
      guard place + 46 <= directory.count, wide(directory, place) == 0x0201_4b50 else {
        throw .damaged
      }
      let nameEnd = place + 46 + number(directory, place + 28)
      let extraEnd = nameEnd + number(directory, place + 30)
      let next = extraEnd + number(directory, place + 32)
      guard next <= directory.count else { throw .damaged }
      let flags = number(directory, place + 8)
      let entry = Entry(
        name: ZipName.text(
          directory[place + 46..<nameEnd], extra: directory[nameEnd..<extraEnd],
          isUTF8: flags & 0x800 != 0, version: number(directory, place + 4)),
        isEncrypted: flags & 1 != 0, method: number(directory, place + 10),
        checksum: UInt32(wide(directory, place + 16)),
        packed: wide(directory, place + 20), size: wide(directory, place + 24),
        offset: wide(directory, place + 42))
      packed += entry.packed
      entries.append(entry)
      place = next
    }
    // Entries that overlap would have more bytes in total than the archive.
    guard packed <= archiveSize else { throw .damaged }
    return entries
  }

  // MARK: Entries

  /// Returns the offset of an entry's bytes, computed from its local header.
  static func start(of entry: Entry, head: [UInt8]) throws(ImportProblem) -> Int64 {
    guard head.count == headBytes, wide(head, 0) == 0x0403_4b50 else { throw .damaged }
    return entry.offset + Int64(headBytes + number(head, 26) + number(head, 28))
  }

  /// Returns an entry's content, checked against the size and the checksum of the directory.
  static func content(of entry: Entry, packed: [UInt8]) throws(ImportProblem) -> [UInt8] {
    guard Int64(packed.count) == entry.packed else { throw .damaged }
    let content: [UInt8]
    switch entry.method {
    case 0: content = packed
    case 8:
      guard let inflated = Inflate.bytes(of: packed[...], size: Int(entry.size)) else {
        throw .damaged
      }
      content = inflated
    default: throw .zipKind
    }
    guard Int64(content.count) == entry.size, CRC32.checksum(of: content[...]) == entry.checksum
    else {
      throw .damaged
    }
    return content
  }

  /// Reads a little-endian number of 2 bytes.
  static func number(_ bytes: [UInt8], _ place: Int) -> Int {
    Int(bytes[place]) | Int(bytes[place + 1]) << 8
  }

  /// Reads a little-endian number of 4 bytes, which may exceed an `Int` in WebAssembly.
  static func wide(_ bytes: [UInt8], _ place: Int) -> Int64 {
    Int64(number(bytes, place)) | Int64(number(bytes, place + 2)) << 16
  }

  /// The value that refers to a ZIP64 record.
  private static let wideMax: Int64 = 0xffff_ffff
}

/// CRC-32, the checksum of ZIP and gzip.
enum CRC32 {
  private static let table: [UInt32] = (0..<256).map { index in
    var sum = UInt32(index)
    for _ in 0..<8 { sum = sum & 1 == 1 ? 0xedb8_8320 ^ (sum >> 1) : sum >> 1 }
    return sum
  }

  static func checksum(of bytes: ArraySlice<UInt8>) -> UInt32 {
    var sum: UInt32 = 0xffff_ffff
    let table = table
    for byte in bytes { sum = table[Int((sum ^ UInt32(byte)) & 0xff)] ^ (sum >> 8) }
    return sum ^ 0xffff_ffff
  }
}
