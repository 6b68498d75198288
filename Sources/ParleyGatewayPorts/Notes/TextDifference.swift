public import OTCore

/// The difference between two revisions of a text, by words.
public struct TextDifference: Sendable, Equatable {
  /// A part of the difference, in the order of the text. Deletions precede their replacements.
  public enum Part: Sendable, Equatable {
    /// The number of equal Unicode scalars of both texts.
    case kept(Int)
    /// Text that only the older revision contains.
    case deleted(String)
    /// Text that only the newer revision contains, by one author.
    case inserted(String, author: String)
  }

  /// The older or the newer of the two compared revisions.
  public struct End: Sendable, Equatable {
    /// The revision.
    public var revision: Int
    /// The time at which the revision was accepted.
    public var time: Timestamp

    /// Creates the description of a revision.
    public init(revision: Int, time: Timestamp) {
      self.revision = revision
      self.time = time
    }
  }

  /// Approximate maximum bytes of the changed parts, with their authors' names.
  public static let bytesMax = 2 << 20

  /// The older revision.
  public var from: End
  /// The newer revision.
  public var to: End
  /// The parts, which cover both texts; empty for two empty texts.
  public var parts: [Part]

  /// Creates a difference from its parts.
  public init(from: End, to: End, parts: [Part]) {
    self.from = from
    self.to = to
    self.parts = parts
  }

  /// Compares two texts of one note.
  ///
  /// - Returns: `nil` if the changed parts exceed ``bytesMax``.
  /// - Complexity: O(*n*) bytes of both texts, and the bounded work of ``WordDifference``.
  public init?(from old: HistoricText, to new: HistoricText) {
    from = End(revision: old.revision, time: old.time)
    to = End(revision: new.revision, time: new.time)
    parts = []
    let (oldBytes, newBytes) = (old.content.utf8, new.content.utf8)
    let changes = WordDifference.changes(from: oldBytes, to: newBytes)
    var bytes = 0
    var authors = AuthorCursor(new.authors)
    var place = 0
    for change in changes {
      bytes += change.old.count + change.new.count + 32
      guard bytes <= Self.bytesMax else { return nil }
      keep(newBytes[place..<change.new.lowerBound], &authors)
      if !change.old.isEmpty {
        parts.append(.deleted(String(decoding: oldBytes[change.old], as: UTF8.self)))
      }
      authors.forEachRun(of: newBytes[change.new]) { text, author in
        bytes += author.utf8.count + 32
        parts.append(.inserted(String(decoding: text, as: UTF8.self), author: author))
      }
      place = change.new.upperBound
    }
    guard bytes <= Self.bytesMax else { return nil }
    keep(newBytes[place...], &authors)
  }

  private mutating func keep(_ text: ArraySlice<UInt8>, _ authors: inout AuthorCursor) {
    let count = authors.pass(text)
    if count > 0 { parts.append(.kept(count)) }
  }

  /// The operation that turns the older text into the newer one.
  public var operation: TextOperation {
    var operation = TextOperation()
    for part in parts {
      switch part {
      case .kept(let count): operation.retain(count)
      case .deleted(let text): operation.delete(text.unicodeScalars.count)
      case .inserted(let text, _): operation.insert(text)
      }
    }
    return operation
  }
}

/// A position in the runs of authors of a text.
private struct AuthorCursor {
  private let runs: [AuthorRun]
  private var index = 0
  /// The scalars of the run at `index` before the position.
  private var passed = 0

  init(_ runs: [AuthorRun]) { self.runs = runs }

  /// Moves past a piece of the text, and returns its length in scalars.
  mutating func pass(_ text: ArraySlice<UInt8>) -> Int {
    let count = text.reduce(0) { $1 & 0xC0 == 0x80 ? $0 : $0 + 1 }
    passed += count
    while index < runs.count, passed >= runs[index].count {
      passed -= runs[index].count
      index += 1
    }
    return count
  }

  /// Moves past a piece of the text, and calls `body` with each author's part of it.
  mutating func forEachRun(
    of text: ArraySlice<UInt8>, _ body: (ArraySlice<UInt8>, String) -> Void
  ) {
    var rest = text
    while !rest.isEmpty {
      let author = index < runs.count ? runs[index].author : ""
      var left = index < runs.count ? runs[index].count - passed : .max
      var end = rest.startIndex
      while end < rest.endIndex {
        if rest[end] & 0xC0 != 0x80 {
          guard left > 0 else { break }
          left -= 1
        }
        end += 1
      }
      let piece = rest[..<end]
      body(piece, author)
      _ = pass(piece)
      rest = rest[end...]
    }
  }
}
