import CParleyAllocationCount
import ParleyJSON
import OTCore
import SocketMessages
import Testing

private let canCount: Bool = {
  #if DEBUG
    false
  #else
    parley_allocation_count() >= 0
  #endif
}()

/// The number of allocations for reading a message. Counted on the calling thread alone, in optimised
/// builds without a sanitizer.
@Suite("Allocations", .enabled(if: canCount))
struct AllocationTests {
  static let change =
    #"{"messageId":"0b5d3c0e-7f3a-4c55-9f0e-3a1d2b6c7e88","type":"change","data":{"documentId":"n-1","epoch":"e-7","revision":12345,"sequence":678,"operation":[1000,"x",2000]}}"#

  /// The allocations of one call, after another call that makes all lasting allocations.
  private func allocations<Failure: Error>(
    reading json: String, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Void
  ) throws(Failure) -> Int64 {
    try withBytes(of: json.utf8) { bytes throws(Failure) in
      try body(bytes)
      let before = parley_allocation_count()
      try body(bytes)
      return parley_allocation_count() - before
    }
  }

  @Test("the counter counts allocations")
  func counter() {
    let before = parley_allocation_count()
    let list = [UInt8](repeating: 1, count: Int(before % 7) + 100)
    #expect(parley_allocation_count() > before)
    #expect(list.count >= 100)
  }

  @Test("reading the envelope allocates nothing")
  func envelope() throws {
    let escaped =
      #"{"x":[{"y":"\n"},1.5e3,null],"type":"ch\u0061nge","data":{},"messageId":"\u0031"}"#
    for json in [Self.change, escaped] {
      let count = try allocations(reading: json) { bytes throws(MessageError) in
        let envelope = try Envelope(bytes)
        guard envelope.type == "change" else { Issue.record("not a change"); return }
      }
      #expect(count == 0)
    }
  }

  @Test("reading a change allocates at most twice")
  func change() throws {
    let ofOperation = try allocations(reading: #"[1000,"x",2000]"#) {
      bytes throws(OperationError) in
      _ = try TextOperation(json: bytes.assumingMemoryBound(to: UInt8.self))
    }
    let count = try allocations(reading: Self.change) { bytes throws(MessageError) in
      guard case .change(let change) = try ClientMessage.decode(try Envelope(bytes)),
        change.revision == 12345
      else { Issue.record("not a change"); return }
    }
    #expect(count <= 2, "\(ofOperation) to read it from its own JSON")
  }

  @Test("reading messages without lists allocates nothing")
  func small() throws {
    for json in [
      #"{"messageId":"c1","type":"ping","data":{}}"#,
      #"{"messageId":"c1","type":"leave","data":{"documentId":"n-1"}}"#,
      #"{"messageId":"c1","type":"subscribe","data":{"room":"notes"}}"#,
    ] {
      let count = try allocations(reading: json) { bytes throws(MessageError) in
        _ = try ClientMessage.decode(bytes)
      }
      #expect(count == 0, "\(json)")
    }
  }
}
