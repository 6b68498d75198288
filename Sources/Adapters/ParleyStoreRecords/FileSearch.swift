package import ParleyGatewayPorts
package import OTCore

/// A search for the hashes of files in the contents of a log.
///
/// A content refers to a file if its text or an attribute contains the 64 digits of its hash. After
/// the first content, only the range around each edit and the edit's attributes are searched, since
/// a new reference can appear only there. So searching all revisions costs O(bytes of the log).
package struct FileSearch {
  private var newest: [FileHash: Int?] = [:]
  /// The first 8 digits of each hash: a fast filter, since most digit runs in a text are no hash.
  private var beginnings: Set<UInt64> = []
  private var buffer: [UInt8] = []

  /// Creates a search for `hashes`, none of which is found yet.
  package init(for hashes: [FileHash]) {
    for hash in hashes {
      newest[hash] = .some(nil)
      beginnings.insert(Self.beginning(hash.digits[...]))
    }
  }

  /// Whether every hash was found.
  package var isDone: Bool { newest.values.allSatisfy { $0 != nil } }

  /// Returns the newest revision at which each hash was found; `nil` for the others.
  package func uses(head: Int) -> FileUses { FileUses(head: head, newest: newest) }

  /// Searches a whole content.
  package mutating func look(in content: NoteContent, at revision: Int) {
    look(in: content.text, 0..<content.text.scalarCount, at: revision)
    look(in: content.formatJSON, at: revision)
  }

  /// Searches a content around the edits of the change that was just applied.
  package mutating func look(
    after operation: TextOperation, _ format: ChangeFormat?, in content: NoteContent,
    at revision: Int
  ) {
    if let format {
      var json: [UInt8] = []
      format.appendJSON(to: &json)
      look(in: json, at: revision)
    }
    let document = content.text
    let margin = FileHash.digitCount - 1
    var position = 0
    var changed: Range<Int>?
    for component in operation.components {
      let place: Range<Int>
      switch component {
      case .retain(let count):
        position += count
        continue
      case .insert(let text):
        let count = text.unicodeScalars.count
        place = position..<position + count
        position += count
      case .delete: place = position..<position
      }
      let low = max(0, place.lowerBound - margin)
      let high = min(document.scalarCount, place.upperBound + margin)
      if let known = changed, known.upperBound >= low {
        changed = known.lowerBound..<max(known.upperBound, high)
        continue
      }
      if let known = changed { look(in: document, known, at: revision) }
      changed = low..<max(low, high)
    }
    if let changed { look(in: document, changed, at: revision) }
  }

  private mutating func look(in document: Document, _ range: Range<Int>, at revision: Int) {
    guard range.count >= FileHash.digitCount else { return }
    buffer.removeAll(keepingCapacity: true)
    document.appendUTF8(in: range, to: &buffer)
    look(in: buffer, at: revision)
  }

  private mutating func look(in bytes: [UInt8], at revision: Int) {
    var digits = 0
    for index in bytes.indices {
      switch bytes[index] {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): digits += 1
      default: digits = 0
      }
      guard digits >= FileHash.digitCount else { continue }
      let found = bytes[(index - FileHash.digitCount + 1)...index]
      guard beginnings.contains(Self.beginning(found)), let hash = FileHash(digits: found),
        let known = newest[hash]
      else { continue }
      newest[hash] = max(known ?? revision, revision)
    }
  }

  private static func beginning(_ digits: ArraySlice<UInt8>) -> UInt64 {
    digits.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}
