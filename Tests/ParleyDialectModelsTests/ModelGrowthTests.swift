import ParleyDialectModels
import ParleyGrowthKit
import ParleyJSON
import Testing

@Suite("Growth of models", .serialized)
struct ModelGrowthTests {
  /// Fields of each object, at the smaller size.
  private static let size = 4_000

  /// Fields that no model has, some of them twice.
  private static func names(_ size: Int) -> String {
    (0..<2 * size).map { #""x\#($0 % size)":\#($0)"# }.joined(separator: ",")
  }

  private static let laws: [GrowthLaw] = [
    GrowthLaw("read a resource of Twake's", size: size) { size -> [UInt8] in
      let names = names(size)
      return Array(
        (#"{\#(names),"action":"saved","type":"channel","resource":{\#(names)},"#
          + #""path":"\#(String(repeating: "p", count: size))"}"#).utf8)
    } run: { bytes in
      guard let model = try? Twake.SocketIOResource(json: bytes) else {
        preconditionFailure("it was not read")
      }
      precondition(!model.rest.all.isEmpty)
    },
    GrowthLaw("write a resource of Twake's", size: size) { size in
      var model = Twake.SocketIOResource()
      let fields = (0..<size).map { JSONFields.Field("é\($0)", .null) }
      model.resource = JSONFields(fields)
      model.rest = JSONFields(fields)
      return model
    } run: { model in
      precondition(model.json.count > model.rest.all.count)
    },
  ]

  @Test("models are read and written in proportion to their size", arguments: laws)
  func growth(law: GrowthLaw) {
    let finding = law.check()
    #expect(finding.holds, "\(finding)")
  }
}
