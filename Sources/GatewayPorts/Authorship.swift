public import OTCore

/// A stretch of text by one author.
public struct AuthorRun: Sendable, Hashable {
  /// The author's name as shown to people; empty where nobody knows any more.
  public var author: String
  /// How long it is, in Unicode scalars.
  public var count: Int

  /// Makes a stretch.
  public init(author: String, count: Int) {
    self.author = author
    self.count = count
  }
}

/// Who wrote which part of a text, followed from operation to operation.
///
/// Inserted text is its author's wherever it moves to. Neighbouring runs have different authors,
/// and no run is empty, so equal authorships are equal values.
public struct Authorship: Sendable {
  private struct Run {
    var author: Int
    var count: Int
  }

  private var names: [String] = []
  private var numbers: [String: Int] = [:]
  private var stretches: [Run] = []

  // Edits come close to one another, so the search for a place starts from the last one.
  private var cursor = 0
  private var cursorStart = 0

  /// The authorship of an empty text.
  public init() {}

  /// The authorship that these runs describe.
  public init(_ runs: some Sequence<AuthorRun>) {
    for run in runs where run.count > 0 {
      let author = number(run.author)
      if stretches.last?.author == author {
        stretches[stretches.count - 1].count += run.count
      } else {
        stretches.append(Run(author: author, count: run.count))
      }
    }
  }

  /// The runs from the text's start to its end.
  public var runs: [AuthorRun] {
    stretches.map { AuthorRun(author: names[$0.author], count: $0.count) }
  }

  /// Follows an operation.
  ///
  /// - Parameters:
  ///   - operation: Its base length is the text's; what is beyond is ignored.
  ///   - author: Who wrote what it inserts.
  /// - Complexity: O(components), and the runs between this place and the last one.
  public mutating func apply(_ operation: TextOperation, by author: String) {
    let author = number(author)
    var position = 0
    for component in operation.components {
      switch component {
      case .retain(let count): position += count
      case .insert(let text):
        let count = text.unicodeScalars.count
        insert(count, by: author, at: position)
        position += count
      case .delete(let count): remove(count, at: position)
      }
    }
  }

  private mutating func number(_ author: String) -> Int {
    if let number = numbers[author] { return number }
    names.append(author)
    numbers[author] = names.count - 1
    return names.count - 1
  }

  /// Moves the cursor to the run that holds the position, or behind the last one.
  ///
  /// - Returns: Scalars from the run's start to the position.
  private mutating func seek(_ position: Int) -> Int {
    while cursor > 0, position < cursorStart {
      cursor -= 1
      cursorStart -= stretches[cursor].count
    }
    while cursor < stretches.count, position >= cursorStart + stretches[cursor].count {
      cursorStart += stretches[cursor].count
      cursor += 1
    }
    return position - cursorStart
  }

  private mutating func insert(_ count: Int, by author: Int, at position: Int) {
    guard count > 0 else { return }
    let offset = seek(position)
    if cursor < stretches.count, stretches[cursor].author == author {
      stretches[cursor].count += count
    } else if offset == 0, cursor > 0, stretches[cursor - 1].author == author {
      stretches[cursor - 1].count += count
      cursorStart += count
    } else if offset == 0 || cursor == stretches.count {
      stretches.insert(Run(author: author, count: count), at: cursor)
    } else {
      let whole = stretches[cursor]
      stretches[cursor].count = offset
      stretches.insert(
        contentsOf: [
          Run(author: author, count: count),
          Run(author: whole.author, count: whole.count - offset),
        ], at: cursor + 1)
    }
  }

  private mutating func remove(_ count: Int, at position: Int) {
    var left = count
    let offset = seek(position)
    // The cursor stays where it is: what lies before it does not change.
    var first = cursor
    if offset > 0, cursor < stretches.count {
      let taken = min(left, stretches[cursor].count - offset)
      stretches[cursor].count -= taken
      left -= taken
      first += 1
    }
    var end = first
    while end < stretches.count, stretches[end].count <= left {
      left -= stretches[end].count
      end += 1
    }
    if left > 0, end < stretches.count { stretches[end].count -= left }
    stretches.removeSubrange(first..<end)
    guard first > 0, first < stretches.count,
      stretches[first - 1].author == stretches[first].author
    else { return }
    // The two neighbours have become one, which starts where the earlier one did.
    if cursor == first {
      cursor -= 1
      cursorStart -= stretches[cursor].count
    }
    stretches[first - 1].count += stretches[first].count
    stretches.remove(at: first)
  }
}
