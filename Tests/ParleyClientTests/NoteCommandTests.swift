import Foundation
import ParleyClient
import Testing

/// `parley note`, running.
private final class NoteProgram: Sendable {
  private let process = Process()
  private let output = Pipe()
  private let errors = Pipe()
  private let input = Pipe()

  init(
    _ arguments: [String], server: GatewayProgram, input text: String? = nil,
    environment: [String: String] = [:]
  ) throws {
    process.executableURL = GatewayProgram.program
    process.arguments = ["note"] + arguments
    process.currentDirectoryURL = server.folder
    process.environment = [
      "PATH": "/usr/bin:/bin", "PARLEY_SERVER": server.address, "PARLEY_NAME": "cli",
    ].merging(environment) { $1 }
    process.standardOutput = output
    process.standardError = errors
    process.standardInput = input
    try process.run()
    if let text { input.fileHandleForWriting.write(Data(text.utf8)) }
    try input.fileHandleForWriting.close()
  }

  deinit { if process.isRunning { process.terminate() } }

  /// The next line of standard output; `nil` at its end.
  func line() -> String? { Self.line(output) }

  /// The next line of standard error.
  func complaint() -> String? { Self.line(errors) }

  private static func line(_ pipe: Pipe) -> String? {
    var bytes: [UInt8] = []
    while let byte = pipe.fileHandleForReading.readData(ofLength: 1).first {
      if byte == 0x0a { return String(decoding: bytes, as: UTF8.self) }
      bytes.append(byte)
    }
    return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
  }

  func interrupt() { process.interrupt() }

  /// Waits for its end.
  func end() -> (code: Int32, output: String, errors: String) {
    let text = output.fileHandleForReading.readDataToEndOfFile()
    let complaints = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (
      process.terminationStatus, String(decoding: text, as: UTF8.self),
      String(decoding: complaints, as: UTF8.self)
    )
  }
}

@Suite("parley note", .serialized, .timeLimit(.minutes(30)))
struct NoteCommandTests {
  private func run(
    _ arguments: String..., server: GatewayProgram, input: String? = nil,
    environment: [String: String] = [:]
  ) throws -> (code: Int32, output: String, errors: String) {
    try NoteProgram(arguments, server: server, input: input, environment: environment).end()
  }

  private func serve(_ text: String = "") async throws -> (GatewayProgram, ServiceNote) {
    let server = try GatewayProgram()
    try await server.makeNote("n")
    let note = await ParleyService(server.address, as: "Ann", timeout: .seconds(600)).note("n")
    if !text.isEmpty { try await note.append(text) } else { try await note.opened() }
    return (server, note)
  }

  /// Waits until a note has a text.
  private func until(_ note: ServiceNote, _ isThis: (String) -> Bool) async throws -> String {
    for await _ in await note.updates {
      let text = try await note.text()
      if isThis(text) { return text }
    }
    return try await note.text()
  }

  @Test(
    "cat prints the text with LF at its line ends; append adds to it, from an argument or standard input"
  )
  func catAndAppend() async throws {
    let (server, note) = try await serve("a\r\nb")
    #expect(try run("cat", "n", server: server) == (0, "a\nb", ""))
    #expect(try run("append", "n", " c", server: server) == (0, "", ""))
    #expect(try run("append", "n", server: server, input: "d\ne😀") == (0, "", ""))
    let text = try await until(note) { $0.hasSuffix("😀") }
    #expect(text.utf8.elementsEqual("a\r\nb c\nd\ne😀".utf8))
    #expect(try run("append", "n", server: server, input: "a\0b").code == 1)
  }

  @Test(
    "wrong arguments end the command with 2 and a message about the expected ones",
    arguments: [
      ([], "expected cat"), (["write", "n"], "expected cat"), (["cat"], "expected a note's id"),
      (["cat", "n", "m"], "at most 1 words"), (["cat", "n", "--loud"], "no flag is called --loud"),
      (["cat", "n", "--wait"], "needs a value"), (["cat", "n", "--wait", "x"], "a time with"),
      (["edit", "n"], "and a file"), (["watch", "n"], "expected --exec"),
      (["edit", "n", "f", "--take", "all"], "note or file"),
      (["tail", "n", "--lines", "-1"], "number"),
    ])
  func usage(_ arguments: [String], _ words: String) async throws {
    let server = try GatewayProgram()
    let end = try NoteProgram(arguments, server: server).end()
    #expect(end.code == 2)
    #expect(end.errors.contains(words), "\(end.errors)")
  }

  @Test("missing notes and servers end the command with 1, malformed addresses end it with 2")
  func failures() async throws {
    let (server, _) = try await serve()
    let missing = try run("cat", "missing", server: server)
    #expect(missing.code == 1)
    #expect(missing.errors.contains("the note does not exist"))
    let absent = try run(
      "cat", "n", "--server", "ws://127.0.0.1:1", "--wait", "2s", server: server)
    #expect(absent.code == 1)
    #expect(absent.errors.contains("does not accept connections"))
    let nonsense = try run("cat", "n", "--server", "nonsense", "--wait", "2s", server: server)
    #expect(nonsense.code == 2)
    #expect(nonsense.errors.contains("begin with ws://"))
  }

  @Test("tokens come from a file or the environment, and are never shown")
  func tokens() async throws {
    let server = try GatewayProgram("--hmac-secret-file", "secret", "--audience", "parley")
    let token = try server.token(for: "ann")
    try await server.makeNote("n", token: token)
    #expect(
      try run("append", "n", "x", server: server, environment: ["PARLEY_TOKEN": token]).code == 0)
    let file = server.folder.appendingPathComponent("token")
    try Data((token + "\n").utf8).write(to: file)
    let cat = try run("cat", "n", "--token-file", file.path, server: server)
    #expect(cat == (0, "x\n", ""))
    for environment in [[:], ["PARLEY_TOKEN": "wrong.token.here"]] {
      let end = try run("cat", "n", "--wait", "5s", server: server, environment: environment)
      #expect(end.code == 1)
      #expect(end.errors.contains("--token-file"), "\(end.errors)")
      #expect(!end.errors.contains("wrong.token.here"))
    }
    let watch = try run(
      "watch", "n", "--exec", "env; exit 3", "--token-file", "missing", "--wait", "200ms",
      server: server)
    #expect(watch.code == 1)
    #expect(watch.errors.contains("token's file cannot be read"))
  }

  @Test("tail prints the last lines, then each added line, and ends with 0 when interrupted")
  func tail() async throws {
    let (server, note) = try await serve("1\n2\n3\n4\n")
    let tail = try NoteProgram(["tail", "n", "--lines", "2"], server: server)
    #expect(tail.line() == "3")
    #expect(tail.line() == "4")
    try await note.append("5 ")
    try await note.replace(0..<1, with: "one, changed above")
    try await note.append("and on\n6")
    #expect(tail.line() == "5 and on")
    try await note.append("\n")
    #expect(tail.line() == "6")
    tail.interrupt()
    #expect(tail.end() == (0, "", ""))
  }

  @Test("watch runs a command with the text after a pause in the changes, without the token")
  func watch() async throws {
    let (server, note) = try await serve("one\n")
    let watch = try NoteProgram(
      ["watch", "n", "--rest", "50ms", "--exec", "cat; echo $PARLEY_NOTE ${PARLEY_TOKEN-none}."],
      server: server, environment: ["PARLEY_TOKEN": ""])
    #expect(watch.line() == "one")
    #expect(watch.line() == "n none.")
    try await note.append("two\n")
    #expect(watch.line() == "one")
    #expect(watch.line() == "two")
    #expect(watch.line() == "n none.")
    watch.interrupt()
    #expect(watch.end() == (0, "", ""))
  }

  @Test("watch reports a command that fails without reading, and runs the next one")
  func failingCommand() async throws {
    let (server, note) = try await serve(String(repeating: "x", count: 300_000))
    let watch = try NoteProgram(
      ["watch", "n", "--rest", "50ms", "--exec", "exit 3"], server: server)
    #expect(watch.complaint() == "parley note: the command ended with 3")
    try await note.append("y")
    #expect(watch.complaint() == "parley note: the command ended with 3")
    watch.interrupt()
    #expect(watch.end().code == 0)
  }

  // MARK: edit

  private func contents(_ file: URL) -> String? {
    (try? Data(contentsOf: file)).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Waits until a file has a text; its folder is looked at again and again.
  private func until(_ file: URL, is text: String) async {
    while contents(file)?.utf8.elementsEqual(text.utf8) != true { await Task.yield() }
  }

  @Test("edit creates the file, sends the changed words of each save, and writes others' changes")
  func edit() async throws {
    let (server, note) = try await serve("one two\nthree")
    let file = server.folder.appendingPathComponent("n.txt")
    let edit = try NoteProgram(["edit", "n", file.path], server: server)
    #expect(edit.complaint()?.contains("follows the note") == true)
    #expect(contents(file) == "one two\nthree")
    // Saved in place.
    try Data("one 2\nthree".utf8).write(to: file)
    #expect(try await until(note) { $0.contains("2") } == "one 2\nthree")
    // By others.
    try await note.append(" four")
    await until(file, is: "one 2\nthree four")
    // Saved by renaming another file over it, as many editors do.
    try Data("one 2\n3 four\n".utf8).write(to: file, options: .atomic)
    #expect(try await until(note) { $0.contains("3") } == "one 2\n3 four\n")
    // Removed, and made again.
    try FileManager.default.removeItem(at: file)
    try await note.replace(0..<3, with: "ONE")
    try Data("one 2\n3 four\nfive\n".utf8).write(to: file)
    #expect(try await until(note) { $0.contains("five") } == "ONE 2\n3 four\nfive\n")
    await until(file, is: "ONE 2\n3 four\nfive\n")
    edit.interrupt()
    #expect(edit.end().code == 0)
  }

  @Test("edit sends the last save before it ends")
  func lastSave() async throws {
    let (server, note) = try await serve("a")
    let file = server.folder.appendingPathComponent("n.txt")
    let edit = try NoteProgram(["edit", "n", file.path], server: server)
    #expect(edit.complaint()?.contains("follows the note") == true)
    try Data("a and the last".utf8).write(to: file)
    edit.interrupt()
    #expect(edit.end().code == 0)
    #expect(try await until(note) { $0 == "a and the last" } == "a and the last")
  }

  @Test("edit ends with 3 if the server is unreachable and has not confirmed the last save")
  func unconfirmed() async throws {
    let (server, note) = try await serve("a")
    let proxy = try CuttingProxy(to: server.port)
    defer { proxy.close() }
    let file = server.folder.appendingPathComponent("n.txt")
    let edit = try NoteProgram(
      ["edit", "n", file.path, "--server", proxy.address, "--wait", "5s"], server: server)
    #expect(edit.complaint()?.contains("follows the note") == true)
    proxy.cut()
    try Data("b".utf8).write(to: file)
    edit.interrupt()
    let end = edit.end()
    #expect(end.code == 3)
    #expect(end.errors.contains("has not confirmed"))
    #expect(contents(file) == "b")
    #expect(try await note.text() == "a")
  }

  @Test("edit leaves a file with another text unchanged unless --take chooses file or note")
  func sides() async throws {
    let (server, note) = try await serve("of the note")
    let file = server.folder.appendingPathComponent("n.txt")
    try Data("of the file".utf8).write(to: file)
    let refused = try run("edit", "n", file.path, server: server)
    #expect(refused.code == 1)
    #expect(refused.errors.contains("--take"))
    #expect(contents(file) == "of the file")
    let edit = try NoteProgram(["edit", "n", file.path, "--take", "file"], server: server)
    #expect(try await until(note) { $0 == "of the file" } == "of the file")
    #expect(edit.complaint()?.contains("follows the note") == true)
    edit.interrupt()
    #expect(edit.end().code == 0)
    try await note.append("!")
    let other = try NoteProgram(["edit", "n", file.path, "--take", "note"], server: server)
    #expect(other.complaint()?.contains("follows the note") == true)
    #expect(contents(file) == "of the file!")
    other.interrupt()
    #expect(other.end().code == 0)
  }

  @Test("edit does not send binary or too large files, and sends the next save")
  func notText() async throws {
    let (server, note) = try await serve("a")
    let file = server.folder.appendingPathComponent("n.txt")
    let edit = try NoteProgram(["edit", "n", file.path], server: server)
    #expect(edit.complaint()?.contains("follows the note") == true)
    try Data([0x61, 0x00, 0x62]).write(to: file)
    #expect(edit.complaint()?.contains("is no text") == true)
    try Data([0xff, 0xfe]).write(to: file)
    #expect(edit.complaint()?.contains("is no text") == true)
    let handle = try FileHandle(forWritingTo: file)
    try handle.truncate(atOffset: 17 << 20)
    try handle.close()
    #expect(edit.complaint()?.contains("over 16 MB") == true)
    #expect(try await note.text() == "a")
    try Data("a text again".utf8).write(to: file, options: .atomic)
    #expect(try await until(note) { $0 == "a text again" } == "a text again")
    edit.interrupt()
    #expect(edit.end().code == 0)
    let binary = server.folder.appendingPathComponent("binary")
    try Data([0, 1, 2]).write(to: binary)
    let end = try run("edit", "n", binary.path, server: server)
    #expect(end.code == 1)
    #expect(end.errors.contains("is no text"))
  }

  @Test("edit keeps a symbolic link, and the permissions of its file")
  func link() async throws {
    let (server, note) = try await serve("a")
    let file = server.folder.appendingPathComponent("target.txt")
    let link = server.folder.appendingPathComponent("link.txt")
    try Data("a".utf8).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file.path)
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
    let edit = try NoteProgram(["edit", "n", link.path], server: server)
    #expect(edit.complaint()?.contains("follows the note") == true)
    try await note.append("b")
    await until(file, is: "ab")
    #expect(
      try FileManager.default.destinationOfSymbolicLink(atPath: link.path).hasSuffix("target.txt"))
    let rights = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
    #expect(rights as? Int == 0o640)
    edit.interrupt()
    #expect(edit.end().code == 0)
  }
}
