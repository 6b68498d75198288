public import Observation
import ParleyClientCore
public import ParleyJSON
import SocketMessages

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A typed view of a room's values.
@MainActor protocol ValueView: AnyObject {
  func take(_ changed: [ValueName: JSONValue?])
}

/// The values of a room: shared state that every member sees and changes.
///
///     let cards = parley.room("board").values(of: Card.self)
///     try await cards.merge("card-7", ["column": "done"])
///
/// Own changes show at once. They are applied again over each change of others, and withdrawn if the
/// server refuses them. Without a connection they wait, and are sent once and in order.
@MainActor @Observable public final class SharedValues<Value: Codable & Sendable>: ValueView {
  /// The values by name. A value of another type is missing here; see ``undecodable``.
  public private(set) var all: [String: Value] = [:]
  /// The names whose values are not of this type.
  public private(set) var undecodable: Set<String> = []
  /// Whether the values have arrived.
  public private(set) var isReady = false

  /// The room.
  public let room: Room
  @ObservationIgnored private let decoder: JSONDecoder
  @ObservationIgnored private let encoder: JSONEncoder

  init(room: Room, decoder: JSONDecoder, encoder: JSONEncoder) {
    self.room = room
    self.decoder = decoder
    self.encoder = encoder
  }

  /// The value of a name; `nil` if there is none of this type.
  public subscript(name: String) -> Value? { all[name] }

  /// Replaces a value, and waits until the server has stored the change.
  ///
  /// - Parameter ttl: Seconds after which the server deletes the value unless it changes.
  public func set(_ name: String, to value: Value, ttl: Int? = nil) async throws(ValueError) {
    try await change([.set(name, to: try json(value), ttl: ttl)])
  }

  /// Merges fields into a value (JSON Merge Patch); a `nil` in `fields` as JSON `null` removes one.
  public func merge(_ name: String, _ fields: some Encodable) async throws(ValueError) {
    try await change([.merge(name, try json(fields))])
  }

  /// Adds an integer to a value; a missing one counts as 0.
  public func add(_ name: String, _ number: Int) async throws(ValueError) {
    try await change([.add(name, number)])
  }

  /// Deletes a value.
  public func delete(_ name: String) async throws(ValueError) { try await change([.delete(name)]) }

  /// Makes several changes, all or none.
  ///
  /// - Parameter ifOffsets: The offset at which each of these names must have changed last; 0 if it
  ///   must not exist.
  public func change(
    _ changes: [ValueEdit], ifOffsets: [String: Int] = [:]
  ) async throws(ValueError) {
    let offsets = Dictionary(uniqueKeysWithValues: ifOffsets.map { (ValueName($0), $1) })
    try await room.change(changes.map(\.operation), ifOffsets: offsets)
  }

  /// Changes values that depend on values: publishes the edits that `update` returns for the values of
  /// the names, if none of them was changed meanwhile. Otherwise it is called again with the current
  /// values.
  ///
  /// It waits for a connection, at most for the client's timeout.
  ///
  /// - Parameters:
  ///   - tries: Maximum calls of `update`.
  ///   - update: Gets the values on the server's disk, without missing ones and those of other types.
  ///     Nothing is published if it returns nothing.
  /// - Returns: Whether something was published.
  /// - Throws: `tooManyConflicts` after the last try. `failed` with `noAnswer`: a try that was sent
  ///   remains queued, with its conditions. Errors of `update`.
  @discardableResult
  public func transaction(
    _ names: [String], tries: Int = 25, _ update: ([String: Value]) throws -> [ValueEdit]?
  ) async throws -> Bool {
    try await room.transaction(Set(names.map { ValueName($0) }), tries: tries) { values in
      var decoded: [String: Value] = [:]
      for (name, json) in values {
        decoded[name.text] = try? decoder.decode(Value.self, from: Data(json.utf8))
      }
      return try update(decoded)?.map(\.operation) ?? []
    }
  }

  /// Whether there is a change to undo.
  public var canUndo: Bool { room.hasSteps.undo }

  /// Whether there is a change to redo.
  public var canRedo: Bool { room.hasSteps.redo }

  /// Undoes this client's last change of the room's values by a new change, which restores what that
  /// one replaced. Changes of others stay.
  ///
  /// It waits for a connection, at most for the client's timeout.
  ///
  /// - Returns: Whether there was a change to undo.
  /// - Throws: `changedSince` if another client has changed the same name or field since: nothing is
  ///   changed, and the next undo is for the change before.
  @discardableResult
  public func undo() async throws -> Bool { try await room.revert(.undo) }

  /// Undoes the last undo, under the same conditions. Another change ends it.
  @discardableResult
  public func redo() async throws -> Bool { try await room.revert(.redo) }

  private func json(_ value: some Encodable) throws(ValueError) -> JSONValue {
    guard let data = try? encoder.encode(value), let json = JSONValue(data) else { throw .notJSON }
    return json
  }

  func take(_ changed: [ValueName: JSONValue?]) {
    for (name, value) in changed {
      guard let value else {
        all[name.text] = nil
        undecodable.remove(name.text)
        continue
      }
      if let decoded = try? decoder.decode(Value.self, from: Data(value.utf8)) {
        all[name.text] = decoded
        undecodable.remove(name.text)
      } else {
        all[name.text] = nil
        undecodable.insert(name.text)
      }
    }
    if !isReady { isReady = true }
  }
}

/// A change of one value.
public struct ValueEdit: Sendable {
  let operation: ValueOperation

  /// Replaces a value by JSON.
  public static func set(_ name: String, to json: JSONValue, ttl: Int? = nil) -> ValueEdit {
    var operation = ValueOperation(ValueName(name), .set(json))
    if let ttl { operation.lifetime = .seconds(ttl) }
    return ValueEdit(operation: operation)
  }

  /// Merges fields into a value (JSON Merge Patch, RFC 7396).
  public static func merge(_ name: String, _ fields: JSONValue) -> ValueEdit {
    ValueEdit(operation: ValueOperation(ValueName(name), .merge(fields)))
  }

  /// Adds an integer to a value.
  public static func add(_ name: String, _ number: Int) -> ValueEdit {
    ValueEdit(operation: ValueOperation(ValueName(name), .add(number)))
  }

  /// Deletes a value.
  public static func delete(_ name: String) -> ValueEdit {
    ValueEdit(operation: ValueOperation(ValueName(name), .delete))
  }
}

/// The reason why a change of values failed.
public enum ValueError: Error, Sendable, Hashable {
  /// The value is not JSON.
  case notJSON
  /// The named values have changed since: their current offsets.
  case conflict([String: Int])
  /// Other clients changed the same values at each try of a transaction or an undo.
  case tooManyConflicts(tries: Int)
  /// Another client has changed these names since, so nothing was undone.
  case changedSince([String])
  /// The publication of the change failed.
  case failed(PublishError)
}

extension ValueError: CustomStringConvertible {
  /// The reason, and what to do.
  public var description: String {
    switch self {
    case .notJSON: "expected JSON that is nested at most 24 deep"
    case .conflict(let offsets):
      "values have changed: \(offsets.keys.sorted().joined(separator: ", ")); look at them, and decide again"
    case .tooManyConflicts(let tries):
      "others changed the same values at each of \(tries) tries; try again later"
    case .changedSince(let names):
      "others have changed these values since: \(names.joined(separator: ", ")); nothing was undone"
    case .failed(let error): "\(error)"
    }
  }
}
