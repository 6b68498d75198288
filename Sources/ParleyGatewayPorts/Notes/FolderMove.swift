/// The move of a folder with all below it, in portions of the same request.
///
/// Where the new place is above the old one, a folder below may take the place of the one that moves. Its notes could
/// not be told from notes that are still to be moved, so that they go last, and in one portion:
///
///     a/b    ─▶  a
///     a/b/c  ─▶  a/c
///     a/b/b  ─▶  a/b    with the last portion
///
/// If they are too many for that, they are left to ``rest``, a move of its own: of `a/b/b` to `a/b`, once nothing else
/// is left in `a/b`. So each note moves once, and no state is kept between the portions.
public struct FolderMove: Sendable, Equatable {
  /// The folder that moves.
  public let old: FolderPath
  /// The path that it becomes.
  public let new: FolderPath
  /// The folder below whose notes come to places within the old one; `nil` if that is impossible.
  public let successor: FolderPath?

  /// Makes a move.
  public init(from old: FolderPath, to new: FolderPath) {
    self.old = old
    self.new = new
    // No note is at a path that would be too long or too deep.
    successor = old != new && old.isWithin(new) ? try? old.moved(from: new, to: old) : nil
  }

  /// The move of the notes that come to places within the old one, which is due once no others are left there.
  public var rest: FolderMove? { successor.map { FolderMove(from: $0, to: old) } }

  /// Chooses the notes of the next portion.
  ///
  /// - Parameters:
  ///   - notes: The notes of the old folder and below it, in their order: up to `limit` + 1 more than the successor has,
  ///     which are at most `limit`.
  ///   - folder: A note's folder; `nil` if it cannot be read.
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
