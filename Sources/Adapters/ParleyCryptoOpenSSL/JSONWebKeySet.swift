import ParleyHashing
import ParleyJSON

/// JSON Web Keys (RFC 7517, 7518, 8037).
enum JSONWebKeySet {
  /// The maximum keys in a set.
  static let keysMax = 100

  /// Parses `{"keys": […]}`. As the RFC requires, keys for other uses, of other types and with
  /// other algorithms are ignored. An invalid key of a supported type is an error.
  static func keys(
    in json: [UInt8], file: String, secretBytesMin: Int
  ) throws(JWTKeyError) -> [JWTKey] {
    var fields: [Fields]?
    do {
      try readObject(json) { key, reader throws(JSONError) in
        guard key == "keys" else {
          try reader.skipValue()
          return
        }
        var found: [Fields] = []
        try reader.array { reader throws(JSONError) in
          found.append(try Fields(&reader))
          guard found.count <= keysMax else {
            throw .wrongType(expected: "at most \(keysMax) keys", offset: reader.offset)
          }
        }
        fields = found
      }
    } catch { throw .notKeySet(file: file) }
    guard let fields else { throw .notKeySet(file: file) }
    var keys: [JWTKey] = []
    for field in fields {
      if let key = try field.key(file: file, secretBytesMin) { keys.append(key) }
    }
    return keys
  }

  private struct Fields {
    /// The fields with string values, by name. Other fields are ignored.
    private var texts: [String: String] = [:]

    init(_ reader: inout JSONReader) throws(JSONError) {
      var texts: [String: String] = [:]
      try reader.object { name, reader throws(JSONError) in
        if reader.isAtString {
          texts[name.string] = try reader.string()
        } else {
          try reader.skipValue()
        }
      }
      self.texts = texts
    }

    private func bytes(_ name: String) -> [UInt8]? {
      texts[name].flatMap { Base64.url.decode($0.utf8) }
    }

    func key(file: String, _ secretBytesMin: Int) throws(JWTKeyError) -> JWTKey? {
      if let use = texts["use"], use != "sig" { return nil }
      let key: JWTKey
      switch (texts["kty"], texts["crv"]) {
      case ("oct", _):
        guard let secret = bytes("k") else { throw .notKeySet(file: file) }
        key = try JWTKey(
          id: texts["kid"], secret: secret, file: file, bytesMin: secretBytesMin)
      case ("RSA", _):
        guard let n = bytes("n"), let e = bytes("e"), let made = EVPKey.rsa(modulus: n, exponent: e)
        else { throw .notKeySet(file: file) }
        key = try JWTKey(id: texts["kid"], made, file: file)
      case ("EC", "P-256"):
        guard let x = bytes("x"), let y = bytes("y"), let made = EVPKey.p256(x: x, y: y) else {
          throw .notKeySet(file: file)
        }
        key = try JWTKey(id: texts["kid"], made, file: file)
      case ("OKP", "Ed25519"):
        guard let x = bytes("x"), let made = EVPKey.ed25519(x) else {
          throw .notKeySet(file: file)
        }
        key = try JWTKey(id: texts["kid"], made, file: file)
      default: return nil
      }
      // A key for another algorithm, such as RS512, must not be used with RS256.
      if let algorithm = texts["alg"], algorithm != key.algorithm.rawValue { return nil }
      return key
    }
  }
}
