import ParleyGatewayPorts

/// The digests of a list's parts that a client holds, from `parts` of its request.
struct HeldParts {
  /// The letters of a digest.
  static let digestCount = 8

  /// The digests, one after the other.
  private let text: [UInt8]

  /// Reads a parameter: no digest, or those of a whole list.
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

  /// Whether the digest of a part is this one.
  func holds(_ digest: [UInt8], at part: Int) -> Bool {
    text[(part * Self.digestCount)...].prefix(Self.digestCount).elementsEqual(digest)
  }
}

/// A list of notes in parts, of which a client receives those that it does not hold.
///
/// A note's part follows from a hash of its id. A part's digest changes with each note of the part, and with the reader's
/// rights to it; notes of a part are in no order.
struct NoteParts {
  /// The number of parts at most.
  static let countMax = 256
  /// The number of notes of a part, about, as long as there are fewer parts than ``countMax``.
  private static let notesOfPart = 32
  /// The letters of digests.
  static let letters = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// A note in a list.
  struct Item {
    let note: NoteSummary
    let verbs: Verbs
    /// The hash that decides the part.
    let place: UInt64
    /// The hash of all that the list shows of the note.
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
        // Ends the text: no text in UTF-8 contains this byte.
        bytes.append(0xff)
      }
      for number in [Int64(note.revision), Int64(note.createdAt), Int64(note.updatedAt)] {
        withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
      }
      bytes.append(verbs.rawValue)
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
  /// The number of parts is the client's, as long as it fits: a list that grows and shrinks by a note is not sent again.
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
      // A sum, so that the order does not matter.
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

  /// The letters of a sum of hashes.
  private static func digest(_ sum: UInt64) -> [UInt8] {
    (0..<HeldParts.digestCount).map { letters[Int(sum >> (6 * UInt64($0)) & 63)] }
  }
}
