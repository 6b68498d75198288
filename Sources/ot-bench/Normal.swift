import OTCore

extension TextOperation {
  /// Appends the JSON form with inserts before deletes at each position. The hashes in the workload
  /// files are those of this form. It must not be sent, because in messages the order is
  /// significant.
  func appendNormalJSON(to buffer: inout [UInt8]) {
    var normal = TextOperation()
    var inserts: [String] = []
    var deleted = 0
    func flush() {
      for text in inserts { normal.insert(text) }
      normal.delete(deleted)
      inserts = []
      deleted = 0
    }
    for component in components {
      switch component {
      case .retain(let count):
        flush()
        normal.retain(count)
      case .insert(let text): inserts.append(text)
      case .delete(let count): deleted += count
      }
    }
    flush()
    normal.appendJSON(to: &buffer)
  }
}
