package import ParleyGatewayPorts

/// A value that can be given to a statement's parameter.
package protocol StoredValue {
  /// The value in its database type.
  var form: StoredForm { get }
  /// NULL in the database type of the value.
  static var null: StoredForm { get }
}

/// A value in its database type; `nil` is NULL.
package enum StoredForm {
  case integer(Int64?)
  case text(String?)
  case bytes([UInt8]?)
  /// An array, which only PostgreSQL supports. `of` is NULL of the elements' type.
  indirect case list([StoredForm], of: StoredForm)
}

extension Int64: StoredValue {
  package var form: StoredForm { .integer(self) }
  package static var null: StoredForm { .integer(nil) }
}

extension Int: StoredValue {
  package var form: StoredForm { .integer(Int64(self)) }
  package static var null: StoredForm { .integer(nil) }
}

/// Stored as the signed integer with the same bits.
extension UInt64: StoredValue {
  package var form: StoredForm { .integer(Int64(bitPattern: self)) }
  package static var null: StoredForm { .integer(nil) }
}

extension String: StoredValue {
  package var form: StoredForm { .text(self) }
  package static var null: StoredForm { .text(nil) }
}

extension StoredValue where Self: ByteName {
  package var form: StoredForm { .text(text) }
  package static var null: StoredForm { .text(nil) }
}

extension DocumentID: StoredValue {}
extension Epoch: StoredValue {}
extension PersonID: StoredValue {}
extension RoomName: StoredValue {}
extension ValueName: StoredValue {}

extension RecordChecksum: StoredValue {
  package var form: StoredForm { .bytes(bytes) }
  package static var null: StoredForm { .bytes(nil) }
}

/// Bytes, bound as one value and not as an array.
package struct Blob: StoredValue {
  package let bytes: [UInt8]

  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  package var form: StoredForm { .bytes(bytes) }
  package static var null: StoredForm { .bytes(nil) }
}

/// `nil` is stored as NULL.
extension Optional: StoredValue where Wrapped: StoredValue {
  package var form: StoredForm { self?.form ?? Wrapped.null }
  package static var null: StoredForm { Wrapped.null }
}

extension Array: StoredValue where Element: StoredValue {
  package var form: StoredForm { .list(map(\.form), of: Element.null) }
  package static var null: StoredForm { .list([], of: Element.null) }
}
