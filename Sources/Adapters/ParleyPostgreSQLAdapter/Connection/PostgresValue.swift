import ParleyStoreRecords

/// A parameter of a statement in PostgreSQL's binary format.
///
/// Texts are stored as `bytea`: PostgreSQL's `text` cannot contain U+0000, which a title may
/// contain, and is compared by the rules of a language instead of byte by byte.
struct PostgresParameter {
  /// The OID of the parameter's type.
  let type: UInt32
  /// The bytes; `nil` for NULL.
  let bytes: [UInt8]?

  init(_ form: StoredForm) {
    type = form.postgresType
    bytes = form.binary
  }
}

extension StoredForm {
  /// The OID of the type, which is the same in all versions of PostgreSQL.
  fileprivate var postgresType: UInt32 {
    switch self {
    case .integer: 20
    case .text, .bytes: 17
    case .list(_, of: .integer): 1_016
    case .list: 1_001
    }
  }

  /// The value in PostgreSQL's binary format; `nil` for NULL.
  fileprivate var binary: [UInt8]? {
    switch self {
    case .integer(let value): value.map { withUnsafeBytes(of: $0.bigEndian) { Array($0) } }
    case .text(let text): text.map { Array($0.utf8) }
    case .bytes(let bytes): bytes
    case .list(let values, let none): Self.binary(values, of: none.postgresType)
    }
  }

  /// The binary format of an array: number of dimensions, whether it contains NULLs, type of
  /// elements; count and first index of the dimension; then each element with its length.
  private static func binary(_ values: [StoredForm], of type: UInt32) -> [UInt8] {
    var bytes: [UInt8] = []
    func add(_ number: Int32) { Swift.withUnsafeBytes(of: number.bigEndian) { bytes += $0 } }
    add(values.isEmpty ? 0 : 1)
    add(1)
    add(Int32(bitPattern: type))
    guard !values.isEmpty else { return bytes }
    add(Int32(values.count))
    add(1)
    for value in values {
      guard let value = value.binary else {
        add(-1)
        continue
      }
      add(Int32(value.count))
      bytes += value
    }
    return bytes
  }
}
