extension String {
  /// Whether another text has the same bytes. To `==`, é and e with an accent are equal.
  @inlinable
  package func isExactly(_ other: String) -> Bool {
    #if hasFeature(Embedded)
      // The page's module has to be small.
      return utf8.elementsEqual(other.utf8)
    #else
      let areEqual = utf8.withContiguousStorageIfAvailable { one in
        other.utf8.withContiguousStorageIfAvailable { other in
          guard one.count == other.count, let start = one.baseAddress,
            let second = other.baseAddress
          else { return one.count == other.count }
          // Eight bytes at a time: every look into a dictionary of names compares at least once.
          return JSONText.isEqual(start, second, one.count)
        }
      }
      return areEqual.flatMap { $0 } ?? utf8.elementsEqual(other.utf8)
    #endif
  }
}

extension Substring {
  /// Whether another text has the same bytes. To `==`, é and e with an accent are equal.
  @inlinable
  package func isExactly(_ other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
