import ParleyGatewayPorts

/// A dictionary whose keys are compared byte by byte.
struct ExactDictionary<Value>: Sequence, ExpressibleByDictionaryLiteral {
  private var storage: [ExactName: Value] = [:]

  init(dictionaryLiteral elements: (String, Value)...) {
    for (name, value) in elements { storage[ExactName(name)] = value }
  }

  var isEmpty: Bool { storage.isEmpty }
  var count: Int { storage.count }
  var values: Dictionary<ExactName, Value>.Values { storage.values }

  subscript(name: String) -> Value? {
    get { storage[ExactName(name)] }
    _modify { yield &storage[ExactName(name)] }
  }

  subscript(name: String, default value: @autoclosure () -> Value) -> Value {
    get { storage[ExactName(name), default: value()] }
    _modify { yield &storage[ExactName(name), default: value()] }
  }

  @discardableResult
  mutating func removeValue(forKey name: String) -> Value? {
    storage.removeValue(forKey: ExactName(name))
  }

  mutating func removeAll() { storage.removeAll() }

  struct Iterator: IteratorProtocol {
    fileprivate var elements: Dictionary<ExactName, Value>.Iterator

    mutating func next() -> (String, Value)? { elements.next().map { ($0.key.text, $0.value) } }
  }

  func makeIterator() -> Iterator { Iterator(elements: storage.makeIterator()) }
}

/// A set of names that are compared byte by byte.
struct ExactSet: Sequence, ExpressibleByArrayLiteral {
  private var storage: Set<ExactName> = []

  init(arrayLiteral elements: String...) { storage = Set(elements.map { ExactName($0) }) }

  var count: Int { storage.count }
  var isEmpty: Bool { storage.isEmpty }

  func contains(_ name: String) -> Bool { storage.contains(ExactName(name)) }

  mutating func removeAll() { storage.removeAll(keepingCapacity: true) }

  mutating func insert(_ name: String) { storage.insert(ExactName(name)) }

  mutating func remove(_ name: String) { storage.remove(ExactName(name)) }

  struct Iterator: IteratorProtocol {
    fileprivate var elements: Set<ExactName>.Iterator

    mutating func next() -> String? { elements.next()?.text }
  }

  func makeIterator() -> Iterator { Iterator(elements: storage.makeIterator()) }
}
