/// The SHA-256 of a file's content, which is the file's name everywhere.
public struct FileHash: Hashable, Sendable, CustomStringConvertible {
  /// The 32 bytes.
  public let bytes: [UInt8]

  /// The number of hexadecimal digits of a hash.
  public static let digitCount = 64

  /// Takes the bytes of a hash; `nil` unless there are 32.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count == 32 else { return nil }
    self.bytes = bytes
  }

  /// Reads 64 hexadecimal digits in lower case; `nil` for anything else.
  public init?(digits: some Collection<UInt8>) {
    guard let bytes = [UInt8](hexadecimal: digits) else { return nil }
    self.init(bytes)
  }

  /// The hexadecimal digits as bytes of ASCII.
  public var digits: [UInt8] { Array(description.utf8) }

  /// The hexadecimal digits.
  public var description: String { bytes.hexadecimal }
}

/// A file of a note: a picture, or anything else that was added to it.
public struct NoteFile: Sendable, Hashable {
  /// The hash of its content.
  public var hash: FileHash
  /// The name under which it was added.
  public var name: String
  /// The number of bytes.
  public var byteCount: Int
  /// The time at which it was last added.
  public var time: Timestamp

  /// Files of one note, at most: they are listed in one answer.
  public static let countMax = 1_000

  /// Describes a file.
  public init(hash: FileHash, name: String, byteCount: Int, time: Timestamp) {
    self.hash = hash
    self.name = name
    self.byteCount = byteCount
    self.time = time
  }
}

/// A file that is to be kept with a note.
public struct FileDraft: Sendable {
  /// Its name, which is clean already.
  public var name: String
  /// Its content, which is not empty.
  public var bytes: [UInt8]
  /// The time at which it came.
  public var time: Timestamp

  /// Makes a draft.
  public init(name: String, bytes: [UInt8], time: Timestamp) {
    self.name = name
    self.bytes = bytes
    self.time = time
  }
}

/// Limits that only the store can enforce, since it knows all files.
public struct FileRoom: Sendable, Hashable {
  /// Bytes that the files of one note may have together.
  public var noteBytesMax: Int
  /// Bytes of the store's disk that files leave free. A store whose disk is another machine's cannot check
  /// this, and does not.
  public var diskReserveBytes: Int
  /// Files that one note may have, however short.
  public var noteFilesMax: Int

  /// Makes bounds.
  public init(noteBytesMax: Int, diskReserveBytes: Int, noteFilesMax: Int = NoteFile.countMax) {
    self.noteBytesMax = noteBytesMax
    self.diskReserveBytes = diskReserveBytes
    self.noteFilesMax = noteFilesMax
  }

  /// No bounds.
  public static let unbounded = FileRoom(
    noteBytesMax: .max, diskReserveBytes: 0, noteFilesMax: .max)
}

/// Work with the files of notes. A content is stored once, however many notes use it; each note has its own
/// list of its files.
///
/// A note that is deleted and kept has its files, and is restored with them; one that is removed for good
/// leaves them, and a content that no note uses is removed.
public enum FileRequest: Sendable {
  /// Keeps a file with a note. A note that has a file of this content keeps that one's name, and the file
  /// counts as new from then on.
  case put(id: DocumentID, FileDraft, FileRoom)
  /// Lists the files of a note, the newest first.
  case list(id: DocumentID)
  /// Reads a file of a note.
  case read(id: DocumentID, FileHash, withBytes: Bool)
  /// Lists at most `limit` notes with files that were added before a time, and that no kept revision is
  /// known to name: by their ids, byte by byte, those after one or the first.
  case unsettled(before: Timestamp, after: DocumentID?, limit: Int)
  /// Looks for such files of a note in every revision that is kept, named versions included.
  ///
  /// - Complexity: O(*n*) in the log that is kept, if the text at the head does not name them all.
  case search(id: DocumentID, before: Timestamp)
  /// Takes note of what ``search(id:before:)`` has found; files that no revision names are removed from
  /// the note, unless the text or the file has changed since.
  case settle(id: DocumentID, FileUses, before: Timestamp)

  /// Its traits.
  var traits: StoreTraits {
    switch self {
    case .put(let id, _, _), .settle(let id, _, _): .writing(id)
    case .list(let id), .read(let id, _, _), .search(let id, _): .aside(id)
    case .unsettled: .aside()
    }
  }
}

/// The revisions of a note that name its files, as far as the log was searched.
public struct FileUses: Sendable, Equatable {
  /// The head at that time.
  public var head: Int
  /// The newest revision whose text contains a file's hash; `nil` if no kept one does.
  public var newest: [FileHash: Int?]

  /// Makes a finding.
  public init(head: Int, newest: [FileHash: Int?]) {
    self.head = head
    self.newest = newest
  }
}

/// The reply to a request about files.
public enum FileReply: Sendable, Equatable {
  /// The file is kept; whether it is new to the note.
  case kept(NoteFile, isNew: Bool)
  /// The note's files may not have so many bytes; its present ones have this many.
  case noteFull(byteCount: Int)
  /// The note may not have another file; it has so many.
  case tooManyFiles(count: Int)
  /// The disk has only so many bytes left.
  case diskFull(byteCount: Int)
  /// Files of a note.
  case files([NoteFile])
  /// A file, with its content if that was asked for.
  case file(NoteFile, [UInt8]?)
  /// The note has no file of this hash.
  case unknownFile
  /// Notes whose files are to be searched for.
  case notes([DocumentID])
  /// The revisions that name files.
  case uses(FileUses)
  /// The number of files that were removed from the note.
  case settled(removed: Int)
}
