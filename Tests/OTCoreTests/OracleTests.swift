import Glibc
import OTCore
import ParleyOTWorkloads
import Testing

/// Compares every function of the algebra with a naive one, case by case.
///
/// `make test` runs 40,000 cases, `make oracle` millions. ORACLE_CASES sets the number,
/// ORACLE_FIRST the first seed. Each case calls every function once.
@Suite("The oracle")
struct OracleTests {
  private static let cases = number("ORACLE_CASES") ?? 40_000
  private static let first = number("ORACLE_FIRST") ?? 1
  private static let shares = 8

  private static func number(_ name: String) -> Int? {
    getenv(name).flatMap { Int(String(cString: $0)) }
  }

  @Test(arguments: 0..<shares)
  func `OTCore and the reference agree`(share: Int) throws {
    for seed in stride(from: Self.first + share, to: Self.first + Self.cases, by: Self.shares) {
      try OracleCase(seed: UInt64(seed)).check()
    }
  }
}
