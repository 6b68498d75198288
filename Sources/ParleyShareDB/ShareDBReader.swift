import OTCore
import ParleyJSON

/// The names of ShareDB's types.
public enum ShareDBType {
  /// The type of texts.
  public static let text = "http://sharejs.org/types/text-unicode"
  /// The type that clients assume where none is named.
  public static let standard = "http://sharejs.org/types/JSONv0"
  /// The short name of the type of texts.
  public static let textName = "text-unicode"
}

/// The fields of a message, in any order.
private struct ShareDBFields {
  var action: String?
  var id: JSONValue?
  var collection: String?
  var document: String?
  var version: Int?
  var source: String?
  var sequence: Int?
  var content: ShareDBChange.Content?
  var versions: [ShareDBRequest.Version]?
  var channel: String?
  var value: [UInt8]?
  var valueNumber: Int?

  mutating func read(
    _ key: JSONText, _ reader: inout JSONReader, componentsMax: Int, documentsMax: Int
  ) throws(JSONError) {
    if key == "a" {
      action = try reader.value().string
    } else if key == "id" {
      id = try reader.value()
    } else if key == "c" {
      collection = try reader.value().string
    } else if key == "d" {
      document = try reader.value().string
    } else if key == "v" {
      version = try reader.value().integer
    } else if key == "src" {
      source = try reader.value().string
    } else if key == "seq" {
      sequence = try reader.value().integer
    } else if key == "op" {
      content = try Self.operation(&reader, componentsMax: componentsMax)
    } else if key == "create" {
      content = Self.creation(try reader.value())
    } else if key == "del" {
      if try reader.value().boolean ?? false { content = .deletion }
    } else if key == "b" {
      versions = Self.versions(try reader.value(), countMax: documentsMax)
    } else if key == "ch" {
      channel = try reader.value().string
    } else if key == "p" {
      let value = try reader.value()
      self.value = value.isNull ? nil : value.utf8
    } else if key == "pv" {
      valueNumber = try reader.value().integer
    } else {
      try reader.skipValue()
    }
  }

  // MARK: Operations

  /// Reads an operation of the type `text-unicode`: a number skips, a string inserts, `{"d":n}` and
  /// `{"d":"text"}` delete.
  private static func operation(
    _ reader: inout JSONReader, componentsMax: Int
  ) throws(JSONError) -> ShareDBChange.Content {
    func refused(_ reason: String) -> ShareDBChange.Content {
      .refused(ShareDBError(.operationBadlyFormed, reason))
    }
    guard reader.isAtArray() else {
      try reader.skipValue()
      return refused("expected an operation of the type \(ShareDBType.textName): an array")
    }
    var operation = TextOperation()
    var problem: String?
    var count = 0
    try reader.array { reader throws(JSONError) in
      count += 1
      guard problem == nil, count <= componentsMax else {
        problem = problem ?? "an operation may have \(componentsMax) components"
        try reader.skipValue()
        return
      }
      problem = try append(to: &operation, &reader)
    }
    return problem.map(refused) ?? .operation(operation)
  }

  /// Reads a component.
  ///
  /// - Returns: The problem of a component that is no component of a text.
  private static func append(
    to operation: inout TextOperation, _ reader: inout JSONReader
  ) throws(JSONError) -> String? {
    let expected = "expected numbers above 0, texts, and {\"d\":count} as components"
    func fits(_ count: Int) -> Bool {
      count > 0 && count <= TextOperation.lengthMax - operation.baseLength
        && count <= TextOperation.lengthMax - operation.targetLength
    }
    if reader.isAtObject() {
      guard let deleted = try reader.value().value(of: "d") else { return expected }
      guard let count = deleted.integer ?? deleted.string?.unicodeScalars.count, fits(count) else {
        return expected
      }
      operation.delete(count)
      return nil
    }
    guard reader.isAtString else {
      var numberReader = reader
      guard let count = try? numberReader.integer(), fits(count) else {
        try reader.skipValue()
        return expected
      }
      reader = numberReader
      operation.retain(count)
      return nil
    }
    let text = try reader.string()
    do throws(OperationError) {
      try operation.insert(utf8: text)
      return nil
    } catch {
      return "the operation is too long"
    }
  }

  private static func creation(_ value: JSONValue) -> ShareDBChange.Content {
    guard let fields = value.values(of: "type", "data"), let type = fields[0]?.string else {
      return .refused(ShareDBError(.operationBadlyFormed, "expected create with a type"))
    }
    guard type.isExactly(ShareDBType.text) || type.isExactly(ShareDBType.textName) else {
      return .refused(
        ShareDBError(.unknownType, "notes are texts: create them as \(ShareDBType.textName)"))
    }
    if fields[1]?.isNull ?? true { return .creation(text: "") }
    guard let text = fields[1]?.string else {
      return .refused(ShareDBError(.operationBadlyFormed, "expected a text as data"))
    }
    return .creation(text: text)
  }

  // MARK: Several documents

  /// Reads an array of ids or an object of versions; `nil` for other values or too many documents.
  private static func versions(
    _ value: JSONValue, countMax: Int
  ) -> [ShareDBRequest.Version]? {
    var versions: [ShareDBRequest.Version] = []
    var isValid = true
    let isObject = value.forEachField { key, reader throws(JSONError) in
      let version = try reader.value()
      isValid = isValid && versions.count < countMax
      guard isValid else { return }
      versions.append(.init(id: key.string, version: version.integer))
    }
    if isObject { return isValid ? versions : nil }
    guard value.elementCount(upTo: countMax + 1).map({ $0 <= countMax }) ?? false else {
      return nil
    }
    for element in value.elements ?? [] {
      guard let id = element.string else { return nil }
      versions.append(.init(id: id, version: nil))
    }
    return versions
  }

  // MARK: Requests

  var request: ShareDBRequest {
    guard let text = action, let action = ShareDBRequest.Action(rawValue: text) else {
      return .malformed(action: nil)
    }
    return request(action) ?? .malformed(action: action.rawValue)
  }

  private var name: ShareDBDocument? {
    guard let collection, let document else { return nil }
    return ShareDBDocument(collection: collection, id: document)
  }

  private func request(_ action: ShareDBRequest.Action) -> ShareDBRequest? {
    guard version.map({ $0 >= 0 }) ?? true else { return nil }
    switch action {
    case .handshake: return .handshake(id: id?.string)
    case .ping: return .ping
    case .subscribe, .unsubscribe, .fetch:
      return name.map { .document(action, $0, version: version) }
    case .bulkSubscribe, .bulkUnsubscribe, .bulkFetch:
      guard let collection, let versions else { return nil }
      return .documents(action, collection: collection, versions: versions)
    case .operation:
      guard let name, let sequence, sequence > 0 else { return nil }
      // A change without content changes nothing.
      let change = ShareDBChange(
        version: version, source: source, sequence: sequence,
        content: content ?? .operation(TextOperation()))
      return .change(change, name)
    case .snapshot, .snapshotByTime: return name.map { .past(action, number: id?.integer, $0) }
    case .queryFetch, .querySubscribe, .queryUnsubscribe:
      return .query(action, number: id?.integer)
    case .presenceSubscribe, .presenceUnsubscribe:
      return channel.map {
        .presenceSubscription(action, channel: $0, sequence: sequence)
      }
    case .presenceRequest: return channel.map { .presenceRequest(channel: $0) }
    case .presence:
      guard let channel, let id = id?.string, let valueNumber else { return nil }
      return .presence(
        ShareDBPresence(channel: channel, id: id, value: value, number: valueNumber))
    }
  }
}

extension ShareDBRequest {
  /// Maximum bytes of a message. A client cannot split an operation, so a larger one is refused.
  public static let bytesMax = 2_097_152
  /// Maximum fields of a message, of which ShareDB has a dozen.
  private static let fieldsMax = 64
  /// Maximum documents of one bulk request.
  public static let documentsMax = 1_000
  /// Maximum JSON values of a message, apart from the components of an operation.
  private static let valuesMax = 20_000

  /// Reads a message; `nil` if it is not a JSON object.
  ///
  /// - Parameter componentsMax: Maximum components of an operation.
  /// - Complexity: O(bytes).
  public static func read(
    _ bytes: UnsafeBufferPointer<UInt8>, componentsMax: Int
  ) -> ShareDBRequest? {
    var reader = JSONReader(bytes)
    reader.limitValues(to: valuesMax + 2 * componentsMax)
    var fields = ShareDBFields()
    var count = 0
    do throws(JSONError) {
      try reader.object { key, reader throws(JSONError) in
        count += 1
        guard count <= fieldsMax else { throw .tooManyValues(valuesMax: fieldsMax) }
        try fields.read(
          key, &reader, componentsMax: componentsMax, documentsMax: documentsMax)
      }
      try reader.finish()
    } catch {
      return nil
    }
    return fields.request
  }

  /// Reads a message; `nil` if it is not a JSON object.
  public static func read(_ bytes: [UInt8], componentsMax: Int) -> ShareDBRequest? {
    bytes.withUnsafeBufferPointer { read($0, componentsMax: componentsMax) }
  }
}
