import ParleyServer

/// The command `parley share`, which manages the links and the public name of a note.
enum ShareCommand {
  /// Prints a link or the address of a published note; or ends all links, or withdraws the name.
  static func run(_ arguments: [String]) throws {
    let words = try CommandWords(
      arguments, options: ["access", "expires", "name", "server", "token-file", "trust"],
      switches: ["end", "no-name", "json"])
    if let unknown = words.settings.first { throw UsageError("no flag is called \(unknown)") }
    let note = try words.operand("one note's id")
    // The server is specified as for `parley note`.
    let place = ["server", "token-file", "trust"].flatMap { name in
      words.options[name].map { ["--\(name)", $0] } ?? []
    }
    let options = try NoteOptions(place, environment: Program.environment)
    let token = try options.currentToken()
    let request: LinkRequest
    do throws(LinkRequest.Failure) {
      request = try LinkRequest(server: options.server, token: token, trust: options.trust)
    } catch { throw CommandFailure("\(error)", code: .usage) }
    if words.switches.contains("end") {
      try requireAlone("end", words)
      return try request.endAll(to: note)
    }
    if words.switches.contains("no-name") {
      try requireAlone("no-name", words)
      return try request.withdrawName(of: note)
    }
    let isJSON = words.switches.contains("json")
    if let name = words.options["name"] {
      guard words.options["access"] == nil, words.options["expires"] == nil else {
        throw UsageError("--name goes with --json and no other flag about links")
      }
      let published = try request.publish(note, as: name)
      Terminal.output((isJSON ? published.json : published.address) + "\n")
      return
    }
    let access = words.options["access"] ?? "read"
    guard ["read", "comment", "write"].contains(access) else {
      throw UsageError("--access expects read, comment or write")
    }
    let link = try request.link(
      to: note, access: access, seconds: seconds(words.options["expires"]))
    Terminal.output((isJSON ? link.json : link.address) + "\n")
  }

  /// Throws if a flag that ends links or a name is combined with other flags.
  private static func requireAlone(_ flag: String, _ words: CommandWords) throws(UsageError) {
    let isAlone =
      ["access", "expires", "name"].allSatisfy { words.options[$0] == nil }
      && words.switches == [flag]
    guard isAlone else { throw UsageError("--\(flag) goes with no other flag about links") }
  }

  /// Parses a duration and returns seconds; the server checks the range.
  private static func seconds(_ text: String?) throws(UsageError) -> Int? {
    guard let text else { return nil }
    guard let milliseconds = Configuration.milliseconds(text) else {
      throw UsageError("--expires expects a time with its unit, such as 24h")
    }
    return milliseconds / 1_000
  }
}
