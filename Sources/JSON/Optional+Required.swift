extension Optional {
  /// The value of a field that its object must have.
  @inlinable package func required(_ field: StaticString) throws(JSONError) -> Wrapped {
    guard let self else { throw .missing(field: "\(field)") }
    return self
  }
}
