// String functions for the client core, for strings with contiguous UTF-8.
//
// The standard library's functions also handle strings bridged from UTF-16 and contain the code to
// convert them: the page would load 20 kB for strings that cannot occur. All modules of the page's
// program are compiled together, and these functions replace the library's.

extension String {
  /// Calls `body` with the bytes, without a copy.
  @inlinable public mutating func withUTF8<Result>(
    _ body: (UnsafeBufferPointer<UInt8>) -> Result
  ) -> Result {
    guard let result = utf8.withContiguousStorageIfAvailable(body) else {
      fatalError("a string's UTF-8 is not contiguous")
    }
    return result
  }

  static func + (left: String, right: String) -> String {
    var bytes: [UInt8] = []
    bytes.append(contentsOf: left.utf8)
    bytes.append(contentsOf: right.utf8)
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension String.UTF8View {
  /// Calls `body` with the bytes.
  @inline(__always)
  private func with<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    guard let result = withContiguousStorageIfAvailable(body) else {
      fatalError("a string's UTF-8 is not contiguous")
    }
    return result
  }

  var count: Int { with { $0.count } }

  @inline(never) @usableFromInline
  func elementsEqual(_ other: String.UTF8View) -> Bool {
    with { mine in
      other.with { others in
        guard mine.count == others.count else { return false }
        for index in mine.indices where mine[index] != others[index] { return false }
        return true
      }
    }
  }

  @inline(never) @usableFromInline
  func lexicographicallyPrecedes(_ other: String.UTF8View) -> Bool {
    with { mine in
      other.with { others in
        for index in 0..<Swift.min(mine.count, others.count) where mine[index] != others[index] {
          return mine[index] < others[index]
        }
        return mine.count < others.count
      }
    }
  }

  /// Appends the bytes to others.
  @inline(never)
  func append(to bytes: inout [UInt8]) {
    with { bytes.append(contentsOf: $0) }
  }
}

extension [UInt8] {
  mutating func append(contentsOf text: String.UTF8View) { text.append(to: &self) }

  init(_ text: String.UTF8View) {
    self = []
    text.append(to: &self)
  }
}

extension String {
  /// Decodes UTF-8. Malformed bytes become a single replacement character, because the input comes
  /// from JavaScript or was checked.
  init(decoding bytes: UnsafeBufferPointer<UInt8>, as encoding: UTF8.Type) {
    self = String._tryFromUTF8(bytes) ?? "\u{FFFD}"
  }

  init(decoding bytes: [UInt8], as encoding: UTF8.Type) {
    self = bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
  }

  init(decoding bytes: ArraySlice<UInt8>, as encoding: UTF8.Type) {
    self = bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
  }

  init(
    unsafeUninitializedCapacity capacity: Int,
    initializingUTF8With initialize: (UnsafeMutableBufferPointer<UInt8>) -> Int
  ) {
    let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { $1 = initialize($0) }
    self.init(decoding: bytes, as: UTF8.self)
  }
}
