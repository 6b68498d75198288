import ParleyDialectModels
import ParleyJSON

extension CubitStorage {
  /// Returns a stored list; `nil` if missing, or if an element cannot be decoded.
  func list<Model: JSONModel>(_ name: String) async -> [Model]? {
    guard let bytes = await read(name), let elements = JSONValue(bytes)?.elements else {
      return nil
    }
    let models = elements.compactMap { $0.fields.flatMap { try? Model($0) } }
    return models.count == elements.count ? models : nil
  }

  func keep(_ models: [some JSONModel], as name: String) async {
    await write(JSONValue(models.map { JSONValue($0.fields) }).utf8, for: name)
  }

  func model<Model: JSONModel>(_ name: String) async -> Model? {
    guard let bytes = await read(name) else { return nil }
    return try? Model(json: bytes)
  }
}

/// Unique keys for requests that must be applied once.
enum RequestKey {
  static func make() -> String {
    let digits = [UInt64.random(in: .min ... .max), .random(in: .min ... .max)]
    return digits.map { String($0, radix: 36) }.joined(separator: "-")
  }
}
