import StoreRecords

/// A parameter of a statement in PostgreSQL's binary form.
struct PostgresParameter {
  /// The number of its type in PostgreSQL's catalogue.
  let type: UInt32
  /// The bytes; `nil` for NULL.
  let bytes: [UInt8]?
}

/// A value that can be a statement's parameter.
///
/// Texts are kept as `bytea`: PostgreSQL's own texts hold no U+0000, which a title may, and compare by
/// rules of a language instead of byte by byte.
protocol PostgresValue {
  /// The number of the value's type in PostgreSQL's catalogue.
  static var type: UInt32 { get }
  /// The value in PostgreSQL's binary form; `nil` for NULL.
  var binary: [UInt8]? { get }
}

extension PostgresValue {
  /// The value as a parameter.
  var parameter: PostgresParameter { PostgresParameter(type: Self.type, bytes: binary) }
}

/// Numbers of types, which no version of PostgreSQL changes.
enum PostgresType {
  static let bytea: UInt32 = 17
  static let int8: UInt32 = 20

  /// The type of arrays of a type.
  static func array(of type: UInt32) -> UInt32 { type == bytea ? 1_001 : 1_016 }
}

extension Int64: PostgresValue {
  static var type: UInt32 { PostgresType.int8 }
  var binary: [UInt8]? { withUnsafeBytes(of: bigEndian) { Array($0) } }
}

extension Int: PostgresValue {
  static var type: UInt32 { PostgresType.int8 }
  var binary: [UInt8]? { Int64(self).binary }
}

/// Kept as the signed integer with the same bits.
extension UInt64: PostgresValue {
  static var type: UInt32 { PostgresType.int8 }
  var binary: [UInt8]? { Int64(bitPattern: self).binary }
}

extension String: PostgresValue {
  static var type: UInt32 { PostgresType.bytea }
  var binary: [UInt8]? { Array(utf8) }
}

extension RecordChecksum: PostgresValue {
  static var type: UInt32 { PostgresType.bytea }
  var binary: [UInt8]? { bytes }
}

/// Bytes, which are a single value although they are an array.
struct Blob: PostgresValue {
  let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  static var type: UInt32 { PostgresType.bytea }
  var binary: [UInt8]? { bytes }
}

/// None is NULL.
extension Optional: PostgresValue where Wrapped: PostgresValue {
  static var type: UInt32 { Wrapped.type }
  var binary: [UInt8]? { flatMap(\.binary) }
}

extension Array: PostgresValue where Element: PostgresValue {
  static var type: UInt32 { PostgresType.array(of: Element.type) }

  /// Dimensions, whether there are NULLs, the elements' type; for the dimension, count and first
  /// index; then each element with its length.
  var binary: [UInt8]? {
    var bytes: [UInt8] = []
    func add(_ number: Int32) { Swift.withUnsafeBytes(of: number.bigEndian) { bytes += $0 } }
    add(isEmpty ? 0 : 1)
    add(1)
    add(Int32(bitPattern: Element.type))
    guard !isEmpty else { return bytes }
    add(Int32(count))
    add(1)
    for element in self {
      guard let value = element.binary else {
        add(-1)
        continue
      }
      add(Int32(value.count))
      bytes += value
    }
    return bytes
  }
}
