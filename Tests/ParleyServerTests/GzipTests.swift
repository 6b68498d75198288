import ParleyCompressionZlib
import Testing

@Suite("Compression of answers")
struct GzipTests {
  private static let numbers = (0..<500).map { "\(1_795_952_672_892 + $0 * 17)," }.joined()
  private static let others = (0..<200).map { "\"Minutes \($0)\"," }.joined()
  /// A name that only its reader may know, and an attacker's wrong guess with the same letters.
  private static let secret = "Redundancies in the spring"
  private static let wrong = String(secret.reversed())

  /// Returns the length of a compressed response that contains the secret and a guess.
  private static func length(guess: String, isRepeating: Bool) throws -> Int {
    let names = "\"\(secret)\",\(others)\"\(guess)\""
    let body = Array((numbers + names).utf8)
    let packed = Gzip.compressed(
      body, repeatingCount: isRepeating ? body.count : numbers.utf8.count)
    return try #require(packed).count
  }

  @Test("the length of names that are compressed letter by letter does not tell equal ones")
  func letters() throws {
    #expect(
      try Self.length(guess: Self.secret, isRepeating: false)
        == Self.length(guess: Self.wrong, isRepeating: false))
    // With repetitions, the length would reveal a right guess.
    #expect(
      try Self.length(guess: Self.secret, isRepeating: true) + 10
        < Self.length(guess: Self.wrong, isRepeating: true))
  }

  @Test("repetitions before the names are found", arguments: [0, 1, 30_000, 200_000])
  func repetitions(count: Int) throws {
    let body = [UInt8](repeating: 7, count: count) + Array(Self.others.utf8)
    let packed = try #require(Gzip.compressed(body, repeatingCount: count))
    let names = try #require(Gzip.compressed(Array(Self.others.utf8), repeatingCount: 0))
    #expect(packed.count < names.count + 32 + count / 500)
    #expect(names.count < Self.others.utf8.count * 3 / 4)
    #expect(Array(packed.prefix(3)) == [0x1f, 0x8b, 8])
  }

  @Test("bytes without any pattern grow by little, and nothing at all is compressed, too")
  func incompressible() throws {
    var state: UInt64 = 1
    let noise = (0..<100_000).map { _ -> UInt8 in
      state = state &* 6_364_136_223_846_793_005 &+ 1
      return UInt8(truncatingIfNeeded: state >> 56)
    }
    for repeatingCount in [0, 50_000, 100_000] {
      let packed = try #require(Gzip.compressed(noise, repeatingCount: repeatingCount))
      #expect(packed.count < noise.count + 200)
    }
    #expect(try #require(Gzip.compressed([], repeatingCount: 0)).count < 32)
  }
}
