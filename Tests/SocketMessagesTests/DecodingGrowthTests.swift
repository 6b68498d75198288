import ParleyGrowthKit
import OTCore
import SocketMessages
import Testing

@Suite("Growth of reading changes", .serialized)
struct DecodingGrowthTests {
  /// A native change and a Whaler one, of as many components.
  private enum Form: String, Sendable, CaseIterable {
    case native
    case whaler

    func bytes(components: Int) -> [UInt8] {
      let pairs = components / 2
      switch self {
      case .native:
        let parts = repeatElement(#"-1,"a""#, count: pairs).joined(separator: ",")
        return Array(
          (#"{"messageId":"c","type":"change","data":{"documentId":"n","epoch":"e","revision":0,"#
            + #""operation":[\#(parts)],"sequence":7}}"#).utf8)
      case .whaler:
        let numbers = repeatElement("-1,0", count: pairs).joined(separator: ",")
        let texts = repeatElement(#""","a""#, count: pairs).joined(separator: ",")
        return Array(
          (#"{"messageId":"c","type":"docChange","data":{"resourceId":"n","rev":0,"#
            + #""n":[\#(numbers)],"s":[\#(texts)]}}"#).utf8)
      }
    }

    /// Reads a message; the components of its operation.
    func read(_ bytes: [UInt8], componentsMax: Int = .max) throws(MessageError) -> Int? {
      try withBytes(of: bytes) { bytes throws(MessageError) in
        switch self {
        case .native:
          guard
            case .change(let change) = try ClientMessage.decode(
              bytes, operationComponentsMax: componentsMax
            ).message
          else { return nil }
          return change.operation.componentCount
        case .whaler:
          guard
            case .docChange(let change) = try WhalerClientMessage.decode(
              bytes, operationComponentsMax: componentsMax
            ).message
          else { return nil }
          return change.operation.componentCount
        }
      }
    }
  }

  private static let laws = Form.allCases.map { form in
    GrowthLaw("read a \(form) change", size: 12_500) { size in
      form.bytes(components: size)
    } run: { bytes in
      guard let count = try? form.read(bytes) else { preconditionFailure("not read") }
      precondition(count > 0)
    }
  }

  @Test("eight times as many components cost at most sixteen times as much", arguments: laws)
  func growth(law: GrowthLaw) {
    let finding = law.check()
    #expect(finding.holds, "\(finding)")
  }

  @Test("too many components are refused as tooLarge", arguments: Form.allCases)
  private func limit(form: Form) throws {
    #expect(try form.read(form.bytes(components: 10), componentsMax: 10) == 10)
    let error = #expect(throws: MessageError.self) {
      try form.read(form.bytes(components: 12), componentsMax: 11)
    }
    #expect(error?.code == .tooLarge)
    #expect(error?.messageID == "c")
    if form == .native {
      #expect(error?.change == .init(documentID: "n", sequence: 7))
    }
  }

  @Test("the limit counts the written components, also empty ones and those that merge")
  func merging() throws {
    let message =
      #"{"messageId":"c","type":"change","data":{"documentId":"n","epoch":"e","revision":0,"#
      + #""sequence":7,"operation":[1,1,0,1,"a","b","",1,1,-1,-1]}}"#
    #expect(try Form.native.read(Array(message.utf8), componentsMax: 11) == 4)
    let error = #expect(throws: MessageError.self) {
      try Form.native.read(Array(message.utf8), componentsMax: 10)
    }
    #expect(error?.code == .tooLarge)
    #expect(error?.change == .init(documentID: "n", sequence: 7))
  }

  @Test(
    "a message with too many values is refused before its end, and the error names its change",
    arguments: [true, false])
  func values(namesFirst: Bool) {
    let name = #""documentId":"n","sequence":7"#
    // Not JSON at its end, which is not reached.
    let operation = #""operation":[\#(String(repeating: "0,", count: 60_000))"#
    let data = namesFirst ? name + "," + operation : operation + "," + name
    let message = #"{"messageId":"c","type":"change","data":{\#(data)"#
    let error = #expect(throws: MessageError.self) {
      try Form.native.read(Array(message.utf8), componentsMax: 10)
    }
    #expect(error?.code == .tooLarge)
    #expect(error?.messageID == "c")
    #expect(error?.change == (namesFirst ? .init(documentID: "n", sequence: 7) : nil))
  }

  @Test("values behind the limit are not read")
  func rest() throws {
    let message =
      #"{"messageId":"c","type":"change","data":{"documentId":"n","epoch":"e","revision":0,"#
      + #""operation":[1,"a",1,[{}],null,"b",1.5],"sequence":7}}"#
    let error = #expect(throws: MessageError.self) {
      try Form.native.read(Array(message.utf8), componentsMax: 2)
    }
    #expect(error?.code == .tooLarge)
    #expect(error?.change?.sequence == 7)
  }
}
