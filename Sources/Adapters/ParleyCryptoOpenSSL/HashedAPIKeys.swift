public import ParleyGatewayPorts
import ParleyHashing

/// API keys from a file that contains their hashes. The file is read again when it changes.
///
/// Each line contains a key; `#` begins a comment:
///
///     backend sha256:9f86d0… room:orders-*=publish document:*=read
///     admin   sha256:2c26b4… operator
///
/// Keys are long and random, so a plain hash suffices: it cannot be reversed by guessing.
///
/// Must be used by one thread at a time.
public final class HashedAPIKeys: APIKeys {
  private var identities: [SHA256Digest: Identity]
  private var watch: FileWatch
  private let hasher = SHA256()
  private let log: (any LogSink)?

  /// Reads the keys from a file.
  ///
  /// - Parameter log: Receives an error if a changed file is invalid; the old keys remain valid.
  public init(path: String, log: (any LogSink)? = nil) throws(APIKeyFileError) {
    watch = FileWatch(path: path)
    self.log = log
    identities = try Self.read(path)
  }

  /// Returns the identity of a key's owner.
  public func identity(for key: String, now: Timestamp) -> Identity? {
    if watch.hasChanged(now: now) { reload() }
    // The lookup is by hash, so its time reveals nothing about valid keys.
    return identities[hasher.hash(Array(key.utf8))]
  }

  private func reload() {
    do throws(APIKeyFileError) {
      identities = try Self.read(watch.path)
      log?.write(
        .notice, "API keys read again", [("file", watch.path), ("keys", "\(identities.count)")])
    } catch {
      log?.write(
        .error, "API keys not read again; those known before stay", [("error", "\(error)")])
    }
  }

  /// Creates a random key.
  public static func newKey() -> String { prefix + RandomNames().next() }

  /// Returns the line of the file that accepts a key.
  public static func line(
    name: String, key: String, isOperator: Bool, rights: [String]
  ) throws(APIKeyFileError) -> String {
    let hash = SHA256().hash(Array(key.utf8)).bytes.hexadecimal
    let words = [name, hashPrefix + hash] + (isOperator ? ["operator"] : []) + rights
    let line = words.joined(separator: " ")
    // Parse the line, so that an invalid line is never written.
    _ = try entry(line[...], file: "the arguments", number: 1)
    return line
  }

  // MARK: The file

  private static let hashPrefix = "sha256:"

  private static func read(_ path: String) throws(APIKeyFileError) -> [SHA256Digest: Identity] {
    let bytes: [UInt8]
    do throws(JWTKeyError) {
      bytes = try KeyFile(.keySet, path: path).read()
    } catch {
      throw APIKeyFileError("\(error)")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw APIKeyFileError("\(path) is not UTF-8")
    }
    var identities: [SHA256Digest: Identity] = [:]
    var names: Set<String> = []
    let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    for (index, line) in lines.enumerated() {
      let line = line.prefix { $0 != "#" }
      guard line.contains(where: { $0 != " " && $0 != "\t" }) else { continue }
      let (digest, identity) = try entry(line, file: path, number: index + 1)
      guard names.insert(identity.user).inserted else {
        throw APIKeyFileError("\(path):\(index + 1): this name is in the file twice")
      }
      identities[digest] = identity
    }
    return identities
  }

  private static func entry(
    _ line: Substring, file: String, number: Int
  ) throws(APIKeyFileError) -> (SHA256Digest, Identity) {
    let words = line.split { $0 == " " || $0 == "\t" }.map(String.init)
    guard words.count >= 2, words[1].hasPrefix(hashPrefix),
      let digest = digest(words[1].dropFirst(hashPrefix.count))
    else {
      throw APIKeyFileError(
        "\(file):\(number): expected NAME sha256:HASH RIGHTS…, a hash of 64 hexadecimal digits")
    }
    var identity = Identity(user: Identity.programPrefix + words[0], name: words[0], grants: [])
    for word in words.dropFirst(2) {
      if word == "operator" {
        identity.isOperator = true
        continue
      }
      do throws(GrantTextError) {
        identity.grants.append(try Grant(word: word))
      } catch {
        throw APIKeyFileError(
          "\(file):\(number): expected operator, room:MATCH=MAY, document:MATCH=MAY or "
            + "folder:MATCH=MAY: \(error)")
      }
    }
    guard identity.isOperator || !identity.grants.isEmpty else {
      throw APIKeyFileError(
        "\(file):\(number): this key may do nothing; name a right, such as room:*=publish")
    }
    return (digest, identity)
  }

  private static func digest(_ text: Substring) -> SHA256Digest? {
    let digits = text.compactMap(\.hexDigitValue)
    guard digits.count == 64, text.utf8.count == 64 else { return nil }
    func word(_ index: Int) -> UInt64 {
      digits[(16 * index)..<(16 * index + 16)].reduce(0) { $0 << 4 | UInt64($1) }
    }
    return SHA256Digest(first: word(0), second: word(1), third: word(2), fourth: word(3))
  }
}

/// The reason why a file of API keys is invalid. Contains nothing of the keys.
public struct APIKeyFileError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The position in the file, and what was expected there.
  public let description: String

  init(_ description: String) { self.description = description }
}
