public import ParleyClient
import ParleyModel

/// Files of messages among the files of notes: each thread has an album, a note that lists its
/// files, so that the server retains them.
///
/// The people of a thread need `read` for its album, and `write` to send files; the first sender
/// creates it. A note has at most 1,000 files: an app with more returns another album, such as one
/// for each month.
public struct GatewayUploads: UploadHandler {
  private let notes: NoteRequests
  private let album: @Sendable (ChatThread) -> String

  /// Creates the handler of a connection.
  ///
  /// - Parameter album: Returns the id of a thread's album.
  public init(
    _ parley: Parley, album: @escaping @Sendable (ChatThread) -> String = Self.album(of:)
  ) {
    notes = parley.notes
    self.album = album
  }

  /// Returns the usual id of a thread's album: `album-`, and the thread's name with other
  /// characters than letters, digits, `-` and `.` as `_` with two hexadecimal digits. An id that
  /// would be too long for a note is cut, and ends with a hash of the name.
  ///
  /// - Complexity: O(*n*) bytes of the name.
  public nonisolated static func album(of thread: ChatThread) -> String {
    var id = "album-"
    for byte in thread.name.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
        id.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16)
        id += "_" + (digits.count == 1 ? "0" : "") + digits
      }
    }
    guard id.utf8.count > idBytesMax else { return id }
    let hash = String(FNV1a(thread.name.utf8).value, radix: 36)
    return String(id.prefix(idBytesMax - 1 - hash.utf8.count)) + "_" + hash
  }

  /// Maximum bytes of a note's id.
  private nonisolated static let idBytesMax = 200

  /// Stores a file in a thread's album, and lists it there.
  public func upload(
    _ bytes: [UInt8], named name: String, for thread: ChatThread
  ) async throws(RequestError) -> ChatFile {
    let id = album(thread)
    var stored: NoteFile?
    do throws(RequestError) {
      stored = try await notes.upload(bytes, named: name, to: id)
    } catch {
      guard error == .unknownNote else { throw error }
    }
    if stored == nil {
      _ = try await notes.create(thread.name, id: id)
      stored = try await notes.upload(bytes, named: name, to: id)
    }
    guard let stored else { throw .unknownNote }
    // The server removes a file after some time if the note's text does not name it.
    try await notes.append("- [\(Self.label(name))](\(stored.path))\n", to: id)
    return ChatFile(note: id, hash: stored.hash, name: stored.name, bytes: stored.bytes)
  }

  /// Returns the content of a file.
  public func download(_ file: ChatFile) async throws(RequestError) -> [UInt8] {
    try await notes.download(hash: file.hash, named: file.name, of: file.note)
  }

  /// Returns a name as the text of a link.
  private static func label(_ name: String) -> String {
    var label = ""
    for character in name.unicodeScalars {
      if character.value < 0x20 { continue }
      if "[]\\`*_<>!".unicodeScalars.contains(character) { label.unicodeScalars.append("\\") }
      label.unicodeScalars.append(character)
    }
    return label
  }
}
