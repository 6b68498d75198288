#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension ModelError: LocalizedError {
  /// The reason, and what to do.
  public var errorDescription: String? { description }
}
