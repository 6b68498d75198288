import Glibc
import ParleyClient
import ParleyServer

/// The arguments of `parley note`.
struct NoteOptions {
  /// The text that `edit` starts with if file and note differ.
  enum Side: String { case note, file }

  var words: [String] = []
  var server = "ws://127.0.0.1:8080"
  var tokenFile: String?
  var token: String?
  var name = "parley note"
  var trust: String?
  var waitMilliseconds = 10_000
  var lines = 10
  var command: String?
  var reservedMilliseconds = 1_000
  var side: Side?

  init(_ arguments: [String], environment: [String: String]) throws(UsageError) {
    func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    server = variable("PARLEY_SERVER") ?? server
    token = variable("PARLEY_TOKEN")
    tokenFile = variable("PARLEY_TOKEN_FILE")
    name = variable("PARLEY_NAME") ?? variable("USER") ?? name
    trust = variable("PARLEY_TRUST")
    var rest = arguments[...]
    var isFlags = true
    while let word = rest.popFirst() {
      guard isFlags, word.hasPrefix("--") else {
        words.append(word)
        continue
      }
      if word == "--" {
        isFlags = false
        continue
      }
      guard Self.flags.contains(word) else { throw UsageError("no flag is called \(word)") }
      guard let value = rest.popFirst() else { throw UsageError("\(word) needs a value") }
      try set(word, value)
    }
    guard SystemTransport.isAddress(server) else {
      // Do not repeat the address: it may contain a password.
      throw UsageError(
        "expected the server's address to begin with ws://, wss://, http:// or https://, then a host "
          + "and perhaps a port, in ASCII and without blanks, user and #; look at --server and "
          + "PARLEY_SERVER")
    }
  }

  private static let flags: Set<String> = [
    "--server", "--token-file", "--name", "--trust", "--wait", "--lines", "--exec", "--rest",
    "--take",
  ]

  private mutating func set(_ flag: String, _ value: String) throws(UsageError) {
    switch flag {
    case "--server": server = value
    case "--token-file": tokenFile = value
    case "--name": name = value
    case "--trust": trust = value
    case "--wait": waitMilliseconds = try Self.time(flag, value)
    case "--rest": reservedMilliseconds = try Self.time(flag, value)
    case "--lines":
      guard let count = Int(value), count >= 0 else {
        throw UsageError("--lines expects a number")
      }
      lines = count
    case "--exec": command = value
    default:
      guard let side = Side(rawValue: value) else {
        throw UsageError("--take expects note or file")
      }
      self.side = side
    }
  }

  private static func time(_ flag: String, _ value: String) throws(UsageError) -> Int {
    guard let milliseconds = Configuration.milliseconds(value), milliseconds >= 0 else {
      throw UsageError("\(flag) expects a time with its unit, such as 10s")
    }
    return milliseconds
  }

  /// Whether a token is configured.
  var usesTokens: Bool { token != nil || tokenFile != nil }

  /// Returns the token for the next connection; reads its file again.
  func currentToken() throws -> String? {
    guard let tokenFile else { return token }
    guard let bytes = Files.contents(of: tokenFile, bytesMax: 64 << 10) else {
      throw CommandFailure("the token's file cannot be read: \(tokenFile)")
    }
    // Error messages never contain any part of the token.
    let text = String(decoding: bytes, as: UTF8.self)
    return text.split(whereSeparator: \.isWhitespace).first.map(String.init)
  }
}
