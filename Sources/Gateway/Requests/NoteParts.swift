import ParleyGatewayPorts

/// The digests of the list parts that a client holds, from its request's `parts`.
struct HeldParts {
  /// Number of letters in a digest.
  static let digestCount = 8

  /// The concatenated digests.
  private let text: [UInt8]

  /// Reads the parameter: no digest, or the digests of all parts of a list.
  init(_ written: String) throws(Response) {
    text = Array(written.utf8)
    let count = text.count / Self.digestCount
    guard text.count.isMultiple(of: Self.digestCount), count <= NoteParts.countMax,
      count & (count - 1) == 0, text.allSatisfy(NoteParts.letters.contains)
    else {
      throw .problem(
        400, .badMessage,
        "expected parts as the digests of all parts of a list, one after the other, or empty")
    }
  }

  /// The number of parts.
  var count: Int { text.count / Self.digestCount }

  /// Whether the client holds a part with this digest.
  func holds(_ digest: [UInt8], at part: Int) -> Bool {
    text[(part * Self.digestCount)...].prefix(Self.digestCount).elementsEqual(digest)
  }
}

/// A list of notes in parts. A client receives the parts that it does not hold.
///
/// A hash of a note's id determines its part. A part's digest changes with each of its notes, and
/// with the reader's rights to them. Notes of a part are unordered.
struct NoteParts {
  /// Maximum number of parts.
  static let countMax = 256
  /// Approximate number of notes of a part while there are fewer parts than ``countMax``.
  private static let notesOfPart = 32
  /// The letters of digests.
  static let letters = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// A note in a list.
  struct Item {
    let note: NoteSummary
    let verbs: Verbs
    /// The hash of the id, which determines the part.
    let place: UInt64
    /// The hash of everything that the list shows of the note.
    let digest: UInt64

    /// - Parameter verbs: The list reader's rights to the note.
    init(_ note: NoteSummary, verbs: Verbs) {
      self.note = note
      self.verbs = verbs
      place = StableHash.of(note.id.text)
      var bytes: [UInt8] = []
      bytes.reserveCapacity(128)
      for text in [note.id.text, note.title, note.folder.text] {
        bytes += text.utf8
        // A separator: UTF-8 never contains this byte.
        bytes.append(0xff)
      }
      for number in [Int64(note.revision), Int64(note.createdAt), Int64(note.updatedAt)] {
        withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
      }
      bytes.append(verbs.rawValue)
      if note.kind != .plain { bytes += note.kind.rawValue.utf8 }
      digest = StableHash.of(bytes)
    }
  }

  /// A part that a client does not hold.
  struct MissingPart {
    let index: Int
    let digest: [UInt8]
    let items: [Item]
  }

  /// The number of parts.
  let count: Int
  /// The parts that the client does not hold.
  let missing: [MissingPart]
  /// A hash of all parts.
  let state: UInt64

  /// Divides a list.
  ///
  /// The client's number of parts is retained while it fits approximately. Otherwise a list that
  /// grows and shrinks by one note would be sent again.
  ///
  /// - Complexity: O(*n*) notes.
  init(_ items: [Item], held: HeldParts) {
    var fitting = 1
    while fitting < Self.countMax, fitting * Self.notesOfPart < items.count { fitting *= 2 }
    let isFit = held.count > 0 && (fitting / 2...fitting * 2).contains(held.count)
    let count = isFit ? held.count : fitting
    var sums = [UInt64](repeating: 0, count: count)
    var members = [[Int]](repeating: [], count: count)
    for (index, item) in items.enumerated() {
      let part = Int(item.place & UInt64(count - 1))
      // A sum does not depend on the order.
      sums[part] &+= item.digest
      members[part].append(index)
    }
    let digests = sums.map(Self.digest)
    self.count = count
    missing = digests.indices.compactMap { part in
      if held.count == count, held.holds(digests[part], at: part) { return nil }
      return MissingPart(index: part, digest: digests[part], items: members[part].map { items[$0] })
    }
    state = StableHash.of(Array(digests.joined()))
  }

  /// Encodes a sum of hashes as a digest.
  private static func digest(_ sum: UInt64) -> [UInt8] {
    (0..<HeldParts.digestCount).map { letters[Int(sum >> (6 * UInt64($0)) & 63)] }
  }
}
