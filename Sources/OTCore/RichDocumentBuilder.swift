/// Builds a formatted text from its start to its end, for readers of whole texts.
package struct RichDocumentBuilder {
  private var text: [UInt8] = []
  private var runs: [RunWord] = []
  private var table = SetTable()
  /// The length so far, in Unicode scalars.
  package private(set) var scalarCount = 0

  /// Creates a builder of an empty text.
  package init() {}

  /// The number of runs so far; neighbours with equal attributes are one.
  package var runCount: Int { runs.count }

  /// The number of different attribute sets so far.
  package var setCount: Int { table.sets.count }

  /// Returns the number of a set; removals in it have no effect.
  package mutating func number(of set: AttributeSet) -> UInt32 {
    table.number(
      of: set.hasRemovals ? AttributeSet.merged(.settle, AttributeSet(), set) : set)
  }

  /// Appends a text whose attributes have a number.
  ///
  /// - Parameter utf8: Valid UTF-8.
  package mutating func append(_ utf8: UnsafeBufferPointer<UInt8>, with number: UInt32) {
    let scalars = UTF8Check.scalarCount(utf8)
    text.append(contentsOf: utf8)
    runs.put(number, count: scalars)
    scalarCount += scalars
  }

  /// Returns the text with its attributes.
  ///
  /// - Throws: `invalidUTF8` or `tooLong`.
  /// - Complexity: O(*n*).
  package consuming func finished() throws(OperationError) -> RichDocument {
    let made: Result<Document, OperationError> = text.withUnsafeBufferPointer { text in
      do throws(OperationError) {
        return .success(try Document(utf8: text))
      } catch {
        return .failure(error)
      }
    }
    var document = RichDocument(try made.get(), runs: runs, sets: table.sets)
    if document.hasAttributes { document.dropUnusedSets() }
    return document
  }
}
