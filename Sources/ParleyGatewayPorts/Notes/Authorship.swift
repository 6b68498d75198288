public import OTCore

/// A run of text by one author.
public struct AuthorRun: Sendable, Hashable {
  /// The author's display name; empty if it is no longer known.
  public var author: String
  /// The run's length in Unicode scalars.
  public var count: Int

  /// Creates a run of an author.
  public init(author: String, count: Int) {
    self.author = author
    self.count = count
  }
}

/// The authors of the parts of a text, updated with each operation.
///
/// Inserted text keeps its author when it moves. Adjacent runs have different authors and no run is
/// empty, so equal authorships have equal runs.
public struct Authorship: Sendable {
  private var names: [String] = []
  private var numbers: [ExactName: UInt32] = [:]
  private var tree = RunTree()

  /// Creates the authorship of an empty text.
  public init() {}

  /// Creates the authorship with the given runs.
  public init(_ runs: some Sequence<AuthorRun>) {
    var numbered: [RunWord] = []
    for run in runs where run.count > 0 {
      numbered.append(RunWord(number(run.author), count: run.count))
    }
    tree = RunTree(numbered)
  }

  /// Creates the authorship of runs whose authors are indices of `names`.
  ///
  /// - Complexity: O(*n*) runs and names.
  package init(names: [String], runs: [(author: Int, count: Int)]) {
    let places = names.map { number($0) }
    tree = RunTree(
      runs.compactMap { run in
        run.count > 0 ? RunWord(places[run.author], count: run.count) : nil
      })
  }

  /// The runs from the text's start to its end.
  public var runs: [AuthorRun] {
    var runs: [AuthorRun] = []
    tree.forEach { runs.append(AuthorRun(author: names[Int($0.value)], count: $0.count)) }
    return runs
  }

  /// The runs with indices of names as authors, and the names, in the order of their first runs.
  package var numberedRuns: (names: [String], runs: [(author: Int, count: Int)]) {
    var used: [String] = []
    var places = [Int](repeating: -1, count: names.count)
    var runs: [(author: Int, count: Int)] = []
    tree.forEach { run in
      let author = Int(run.value)
      if places[author] < 0 {
        places[author] = used.count
        used.append(names[author])
      }
      runs.append((places[author], run.count))
    }
    return (used, runs)
  }

  /// The depth of the tree of runs.
  package var depth: Int { tree.depth }

  /// Updates the authorship with an operation.
  ///
  /// - Parameters:
  ///   - operation: An operation on the text. Anything beyond the runs is ignored.
  ///   - author: The author of its insertions.
  /// - Complexity: O(components · log *n*) with *n* runs, and the runs that are deleted.
  public mutating func apply(_ operation: TextOperation, by author: String) {
    let author = number(author)
    var position = 0
    for component in operation.components {
      switch component {
      case .retain(let count): position += count
      case .insert(let text):
        let count = text.unicodeScalars.count
        tree.insert(count, of: author, at: position)
        position += count
      case .delete(let count): tree.remove(count, at: position)
      }
    }
  }

  private mutating func number(_ author: String) -> UInt32 {
    if let number = numbers[ExactName(author)] { return number }
    names.append(author)
    numbers[ExactName(author)] = UInt32(names.count - 1)
    return UInt32(names.count - 1)
  }
}
