import Dispatch
import ParleyClient

/// The connection to a server for one subcommand and one note.
final class NoteSession: Sendable {
  let options: NoteOptions
  private let service: ParleyService

  init(_ options: NoteOptions) {
    self.options = options
    var token: TokenSource?
    if options.usesTokens { token = { try options.currentToken() } }
    // The command has a waiting time of its own.
    service = ParleyService(
      transport: SystemTransport(options.server, trusting: options.trust), as: options.name,
      timeout: .seconds(86_400), token: token)
  }

  var noteID: String { options.words.first ?? "" }

  private enum Outcome: Sendable {
    case done
    case signal(Int32)
    case stopped(StopCause)
    case failed(CommandFailure)
  }

  /// Runs a subcommand until it has finished, a signal arrives, or the server rejects the client.
  ///
  /// - Returns: The reason for a failure; `nil` on success.
  func run(_ task: any NoteTask, until signals: StopSignals) async -> CommandFailure? {
    let (signalled, signal) = AsyncStream.makeStream(
      of: Int32.self, bufferingPolicy: .bufferingNewest(1))
    DispatchQueue.global().async {
      signal.yield(signals.first())
      signals.endAtNext()
    }
    let outcome = await withTaskGroup(of: Outcome?.self) { group in
      group.addTask { await Self.outcome { try await task.run() } }
      group.addTask {
        for await number in signalled { return .signal(number) }
        return nil
      }
      group.addTask { [service] in
        for await state in await service.connections {
          if case .stopped(let cause) = state, cause != .asked { return .stopped(cause) }
        }
        return nil
      }
      var outcome: Outcome?
      while outcome == nil, let next = await group.next() { outcome = next }
      group.cancelAll()
      return outcome ?? .done
    }
    var end = outcome
    if case .signal = outcome { end = await Self.outcome { try await task.finish() } }
    await service.stop()
    switch end {
    case .done, .signal: return nil
    case .stopped(let cause): return CommandFailure(Self.words(cause))
    case .failed(let failure): return failure
    }
  }

  private static func outcome(_ body: () async throws -> Void) async -> Outcome {
    do {
      try await body()
      return .done
    } catch let failure as CommandFailure {
      return .failed(failure)
    } catch NoteError.noAnswer(.stopped(let cause)) {
      return .stopped(cause)
    } catch {
      return .failed(CommandFailure("\(error)"))
    }
  }

  private static func words(_ cause: StopCause) -> String {
    switch cause {
    case .asked: "the connection was ended"
    case .noToken: "there is no token; give --token-file or PARLEY_TOKEN"
    case .otherPerson: "the token now belongs to another user; start again"
    case .closed(let code): "the server has closed the connection for good, with code \(code)"
    case .refused(let refusal): "\(refusal); it may want a token: --token-file or PARLEY_TOKEN"
    }
  }

  // MARK: The note

  /// Opens the note within the configured waiting time.
  func open() async throws -> ServiceNote {
    // The client would retry until the token's file can be read. For a command, fail at once.
    _ = try options.currentToken()
    let note = await service.note(noteID)
    try await within(options.waitMilliseconds) { () throws(NoteError) in
      try await note.opened()
    } otherwise: { [service] in
      let reason = await service.problem ?? "the server did not answer in time"
      return CommandFailure(reason)
    }
    return note
  }

  /// Waits for the server's confirmation, for at most the configured waiting time.
  func confirmed(_ work: @escaping @Sendable () async throws(NoteError) -> Void) async throws {
    try await within(options.waitMilliseconds, work) {
      CommandFailure(
        "the server has not confirmed the edits in time", code: .unconfirmed)
    }
  }

  private func within(
    _ milliseconds: Int, _ work: @escaping @Sendable () async throws(NoteError) -> Void,
    otherwise: @escaping @Sendable () async -> CommandFailure
  ) async throws {
    let failure = await withTaskGroup(of: CommandFailure?.self) { group in
      group.addTask {
        do throws(NoteError) {
          try await work()
          return nil
        } catch {
          return CommandFailure(Self.words(error))
        }
      }
      group.addTask {
        do {
          try await ContinuousClock().sleep(for: .milliseconds(milliseconds))
        } catch { return nil }
        return await otherwise()
      }
      let first = await group.next() ?? nil
      group.cancelAll()
      return first
    }
    if let failure { throw failure }
  }

  private static func words(_ error: NoteError) -> String {
    switch error {
    case .deleted, .failed(.unknownNote): "the note does not exist"
    case .failed(.refused(let refusal)): "the note cannot be opened: \(refusal)"
    case .failed(.readingLost): "the right to read the note was taken away"
    case .refused(let refusal): "\(refusal)"
    case .noAnswer(.stopped(let cause)): Self.words(cause)
    default: "\(error)"
    }
  }
}
