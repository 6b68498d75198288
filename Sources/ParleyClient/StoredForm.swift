import ParleyClientCore
import ParleyJSON
import SocketMessages

/// The keys of a storage, and the encoding of its values.
enum StoredForm {
  static let claimKey = "client"
  static let personKey = "person"
  static let notePrefix = "note/"

  static let changesPrefix = "values/"

  static func changesKey(_ room: String) -> String { changesPrefix + room }

  static func noteKey(_ documentID: String) -> String { notePrefix + documentID }

  /// The bytes are not in the expected format.
  struct Unreadable: Error, CustomStringConvertible {
    let description = "its stored state cannot be read; another version of the app wrote it"
  }

  // The length of the first part in decimal, a newline, the first part, and the rest.
  private static func join(_ first: [UInt8], _ rest: [UInt8]) -> [UInt8] {
    Array(String(first.count).utf8) + [0x0a] + first + rest
  }

  private static func split(
    _ bytes: [UInt8]
  ) throws(Unreadable) -> (first: [UInt8], rest: [UInt8]) {
    guard let end = bytes.prefix(20).firstIndex(of: 0x0a),
      let count = Int(String(decoding: bytes[..<end], as: UTF8.self)), count >= 0,
      count <= bytes.count - end - 1
    else { throw Unreadable() }
    let start = end + 1
    return (Array(bytes[start..<start + count]), Array(bytes[(start + count)...]))
  }

  static func bytes(of claim: ClientClaim) -> [UInt8] {
    join(Array(claim.id.utf8), Array(claim.resumeToken.utf8))
  }

  static func claim(_ bytes: [UInt8]) -> ClientClaim? {
    guard let (id, token) = try? split(bytes), !id.isEmpty else { return nil }
    return ClientClaim(
      id: String(decoding: id, as: UTF8.self), resumeToken: String(decoding: token, as: UTF8.self))
  }

  static func bytes(of kept: KeptNote) -> [UInt8] {
    join(kept.encodedEdits(), kept.encodedText())
  }

  static func note(_ bytes: [UInt8]) throws -> KeptNote {
    let (edits, text) = try split(bytes)
    return try KeptNote(edits: edits, text: text)
  }

  /// - Parameter times: When each change was first sent, in seconds since 1970, by key.
  static func bytes(of changes: [KeptChange], times: [String: Int]) -> [UInt8] {
    let list = changes.map { change in
      var fields = JSONFields([
        .init("key", JSONValue(change.key)),
        .init("values", ValueOperation.json(of: change.publication.values?.all ?? [])),
      ])
      if let offsets = change.publication.ifOffsets?.all {
        let object = JSONFields(offsets.map { .init($0.text, JSONValue($1)) })
        fields.append(.init("ifOffsets", JSONValue(object)))
      }
      if let client = change.clientID { fields.append(.init("client", JSONValue(client))) }
      if let time = times[change.key] { fields.append(.init("time", JSONValue(time))) }
      return JSONValue(fields)
    }
    return JSONValue(list).utf8
  }

  static func changes(
    _ bytes: [UInt8], in room: String
  ) throws(Unreadable) -> [(change: KeptChange, time: Int?)] {
    guard let list = JSONValue(bytes)?.elements else { throw Unreadable() }
    var changes: [(change: KeptChange, time: Int?)] = []
    for item in list {
      guard let fields = item.fields, let key = fields["key"]?.string,
        let operations = fields["values"].flatMap({ ValueOperation.list(in: $0) })
      else { throw Unreadable() }
      var publication = ClientMessage.Publish(room: room, data: .null, key: key, senderID: key)
      publication.data = nil
      publication.values = ValueOperationList(operations)
      if let offsets = fields["ifOffsets"]?.fields {
        var all: [ValueName: Int] = [:]
        for field in offsets.all { all[ValueName(field.name)] = field.value.integer }
        publication.ifOffsets = ValueOffsets(all)
      }
      let change = KeptChange(
        publication: publication, key: key, clientID: fields["client"]?.string)
      changes.append((change, fields["time"]?.integer))
    }
    return changes
  }
}
