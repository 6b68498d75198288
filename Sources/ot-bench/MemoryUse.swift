import Glibc
import OTCore
import ParleyOTWorkloads

/// The memory that a value occupies, measured in resident pages, which include the allocator's
/// overhead.
struct MemoryUse {
  let what: String
  let bytesEach: Double
  let bytesMax: Double

  static func all() -> [MemoryUse] { [document(), history()] }

  /// Measures a text of a million bytes after it was read and edited.
  private static func document() -> MemoryUse {
    let count = 32
    var typist = TypedText(seed: 201)
    let text = String(String.UnicodeScalarView(typist.text(1_000_000)))
    var documents: [Document] = []
    documents.reserveCapacity(count)
    let before = residentBytes()
    for _ in 0..<count {
      var document = Document(text)
      for _ in 0..<100 {
        let place = typist.below(document.scalarCount)
        do {
          try document.replace(place..<place, with: "x")
        } catch {
          preconditionFailure("a place within the text is refused")
        }
      }
      documents.append(document)
    }
    let bytes = Double(residentBytes() - before) / Double(count)
    precondition(documents.allSatisfy { $0.scalarCount == 1_000_100 })
    return MemoryUse(what: "document of 1 MB", bytesEach: bytes, bytesMax: 1_500_000)
  }

  /// Measures a history of operations that insert or delete one letter.
  private static func history() -> MemoryUse {
    let count = 1_000_000
    var typist = TypedText(seed: 202)
    var operations: [TextOperation] = []
    let before = residentBytes()
    operations.reserveCapacity(count)
    for index in 0..<count {
      var operation = TextOperation()
      operation.retain(typist.below(5_000))
      if index % 5 == 0 { operation.delete(1) } else { operation.insert("x") }
      operation.retain(typist.below(5_000))
      operations.append(operation)
    }
    let bytes = Double(residentBytes() - before) / Double(count)
    precondition(operations.allSatisfy { $0.componentCount > 0 })
    return MemoryUse(what: "operation of one character", bytesEach: bytes, bytesMax: 48)
  }

  private static func residentBytes() -> Int {
    guard let bytes = try? WorkloadFile.bytes(of: "/proc/self/statm") else { return 0 }
    let fields = String(decoding: bytes, as: UTF8.self).split(separator: " ")
    return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * Int(getpagesize())
  }

  var json: String {
    "{\"peer\":\"parley\",\"memory\":\"\(what)\",\"bytes\":\(bytesEach),\"bytes_max\":\(bytesMax)}"
  }

  var row: String { "\(what): \(Int(bytesEach.rounded())) bytes, at most \(Int(bytesMax))" }
}
