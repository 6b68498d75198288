package import ParleyGatewayPorts
package import ParleyHashing

/// The first 16 bytes of a SHA-256 hash: verifies a record, and links log entries to a chain.
package struct RecordChecksum: Equatable, Sendable {
  package let high: UInt64
  package let low: UInt64

  /// Creates a checksum from its halves.
  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  package init(_ digest: SHA256Digest) {
    high = digest.first
    low = digest.second
  }

  /// Reads a checksum from a column; `nil` unless it has exactly 16 bytes.
  package init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count == 16 else { return nil }
    high = bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self).bigEndian
    low = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self).bigEndian
  }

  /// The 16 bytes, big-endian.
  package var bytes: [UInt8] {
    [high, low].flatMap { word in
      withUnsafeBytes(of: word.bigEndian) { Array($0) }
    }
  }
}

/// A hasher of a record's fields, each with its length, so that different records never hash alike.
package struct RecordHasher: ~Copyable {
  /// The kind of a record, which is hashed first so that kinds have different checksums.
  package enum Kind: UInt8 {
    case origin = 1
    case entry, document, mark, snapshot, secret, version, room, publication, publicationKey
    case request, answer, deletion, comment, value, audit, notice
  }

  private let hash = SHA256()
  private var buffer: [UInt8] = []

  /// Creates a hasher for one thread at a time.
  package init() {}

  package mutating func begin(_ kind: Kind) {
    buffer.removeAll(keepingCapacity: true)
    buffer.append(kind.rawValue)
  }

  package mutating func add(_ value: Int) { add(bits: UInt64(bitPattern: Int64(value))) }

  package mutating func add(bits value: UInt64) {
    withUnsafeBytes(of: value.littleEndian) { buffer.append(contentsOf: $0) }
  }

  package mutating func add(_ text: String) {
    var text = text
    text.withUTF8 { utf8 in
      add(utf8.count)
      buffer.append(contentsOf: utf8)
    }
  }

  package mutating func add(_ name: some ByteName) { add(name.text) }

  package mutating func add(_ bytes: UnsafeRawBufferPointer) {
    add(bytes.count)
    buffer.append(contentsOf: bytes)
  }

  package mutating func add(_ bytes: [UInt8]) { bytes.withUnsafeBytes { add($0) } }

  package mutating func add(_ checksum: RecordChecksum) {
    add(bits: checksum.high)
    add(bits: checksum.low)
  }

  /// Returns the name of a file: the full SHA-256 of its content.
  package func hash(ofFile bytes: [UInt8]) -> FileHash {
    guard let name = FileHash(hash.hash(bytes).bytes) else {
      preconditionFailure("SHA-256 has 32 bytes")
    }
    return name
  }

  /// Returns the checksum of the fields added since `begin`.
  package func checksum() -> RecordChecksum { RecordChecksum(hash.hash(buffer)) }
}
