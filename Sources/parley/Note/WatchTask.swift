import ParleyClient
import Synchronization

/// `parley note watch`: runs a command whenever the text has come to rest.
struct WatchTask: NoteTask {
  private let session: NoteSession
  private let command: String
  private let rest: Duration

  init(_ session: NoteSession) {
    self.session = session
    command = session.options.command ?? ""
    rest = .milliseconds(session.options.restMilliseconds)
  }

  /// The latest change that no command has seen.
  private final class Latest: Sendable {
    private let time = Mutex<ContinuousClock.Instant?>(nil)

    func change() { time.withLock { $0 = .now } }

    /// The time since the latest change; `nil` if every change was seen.
    var age: Duration? { time.withLock { $0.map { $0.duration(to: .now) } } }

    func seen() { time.withLock { $0 = nil } }
  }

  /// Between two looks at whether the text rests.
  private static let look = Duration.milliseconds(50)

  func run() async throws {
    let note = try await session.open()
    let updates = await note.updates
    let latest = Latest()
    let failure = await withTaskGroup(of: CommandFailure?.self) { group in
      group.addTask {
        for await _ in updates { latest.change() }
        return nil
      }
      group.addTask { await follow(note, latest) }
      let first = await group.next() ?? nil
      group.cancelAll()
      return first
    }
    if let failure { throw failure }
  }

  private func follow(_ note: ServiceNote, _ latest: Latest) async -> CommandFailure? {
    var last: String?
    while !Task.isCancelled {
      if last == nil || latest.age.map({ $0 >= rest }) == true {
        latest.seen()
        let text: String
        do throws(NoteError) { text = try await note.lines() } catch {
          return error == .cancelled ? nil : CommandFailure("\(error)")
        }
        // A text that has become what it was needs no second run.
        if last?.utf8.elementsEqual(text.utf8) != true {
          let status = await ShellCommand.run(command, input: text, note: session.noteID)
          if status != 0 {
            Terminal.error("parley note: the command ended with \(status)\n")
          }
        }
        last = text
      }
      switch await note.state {
      case .deleted: return CommandFailure("the note was deleted")
      case .failed(let trouble): return CommandFailure("the note is not followed: \(trouble)")
      case .opening, .live, .offline, .closed: break
      }
      do { try await ContinuousClock().sleep(for: Self.look) } catch { return nil }
    }
    return nil
  }

  func finish() {}
}
