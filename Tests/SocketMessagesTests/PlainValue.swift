import ParleyJSON
import ParleyOTWorkloads
import SocketMessages

/// JSON as a value of the standard library: the reference for merging and folding values of rooms.
indirect enum PlainValue: Equatable {
  case object([String: PlainValue])
  case array([PlainValue])
  case other(String)

  /// The merge of RFC 7396, section 2, as its pseudocode says.
  static func merge(_ target: PlainValue?, _ patch: PlainValue) -> PlainValue {
    guard case .object(let changes) = patch else { return patch }
    var fields: [String: PlainValue] = [:]
    if case .object(let own) = target { fields = own }
    for (name, change) in changes {
      if change == .other("null") {
        fields[name] = nil
      } else {
        fields[name] = merge(fields[name], change)
      }
    }
    return .object(fields)
  }

  var json: String {
    switch self {
    case .other(let text): return text
    case .array(let elements): return "[" + elements.map(\.json).joined(separator: ",") + "]"
    case .object(let fields):
      let ordered = fields.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
      return "{" + ordered.map { "\"\($0)\":\($1.json)" }.joined(separator: ",") + "}"
    }
  }

  var value: JSONValue { JSONValue(trusted: Array(json.utf8)) }

  static func random(_ random: inout SplitMix64, depth: Int = 0) -> PlainValue {
    let names = ["a", "b", "__proto__", "\u{e9}", "z"]
    switch depth > 2 ? 2 : random.number(0...3) {
    case 0, 1:
      var fields: [String: PlainValue] = [:]
      for _ in 0..<random.number(0...3) {
        fields[names[random.number(0...4)]] = .random(&random, depth: depth + 1)
      }
      return .object(fields)
    case 3: return .array((0..<random.number(0...2)).map { _ in .random(&random, depth: 3) })
    default:
      return .other(
        ["null", "true", "1", "-2.50", "1e400", "\"x\"", "9007199254740993"][
          random.number(0...6)])
    }
  }
}

/// The values of a room as a plain dictionary: the reference for ``RoomValues``.
struct PlainRoom {
  var values: [ExactName: (value: PlainValue, offset: Int)] = [:]

  /// Applies a change as a whole; returns whether it was accepted. Limits do not apply.
  mutating func apply(_ operations: [PlainOperation], _ conditions: [ExactName: Int], offset: Int)
    -> Bool
  {
    for (name, wanted) in conditions where values[name]?.offset ?? 0 != wanted { return false }
    var next = values
    for operation in operations {
      let name = ExactName(operation.name)
      switch operation {
      case .set(_, let value): next[name] = (value, offset)
      case .merge(_, let patch):
        next[name] = (PlainValue.merge(next[name]?.value, patch), offset)
      case .delete: next[name] = nil
      case .add(_, let number):
        guard case .other(let text) = next[name]?.value ?? .other("0"), let former = Int(text),
          former.magnitude <= 1 << 53, (former + number).magnitude <= 1 << 53
        else { return false }
        next[name] = (.other("\(former + number)"), offset)
      }
    }
    values = next
    return true
  }
}

enum PlainOperation {
  case set(String, PlainValue)
  case merge(String, PlainValue)
  case add(String, Int)
  case delete(String)

  static func random(_ random: inout SplitMix64) -> PlainOperation {
    let name = ["card", "votes", "__proto__", "e\u{301}", "\u{e9}"][random.number(0...4)]
    switch random.number(0...4) {
    case 0: return .set(name, .random(&random))
    case 1:
      let patch = PlainValue.random(&random)
      if case .object = patch { return .merge(name, patch) }
      return .merge(name, .object(["p": patch]))
    case 2: return .delete(name)
    default: return .add(name, random.once(in: 9) ? 1 << 53 : random.number(-3...3))
    }
  }

  var name: String {
    switch self {
    case .set(let name, _), .merge(let name, _), .add(let name, _), .delete(let name): name
    }
  }

  var operation: ValueOperation {
    switch self {
    case .set(let name, let value): ValueOperation(ValueName(name), .set(value.value))
    case .merge(let name, let patch): ValueOperation(ValueName(name), .merge(patch.value))
    case .add(let name, let number): ValueOperation(ValueName(name), .add(number))
    case .delete(let name): ValueOperation(ValueName(name), .delete)
    }
  }
}
