import ParleyClient
import ParleyJSON
import Synchronization

/// The command `parley note watch`, which runs a command when the text has stopped changing.
struct WatchTask: NoteTask {
  private let session: NoteSession
  private let command: String
  private let rest: Duration

  init(_ session: NoteSession) {
    self.session = session
    command = session.options.command ?? ""
    rest = .milliseconds(session.options.reservedMilliseconds)
  }

  /// The time of the latest change since the last run of the command.
  private final class Latest: Sendable {
    private let time = Mutex<ContinuousClock.Instant?>(nil)

    func change() { time.withLock { $0 = .now } }

    /// The time since the latest change; `nil` if there was none since the last run.
    var age: Duration? { time.withLock { $0.map { $0.duration(to: .now) } } }

    func seen() { time.withLock { $0 = nil } }
  }

  /// The interval between checks of the latest change.
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
        // Skip the run if the text is the same as in the last one.
        if last?.isExactly(text) != true {
          let status = await ShellCommand.run(command, input: text, note: session.noteID)
          if status != 0 {
            Terminal.error("parley note: the command ended with \(status)\n")
          }
        }
        last = text
      }
      switch await note.state {
      case .deleted: return CommandFailure("the note was deleted")
      case .failed(let trouble): return CommandFailure("the note is not synchronised: \(trouble)")
      case .opening, .live, .offline, .closed: break
      }
      do { try await ContinuousClock().sleep(for: Self.look) } catch { return nil }
    }
    return nil
  }

  func finish() {}
}
