import ParleyServer

/// `parley share`: a link to a note of a running server.
enum ShareCommand {
  /// Prints a link, or ends all links of a note.
  static func run(_ arguments: [String]) throws {
    let words = try CommandWords(
      arguments, options: ["access", "expires", "server", "token-file", "trust"],
      switches: ["end", "json"])
    if let unknown = words.settings.first { throw UsageError("no flag is called \(unknown)") }
    let note = try words.operand("one note's id")
    // The server is named as for `parley note`.
    let place = ["server", "token-file", "trust"].flatMap { name in
      words.options[name].map { ["--\(name)", $0] } ?? []
    }
    let options = try NoteOptions(place, environment: Program.environment)
    let token = try options.currentToken()
    let request: LinkRequest
    do throws(LinkRequest.Failure) {
      request = try LinkRequest(server: options.server, token: token, trust: options.trust)
    } catch { throw CommandFailure("\(error)", code: .usage) }
    guard !words.switches.contains("end") else {
      guard words.options["access"] == nil, words.options["expires"] == nil,
        !words.switches.contains("json")
      else {
        throw UsageError("--end goes with no other flag about links")
      }
      return try request.endAll(to: note)
    }
    let access = words.options["access"] ?? "read"
    guard ["read", "comment", "write"].contains(access) else {
      throw UsageError("--access expects read, comment or write")
    }
    let link = try request.link(
      to: note, access: access, seconds: seconds(words.options["expires"]))
    Terminal.output((words.switches.contains("json") ? link.json : link.address) + "\n")
  }

  /// The time in seconds; how much of it there may be is for the server to say.
  private static func seconds(_ text: String?) throws(UsageError) -> Int? {
    guard let text else { return nil }
    guard let milliseconds = Configuration.milliseconds(text) else {
      throw UsageError("--expires expects a time with its unit, such as 24h")
    }
    return milliseconds / 1_000
  }
}
