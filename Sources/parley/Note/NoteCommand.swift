import Dispatch
import ParleyClient
import ParleyServer
import Synchronization

/// The command `parley note`, which reads and edits a note of a running server.
enum NoteCommand {
  /// Runs the subcommand that the first argument names.
  static func run(_ arguments: [String]) throws {
    let options = try NoteOptions(
      Array(arguments.dropFirst()), environment: Program.environment)
    try check(arguments.first, options)
    // Before any thread starts, so that all threads inherit the signal mask.
    let signals = StopSignals()
    let failure = Mutex<CommandFailure?>(nil)
    let done = DispatchSemaphore(value: 0)
    let name = arguments[0]
    Task {
      let session = NoteSession(options)
      let outcome = await session.run(make(name, session), until: signals)
      failure.withLock { $0 = outcome }
      done.signal()
    }
    done.wait()
    if let failure = failure.withLock({ $0 }) { throw failure }
  }

  private static func check(
    _ command: String?, _ options: NoteOptions
  ) throws(UsageError) {
    let most: Int
    switch command {
    case "cat", "tail": most = 1
    case "append": most = 2
    case "edit":
      most = 2
      guard options.words.count == 2 else { throw .init("expected a note's id and a file") }
    case "watch":
      most = 1
      guard options.command != nil else { throw .init("expected --exec COMMAND") }
    default: throw .init("expected cat, tail, append, edit or watch")
    }
    guard let id = options.words.first, !id.isEmpty else { throw .init("expected a note's id") }
    guard options.words.count <= most else {
      throw .init("expected at most \(most) words, got \(options.words.count)")
    }
  }

  private static func make(_ name: String, _ session: NoteSession) -> any NoteTask {
    switch name {
    case "cat": CatTask(session)
    case "tail": TailTask(session)
    case "append": AppendTask(session)
    case "edit": EditTask(session)
    default: WatchTask(session)
    }
  }
}

/// A subcommand of `parley note`.
protocol NoteTask: Sendable {
  /// Runs the subcommand. A continuous one runs until its task is cancelled.
  func run() async throws
  /// Completes the subcommand after a signal.
  func finish() async throws
}

/// The command `parley note cat`, which prints the note's text.
struct CatTask: NoteTask {
  let session: NoteSession

  init(_ session: NoteSession) { self.session = session }

  func run() async throws {
    let note = try await session.open()
    Terminal.output(try await note.lines())
  }

  func finish() {}
}

/// The command `parley note append`, which adds text at the end of the note.
struct AppendTask: NoteTask {
  let session: NoteSession

  init(_ session: NoteSession) { self.session = session }

  func run() async throws {
    let text: String
    if session.options.words.count == 2 {
      text = session.options.words[1] + "\n"
    } else {
      guard let bytes = TextFile.standardInput(bytesMax: TextFile.bytesMax) else {
        throw CommandFailure("standard input has over \(TextFile.bytesMax >> 20) MB")
      }
      text = try TextFile.text(bytes, named: "standard input")
    }
    let note = try await session.open()
    try await session.confirmed { () throws(NoteError) in try await note.append(text) }
  }

  func finish() throws {
    throw CommandFailure(
      "stopped before the server confirmed it", code: .unconfirmed)
  }
}
