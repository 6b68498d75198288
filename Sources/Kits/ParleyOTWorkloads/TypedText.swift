/// Random text and edits that resemble human typing.
package struct TypedText {
  private static let vowels = Array("eaiou".unicodeScalars)
  private static let consonants = Array("tnshrdlcmfwgypbvk".unicodeScalars)
  private static let wide = Array("äöüéñçøžДжиюλπΩ中文字漢日本語한국어😀🎉👍🚀𝄞".unicodeScalars)

  private var random: SplitMix64
  /// Whether half of the letters are not ASCII.
  private let isWide: Bool
  private var lettersLeft = 4

  package init(seed: UInt64, isWide: Bool = false) {
    random = SplitMix64(seed: seed)
    self.isWide = isWide
  }

  package mutating func below(_ bound: Int) -> Int { random.below(bound) }
  package mutating func between(_ low: Int, _ high: Int) -> Int { random.between(low, high) }
  package mutating func chance(_ percent: Int) -> Bool { random.chance(percent) }

  /// Returns the next letter, comma, space or newline.
  package mutating func next() -> Unicode.Scalar {
    if lettersLeft == 0 {
      lettersLeft = random.between(1, 9)
      return random.chance(6) ? "\n" : random.chance(8) ? "," : " "
    }
    lettersLeft -= 1
    if isWide, random.chance(50) { return Self.wide[random.below(Self.wide.count)] }
    return random.chance(40)
      ? Self.vowels[random.below(Self.vowels.count)]
      : Self.consonants[random.below(Self.consonants.count)]
  }

  package mutating func text(_ count: Int) -> [Unicode.Scalar] { (0..<count).map { _ in next() } }

  /// Returns an operation with `edits` edits: 60 % insert, 25 % delete, 15 % replace, each 1 to 10
  /// scalars. With `near`, half of the edits are within three scalars of those positions.
  package mutating func operation(
    on length: Int, edits: Int, near: [Int] = []
  ) -> (operation: PlainOperation, places: [Int]) {
    let last = length - 12
    var places: Set<Int> = []
    while places.count < edits {
      if !near.isEmpty, random.chance(50) {
        places.insert(min(max(0, near[random.below(near.count)] + random.between(-3, 3)), last))
      } else {
        places.insert(random.below(last))
      }
    }
    var operation = PlainOperation()
    var at = 0
    var used: [Int] = []
    for place in places.sorted() {
      let place = max(place, at)
      guard place <= last else { break }
      operation.append(.keep(place - at))
      at = place
      used.append(place)
      let kind = random.below(100)
      if kind < 60 || kind >= 85 { operation.append(.add(text(random.between(1, 10)))) }
      if kind >= 60 {
        let count = random.between(1, 10)
        operation.append(.remove(count))
        at += count
      }
    }
    operation.append(.keep(length - at))
    return (operation, used)
  }

  /// An edit: a number of scalars deleted at a position, and a text inserted there.
  package struct Patch {
    package var position: Int
    package var deleted: Int
    package var inserted: [Unicode.Scalar]

    package init(position: Int, deleted: Int, inserted: [Unicode.Scalar]) {
      self.position = position
      self.deleted = deleted
      self.inserted = inserted
    }

    /// Returns the edit as an operation on a text of this length.
    package func operation(on length: Int) -> PlainOperation {
      var operation = PlainOperation()
      operation.append(.keep(position))
      operation.append(.add(inserted))
      operation.append(.remove(deleted))
      operation.append(.keep(length - position - deleted))
      return operation
    }
  }

  /// Returns an author's next edit at the caret: mostly a typed letter, sometimes a deleted letter,
  /// rarely a paste, a cut or a jump.
  package mutating func patch(caret: inout Int, length: Int) -> Patch {
    if random.chance(2) { caret = random.below(length + 1) }
    let kind = random.below(100)
    var patch = Patch(position: caret, deleted: 0, inserted: [])
    switch kind {
    case 80..<97 where caret > 0:
      patch.position -= 1
      patch.deleted = 1
    case 97, 98: patch.inserted = text(random.between(20, 80))
    case 99 where caret < length: patch.deleted = min(length - caret, random.between(2, 60))
    default: patch.inserted = [next()]
    }
    caret = patch.position + patch.inserted.count
    return patch
  }

  /// Returns edits of several people in turn, each on the text after the previous edit.
  package mutating func typing(on length: Int, count: Int, people: Int) -> [Patch] {
    var carets = (0..<people).map { _ in random.below(length + 1) }
    var length = length
    return (0..<count).map { _ in
      let person = random.below(people)
      let patch = patch(caret: &carets[person], length: length)
      for other in carets.indices where other != person && carets[other] > patch.position {
        carets[other] =
          max(patch.position, carets[other] - patch.deleted) + patch.inserted.count
      }
      length += patch.inserted.count - patch.deleted
      return patch
    }
  }
}
