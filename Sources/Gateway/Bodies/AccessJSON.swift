import ParleyJSON

/// Request bodies about links, tokens and revocations.
enum AccessJSON {
  /// The optional fields of a body; each endpoint checks those that it requires.
  struct Fields {
    var access: String?
    var expiresIn: Int?
    var within: Int?
    var reconnect = false
    var user: String?
    var name: String?
    var token: String?
    var client: String?
    var documents: [String] = []
    var rooms: [String] = []
    var folders: [String] = []
  }

  /// Returns the fields of a body; `nil` if it is not a JSON object, or a field has the wrong type.
  static func fields(in body: [UInt8]) -> Fields? {
    JSONBody.fields(in: body, Fields()) { fields, key, reader throws(JSONError) in
      switch key {
      case "access": fields.access = try reader.string()
      case "expiresIn": fields.expiresIn = try reader.integer()
      case "within": fields.within = try reader.integer()
      case "reconnect": fields.reconnect = try reader.boolean()
      case "user": fields.user = try reader.string()
      case "name": fields.name = try reader.string()
      case "token": fields.token = try reader.string()
      case "client": fields.client = try reader.string()
      case "documents": fields.documents = try strings(&reader)
      case "rooms": fields.rooms = try strings(&reader)
      case "folders": fields.folders = try strings(&reader)
      default: try reader.skipValue()
      }
    }
  }

  /// Maximum names in a list; a token cannot contain more.
  private static let namesMax = 1_000

  private static func strings(_ reader: inout JSONReader) throws(JSONError) -> [String] {
    var strings: [String] = []
    try reader.array { reader throws(JSONError) in
      guard strings.count < namesMax else { throw .malformed(offset: reader.offset) }
      strings.append(try reader.string())
    }
    return strings
  }
}
