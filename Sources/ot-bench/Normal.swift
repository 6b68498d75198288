import OTCore

extension TextOperation {
  /// The JSON form with the insert before the delete at each place: how the workload files write
  /// operations whose hashes they hold. Never what travels: there the order is meaning.
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
