/// The move of a folder and all folders below it, in portions by repeated requests.
///
/// If the new path is above the old one, notes of a subfolder may move into the old folder. There
/// they could not be distinguished from notes still to be moved, so they are moved last, in one
/// portion:
///
///     a/b    ─▶  a
///     a/b/c  ─▶  a/c
///     a/b/b  ─▶  a/b    with the last portion
///
/// If one portion cannot contain all of them, ``rest`` moves them: a separate move from `a/b/b` to
/// `a/b`, once nothing else is left in `a/b`. So each note moves once, without stored state.
public struct FolderMove: Sendable, Equatable {
  /// The old path of the folder.
  public let old: FolderPath
  /// The new path of the folder.
  public let new: FolderPath
  /// The subfolder whose notes move into the old folder; `nil` if there cannot be one.
  public let successor: FolderPath?

  /// Creates a move from a path to another.
  public init(from old: FolderPath, to new: FolderPath) {
    self.old = old
    self.new = new
    // If the path is too long or too deep, no note is there.
    successor = old != new && old.isWithin(new) ? try? old.moved(from: new, to: old) : nil
  }

  /// The move of the successor's notes, to be made when no other notes are left in the old folder.
  public var rest: FolderMove? { successor.map { FolderMove(from: $0, to: old) } }

  /// Chooses the notes of the next portion.
  ///
  /// - Parameters:
  ///   - notes: The notes of the old folder and below it, in their order: at most `limit` notes of
  ///     the successor, and up to `limit` + 1 others.
  ///   - folder: Returns a note's folder; `nil` if it cannot be read.
  /// - Returns: At most `limit` notes, and whether more are left.
  public func portion<Note>(
    of notes: [Note], limit: Int, folder: (Note) -> FolderPath?
  ) -> (notes: [Note], hasMore: Bool) {
    guard notes.count > limit else { return (notes, false) }
    guard let successor else { return (Array(notes.prefix(limit)), true) }
    let others = notes.filter { !(folder($0)?.isWithin(successor) ?? false) }
    return (Array(others.prefix(limit)), true)
  }
}
