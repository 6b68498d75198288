import FoundationEssentials
import OTCore
import Testing

/// The files of operations with formatting in Vectors, which its README describes.
@Suite("Vector files of formatting")
struct RichVectorFileTests {
  /// A value of any type, and its JSON form.
  private struct AnyJSON: Decodable {
    let json: String

    private struct Key: CodingKey {
      let stringValue: String
      let intValue: Int? = nil
      init?(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
      if let object = try? decoder.container(keyedBy: Key.self) {
        let fields = try object.allKeys.map { key in
          "\(try Self.quoted(key.stringValue)):\(try object.decode(AnyJSON.self, forKey: key).json)"
        }
        json = "{\(fields.joined(separator: ","))}"
      } else if var list = try? decoder.unkeyedContainer() {
        var values: [String] = []
        while !list.isAtEnd { values.append(try list.decode(AnyJSON.self).json) }
        json = "[\(values.joined(separator: ","))]"
      } else {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
          json = "null"
        } else if let found = try? value.decode(Bool.self) {
          json = "\(found)"
        } else if let found = try? value.decode(Int.self) {
          json = "\(found)"
        } else if let found = try? value.decode(Double.self) {
          json = "\(found)"
        } else {
          json = try Self.quoted(value.decode(String.self))
        }
      }
    }

    private static func quoted(_ text: String) throws -> String {
      String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
    }

    var utf8: [UInt8] { Array(json.utf8) }
  }

  private struct Written: Decodable {
    let operation: AnyJSON
    let format: AnyJSON?

    func read() throws -> RichOperation {
      let text = try OTCoreTests.read(operation.utf8)
      return try format.map { try RichOperation(text: text, formatJSON: $0.utf8) }
        ?? RichOperation(text)
    }
  }

  private struct WrittenText: Decodable {
    let text: String
    let format: AnyJSON?

    func read() throws -> RichDocument {
      let text = Document(text)
      return try format.map { try RichDocument(text, formatJSON: $0.utf8) } ?? RichDocument(text)
    }
  }

  private struct Results: Decodable {
    let aAfterB: Written
    let bAfterA: Written
    let result: WrittenText
  }

  private struct Case: Decodable {
    let about: String
    let base: WrittenText
    let a: Written
    let b: Written
    let inverse: Written
    let grows: Results
    let stays: Results
  }

  private struct Refused: Decodable {
    let about: String
    let operation: AnyJSON
    let format: AnyJSON
    let code: String
  }

  private static func cases<Case: Decodable>(_ name: String, _: Case.Type) throws -> [Case] {
    let folder = String(#filePath.prefix(upTo: #filePath.lastIndex(of: "/") ?? #filePath.endIndex))
    let data = try Data(contentsOf: URL(filePath: "\(folder)/Vectors/\(name).jsonl"))
    let decoder = JSONDecoder()
    let cases = try data.split(separator: 0x0a).map { try decoder.decode(Case.self, from: $0) }
    #expect(cases.count > 10)
    return cases
  }

  @Test func results() throws {
    for vector in try Self.cases("rich", Case.self) {
      let (base, a, b) = try (vector.base.read(), vector.a.read(), vector.b.read())
      let inverse = try a.inverted(on: base)
      let expected = try vector.inverse.read()
      #expect(inverse == expected, "\(vector.about)")
      for (growth, results) in [(RichOperation.Growth.grows, vector.grows), (.stays, vector.stays)]
      {
        let found = try RichOperation.transform(a, b, growth: growth)
        let (aAfterB, bAfterA) = try (results.aAfterB.read(), results.bAfterA.read())
        #expect(found.aAfterB == aAfterB, "\(vector.about), \(growth)")
        #expect(found.bAfterA == bAfterA, "\(vector.about), \(growth)")
        var document = base
        try document.apply(a)
        try document.apply(bAfterA)
        let result = try results.result.read()
        #expect(document == result, "\(vector.about), \(growth)")
      }
    }
  }

  @Test func refusals() throws {
    for vector in try Self.cases("rich-refused", Refused.self) {
      let text = try OTCoreTests.read(vector.operation.utf8)
      var code = "none"
      do throws(OperationError) {
        _ = try ChangeFormat(json: vector.format.utf8, of: text)
      } catch {
        if case .tooLong = error { code = "tooLarge" } else { code = "badOperation" }
      }
      #expect(code == vector.code, "\(vector.about)")
    }
  }
}
