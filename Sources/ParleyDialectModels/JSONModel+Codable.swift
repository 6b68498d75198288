import ParleyJSON

extension JSONModel {
  /// Reads a model from any decoder.
  public init(from decoder: any Decoder) throws {
    let value = try CodedJSON(from: decoder).value
    guard let fields = value.fields else {
      throw DecodingError.typeMismatch(
        Self.self,
        DecodingError.Context(
          codingPath: decoder.codingPath, debugDescription: "expected an object"))
    }
    do throws(ModelError) {
      try self.init(fields)
    } catch {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: decoder.codingPath, debugDescription: "\(error)", underlyingError: error))
    }
  }

  /// Writes the model's fields to any encoder.
  public func encode(to encoder: any Encoder) throws {
    try CodedJSON(value: JSONValue(fields)).encode(to: encoder)
  }
}

/// Any JSON value, for decoders and encoders.
private struct CodedJSON: Codable {
  let value: JSONValue

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  init(value: JSONValue) { self.value = value }

  init(from decoder: any Decoder) throws {
    if let object = try? decoder.container(keyedBy: Key.self) {
      var fields = JSONFields()
      for key in object.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) {
        let field = try object.decode(CodedJSON.self, forKey: key)
        fields.append(JSONFields.Field(key.stringValue, field.value))
      }
      value = JSONValue(fields)
    } else if var list = try? decoder.unkeyedContainer() {
      var elements: [JSONValue] = []
      while !list.isAtEnd { elements.append(try list.decode(CodedJSON.self).value) }
      value = JSONValue(elements)
    } else {
      value = try Self.single(try decoder.singleValueContainer())
    }
  }

  private static func single(_ value: any SingleValueDecodingContainer) throws -> JSONValue {
    if value.decodeNil() { return .null }
    if let flag = try? value.decode(Bool.self) { return JSONValue(flag) }
    if let number = try? value.decode(Int.self) { return JSONValue(number) }
    if let number = try? value.decode(Double.self), let json = JSONValue(Array("\(number)".utf8)) {
      return json
    }
    return JSONValue(try value.decode(String.self))
  }

  func encode(to encoder: any Encoder) throws {
    if let fields = value.fields {
      var object = encoder.container(keyedBy: Key.self)
      for field in fields.all {
        try object.encode(CodedJSON(value: field.value), forKey: Key(stringValue: field.name))
      }
    } else if let elements = value.elements {
      var list = encoder.unkeyedContainer()
      for element in elements { try list.encode(CodedJSON(value: element)) }
    } else {
      var single = encoder.singleValueContainer()
      if value.isNull {
        try single.encodeNil()
      } else if let text = value.string {
        try single.encode(text)
      } else if let flag = value.boolean {
        try single.encode(flag)
      } else if let number = Int(jsonValue: value) {
        try single.encode(number)
      } else if let number = Double(String(decoding: value.utf8, as: UTF8.self)) {
        try single.encode(number)
      }
    }
  }
}

extension Twake.Account: Identifiable {}
extension Twake.Company: Identifiable {}
extension Twake.Workspace: Identifiable {}
extension Twake.Channel: Identifiable {}
extension Twake.Message: Identifiable {}
extension Twake.File: Identifiable {}
extension Twake.Badge: Identifiable {}
extension Twake.SocketIORoom: Identifiable {}
extension Twake.Reaction: Identifiable {
  /// The emoji: a message has one reaction of each.
  public var id: String { name }
}
extension GroupChat.Group: Identifiable {}
extension GroupChat.Person: Identifiable {}
extension GroupChat.Line: Identifiable {}
