package import OTCore

/// Formatting of large texts and operations for benchmarks, drawn from a seed.
package struct FormattedWorkloads {
  private var random: SplitMix64
  private let sets: [AttributeSet]

  package init(seed: UInt64) {
    random = SplitMix64(seed: seed)
    let forms = [
      #"{"bold":true}"#, #"{"italic":true}"#, #"{"bold":true,"color":"red"}"#,
      #"{"link":"https://example.org/a"}"#, #"{"bold":null}"#,
    ]
    sets = forms.map { json in
      do {
        return try AttributeSet(json: json)
      } catch {
        preconditionFailure("no attributes: \(json)")
      }
    }
  }

  private mutating func set(removals: Bool = false) -> AttributeSet {
    sets[random.below(sets.count - (removals ? 0 : 1))]
  }

  /// Returns the operation with formatting on about half of its components: on a part of a retained
  /// range, or on a whole inserted text.
  package mutating func formatted(_ text: TextOperation) -> RichOperation {
    var builder = RichOperationBuilder()
    for component in text.components {
      switch component {
      case .retain(let count):
        if random.chance(50) {
          let length = random.between(1, min(count, 20))
          let start = random.below(count - length + 1)
          builder.retain(start)
          builder.retain(length, setting: set(removals: true))
          builder.retain(count - start - length)
        } else {
          builder.retain(count)
        }
      case .insert(let text):
        builder.insert(text, with: random.chance(50) ? set() : AttributeSet())
      case .delete(let count): builder.delete(count)
      }
    }
    return builder.finished()
  }

  /// Returns a text in `runs` runs, of which every second one has attributes.
  package mutating func document(_ text: String, runs: Int) -> RichDocument {
    let scalars = Array(text.unicodeScalars)
    var builder = RichOperationBuilder()
    for run in 0..<runs {
      let part = scalars[run * scalars.count / runs..<(run + 1) * scalars.count / runs]
      builder.insert(
        String(String.UnicodeScalarView(part)), with: run % 2 == 0 ? AttributeSet() : set())
    }
    var document = RichDocument()
    do {
      try document.apply(builder.finished())
    } catch {
      preconditionFailure("an insertion of everything must fit")
    }
    return document
  }

  /// Returns a random edit: typing, typing with attributes, deleting or formatting a range, with
  /// equal probability.
  package mutating func edit(length: Int) -> RichOperation {
    var builder = RichOperationBuilder()
    let count = min(length, random.between(1, 12))
    let place = random.below(length - count + 1)
    builder.retain(place)
    switch random.below(4) {
    case 0: builder.insert("a")
    case 1: builder.insert("b", with: set())
    case 2:
      builder.delete(count)
      builder.retain(length - place - count)
      return builder.finished()
    default:
      builder.retain(count, setting: set(removals: true))
      builder.retain(length - place - count)
      return builder.finished()
    }
    builder.retain(length - place)
    return builder.finished()
  }

  /// Returns consecutive edits.
  package mutating func edits(_ count: Int, length: Int) -> [RichOperation] {
    var length = length
    return (0..<count).map { _ in
      let edit = edit(length: length)
      length = edit.targetLength
      return edit
    }
  }
}
