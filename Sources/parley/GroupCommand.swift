import ParleyGatewayPorts
import ParleyServer

/// The commands `parley group set`, `list`, `remove`, `join` and `leave`.
enum GroupCommand {
  /// Runs the subcommand that the first argument names.
  static func run(_ arguments: [String]) throws {
    let rest = arguments.dropFirst()
    switch arguments.first {
    case "set": try set(rest)
    case "list": try list(rest)
    case "remove": try remove(rest)
    case "join": try setMembership(true, rest)
    case "leave": try setMembership(false, rest)
    default:
      throw UsageError.unknown(
        arguments.first, among: ["set", "list", "remove", "join", "leave"])
    }
  }

  private static func set(_ arguments: ArraySlice<String>) throws {
    let words = try CommandWords(arguments, options: ["file"], switches: [])
    guard let name = words.operands.first else { throw UsageError("expected the group's name") }
    let group: GroupLine
    do throws(FileError) {
      group = try GroupLine(name: name, rights: Array(words.operands.dropFirst()))
    } catch { throw UsageError("\(error)") }
    try UserEditing(path: UserCommand.file(words)).put(group)
    if group.rights.isEmpty {
      Terminal.error(
        "parley group: \(name) grants no rights yet; grant some, for example "
          + "folder:\(name)/*=read,write,presence,manage\n")
    }
  }

  private static func list(_ arguments: ArraySlice<String>) throws {
    let words = try CommandWords(arguments, options: ["file"], switches: ["json"])
    guard words.operands.isEmpty else { throw UsageError("list expects no names") }
    let path = try UserCommand.file(words)
    let groups = try GroupLine.groups(ofFileAt: path)
    let users = try UserLine.lines(ofFileAt: path)
    if words.switches.contains("json") {
      return Terminal.output(JSONReport.groups(groups, users))
    }
    for group in groups {
      let members = users.filter { $0.groups.contains(group.name) }.map(\.user.id)
      let line = ["@" + group.name] + group.rights + [members.joined(separator: " ")]
      Terminal.output(line.filter { !$0.isEmpty }.joined(separator: "  ") + "\n")
    }
  }

  private static func remove(_ arguments: ArraySlice<String>) throws {
    let words = try CommandWords(arguments, options: ["file"], switches: [])
    let name = try words.operand("one group (parley group list lists them)")
    try UserEditing(path: UserCommand.file(words)).removeGroup(name)
  }

  private static func setMembership(_ isMember: Bool, _ arguments: ArraySlice<String>) throws {
    let words = try CommandWords(arguments, options: ["file"], switches: [])
    guard let group = words.operands.first, words.operands.count > 1 else {
      throw UsageError("expected a group and the users who \(isMember ? "join" : "leave") it")
    }
    try UserEditing(path: UserCommand.file(words)).setMembership(
      isMember, of: group, users: Array(words.operands.dropFirst()))
  }
}
