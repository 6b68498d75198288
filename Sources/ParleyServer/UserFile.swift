public import CryptoOpenSSL
public import GatewayPorts
import Glibc

/// Users in a file, which is read again when it changes.
///
/// A line for each, made by `parley user add`; `#` begins a comment:
///
///     ada@example.org scrypt$15$8$1$… name:Ada%20L. document:*=read,write room:team=read
///
/// What the file says holds at once for who is logged in: a line that goes ends their connections.
public final class UserFile: UserSource {
  private struct Entry: Equatable {
    var user: User
    var password: PasswordHash
  }

  private struct State {
    var entries: [String: Entry]
    var generation = 0
    var watch: FileWatch
  }

  private let state: Monitor<State>
  private let log: (any LogSink)?

  /// Reads the file.
  ///
  /// - Parameter log: told when the file has changed and cannot be used; the users known before stay.
  public init(path: String, log: (any LogSink)? = nil) throws(FileError) {
    // Before reading: what is written meanwhile is seen at the next look.
    let watch = FileWatch(path: path)
    state = Monitor(State(entries: try Self.read(path), watch: watch))
    self.log = log
    // Made now, so that the first login of nobody takes no longer than others.
    _ = PasswordHash.ofNobody
  }

  /// Counts up whenever the file has changed.
  public var generation: Int { state.withLock { $0.generation } }

  /// Reads the file again if it has changed.
  public func refresh(now: Timestamp) {
    let path: String? = state.withLock { $0.watch.hasChanged(now: now) ? $0.watch.path : nil }
    guard let path else { return }
    do throws(FileError) {
      let entries = try Self.read(path)
      let isNew = state.withLock { state in
        let isNew = state.entries != entries
        state.entries = entries
        if isNew { state.generation += 1 }
        return isNew
      }
      if isNew {
        log?.write(.notice, "users read again", [("file", path), ("users", "\(entries.count)")])
      }
    } catch {
      log?.write(.error, "users not read again; those known before stay", [("error", "\(error)")])
    }
  }

  /// The user as the file has them now.
  public func user(_ id: String) -> User? { state.withLock { $0.entries[id]?.user } }

  /// The user, if the password is theirs.
  public func user(_ id: String, password: String) -> User? {
    let entry = state.withLock { $0.entries[id] }
    let isRight = (entry?.password ?? .ofNobody).matches(password)
    return isRight ? entry?.user : nil
  }

  // MARK: Lines

  /// The line of a user.
  public static func line(
    id: String, name: String?, password: PasswordHash, rights: [String]
  ) throws(FileError) -> String {
    var words = [id, password.text]
    if let name { words.append("name:" + escaped(name)) }
    words += rights
    let line = words.joined(separator: " ")
    // Read back, so that what cannot be read is not written.
    let entry = try entry(line[...], place: "the arguments")
    guard entry.user.id.utf8.elementsEqual(id.utf8) else {
      throw FileError("the user may have no blanks and no # in it")
    }
    return line
  }

  /// Adds a line to a file that has no such user yet, and makes the file if there is none.
  public static func append(_ line: String, to path: String) throws(FileError) {
    var text = ""
    if Files.isFile(path) {
      let user = try entry(line[...], place: "the line").user.id
      guard try read(path)[user] == nil else {
        throw FileError("\(path) has this user already; remove the line first")
      }
      do throws(FileError) {
        text = try Files.text(at: path)
      } catch {
        throw FileError("\(path) cannot be read: \(error)")
      }
    }
    let isEnded = text.isEmpty || text.utf8.last == UInt8(ascii: "\n")
    let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      throw FileError("\(path) cannot be written: \(String(cString: strerror(errno)))")
    }
    defer { close(file) }
    let bytes = Array(((isEnded ? "" : "\n") + line + "\n").utf8)
    guard write(file, bytes, bytes.count) == bytes.count, fsync(file) == 0 else {
      throw FileError("\(path) cannot be written: \(String(cString: strerror(errno)))")
    }
  }

  private static func read(_ path: String) throws(FileError) -> [String: Entry] {
    let text: String
    do throws(FileError) {
      text = try Files.text(at: path)
    } catch {
      throw FileError("\(path) cannot be read: \(error)")
    }
    var entries: [String: Entry] = [:]
    let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    for (index, line) in lines.enumerated() {
      let line = line.prefix { $0 != "#" }
      guard line.contains(where: { $0 != " " && $0 != "\t" }) else { continue }
      let entry = try entry(line, place: "\(path):\(index + 1)")
      guard entries.updateValue(entry, forKey: entry.user.id) == nil else {
        throw FileError("\(path):\(index + 1): this user is in the file twice")
      }
    }
    return entries
  }

  private static func entry(_ line: Substring, place: String) throws(FileError) -> Entry {
    let words = line.split { $0 == " " || $0 == "\t" }.map(String.init)
    guard words.count >= 2, let password = PasswordHash(words[1]) else {
      throw FileError(
        "\(place): expected USER scrypt$… and rights; parley user add makes such lines")
    }
    guard !Identity.isReserved(words[0]) else {
      throw FileError(
        "\(place): no user may be called \(Identity.guestPrefix)… or \(Identity.programPrefix)…")
    }
    var user = User(id: words[0], name: words[0], grants: [])
    for word in words.dropFirst(2) {
      do throws(GrantTextError) {
        if word.hasPrefix("name:"), let name = unescaped(word.dropFirst(5)) {
          user.name = name
        } else if word.hasPrefix("room:") {
          user.grants.append(try Grant(.rooms, text: String(word.dropFirst(5))))
        } else if word.hasPrefix("document:") {
          user.grants.append(try Grant(.documents, text: String(word.dropFirst(9))))
        } else {
          throw .form
        }
      } catch {
        throw FileError(
          "\(place): expected name:NAME, room:MATCH=MAY or document:MATCH=MAY: \(error)")
      }
    }
    return Entry(user: user, password: password)
  }

  private static func escaped(_ text: String) -> String { LineText.escaped(text, "%#") }

  private static func unescaped(_ text: Substring) -> String? { LineText.unescaped(text) }
}
